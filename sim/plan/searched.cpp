#include "sim/plan/searched.h"

#include <algorithm>
#include <concepts>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "sim/plan/candidates.h"

namespace headway::plan {

namespace {

using workload::ParallelismSpec;
using workload::Recompute;

template <core::Worded E>
std::string value_text(E value) {
  return std::string(core::to_word(value));
}
std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(int value) { return fmt::format("{}", value); }
std::string value_text(const core::OrAuto<int>& value) {
  return value.value ? value_text(*value.value) : "auto";
}
template <class T>
std::string value_text(const std::vector<T>& list) {
  std::vector<std::string> words;
  for (const T& value : list) {
    words.push_back(value_text(value));
  }
  return fmt::format("[{}]", fmt::join(words, ", "));
}

/// Walks the field list of `parallelism`.
class FieldTexts {
 public:
  template <class Member, class... More>
  void optional(const char* name, const Member& member, const More&... /*unused*/) {
    fields_.push_back({std::string("parallelism.") + name, value_text(member)});
  }
  [[nodiscard]] std::vector<SearchedField> fields() && { return std::move(fields_); }

 private:
  std::vector<SearchedField> fields_;
};

std::string recompute_words(const ParallelismSpec& layout) {
  std::vector<std::string> words;
  for (const ParallelismSpec& level : recompute_levels(layout)) {
    words.push_back(
        value_text(level.recompute) +
        (level.recompute_period > 1
             ? fmt::format(" {} of every {} layers", level.recompute_layers, level.recompute_period)
             : ""));
  }
  return fmt::format("{}: the least that fits", fmt::join(words, ", "));
}

/// Fields of `parallelism` that are varied, with what is tried.
std::vector<SearchedField> varied_layout(const training::Scenario& s) {
  std::vector<SearchedField> list{
      {"tensor", fmt::format("divisors of the GPUs, up to the NVLink domain of {}",
                             s.cluster.node.scale_up.domain_gpus)},
      {"pipeline", fmt::format("divisors of the GPUs, up to {} layers", s.model.layers)},
      {"data", "what is left of the GPUs"},
      {"micro_batch", fmt::format("1, 2, 4, ... {}", kLargestMicroBatch)},
      {"recompute", recompute_words(s.parallelism)},
      {"first_stage_layers", "as the others, or fewer where layers do not divide"},
      {"last_stage_layers", "as first_stage_layers"}};
  if (searches_schedule(s.parallelism.schedule)) {
    list.push_back({"schedule", "1f1b, interleaved"});
    list.push_back({"virtual", fmt::format("1 to {}", kMostChunks)});
  }
  if (!s.parallelism.chunk_layers.empty()) {
    list.push_back({"chunk_layers", "even, beside the scenario's own layout"});
  }
  if (s.parallelism.recompute_period > 1) {
    list.push_back({"recompute_period", fmt::format("1, {}", s.parallelism.recompute_period)});
  }
  for (SearchedField& field : list) {
    field.key = "parallelism." + field.key;
  }
  return list;
}

}  // namespace

bool searches_schedule(workload::ScheduleKind schedule) {
  return schedule == workload::ScheduleKind::one_f_one_b ||
         schedule == workload::ScheduleKind::interleaved;
}

std::vector<ParallelismSpec> recompute_levels(const ParallelismSpec& layout) {
  const auto at = [&](Recompute level, int period) {
    ParallelismSpec p = layout;
    p.recompute = level;
    p.recompute_period = period;
    p.recompute_layers = period > 1 ? layout.recompute_layers : 1;
    if (layout.recompute != level || level != Recompute::selective) {
      p.recompute_parts.clear();
    }
    return p;
  };
  std::vector<ParallelismSpec> levels;
  for (const Recompute level : {Recompute::none, Recompute::selective, Recompute::full}) {
    if (level == layout.recompute && layout.recompute_period > 1) {
      levels.push_back(at(level, layout.recompute_period));
    }
    levels.push_back(at(level, 1));
  }
  return levels;
}

Searched searched(const training::Scenario& scenario, const std::vector<int>& nodes) {
  Searched out;
  out.varied = varied_layout(scenario);
  FieldTexts all;
  ParallelismSpec layout = scenario.parallelism;
  layout.fields(all);
  for (SearchedField& field : std::move(all).fields()) {
    const bool varies = std::any_of(out.varied.begin(), out.varied.end(),
                                    [&](const SearchedField& v) { return v.key == field.key; });
    if (!varies) {
      out.held.push_back(std::move(field));
    }
  }
  if (nodes.empty()) {
    out.held.push_back({"cluster.nodes", value_text(scenario.cluster.nodes)});
  } else {
    out.varied.push_back({"cluster.nodes", fmt::format("{}", fmt::join(nodes, ", "))});
  }
  out.held.push_back({"training.global_batch", value_text(scenario.training.global_batch)});
  out.held.push_back({"training.precision", value_text(scenario.training.precision)});
  out.held.push_back({"training.framework", scenario.training.framework.name});
  if (scenario.cluster.fabric.routing == network::Routing::ecmp) {
    out.held.push_back({"run.seed", fmt::format("{}: one hash of the switches; intervals of steps "
                                                "cover no other, those of `headway run` do",
                                                scenario.run.seed)});
  }
  return out;
}

}  // namespace headway::plan
