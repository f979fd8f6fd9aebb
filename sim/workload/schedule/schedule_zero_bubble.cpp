#include "sim/workload/schedule/schedule_zero_bubble.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "sim/core/error.h"

namespace headway::workload {

namespace {

/// Writes the order of one stage; weight gradients are done in the order in which they became due.
class SplitStage {
 public:
  void forward(int chunk) {
    items_.push_back({WorkKind::forward, chunk, forwards_[slot(chunk)]++});
  }

  void backward(int chunk, bool split) {
    const WorkItem item{split ? WorkKind::input_gradient : WorkKind::backward, chunk,
                        backwards_[slot(chunk)]++};
    items_.push_back(item);
    if (split) {
      pending_[slot(chunk)].push_back(item);
      due_.push_back(chunk);
    }
  }

  /// A forward and a whole backward as one pass.
  void pair(int forward_chunk, int backward_chunk) {
    forward(forward_chunk);
    items_.back().with_next = true;
    backward(backward_chunk, false);
  }

  /// The oldest weight gradient of any chunk.
  void weight() {
    HEADWAY_CHECK(!due_.empty(), "no weight gradient is due");
    const int chunk = due_.front();
    due_.pop_front();
    take_weight(chunk);
  }

  /// The oldest weight gradient of `chunk`; not to be mixed with `weight()`.
  void weight_of(int chunk) { take_weight(chunk); }

  [[nodiscard]] int forwards(int chunk) const { return forwards_[slot(chunk)]; }
  [[nodiscard]] int backwards(int chunk) const { return backwards_[slot(chunk)]; }
  [[nodiscard]] bool weights_left(int chunk) const { return !pending_[slot(chunk)].empty(); }
  StageSchedule take() { return std::move(items_); }

 private:
  static std::size_t slot(int chunk) { return static_cast<std::size_t>(chunk); }

  void take_weight(int chunk) {
    HEADWAY_CHECK(!pending_[slot(chunk)].empty(), "no weight gradient of chunk {} is due", chunk);
    WorkItem item = pending_[slot(chunk)].front();
    pending_[slot(chunk)].pop_front();
    item.kind = WorkKind::weight_gradient;
    items_.push_back(item);
  }

  StageSchedule items_;
  std::array<int, 2> forwards_{}, backwards_{};
  std::array<std::deque<WorkItem>, 2> pending_;
  std::deque<int> due_;
};

/// ZB-H1 and ZB-H2: after `warm_up` forwards, backward, weight gradient of `late` micro-batches
/// before, forward. H1: warm-up p - i, late i; H2: warm-up 2(p - i) - 1, late 2i. Both hold warm-up
/// + late activations at most.
StageSchedule handcrafted_stage(int warm_up, int late, int micro_batches) {
  SplitStage stage;
  for (int i = 0; i < std::min(warm_up, micro_batches); ++i) {
    stage.forward(0);
  }
  for (int i = 0; i < micro_batches; ++i) {
    stage.backward(0, true);
    if (i >= late) {
      stage.weight();
    }
    if (stage.forwards(0) < micro_batches) {
      stage.forward(0);
    }
  }
  while (stage.weights_left(0)) {
    stage.weight();
  }
  return stage.take();
}

void zero_bubble_v_warm_up(SplitStage& stage, int stages, int rank) {
  for (int i = 0; i < 2 * (stages - rank) - 1; ++i) {
    stage.forward(0);
  }
  for (int i = 0; i < rank; ++i) {
    stage.forward(1);
    stage.forward(0);
  }
  for (int i = 0; i < stages - rank; ++i) {
    stage.forward(1);
    stage.backward(1, true);
    stage.weight_of(1);
  }
}

void zero_bubble_v_cool_down(SplitStage& stage, int stages, int rank) {
  for (int i = 0; i < rank; ++i) {
    stage.backward(0, true);
    stage.backward(1, true);
  }
  for (int i = 0; i < stages - rank; ++i) {
    stage.backward(0, true);
    stage.weight_of(0);
  }
  for (const int chunk : {1, 0}) {
    while (stage.weights_left(chunk)) {
      stage.weight_of(chunk);
    }
  }
}

StageSchedule zero_bubble_v_stage(int stages, int rank, int micro_batches) {
  // The order is written for at least 2p - 1 micro-batches; what a shorter step lacks is left out.
  const int written = std::max(2 * stages - 1, micro_batches);
  SplitStage stage;
  zero_bubble_v_warm_up(stage, stages, rank);
  while (stage.forwards(1) < stage.forwards(0) || stage.forwards(0) < written) {
    if (stage.forwards(0) < written) {
      stage.forward(0);
    }
    stage.backward(0, true);
    stage.weight_of(0);
    stage.forward(1);
    stage.backward(1, true);
    stage.weight_of(1);
  }
  zero_bubble_v_cool_down(stage, stages, rank);
  StageSchedule items = stage.take();
  std::erase_if(items, [&](const WorkItem& item) { return item.micro_batch >= micro_batches; });
  return items;
}

// DualPipe: `ranks` stages from an outer end to the middle (all stages in DualPipeV), `rank` of
// them before this one; `near` is the chunk whose micro-batches enter at that end.

void dual_warm_up(SplitStage& stage, int ranks, int rank, int near, int far) {
  for (int i = 0; i < 2 * (ranks - rank - 1); ++i) {
    stage.forward(near);
  }
  for (int i = 0; i < rank + 1; ++i) {
    stage.forward(near);
    stage.forward(far);
  }
  for (int i = 0; i < ranks - rank - 1; ++i) {
    stage.backward(far, true);
    stage.weight();
    stage.forward(far);
  }
}

void dual_main(SplitStage& stage, int ranks, int rank, int main, int near, int far) {
  for (int i = 0; i < main; ++i) {
    if (i == 0 && rank == ranks - 1) {
      // In the middle the first two run apart, which makes the bubble smaller.
      stage.forward(near);
      stage.backward(far, false);
    } else {
      stage.pair(near, far);
    }
    stage.pair(far, near);
  }
  for (int i = 0; i < ranks - rank - 1; ++i) {
    stage.backward(far, false);
    stage.pair(far, near);
  }
}

void dual_cool_down(SplitStage& stage, int ranks, int rank, int near, int far) {
  const int pairs = rank + 1;
  bool split = false;
  for (int i = 0; i < pairs; ++i) {
    split = split || (i == pairs / 2 && rank % 2 == 1);
    stage.backward(far, split);
    split = split || (i == pairs / 2 && rank % 2 == 0);
    stage.backward(near, split);
  }
  for (int i = 0; i < ranks - rank - 1; ++i) {
    stage.weight();
    stage.backward(near, true);
  }
  for (int i = 0; i < pairs; ++i) {
    stage.weight();
  }
}

}  // namespace

std::vector<StageSchedule> zero_bubble_schedule(ScheduleKind schedule,
                                                int stages,
                                                int micro_batches) {
  std::vector<StageSchedule> result;
  for (int s = 0; s < stages; ++s) {
    if (schedule == ScheduleKind::zero_bubble_v) {
      result.push_back(zero_bubble_v_stage(stages, s, micro_batches));
    } else if (schedule == ScheduleKind::zero_bubble_h1) {
      result.push_back(handcrafted_stage(stages - s, s, micro_batches));
    } else {
      result.push_back(handcrafted_stage(2 * (stages - s) - 1, 2 * s, micro_batches));
    }
  }
  return result;
}

std::vector<StageSchedule> dual_pipe_schedule(ScheduleKind schedule,
                                              int stages,
                                              int micro_batches) {
  const bool folded = schedule == ScheduleKind::dual_pipe_v;
  const int ranks = folded ? stages : stages / 2;
  const int each = folded ? micro_batches : micro_batches / 2;  // micro-batches of one direction
  std::vector<StageSchedule> result;
  for (int s = 0; s < stages; ++s) {
    const bool mirrored = !folded && s >= ranks;
    const int rank = mirrored ? stages - 1 - s : s;
    const int near = mirrored ? 1 : 0;
    const int far = 1 - near;
    SplitStage stage;
    dual_warm_up(stage, ranks, rank, near, far);
    dual_main(stage, ranks, rank, each - 2 * ranks + rank + 1, near, far);
    dual_cool_down(stage, ranks, rank, near, far);
    result.push_back(stage.take());
  }
  return result;
}

}  // namespace headway::workload
