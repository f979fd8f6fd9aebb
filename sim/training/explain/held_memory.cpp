#include "sim/training/explain/held_memory.h"

#include <utility>

#include "sim/core/error.h"
#include "sim/training/memory.h"

namespace headway::training {

namespace {

using core::Bytes;

/// A moment that a pass does not have takes nothing.
workload::StageMemory fullest(const workload::StageActivations& of_pass,
                              workload::StageStates states) {
  states.at_head = of_pass.at_head.total() > Bytes(0) ? states.at_head : Bytes(0);
  states.at_layers = of_pass.at_layers.total() > Bytes(0) ? states.at_layers : Bytes(0);
  states.at_update = Bytes(0);
  return workload::at_peak(of_pass, states);
}

/// What is there for a while only, is not there between passes.
workload::StageMemory between(const workload::LiveActivations& live,
                              Bytes buffers,
                              workload::StageStates states) {
  states.at_head = states.at_layers = states.at_update = Bytes(0);
  return workload::at_peak({{}, live, buffers, Bytes(0)}, states);
}

}  // namespace

MemoryByKind HeldMemory::during(const StagePass& pass) {
  const auto found = passes_.find(pass);
  HEADWAY_CHECK(found != passes_.end(), "micro-batch {} of chunk {} is in no schedule",
                pass.micro_batch, pass.chunk);
  now_ = found->second.after;
  return found->second.during;
}

std::vector<HeldMemory> held_memory(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  const auto schedule = workload::pipeline_schedule(
      workload::effective_schedule(s.parallelism), s.parallelism.pipeline,
      s.parallelism.virtual_stages, checked.micro_batches());
  const auto moments = workload::stage_moments(s.model, s.training, s.parallelism, schedule);
  const auto states =
      workload::stage_states(s.model, s.training, s.parallelism, checked.synchronous_data());
  const auto by_kind = [&](const workload::StageMemory& tensors) {
    return rank_memory(s.training.framework, s.parallelism, checked.synchronous_data(), tensors);
  };
  std::vector<HeldMemory> stages;
  for (std::size_t stage = 0; stage < states.size(); ++stage) {
    std::map<StagePass, HeldMemory::Moment> passes;
    for (std::size_t i = 0; i < schedule[stage].size(); ++i) {
      const workload::WorkItem& item = schedule[stage][i];
      // What runs backward is one word in timelines, with its weight gradients or without.
      const bool split = item.kind == workload::WorkKind::input_gradient;
      const StagePass pass{split ? workload::WorkKind::backward : item.kind, item.micro_batch,
                           item.chunk};
      const workload::StageActivations& during = moments[stage].during[i];
      passes[pass] = {by_kind(fullest(during, states[stage])),
                      by_kind(between(moments[stage].after[i], during.buffers, states[stage]))};
    }
    const Bytes buffers =
        schedule[stage].empty() ? Bytes(0) : moments[stage].during.front().buffers;
    stages.emplace_back(std::move(passes), by_kind(between({}, buffers, states[stage])));
  }
  return stages;
}

}  // namespace headway::training
