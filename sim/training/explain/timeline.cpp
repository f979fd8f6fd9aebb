#include "sim/training/explain/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/training/explain/held_memory.h"
#include "sim/training/explain/traced_steps.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step_clock.h"

namespace headway::training {

namespace {

using core::Activity;
using core::Tick;

/// What a span is; Timeline::names has their words, in this order.
enum SpanKind : int { forward, backward, weight_gradient, optimizer, data, stage_wait, around };

const std::vector<std::string>& words() {
  static const std::vector<std::string> list{"forward",
                                             "backward",
                                             "weight gradient",
                                             "optimizer",
                                             "data-parallel communication",
                                             "waiting for another stage",
                                             "before and after the pipeline"};
  return list;
}

SpanKind kind_of(workload::CallKind call) {
  switch (call) {
    case workload::CallKind::forward:
      return forward;
    case workload::CallKind::backward:
      return backward;
    case workload::CallKind::weight_gradient:
      return weight_gradient;
    default:
      return around;
  }
}

/// Something a rank does; neighbours that are equal are one span.
struct Doing {
  SpanKind kind = around;
  int micro_batch = -1, chunk = -1;
  bool operator==(const Doing&) const = default;
};

/// Ranks that do the same at the same times.
struct RankClass {
  std::size_t number = 0;  ///< of the run's classes
  int stage = 0;
  std::uint32_t actor = 0;           ///< one of them
  std::int64_t rank = 0, ranks = 0;  ///< the first, and how many
};

/// All classes: of each stage the largest, stage by stage; then the others, the largest first.
std::vector<RankClass> rank_classes(const CheckedScenario& checked,
                                    const LoweredStep& lowered,
                                    const TensorOrbits& orbits,
                                    const network::RunResult& run) {
  std::vector<RankClass> classes(run.multiplicity.size());
  const RankLayout layout = rank_layout(checked);
  std::uint32_t actor = 0;
  for (std::int64_t r = 0; r < layout.ranks(); ++r) {
    const int tensor = layout.coordinates(core::Rank(static_cast<std::uint32_t>(r))).tensor;
    if (!orbits.keeps(tensor)) {
      continue;
    }
    RankClass& of = classes[run.class_of_actor[actor]];
    if (of.ranks == 0) {
      of = {run.class_of_actor[actor], lowered.stage_of(lowered.problem.actors[actor].program),
            actor, r, 0};
    }
    of.ranks += orbits.size_of(tensor);
    ++actor;
  }
  std::erase_if(classes, [](const RankClass& each) { return each.ranks == 0; });
  std::stable_sort(classes.begin(), classes.end(), [](const RankClass& a, const RankClass& b) {
    return std::pair(-a.ranks, a.rank) < std::pair(-b.ranks, b.rank);
  });
  std::set<int> seen;
  const auto others = std::stable_partition(
      classes.begin(), classes.end(),
      [&seen](const RankClass& each) { return seen.insert(each.stage).second; });
  std::sort(classes.begin(), others,
            [](const RankClass& a, const RankClass& b) { return a.stage < b.stage; });
  return classes;
}

/// Classes beside the largest of each stage; where routes are drawn by hash, nearly every rank is
/// one of its own.
constexpr std::size_t kMostOthers = 48;

/// Collects the spans of one stage.
class StageSpans {
 public:
  StageSpans(const workload::Stage& stage,
             const LoweredStep& lowered,
             const RankClass& shown,
             HeldMemory held)
      : stage_(stage),
        lowered_(lowered),
        rank_(lowered.problem.actors[shown.actor]),
        held_(std::move(held)) {
    line_.stage = shown.stage;
    line_.rank = shown.rank;
    line_.ranks = shown.ranks;
  }

  /// Instructions in a row, as the trace has them.
  void add(const network::TraceEntry& entry) {
    for_each_step(lowered_.problem, rank_, entry, [this](std::uint32_t i, Tick begin, Tick end) {
      add_instruction(i, begin, end);
    });
  }

  StageTimeline take() {
    close();
    const std::int64_t end = line_.begin.empty() ? 0 : line_.begin.back() + line_.length.back();
    line_.held = held_course(changes_, end);
    return std::move(line_);
  }

 private:
  void add_instruction(std::uint32_t index, Tick begin, Tick end) {
    if (end <= begin) {
      return;
    }
    const auto& step = lowered_.problem.programs[rank_.program][index];
    const bool waits = step.code == network::StepCode::wait;
    const Doing now = doing(index, step, waits);
    if (!open_ || !(now == *open_) || begin != end_) {
      close();
      open_ = now;
      begin_ = begin;
      waited_ = 0;
    }
    end_ = end;
    waited_ += waits ? end - begin : 0;
  }

  [[nodiscard]] Doing doing(std::uint32_t index,
                            const network::ProgramStep& step,
                            bool waits) const {
    if (waits) {
      const auto& group = lowered_.problem.groups[rank_.groups[step.slot]];
      if (group.between_stages()) {
        return {stage_wait, -1, -1};
      }
      if (group.activity == Activity::data) {
        return {data, -1, -1};
      }
    }
    if (step.activity == Activity::optimizer) {
      return {optimizer, -1, -1};
    }
    const int call = lowered_.origins[rank_.program][index].call;
    if (call < 0) {
      return {around, -1, -1};
    }
    const workload::Call& called = stage_.calls[static_cast<std::size_t>(call)];
    const SpanKind kind = kind_of(called.kind);
    return kind == around ? Doing{} : Doing{kind, called.micro_batch, called.chunk};
  }

  void close() {
    if (!open_) {
      return;
    }
    const auto micros = [](Tick ticks) {
      return static_cast<std::int64_t>(core::Clock::step().to_seconds(ticks).si() * 1e6 + 0.5);
    };
    line_.begin.push_back(micros(begin_));
    line_.length.push_back(micros(end_) - micros(begin_));
    line_.exposed.push_back(micros(waited_));
    line_.what.push_back(open_->kind);
    line_.micro_batch.push_back(open_->micro_batch);
    line_.chunk.push_back(open_->chunk);
    const MemoryByKind held = memory();
    line_.memory.push_back(static_cast<std::int64_t>(std::llround(held.total().si())));
    if (changes_.empty() || !(changes_.back().held == held)) {
      changes_.push_back({changes_.empty() ? 0 : line_.begin.back(), held});
    }
    open_.reset();
  }

  MemoryByKind memory() {
    switch (open_->kind) {
      case forward:
        return held_.during({workload::WorkKind::forward, open_->micro_batch, open_->chunk});
      case backward:
        return held_.during({workload::WorkKind::backward, open_->micro_batch, open_->chunk});
      case weight_gradient:
        return held_.during(
            {workload::WorkKind::weight_gradient, open_->micro_batch, open_->chunk});
      default:
        return held_.now();
    }
  }

  const workload::Stage& stage_;
  const LoweredStep& lowered_;
  const network::Actor& rank_;
  HeldMemory held_;
  StageTimeline line_;
  std::vector<HeldChange> changes_;
  std::optional<Doing> open_;
  Tick begin_ = 0, end_ = 0, waited_ = 0;
};

/// The stages of which every n-th is shown, and the last.
std::vector<std::size_t> every(std::size_t n, std::size_t stages) {
  std::vector<std::size_t> shown;
  for (std::size_t s = 0; s < stages; s += n) {
    shown.push_back(s);
  }
  if (!shown.empty() && shown.back() + 1 < stages) {
    shown.push_back(stages - 1);
  }
  return shown;
}

/// Leaves out the spans behind the first `most`.
/// @returns  how many
std::int64_t cut(std::size_t most, StageTimeline& stage) {
  const auto left_out =
      static_cast<std::int64_t>(stage.begin.size() - std::min(most, stage.begin.size()));
  for (auto* list : {&stage.begin, &stage.length, &stage.exposed, &stage.memory}) {
    list->resize(std::min(most, list->size()));
  }
  for (auto* list : {&stage.what, &stage.micro_batch, &stage.chunk}) {
    list->resize(std::min(most, list->size()));
  }
  return left_out;
}

/// Leaves the largest of the other classes, as many as there is room for beside the stages.
void drop_others(std::size_t most, Timeline& timeline) {
  std::size_t sum = 0;
  for (const StageTimeline& stage : timeline.stages) {
    sum += stage.begin.size();
  }
  std::vector<StageTimeline> kept;
  for (StageTimeline& other : timeline.others) {
    sum += other.begin.size();
    if (sum > most) {
      timeline.others_left_out += other.ranks;
    } else {
      kept.push_back(std::move(other));
    }
  }
  timeline.others = std::move(kept);
}

}  // namespace

void thin_out(std::size_t most, Timeline& timeline) {
  const std::size_t stages = timeline.stages.size();
  const auto spans = [&](const std::vector<std::size_t>& shown) {
    std::size_t sum = 0;
    for (const std::size_t s : shown) {
      sum += timeline.stages[s].begin.size();
    }
    return sum;
  };
  std::size_t n = 1;
  while (n + 1 < stages && spans(every(n, stages)) > most) {
    ++n;
  }
  std::vector<StageTimeline> kept;
  const auto shown = every(n, stages);
  const bool few_enough = spans(shown) <= most;
  for (const std::size_t s : shown) {
    kept.push_back(std::move(timeline.stages[s]));
    timeline.spans_left_out += few_enough ? 0 : cut(most / shown.size(), kept.back());
  }
  timeline.stages_left_out = static_cast<int>(stages - kept.size());
  timeline.stages = std::move(kept);
  drop_others(most, timeline);
}

StepPictures draw_step(const CheckedScenario& checked,
                       const std::function<void(std::size_t done, std::size_t total)>& count) {
  const Scenario& s = checked.scenario();
  const auto begun = [&count] {
    if (count) {
      count(0, 0);
    }
  };
  begun();
  const workload::StepGraph graph = step_graph(checked);
  const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  const RankOrbits orbits{tensor_orbits(checked, fabric), {}};  // the map shows every leaf
  begun();
  const LoweredStep lowered = lower(checked, graph, fabric, {.origins = true, .orbits = &orbits});
  network::RunOptions how;
  how.trace = how.rates = true;
  how.progress = network::in_parts(count);
  begun();
  const network::RunResult run = run_step(lowered, how);
  auto classes = rank_classes(checked, lowered, orbits.tensor, run);
  Timeline timeline;
  timeline.names = words();
  const std::size_t most = graph.stages.size() + kMostOthers;
  for (std::size_t c = most; c < classes.size(); ++c) {
    timeline.others_left_out += classes[c].ranks;
  }
  classes.resize(std::min(most, classes.size()));
  const auto held = held_memory(checked);
  std::vector<StageSpans> stages;
  std::map<std::size_t, std::size_t> place_of_class;
  for (const RankClass& shown : classes) {
    const auto stage = static_cast<std::size_t>(shown.stage);
    place_of_class[shown.number] = stages.size();
    stages.emplace_back(graph.stages[stage], lowered, shown, held[stage]);
  }
  for (const network::TraceEntry& entry : run.trace) {
    if (const auto found = place_of_class.find(entry.actor); found != place_of_class.end()) {
      stages[found->second].add(entry);
    }
  }
  for (std::size_t c = 0; c < stages.size(); ++c) {
    (c < graph.stages.size() ? timeline.stages : timeline.others).push_back(stages[c].take());
  }
  thin_out(kMostSpans, timeline);
  begun();
  auto map = link_map(fabric, lowered, run);
  auto loads = link_loads(fabric, lowered, run);
  begun();
  std::string why = map ? "" : why_no_link_map(fabric);
  return {std::move(timeline), std::move(map), std::move(why), std::move(loads),
          stage_streams(checked, count)};
}

}  // namespace headway::training
