// Zero-bubble and bidirectional pipeline schedules, whose backward is split into two halves.
#pragma once

#include <vector>

#include "sim/workload/schedule/schedule.h"

namespace headway::workload {

/// ZB-H1, ZB-H2 and ZB-V, the handcrafted orders of the papers, for forward = input gradient =
/// weight gradient. Source: Qi et al. 2024, arXiv 2401.10241 and 2405.15362; ZB-V as PyTorch's
/// ScheduleZBVZeroBubble.
std::vector<StageSchedule> zero_bubble_schedule(ScheduleKind schedule,
                                                int stages,
                                                int micro_batches);

/// DualPipe and DualPipeV, the order of the reference implementation; a forward and a backward that
/// it overlaps are marked as one pass.
/// In DualPipe chunk 0 carries the micro-batches that enter at the first stage, chunk 1 those that
/// enter at the last; each half is numbered from 0. Source: deepseek-ai/DualPipe, dualpipe.py and
/// dualpipev.py.
std::vector<StageSchedule> dual_pipe_schedule(ScheduleKind schedule, int stages, int micro_batches);

}  // namespace headway::workload
