#include "sim/training/retries.h"

#include <tuple>
#include <utility>
#include <vector>

#include "sim/training/step/step.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

namespace {

using workload::Call;
using workload::CallKind;

workload::Block retry_block(core::Seconds time) {
  workload::Operation wait;
  wait.kind = workload::OperationKind::delay;
  wait.activity = core::Activity::launch;
  wait.name = "allocator retry";
  wait.duration = time;
  return {"allocator retry", {wait}, 0};
}

/// Of the layers of a chunk, forward or backward: ends of the step and halves of a backward
/// allocate little.
bool begins_pass(const Call& call, const Call* before) {
  const bool pass = call.kind == CallKind::forward || call.kind == CallKind::backward;
  const auto of = [](const Call& c) { return std::tuple(c.kind, c.micro_batch, c.chunk); };
  return pass && (before == nullptr || of(*before) != of(call));
}

}  // namespace

void add_retries(const CheckedScenario& checked, workload::StepGraph& graph) {
  const core::Seconds time = checked.scenario().training.framework.allocation.retry;
  if (time <= core::Seconds(0)) {
    return;
  }
  const MemoryResult memory = predict_memory(checked);
  if (memory.peak <= memory.capacity) {
    return;
  }
  const Scenario& s = checked.scenario();
  const auto rooms = room_of_stages(s.cluster, s.parallelism, checked.data_parallel());
  const int block = static_cast<int>(graph.blocks.size());
  graph.blocks.push_back(retry_block(time));
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    if (memory.stage_peak[stage] <= rooms[stage].gpu) {
      continue;
    }
    std::vector<Call> calls;
    for (const Call& call : graph.stages[stage].calls) {
      if (begins_pass(call, calls.empty() ? nullptr : &calls.back())) {
        calls.push_back({block, call.kind, call.micro_batch, call.chunk, 1});
      }
      calls.push_back(call);
    }
    graph.stages[stage].calls = std::move(calls);
  }
}

}  // namespace headway::training
