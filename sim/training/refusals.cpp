#include "sim/training/refusals.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::training {

namespace {

using workload::ParallelismSpec;
using workload::RefusalSpec;
using workload::RefusedBeside;

template <class T>
bool among(const std::vector<T>& list, const T& own) {
  return list.empty() || std::find(list.begin(), list.end(), own) != list.end();
}

bool has_uneven_stages(const workload::ModelSpec& model, const ParallelismSpec& layout) {
  const auto layers = workload::layers_of_chunks(model, layout);
  return std::any_of(layers.begin(), layers.end(), [&](int n) { return n != layers.front(); });
}

bool has(const Scenario& s, const ParallelismSpec& p, int micro_batches, RefusedBeside what) {
  switch (what) {
    case RefusedBeside::pipeline:
      return p.pipeline > 1;
    case RefusedBeside::expert:
      return s.model.moe && p.expert > 1;
    case RefusedBeside::accumulation:
      return p.pipeline == 1 && micro_batches > 1;
    case RefusedBeside::uneven_stages:
      return p.pipeline > 1 && has_uneven_stages(s.model, p);
    case RefusedBeside::recompute:
      return p.recompute != workload::Recompute::none;
    case RefusedBeside::context:
      return p.context > 1;
    case RefusedBeside::other_data_ranks:
      return workload::has_other_data_ranks(s.model, p);
  }
  return false;
}

bool is(const RefusalSpec& one, const Scenario& s, const ParallelismSpec& p, int micro_batches) {
  return among(one.sharding, p.sharding) && among(one.precision, s.training.precision) &&
         among(one.offload, p.offload) &&
         (one.rank_order.empty() || (p.pipeline > 1 && among(one.rank_order, p.rank_order))) &&
         (one.schedule.empty() ||
          (p.pipeline > 1 && among(one.schedule, workload::effective_schedule(p)))) &&
         std::all_of(one.beside.begin(), one.beside.end(),
                     [&](RefusedBeside what) { return has(s, p, micro_batches, what); });
}

const char* words_of(RefusedBeside what) {
  switch (what) {
    case RefusedBeside::pipeline:
      return "pipeline stages";
    case RefusedBeside::expert:
      return "expert ranks";
    case RefusedBeside::accumulation:
      return "several micro-batches in one stage";
    case RefusedBeside::uneven_stages:
      return "stages of unequal layers";
    case RefusedBeside::recompute:
      return "recomputation";
    case RefusedBeside::context:
      return "context ranks";
    case RefusedBeside::other_data_ranks:
      return "other data ranks of experts than of attention";
  }
  return "";
}

/// "DeepSpeed does not start sharding zero3 with pipeline stages".
workload::Violation told(const std::string& framework,
                         const RefusalSpec& one,
                         const Scenario& s,
                         const ParallelismSpec& p) {
  std::vector<std::string> parts;
  if (!one.sharding.empty()) {
    parts.push_back(fmt::format("sharding {}", core::to_word(p.sharding)));
  }
  if (!one.schedule.empty()) {
    parts.push_back(fmt::format("schedule {}", core::to_word(workload::effective_schedule(p))));
  }
  if (!one.precision.empty()) {
    parts.push_back(fmt::format("precision {}", core::to_word(s.training.precision)));
  }
  if (!one.offload.empty()) {
    parts.push_back(fmt::format("offload {}", core::to_word(p.offload)));
  }
  if (!one.rank_order.empty()) {
    parts.push_back(fmt::format("rank order {}", core::to_word(p.rank_order)));
  }
  for (const RefusedBeside what : one.beside) {
    parts.emplace_back(words_of(what));
  }
  const bool cut = std::find(one.beside.begin(), one.beside.end(), RefusedBeside::accumulation) !=
                   one.beside.end();
  const char* path = cut                       ? "parallelism.micro_batch"
                     : !one.sharding.empty()   ? "parallelism.sharding"
                     : !one.schedule.empty()   ? "parallelism.schedule"
                     : !one.offload.empty()    ? "parallelism.offload"
                     : !one.rank_order.empty() ? "parallelism.rank_order"
                     : !one.beside.empty()     ? "parallelism.pipeline"
                                               : "training.precision";
  return {path, fmt::format("{} does not start {} (training.framework.refuses)", framework,
                            fmt::join(parts, " with "))};
}

}  // namespace

std::optional<workload::Violation> refusal(const workload::FrameworkSpec& framework,
                                           const Scenario& scenario,
                                           const ParallelismSpec& layout,
                                           int micro_batches,
                                           RefusalsOf asked) {
  for (const RefusalSpec& one : framework.refuses) {
    const auto kind =
        one.sharding.empty() ? RefusalsOf::other_than_shardings : RefusalsOf::shardings;
    if ((asked == RefusalsOf::all || asked == kind) && is(one, scenario, layout, micro_batches)) {
      return told(framework.name, one, scenario, layout);
    }
  }
  return std::nullopt;
}

std::optional<workload::Violation> refusal(const workload::FrameworkSpec& framework,
                                           const Scenario& scenario) {
  const ParallelismSpec& p = scenario.parallelism;
  const std::int64_t gpus = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  const std::int64_t replica = std::int64_t{p.tensor} * p.context * p.pipeline;
  const std::int64_t data =
      p.data.value ? *p.data.value : std::max<std::int64_t>(1, gpus / replica);
  const std::int64_t micro_batches = scenario.training.global_batch / (data * p.micro_batch);
  return refusal(framework, scenario, p, static_cast<int>(micro_batches));
}

}  // namespace headway::training
