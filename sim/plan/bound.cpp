#include "sim/plan/bound.h"

#include <algorithm>
#include <vector>

#include "sim/gpu/kernel_time.h"
#include "sim/training/step/lower.h"
#include "sim/workload/blocks/build.h"

namespace headway::plan {

namespace {

using core::Seconds;
using workload::CallKind;

/// Time a block keeps its rank busy if no transfer makes it wait.
Seconds block_time(const workload::Block& block, const training::KernelTimes& times) {
  Seconds kernels;
  Seconds delays, launches;
  int collectives = 0;
  for (const auto& operation : block.operations) {
    kernels += gpu::kernels_time(*times.gpu, times.shares, operation.kernels, times.launch);
    launches += gpu::launch_time(operation.kernels, times.launch);
    collectives += operation.kind == workload::OperationKind::collective ? 1 : 0;
    if (operation.kind == workload::OperationKind::delay) {
      delays += operation.duration;
    }
  }
  const Seconds host = gpu::host_time(launches, collectives, block.layer_passes, times.launch);
  return kernels * gpu::host_stretch(kernels, Seconds(0), host) + delays;
}

bool enters_and_leaves_at_the_first_stage(workload::ScheduleKind schedule) {
  using workload::ScheduleKind;
  return schedule == ScheduleKind::gpipe || schedule == ScheduleKind::one_f_one_b ||
         schedule == ScheduleKind::interleaved;
}

bool inside_pipeline(CallKind kind) {
  return kind != CallKind::prologue && kind != CallKind::epilogue;
}

using BlockTimes = std::vector<Seconds>;

Seconds call_time(const workload::Call& call, const BlockTimes& blocks) {
  return blocks[static_cast<std::size_t>(call.block)] * call.repeat;
}

/// All calls of the same kind, micro-batch and chunk as `like`.
Seconds pass_time(const workload::Stage& stage,
                  const workload::Call& like,
                  const BlockTimes& blocks) {
  Seconds sum;
  for (const auto& call : stage.calls) {
    if (call.kind == like.kind && call.micro_batch == like.micro_batch &&
        call.chunk == like.chunk) {
      sum += call_time(call, blocks);
    }
  }
  return sum;
}

/// First forward plus last backward of a stage: what later stages wait for.
Seconds first_and_last(const workload::Stage& stage, const BlockTimes& blocks) {
  const auto is = [](CallKind kind) {
    return [kind](const workload::Call& call) { return call.kind == kind; };
  };
  const auto first = std::find_if(stage.calls.begin(), stage.calls.end(), is(CallKind::forward));
  const auto last = std::find_if(stage.calls.rbegin(), stage.calls.rend(), is(CallKind::backward));
  Seconds sum;
  if (first != stage.calls.end()) {
    sum += pass_time(stage, *first, blocks);
  }
  if (last != stage.calls.rend()) {
    sum += pass_time(stage, *last, blocks);
  }
  return sum;
}

}  // namespace

core::Seconds step_bound(const training::CheckedScenario& layout) {
  const auto& s = layout.scenario();
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism,
                                                layout.data_parallel(), layout.micro_batches());
  const auto times = training::kernel_times(s);
  BlockTimes blocks;
  for (const auto& block : graph.blocks) {
    blocks.push_back(block_time(block, times));
  }
  const bool fills = enters_and_leaves_at_the_first_stage(s.parallelism.schedule);
  Seconds fill_and_drain;
  Seconds bound;
  for (const auto& stage : graph.stages) {
    Seconds busy = fill_and_drain;
    for (const auto& call : stage.calls) {
      if (inside_pipeline(call.kind)) {
        busy += call_time(call, blocks);
      }
    }
    bound = std::max(bound, busy);
    if (fills) {
      fill_and_drain += first_and_last(stage, blocks);
    }
  }
  return bound;
}

}  // namespace headway::plan
