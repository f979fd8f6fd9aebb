// A tiny pipeline simulation for tests: each item starts when its stage is free and its input has
// come; two items that are one pass start together and pass on what they made together.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::workload::tests {

/// Duration of an item on a stage, and of a transfer between stages.
struct ItemTimes {
  std::vector<double> forward, backward;  ///< a stage, per chunk of one micro-batch
  double weight = 0;                      ///< the part of `backward` that is weight gradient
  double delay = 0;                       ///< transfer to a neighbour
};

struct PipelineRun {
  double end = 0;
  std::vector<double> stage_span;  ///< first start to last end
  std::vector<int> in_flight;      ///< most chunk activations a stage held
};

inline ItemTimes equal_times(int stages, double forward, double backward) {
  const auto n = static_cast<std::size_t>(stages);
  return {std::vector<double>(n, forward), std::vector<double>(n, backward), 0, 0};
}

/// One run of a schedule.
class PipelineCheck {
 public:
  PipelineCheck(ScheduleKind kind,
                int chunks,
                const std::vector<StageSchedule>& schedule,
                const ItemTimes& times)
      : kind_(kind),
        chunks_(chunks),
        schedule_(schedule),
        times_(times),
        next_(schedule.size()),
        free_at_(schedule.size()),
        first_(schedule.size(), -1),
        held_(schedule.size()) {
    result_.in_flight.resize(schedule.size());
  }

  PipelineRun run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t s = 0; s < schedule_.size(); ++s) {
        while (next_[s] < schedule_[s].size() && start(s)) {
          progress = true;
        }
      }
    }
    for (std::size_t s = 0; s < schedule_.size(); ++s) {
      if (next_[s] < schedule_[s].size()) {
        throw std::runtime_error("the schedule blocks itself");
      }
      result_.end = std::max(result_.end, free_at_[s]);
      result_.stage_span.push_back(free_at_[s] - first_[s]);
    }
    return result_;
  }

 private:
  using Key = std::tuple<bool, int, int, int>;  // forward, stage, chunk, micro-batch

  /// When the input of `item` is there; nothing if it is not known yet.
  std::optional<double> ready(int stage, const WorkItem& item) const {
    if (item.kind == WorkKind::weight_gradient) {
      return 0;
    }
    const bool forward = item.kind == WorkKind::forward;
    const int p = static_cast<int>(schedule_.size());
    const StageChunk here{stage, item.chunk};
    const auto from =
        forward ? previous_chunk(kind_, p, chunks_, here) : next_chunk(kind_, p, chunks_, here);
    if (forward && !from) {
      return 0;
    }
    const StageChunk source =
        from.value_or(here);  // the last chunk's backward follows its own forward
    const bool needs_forward = forward || !from;
    const auto found = done_.find({needs_forward, source.stage, source.chunk, item.micro_batch});
    if (found == done_.end()) {
      return std::nullopt;
    }
    return found->second + (source.stage != stage ? times_.delay : 0);
  }

  double duration(std::size_t s, WorkKind kind) const {
    switch (kind) {
      case WorkKind::forward:
        return times_.forward[s];
      case WorkKind::backward:
        return times_.backward[s];
      case WorkKind::input_gradient:
        return times_.backward[s] - times_.weight;
      case WorkKind::weight_gradient:
        return times_.weight;
    }
    return 0;
  }

  /// Runs the next pass of a stage: one item, or two.
  bool start(std::size_t s) {
    const std::size_t last = next_[s] + (schedule_[s][next_[s]].with_next ? 1 : 0);
    double begin = free_at_[s];
    double length = 0;
    for (std::size_t i = next_[s]; i <= last; ++i) {
      const auto input = ready(static_cast<int>(s), schedule_[s][i]);
      if (!input) {
        return false;
      }
      begin = std::max(begin, *input);
      length += duration(s, schedule_[s][i].kind);
    }
    free_at_[s] = begin + length;
    first_[s] = first_[s] < 0 ? begin : first_[s];
    for (; next_[s] <= last; ++next_[s]) {
      finish(s, schedule_[s][next_[s]]);
    }
    return true;
  }

  void finish(std::size_t s, const WorkItem& item) {
    const int stage = static_cast<int>(s);
    const bool forward = item.kind == WorkKind::forward;
    if (item.kind != WorkKind::weight_gradient) {
      done_[{forward, stage, item.chunk, item.micro_batch}] = free_at_[s];
    }
    held_[s] += forward ? 1 : (item.kind == WorkKind::input_gradient ? 0 : -1);
    result_.in_flight[s] = std::max(result_.in_flight[s], held_[s]);
  }

  ScheduleKind kind_;
  int chunks_;
  const std::vector<StageSchedule>& schedule_;
  const ItemTimes& times_;
  std::map<Key, double> done_;
  std::vector<std::size_t> next_;
  std::vector<double> free_at_, first_;
  std::vector<int> held_;
  PipelineRun result_;
};

/// Runs the schedule; throws if it blocks itself.
inline PipelineRun run_pipeline(ScheduleKind kind,
                                int chunks,
                                const std::vector<StageSchedule>& schedule,
                                const ItemTimes& times) {
  return PipelineCheck(kind, chunks, schedule, times).run();
}

}  // namespace headway::workload::tests
