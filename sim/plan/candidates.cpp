#include "sim/plan/candidates.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/plan/searched.h"
#include "sim/workload/layout.h"

namespace headway::plan {

namespace {

using training::Scenario;
using workload::ParallelismSpec;
using workload::ScheduleKind;

/// One combination before any rule is applied.
struct Combination {
  int tensor = 1, pipeline = 1, chunks = 1, micro_batch = 1;
  std::int64_t data = 1;
};

/// Sets how many layers the first and the last stage hold: as many as the others, or equally fewer.
void divide_layers(int layers, ParallelismSpec& p) {
  p.first_stage_layers = 0;
  p.last_stage_layers = 0;
  if (layers % p.pipeline == 0 || p.pipeline < 3) {
    return;
  }
  const int middle = (layers + p.pipeline - 1) / p.pipeline;
  const int ends = layers - middle * (p.pipeline - 2);
  if (ends >= 2 && ends % 2 == 0) {
    p.first_stage_layers = ends / 2;
    p.last_stage_layers = ends / 2;
  }
}

/// Why a combination is left out before the general rules are asked.
struct Refusal {
  const char* kind = nullptr;  ///< nullptr: it is not left out
  std::string reason;
};

Refusal refuse_tensor(const Scenario& s, int tensor) {
  const int domain = s.cluster.node.scale_up.domain_gpus;
  if (tensor > domain) {
    return {"tensor",
            fmt::format("the tensor group is wider than the NVLink domain of {} GPUs", domain)};
  }
  if (s.model.heads % tensor != 0) {
    return {"tensor",
            fmt::format("the tensor degree does not divide the model's {} heads", s.model.heads)};
  }
  return {};
}

/// A step that would be simulated for minutes.
Refusal refuse_length(const Scenario& s, std::int64_t micro_batches) {
  if (micro_batches * s.model.layers <= kMostLayers) {
    return {};
  }
  return {
      "too large",
      fmt::format("a step of more than {} micro-batches x layers is too long for a search: make "
                  "training.global_batch smaller",
                  core::count(static_cast<double>(kMostLayers)))};
}

Refusal refuse(const Scenario& s, const Combination& c, ParallelismSpec& p) {
  if (auto wrong = refuse_tensor(s, c.tensor); wrong.kind != nullptr) {
    return wrong;
  }
  divide_layers(s.model.layers, p);
  if (workload::layout_problem(s.model, p)) {
    return {"pipeline", fmt::format("{} layers cannot be divided over the stages and their chunks",
                                    s.model.layers)};
  }
  const std::int64_t together = c.data * c.micro_batch;
  if (s.training.global_batch % together != 0) {
    return {"batch",
            fmt::format("the global batch of {} sequences is no multiple of data x micro-batch",
                        s.training.global_batch)};
  }
  if (c.chunks > 1 && p.schedule == ScheduleKind::interleaved &&
      (s.training.global_batch / together) % c.pipeline != 0) {
    return {"schedule", "the interleaved schedule needs micro-batches in multiples of the stages"};
  }
  return refuse_length(s, s.training.global_batch / together);
}

/// Calls `visit` for every combination that uses all GPUs of the cluster.
template <class Visit>
void for_each_combination(const Scenario& s, const Visit& visit) {
  const std::int64_t gpus =
      std::int64_t{s.cluster.nodes} * s.cluster.node.gpus / s.parallelism.context;
  const bool searched = searches_schedule(s.parallelism.schedule);
  for (int tensor = 1; tensor <= gpus && tensor <= s.model.heads; ++tensor) {
    if (gpus % tensor != 0) {
      continue;
    }
    for (int pipeline = 1; pipeline <= s.model.layers; ++pipeline) {
      if (gpus / tensor % pipeline != 0) {
        continue;
      }
      const int most =
          pipeline == 1 ? 1 : std::min(kMostChunks, (s.model.layers + pipeline - 1) / pipeline);
      for (int chunks = searched ? 1 : s.parallelism.virtual_stages;
           chunks <= (searched ? most : s.parallelism.virtual_stages); ++chunks) {
        for (int micro_batch = 1; micro_batch <= kLargestMicroBatch; micro_batch *= 2) {
          visit(Combination{tensor, pipeline, chunks, micro_batch, gpus / tensor / pipeline});
        }
      }
    }
  }
}

ParallelismSpec layout_of(const Scenario& s, const Combination& c) {
  ParallelismSpec p = s.parallelism;
  p.tensor = c.tensor;
  p.pipeline = c.pipeline;
  p.virtual_stages = c.chunks;
  p.data = static_cast<int>(c.data);
  p.micro_batch = c.micro_batch;
  p.chunk_layers.clear();  // of the scenario's own stages and chunks
  if (searches_schedule(p.schedule)) {
    p.schedule = c.chunks > 1 ? ScheduleKind::interleaved : ScheduleKind::one_f_one_b;
  }
  return p;
}

/// The scenario's own layout, however unusual, if it keeps the rules.
void add_own_layout(const Scenario& scenario, Candidates& out) {
  try {
    auto own = training::check(scenario);
    ParallelismSpec resolved = own.scenario().parallelism;
    resolved.data = own.data_parallel();
    const bool known = std::any_of(out.layouts.begin(), out.layouts.end(), [&](const auto& layout) {
      return layout.scenario().parallelism == resolved;
    });
    if (known) {
      return;
    }
    ++out.enumerated;
    if (auto wrong = refuse_length(scenario, own.micro_batches()); wrong.kind != nullptr) {
      out.rejected.add(wrong.kind, wrong.reason);
      return;
    }
    out.layouts.push_back(std::move(own));
  } catch (const core::Error&) {
    return;  // a plan is asked for because the layout as written may not work
  }
}

}  // namespace

void Rejections::add(const std::string& kind, const std::string& reason, std::int64_t count) {
  for (auto& entry : list_) {
    if (entry.kind == kind && entry.reason == reason) {
      entry.count += count;
      return;
    }
  }
  list_.push_back({kind, reason, count});
}

std::int64_t Rejections::count(const std::string& kind) const {
  std::int64_t sum = 0;
  for (const auto& entry : list_) {
    sum += entry.kind == kind ? entry.count : 0;
  }
  return sum;
}

Candidates enumerate(const Scenario& scenario) {
  Candidates out;
  for_each_combination(scenario, [&](const Combination& c) {
    ++out.enumerated;
    Scenario candidate = scenario;
    candidate.parallelism = layout_of(scenario, c);
    if (auto wrong = refuse(scenario, c, candidate.parallelism); wrong.kind != nullptr) {
      out.rejected.add(wrong.kind, wrong.reason);
      return;
    }
    try {
      out.layouts.push_back(training::check(std::move(candidate)));
    } catch (const core::Error& error) {
      out.rejected.add("rule", error.diagnostics().front().message);
    }
  });
  add_own_layout(scenario, out);
  return out;
}

}  // namespace headway::plan
