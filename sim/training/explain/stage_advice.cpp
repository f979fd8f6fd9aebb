#include "sim/training/explain/stage_advice.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>

#include "sim/core/error.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::training {

namespace {

/// Below these shares of the step nothing is said. Source: chosen.
constexpr double kSeenImbalance = 0.01;
constexpr double kSeenGain = 0.005;

/// Layers of stages and chunks while they are moved.
class Stages {
 public:
  /// @param nodes  the kinds of nodes that each stage is on; a layer is as much work on all stages
  ///               of the same kinds
  /// @param ahead  stages in front that have no layers, and get none
  Stages(const workload::StageLayout& layout,
         std::vector<double> work,
         const std::vector<std::vector<int>>& nodes,
         int ahead)
      : work_(std::move(work)), stages_(layout.stages()), chunks_(layout.chunks()), ahead_(ahead) {
    std::map<std::vector<int>, double> least;
    for (int stage = 0; stage < stages_; ++stage) {
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        layers_.push_back(layout.at(stage, chunk).layers);
      }
      if (layout.layers(stage) > 0) {
        const auto place = static_cast<std::size_t>(stage);
        const double each = work_[place] / layout.layers(stage);
        const auto [known, fresh] = least.try_emplace(nodes[place], each);
        known->second = std::min(known->second, each);
      }
    }
    for (const auto& kinds : nodes) {
      const auto known = least.find(kinds);
      one_layer_.push_back(known == least.end() ? 0 : known->second);
    }
  }

  /// Moves one layer. @returns false where that would help no more
  bool move() {
    const auto most = std::max_element(work_.begin() + ahead_, work_.end());
    const auto least = std::min_element(work_.begin() + ahead_, work_.end());
    const double here = one_layer_[static_cast<std::size_t>(most - work_.begin())];
    const double there = one_layer_[static_cast<std::size_t>(least - work_.begin())];
    if (here <= 0 || there <= 0 || *least + there >= *most) {
      return false;
    }
    int* from = largest_chunk(static_cast<int>(most - work_.begin()));
    if (*from == 0) {
      return false;
    }
    --*from;
    ++*smallest_chunk(static_cast<int>(least - work_.begin()));
    *most -= here;
    *least += there;
    return true;
  }

  /// In the order in which a micro-batch meets the chunks.
  [[nodiscard]] std::vector<int> in_order() const {
    std::vector<int> list;
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      for (int stage = 0; stage < stages_; ++stage) {
        list.push_back(layers_[static_cast<std::size_t>(stage * chunks_ + chunk)]);
      }
    }
    return list;
  }

 private:
  /// Of equals the last, which on the last stage has the head.
  int* largest_chunk(int stage) {
    int* first = layers_.data() + static_cast<std::ptrdiff_t>(stage) * chunks_;
    return std::max_element(first, first + chunks_, std::less_equal<>{});
  }
  int* smallest_chunk(int stage) {
    int* first = layers_.data() + static_cast<std::ptrdiff_t>(stage) * chunks_;
    return std::min_element(first, first + chunks_);
  }

  std::vector<int> layers_;   ///< stage x chunks + chunk
  std::vector<double> work_;  ///< per stage [s]
  int stages_, chunks_, ahead_;
  std::vector<double> one_layer_;  ///< per stage [s]; 0: none of its kind has one
};

bool chunks_follow_stages(workload::ScheduleKind schedule) {
  using workload::ScheduleKind;
  return schedule != ScheduleKind::zero_bubble_v && schedule != ScheduleKind::dual_pipe &&
         schedule != ScheduleKind::dual_pipe_v;
}

/// The step with these chunks; nothing where it breaks a rule or does not fit.
std::optional<core::Seconds> step_with_chunks(const Scenario& scenario,
                                              const std::vector<int>& chunks,
                                              const core::Count& count) {
  Scenario changed = scenario;
  changed.parallelism.first_stage_layers = 0;
  changed.parallelism.last_stage_layers = 0;
  changed.parallelism.chunk_layers = chunks;
  try {
    const CheckedScenario checked = check(std::move(changed));
    if (!predict_memory(checked).fits) {
      return std::nullopt;
    }
    return simulate_step(checked, {.trace = false, .progress = count}).time;
  } catch (const core::Error&) {
    return std::nullopt;  // a rule of the offload, or of the schedule
  }
}

/// Whether fields for the two ends say the same as the list.
bool only_ends_differ(const std::vector<int>& chunks, const workload::ParallelismSpec& layout) {
  return layout.virtual_stages == 1 && chunks.size() > 2 && chunks.front() > 0 &&
         chunks.back() > 0 && std::all_of(chunks.begin() + 1, chunks.end() - 1, [&](int layers) {
           return layers == chunks[1];
         });
}

}  // namespace

std::optional<StageAdvice> stage_advice(const CheckedScenario& checked,
                                        const StepResult& step,
                                        const core::Count& count) {
  const Scenario& s = checked.scenario();
  const auto schedule = workload::effective_schedule(s.parallelism);
  const core::Seconds waited = step.breakdown[core::Activity::stage_imbalance];
  if (waited < kSeenImbalance * step.time || !chunks_follow_stages(schedule) ||
      step.stage_work.size() < 2) {
    return std::nullopt;
  }
  std::vector<double> work;
  for (const core::Seconds one : step.stage_work) {
    work.push_back(one.si());
  }
  Stages stages(workload::StageLayout(s.model, s.parallelism), work,
                kinds_of_stages(s.cluster, s.parallelism, checked.data_parallel()),
                workload::encoder_stages(s.model));
  bool moved = false;
  while (stages.move()) {
    moved = true;
  }
  if (!moved) {
    return std::nullopt;
  }
  StageAdvice advice;
  const auto most = std::max_element(work.begin(), work.end());
  advice.stage = static_cast<int>(most - work.begin());
  advice.excess =
      *most / (std::accumulate(work.begin(), work.end(), 0.0) / static_cast<double>(work.size())) -
      1;
  advice.chunk_layers = stages.in_order();
  advice.before = step.time;
  const auto after = step_with_chunks(s, advice.chunk_layers, count);
  if (!after || *after > (1 - kSeenGain) * step.time) {
    return std::nullopt;
  }
  advice.after = *after;
  advice.sentence = sentence_of(advice, checked.scenario().parallelism);
  return advice;
}

std::string sentence_of(const StageAdvice& advice, const workload::ParallelismSpec& layout) {
  const auto& chunks = advice.chunk_layers;
  const std::string fields =
      only_ends_differ(chunks, layout)
          ? fmt::format("parallelism.first_stage_layers: {} and parallelism.last_stage_layers: {}",
                        chunks.front(), chunks.back())
          : fmt::format("parallelism.chunk_layers: [{}]", fmt::join(chunks, ", "));
  const char* place = advice.stage == 0                     ? ", the first,"
                      : advice.stage == layout.pipeline - 1 ? ", the last,"
                                                            : "";
  return fmt::format(
      "Stage {}{} has {:.3g} % more work than the mean of the stages: with {} a step takes {:.3g} "
      "s instead of {:.3g} s ({:+.1f} %).",
      advice.stage, place, 100 * advice.excess, fields, advice.after.si(), advice.before.si(),
      100 * (advice.after / advice.before - 1));
}

}  // namespace headway::training
