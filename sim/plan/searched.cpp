// The words for what a search varies and holds.
#include <algorithm>
#include <concepts>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <utility>

#include "sim/plan/judge.h"
#include "sim/plan/space.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

namespace {

using training::SearchAxis;
using training::SearchSpec;

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
std::string words_of(const std::vector<T>& list) {
  std::vector<std::string> words;
  for (const T& value : list) {
    words.push_back(value_text(value));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}
template <class T>
std::string value_text(const std::vector<T>& list) {
  return fmt::format("[{}]", words_of(list));
}
template <core::Worded E>
std::string all_texts() {
  std::vector<E> all;
  for (const auto& entry : enum_words(E{})) {
    all.push_back(entry.value);
  }
  return words_of(all);
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

/// Collects the dimensions that are varied.
class Varied {
 public:
  explicit Varied(const SearchSpec& search) : search_(search) {}

  /// @param asked  values that the scenario lists
  /// @param all    what is tried where it lists none
  template <class T>
  void add(SearchAxis axis, const std::vector<T>& asked, std::string all) {
    add(std::string(core::to_word(axis)), axis, asked, std::move(all));
  }
  template <class T>
  void add(const std::string& key, SearchAxis axis, const std::vector<T>& asked, std::string all) {
    if (!asked.empty() || varies(search_, axis)) {
      fields_.push_back({"parallelism." + key, asked.empty() ? std::move(all) : words_of(asked)});
    }
  }
  void always(const std::string& key, std::string values) {
    fields_.push_back({"parallelism." + key, std::move(values)});
  }
  [[nodiscard]] std::vector<SearchedField> fields() && { return std::move(fields_); }

 private:
  const SearchSpec& search_;
  std::vector<SearchedField> fields_;
};

const std::vector<int> kNone;

/// What a software has of one kind of thing, or all there is.
template <class Kind>
std::string had_texts(const workload::FrameworkSpec& framework, const std::vector<Kind>& had) {
  return had.empty() ? all_texts<Kind>()
                     : fmt::format("{} (those of {})", words_of(had), framework.name);
}

void add_degrees(const training::Scenario& s, Varied& out) {
  using A = SearchAxis;
  const SearchSpec& asked = s.search;
  out.add(A::tensor, asked.tensor,
          fmt::format("divisors of the GPUs, up to the NVLink domain of {}",
                      s.cluster.node.scale_up.domain_gpus));
  out.add(A::sequence, kNone, s.model.moe ? "true" : "true, false");
  out.add(A::context, asked.context,
          fmt::format("1, 2, 4, ... while {} tokens a rank are left", kFewestTokens));
  const auto& framework = s.training.framework;
  out.add(A::context_kind, asked.context_kind, had_texts(framework, framework.context_kinds));
  out.add(A::pipeline, asked.pipeline,
          fmt::format("divisors of the GPUs, up to {} layers{}", s.model.layers,
                      workload::encoder_stages(s.model) > 0 ? " and the encoder's own stage" : ""));
  if (s.model.moe) {
    out.add(A::expert, asked.expert, fmt::format("divisors of {} experts", s.model.moe->experts));
    out.add(A::expert_tensor, asked.expert_tensor, "divisors of tensor");
  }
  out.always("data", "what is left of the GPUs");
}

/// What goes with the kinds of recompute that are tried.
void add_recompute(const training::Scenario& s, Varied& out) {
  const SearchSpec& asked = s.search;
  const workload::FrameworkSpec& framework = s.training.framework;
  using R = workload::Recompute;
  using workload::RecomputeLayers;
  const workload::RecomputeAbilitySpec& can = framework.recomputes;
  if (asked.recompute.empty() && !varies(asked, SearchAxis::recompute)) {
    return;
  }
  auto parts = can.parts;  // those of models with experts are not of others
  std::erase_if(
      parts, [&](workload::RecomputePart part) { return !can.has(part, s.model.moe.has_value()); });
  const auto tries = [&](R kind) {
    const auto& list = asked.recompute;
    return list.empty() || std::find(list.begin(), list.end(), kind) != list.end();
  };
  out.always("recompute_parts",
             !tries(R::selective) ? "none"
             : can.parts.empty()
                 ? "one by one, the light ones together"
                 : fmt::format("one by one, the light ones together, of {} (those of {})",
                               words_of(parts), framework.name));
  const bool some = tries(R::full) && can.layers != RecomputeLayers::all;
  out.always("recompute_period", some ? "1, 2, 4" : "1");
  out.always("recompute_layers", !some ? "1"
                                 : can.layers == RecomputeLayers::nth
                                     ? "a quarter, a half, all"
                                     : "a quarter, a half, three quarters, all");
  if (tries(R::full) && tries(R::none) && can.has_fewest()) {
    out.always("chunk_recompute", can.layers == RecomputeLayers::alike
                                      ? "the fewest, of every chunk as many, that let a layout fit"
                                      : "the fewest of each stage that let a layout fit");
  }
}

/// Fields of `parallelism` that are varied, with what is tried.
std::vector<SearchedField> varied_layout(const training::Scenario& s) {
  using A = SearchAxis;
  const SearchSpec& asked = s.search;
  Varied out(asked);
  add_degrees(s, out);
  out.add(A::micro_batch, asked.micro_batch,
          "1, 2, 3, 4, 6, 8, 12, ... that divide the batch of a replica");
  const auto& framework = s.training.framework;
  out.add(A::schedule, asked.schedule, had_texts(framework, framework.schedules));
  out.add(A::virtual_stages, asked.virtual_stages,
          fmt::format("2 to {}, and what divides the layers of a stage; interleaved", kMostChunks));
  const std::string ends = "as the others, or fewer in one or both";
  out.add("first_stage_layers", A::stage_layers, kNone, ends);
  out.add("last_stage_layers", A::stage_layers, kNone, ends);
  if (training::unequal(s.cluster) && varies(asked, A::stage_layers)) {
    out.always("chunk_layers",
               "even, and in proportion to the speed of each stage's GPUs: all of the way, three "
               "quarters, half, a quarter");
  } else if (!s.parallelism.chunk_layers.empty()) {
    out.always("chunk_layers", "even, beside the scenario's own layout");
  }
  out.add(A::recompute, asked.recompute, all_texts<workload::Recompute>());
  add_recompute(s, out);
  out.add(A::sharding, asked.sharding, had_texts(framework, framework.shardings));
  if (asked.shard_group_size.empty() && varies_groups(s)) {
    out.always("shard_group_size", "an NVLink domain, and doublings");
  } else {
    out.add(A::shard_group_size, asked.shard_group_size, "");
  }
  out.add(A::reshard, kNone, "true, false");
  out.add(A::offload, asked.offload, all_texts<workload::Offload>());
  out.add(A::rank_order, asked.rank_order, all_texts<workload::RankOrder>());
  return std::move(out).fields();
}

/// A recipe's or a machine's field, varied where the scenario lists values.
template <class T>
void add_setting(const char* key, const std::vector<T>& asked, const T& own, Searched& out) {
  if (asked.empty()) {
    out.held.push_back({key, value_text(own)});
  } else {
    out.varied.push_back({key, words_of(asked)});
  }
}

/// Collects values that no layout has.
class Unused {
 public:
  Unused(const training::Scenario& scenario, const Space& space)
      : scenario_(scenario), space_(space) {}

  /// @param has  whether a shape has a value
  template <class T, class Has>
  void add(const char* key, const std::vector<T>& asked, const Has& has) {
    for (const T& value : asked) {
      const auto& shapes = space_.shapes();
      if (std::none_of(shapes.begin(), shapes.end(),
                       [&](const Shape& shape) { return has(shape, value); })) {
        fields_.push_back({key, value_text(value)});
      }
    }
  }
  /// Of a degree; one that is held is asked for too.
  void add_degree(SearchAxis axis, const std::vector<int>& asked, int ParallelismSpec::*degree) {
    const auto has = [&](const Shape& shape, int value) { return shape.layout.*degree == value; };
    const std::string key(core::to_word(axis));
    add(("search." + key).c_str(), asked, has);
    if (asked.empty() && !varies(scenario_.search, axis)) {
      add(("parallelism." + key).c_str(), std::vector{scenario_.parallelism.*degree}, has);
    }
  }
  [[nodiscard]] std::vector<SearchedField> fields() && { return std::move(fields_); }

 private:
  const training::Scenario& scenario_;
  const Space& space_;
  std::vector<SearchedField> fields_;
};

}  // namespace

bool outside(const SearchSpec& search, const ParallelismSpec& p) {
  const auto beyond = [](const auto& listed, const auto& own) {
    return !listed.empty() && std::find(listed.begin(), listed.end(), own) == listed.end();
  };
  const bool staged = p.pipeline > 1;
  const bool interleaved = p.schedule == workload::ScheduleKind::interleaved;
  return beyond(search.tensor, p.tensor) || beyond(search.pipeline, p.pipeline) ||
         beyond(search.context, p.context) || beyond(search.expert, p.expert) ||
         beyond(search.expert_tensor, p.expert_tensor) ||
         beyond(search.micro_batch, p.micro_batch) || beyond(search.sharding, p.sharding) ||
         beyond(search.recompute, p.recompute) || beyond(search.offload, p.offload) ||
         beyond(search.rank_order, p.rank_order) ||
         (staged && beyond(search.schedule, p.schedule)) ||
         (staged && interleaved && beyond(search.virtual_stages, p.virtual_stages)) ||
         (p.context > 1 && beyond(search.context_kind, p.context_kind)) ||
         (p.sharding == workload::Sharding::hsdp &&
          beyond(search.shard_group_size, p.shard_group_size));
}

std::vector<SearchedField> unused_values(const training::Scenario& scenario, const Space& space) {
  using A = SearchAxis;
  using P = ParallelismSpec;
  const SearchSpec& asked = scenario.search;
  Unused out(scenario, space);
  out.add_degree(A::tensor, asked.tensor, &P::tensor);
  out.add_degree(A::context, asked.context, &P::context);
  out.add_degree(A::pipeline, asked.pipeline, &P::pipeline);
  out.add_degree(A::expert, asked.expert, &P::expert);
  out.add_degree(A::expert_tensor, asked.expert_tensor, &P::expert_tensor);
  out.add("search.virtual", asked.virtual_stages,
          [](const Shape& shape, int value) { return shape.layout.virtual_stages == value; });
  out.add("search.schedule", asked.schedule, [](const Shape& shape, workload::ScheduleKind value) {
    return shape.layout.schedule == value;
  });
  out.add("search.context_kind", asked.context_kind,
          [](const Shape& shape, workload::ContextKind value) {
            return shape.layout.context_kind == value;
          });
  const auto in_states = [](const Shape& shape, const auto& is) {
    return std::any_of(shape.states.begin(), shape.states.end(), is);
  };
  out.add("search.sharding", asked.sharding, [&](const Shape& shape, workload::Sharding value) {
    return in_states(shape, [&](const StateChoice& state) { return state.sharding == value; });
  });
  out.add("search.shard_group_size", asked.shard_group_size, [&](const Shape& shape, int value) {
    return in_states(shape, [&](const StateChoice& state) { return state.group == value; });
  });
  return std::move(out).fields();
}

std::string layout_text(const ParallelismSpec& p) {
  std::string text =
      fmt::format("tensor {} x context {} x pipeline {} x data {}, micro-batch {}, {}, {}",
                  p.tensor, p.context, p.pipeline, *p.data.value, p.micro_batch,
                  core::to_word(p.schedule), core::to_word(p.sharding));
  text += p.shard_group_size > 0 ? fmt::format(" of {}", p.shard_group_size) : "";
  text += fmt::format(", recompute {}", core::to_word(p.recompute));
  if (p.recompute_period > 1) {
    text += fmt::format(" of {} in {} layers", p.recompute_layers, p.recompute_period);
  } else if (!p.chunk_recompute.empty()) {
    text += fmt::format(" of {} layers",
                        std::accumulate(p.chunk_recompute.begin(), p.chunk_recompute.end(), 0));
  }
  if (p.offload != workload::Offload::none) {
    text += fmt::format(", offload {}", core::to_word(p.offload));
  }
  return text;
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
  add_setting("cluster.nodes", nodes, scenario.cluster.nodes, out);
  add_setting("training.global_batch", scenario.search.global_batch, scenario.training.global_batch,
              out);
  add_setting("training.sequence_length", scenario.search.sequence_length,
              scenario.training.sequence_length, out);
  add_setting("training.precision", scenario.search.precision, scenario.training.precision, out);
  if (scenario.search.spares) {
    out.varied.push_back(
        {"cluster.spares",
         "as many as the run of a plan is found to need, or fewer where the objective is better"});
  }
  const bool sizes =
      !scenario.search.global_batch.empty() || !scenario.search.sequence_length.empty();
  if (sizes && scenario.run.until && scenario.run.until->steps) {
    out.held.push_back(held_tokens(scenario));
  }
  const auto& framework = scenario.training.framework;
  const auto own = [&](const auto& had, const auto& asked, SearchAxis axis) {
    return !had.empty() && asked.empty() && varies(scenario.search, axis);
  };
  std::string also;
  if (own(framework.schedules, scenario.search.schedule, SearchAxis::schedule)) {
    also += ", with its schedules: 'search.schedule' lists others";
  }
  if (own(framework.shardings, scenario.search.sharding, SearchAxis::sharding)) {
    also += ", with what it can shard: 'search.sharding' lists others";
  }
  out.held.push_back({"training.framework", framework.name + also});
  if (scenario.model.vision) {
    out.held.push_back({"model.vision.stage", value_text(scenario.model.vision->stage)});
    out.held.push_back({"model.vision.context", value_text(scenario.model.vision->context)});
  }
  if (scenario.cluster.fabric.routing == network::Routing::ecmp) {
    out.held.push_back({"run.seed", fmt::format("{}: one hash of the switches; intervals of steps "
                                                "cover no other, those of `headway run` do",
                                                scenario.run.seed)});
  }
  return out;
}

}  // namespace headway::plan
