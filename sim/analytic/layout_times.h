// What the passes, reductions and ends of a layout take, stage by stage: of GPUs of one kind, or of
// several.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/analytic/costs.h"
#include "sim/workload/schedule/pipeline_time.h"

namespace headway::analytic {

struct LayoutTimes {
  workload::PipelineTimes passes;
  bool send_blocks = false;        ///< the sender of a message waits until it has left
  std::vector<double> tails;       ///< per stage: reductions that go on after the last backward [s]
  std::vector<double> reductions;  ///< per stage: that every micro-batch launches [s]
  std::vector<double> begun;  ///< per stage: of the first of them, done as its backward ends [s]
  const StepEnds* ends = nullptr;   ///< nothing: only passes are known
  std::vector<StepEnd> mixed_ends;  ///< per stage, in place of `ends`

  [[nodiscard]] StepEnd end(std::size_t stage) const {
    return mixed_ends.empty() ? ends->ends[static_cast<std::size_t>(ends->end_of[stage])]
                              : mixed_ends[stage];
  }
};

/// Where a sender waits until its message has left, passes end as the messages arrive, and
/// reductions go on meanwhile.
void add_sends(workload::ScheduleKind schedule, LayoutTimes& times);

/// The times of a replica whose stages are on GPUs of several kinds. Ranks that meet in the middle
/// of passes go with the slowest of them, and so do messages between stages.
/// @param of_kind         the layout's times on each kind of GPU alone
/// @param kinds_of_stage  kinds that must keep pace; not empty
LayoutTimes mixed(const std::vector<LayoutTimes>& of_kind,
                  const std::vector<std::vector<int>>& kinds_of_stage);

}  // namespace headway::analytic
