#include "sim/workload/schedule/schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "sim/core/error.h"
#include "sim/workload/schedule/schedule_zero_bubble.h"

namespace headway::workload {

namespace {

/// All forwards, then all backwards, newest first.
StageSchedule gpipe_stage(int micro_batches) {
  StageSchedule items;
  for (int i = 0; i < micro_batches; ++i) {
    items.push_back({WorkKind::forward, 0, i});
  }
  for (int i = micro_batches - 1; i >= 0; --i) {
    items.push_back({WorkKind::backward, 0, i});
  }
  return items;
}

/// Alternates one forward and one backward after `warm_up` forwards; then the backwards that are
/// left.
StageSchedule one_f_one_b_order(const StageSchedule& forwards,
                                const StageSchedule& backwards,
                                int warm_up) {
  StageSchedule items;
  items.reserve(forwards.size() + backwards.size());
  items.insert(items.end(), forwards.begin(), forwards.begin() + warm_up);
  std::size_t next_backward = 0;
  for (auto f = static_cast<std::size_t>(warm_up); f < forwards.size(); ++f) {
    items.push_back(forwards[f]);
    items.push_back(backwards[next_backward++]);
  }
  items.insert(items.end(), backwards.begin() + static_cast<std::ptrdiff_t>(next_backward),
               backwards.end());
  return items;
}

/// Micro-batches of the last and largest group: p, and what does not fill a group of its own.
int largest_group(int stages, int micro_batches) {
  return micro_batches < 2 * stages ? micro_batches : stages + micro_batches % stages;
}

/// Megatron's order: groups of p micro-batches go through all chunks before the next group.
/// Source: megatron/core/pipeline_parallel/schedules.py, get_schedule_table, group size p. A
/// remainder joins the last group, and the warm-up grows by as much: a shorter group of its own
/// would block the pipeline.
StageSchedule interleaved_forwards(int stages, int chunks, int micro_batches) {
  StageSchedule items;
  int end = 0;
  for (int group = 0; group < micro_batches; group = end) {
    end = micro_batches - group < 2 * stages ? micro_batches : group + stages;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int i = group; i < end; ++i) {
        items.push_back({WorkKind::forward, chunk, i});
      }
    }
  }
  return items;
}

/// The backwards in the same order of micro-batches, chunks from the last to the first.
StageSchedule backwards_of(StageSchedule forwards, int chunks) {
  for (WorkItem& item : forwards) {
    item.kind = WorkKind::backward;
    item.chunk = chunks - 1 - item.chunk;
  }
  return forwards;
}

std::vector<StageSchedule> one_f_one_b_stages(int stages, int chunks, int micro_batches) {
  const StageSchedule forwards = interleaved_forwards(stages, chunks, micro_batches);
  const StageSchedule backwards = backwards_of(forwards, chunks);
  const int total = micro_batches * chunks;
  std::vector<StageSchedule> result;
  for (int stage = 0; stage < stages; ++stage) {
    const int after = stages - stage - 1;
    const int wanted =
        chunks == 1 ? after : 2 * after + (chunks - 1) * largest_group(stages, micro_batches);
    result.push_back(one_f_one_b_order(forwards, backwards, std::min(wanted, total)));
  }
  return result;
}

}  // namespace

ScheduleKind effective_schedule(const ParallelismSpec& parallelism) {
  const bool interleaves =
      parallelism.virtual_stages > 1 && parallelism.schedule == ScheduleKind::one_f_one_b;
  return interleaves ? ScheduleKind::interleaved : parallelism.schedule;
}

Violations schedule_problems(ScheduleKind schedule,
                             int stages,
                             int virtual_stages,
                             int micro_batches) {
  const auto word = core::to_word(schedule);
  if (micro_batches < 1) {
    return {
        {"training.global_batch", "a step needs at least one micro-batch; raise the global batch"}};
  }
  Violations out;
  const auto add = [&out](const char* path, std::string text) {
    out.push_back({path, std::move(text)});
  };
  if (virtual_stages > 1 && schedule != ScheduleKind::interleaved) {
    add("parallelism.virtual",
        fmt::format(
            "schedule {} takes no virtual stages; write virtual: 1 or schedule: interleaved",
            word));
  }
  if (virtual_stages > 1 && stages < 2) {
    add("parallelism.virtual", "virtual stages need at least 2 pipeline stages");
  }
  const bool both_ends = schedule == ScheduleKind::dual_pipe;
  if (both_ends && (stages % 2 != 0 || micro_batches % 2 != 0)) {
    add("parallelism.schedule",
        fmt::format(
            "schedule {} needs an even number of stages and of micro-batches; here {} and {}", word,
            stages, micro_batches));
  }
  if ((both_ends || schedule == ScheduleKind::dual_pipe_v) && micro_batches < 2 * stages) {
    add("parallelism.schedule",
        fmt::format(
            "schedule {} needs at least twice as many micro-batches as stages; here {} and {}",
            word, micro_batches, stages));
  }
  if (virtual_stages > 1 && schedule == ScheduleKind::interleaved && micro_batches < stages) {
    add("parallelism.virtual", fmt::format("the interleaved schedule needs at least as many "
                                           "micro-batches as stages; here {} and {}",
                                           micro_batches, stages));
  }
  return out;
}

std::vector<StageSchedule> pipeline_schedule(ScheduleKind schedule,
                                             int stages,
                                             int virtual_stages,
                                             int micro_batches) {
  core::Diagnostics diagnostics;
  for (Violation& one : schedule_problems(schedule, stages, virtual_stages, micro_batches)) {
    diagnostics.add(std::nullopt, std::move(one.text));
  }
  diagnostics.throw_if_any();
  switch (schedule) {
    case ScheduleKind::gpipe:
      return std::vector<StageSchedule>(static_cast<std::size_t>(stages),
                                        gpipe_stage(micro_batches));
    case ScheduleKind::one_f_one_b:
    case ScheduleKind::interleaved:
      return one_f_one_b_stages(stages, virtual_stages, micro_batches);
    case ScheduleKind::zero_bubble_h1:
    case ScheduleKind::zero_bubble_h2:
    case ScheduleKind::zero_bubble_v:
      return zero_bubble_schedule(schedule, stages, micro_batches);
    case ScheduleKind::dual_pipe:
    case ScheduleKind::dual_pipe_v:
      return dual_pipe_schedule(schedule, stages, micro_batches);
  }
  return {};
}

}  // namespace headway::workload
