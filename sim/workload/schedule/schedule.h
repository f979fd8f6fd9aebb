// The order in which a pipeline stage works: generators of forward and backward work items.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

enum class WorkKind : std::uint8_t {
  forward,
  backward,         ///< input and weight gradients
  input_gradient,   ///< zero-bubble schedules: the half that the stage before waits for
  weight_gradient,  ///< zero-bubble schedules: the half that nobody waits for
};

/// One micro-batch through one chunk.
struct WorkItem {
  WorkKind kind = WorkKind::forward;
  int chunk = 0;
  int micro_batch = 0;
  /// DualPipe: one pass with the backward that follows. Both inputs are awaited before it, both
  /// outputs sent after it.
  bool with_next = false;
  bool operator==(const WorkItem&) const = default;
};

/// What a stage does in a step, in order.
using StageSchedule = std::vector<WorkItem>;

/// The order of every stage.
/// @param virtual_stages  chunks a stage holds; more than 1 only for `interleaved`
/// @throws core::Error if the schedule does not exist for these numbers; see schedule_problems
std::vector<StageSchedule> pipeline_schedule(ScheduleKind schedule,
                                             int stages,
                                             int virtual_stages,
                                             int micro_batches);

/// Every reason why the schedule does not exist for these numbers; empty if it does.
Violations schedule_problems(ScheduleKind schedule,
                             int stages,
                             int virtual_stages,
                             int micro_batches);

/// The schedule really used: `1f1b` with several virtual stages is `interleaved`.
ScheduleKind effective_schedule(const ParallelismSpec& parallelism);

}  // namespace headway::workload
