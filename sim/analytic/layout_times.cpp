#include "sim/analytic/layout_times.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "sim/workload/layout.h"

namespace headway::analytic {

namespace {

void at_least(double& value, double other) { value = std::max(value, other); }

void add_passes(const LayoutTimes& from, std::size_t stage, bool first, LayoutTimes& to) {
  const std::size_t chunks = from.passes.chunks.size() / from.passes.ready.size();
  for (std::size_t place = stage * chunks; place < (stage + 1) * chunks; ++place) {
    for (std::size_t pass = 0; pass < workload::kPasses; ++pass) {
      double& time = to.passes.chunks[place][pass];
      time =
          first ? from.passes.chunks[place][pass] : std::max(time, from.passes.chunks[place][pass]);
    }
  }
  at_least(to.passes.ready[stage], from.passes.ready[stage]);
  at_least(to.tails[stage], from.tails[stage]);
}

void add_end(const LayoutTimes& from, std::size_t stage, LayoutTimes& to) {
  at_least(to.reductions[stage], from.reductions[stage]);
  at_least(to.begun[stage], from.begun[stage]);
  const StepEnd end = from.end(stage);
  at_least(to.mixed_ends[stage].lead, end.lead);
  at_least(to.mixed_ends[stage].rest, end.rest);
  at_least(to.mixed_ends[stage].after, end.after);
}

/// Of both ends of each message.
void add_messages(const LayoutTimes& from, std::size_t stage, LayoutTimes& to) {
  const std::size_t stages = to.passes.message.size();
  const std::size_t before = (stage + stages - 1) % stages;
  at_least(to.passes.message[stage], from.passes.message[stage]);
  at_least(to.passes.message[before], from.passes.message[before]);
}

}  // namespace

void add_sends(workload::ScheduleKind schedule, LayoutTimes& times) {
  const int stages = static_cast<int>(times.passes.message.size());
  const int chunks = static_cast<int>(times.passes.chunks.size()) / stages;
  const auto sent = [&](int stage, const std::optional<workload::StageChunk>& to) {
    if (!to || to->stage == stage) {
      return 0.0;
    }
    const bool neighbours = std::abs(to->stage - stage) == 1;
    const int link = neighbours ? std::min(to->stage, stage) : stages - 1;
    return times.passes.message[static_cast<std::size_t>(link)];
  };
  for (int place = 0; place < stages * chunks; ++place) {
    const workload::StageChunk at{place / chunks, place % chunks};
    const double on = sent(at.stage, workload::next_chunk(schedule, stages, chunks, at));
    const double back = sent(at.stage, workload::previous_chunk(schedule, stages, chunks, at));
    workload::PassTimes& passes = times.passes.chunks[static_cast<std::size_t>(place)];
    for (const workload::Pass pass : {workload::Pass::forward, workload::Pass::first_forward}) {
      passes[static_cast<std::size_t>(pass)] += on;
    }
    for (const workload::Pass pass : {workload::Pass::backward, workload::Pass::last_backward,
                                      workload::Pass::whole_backward}) {
      passes[static_cast<std::size_t>(pass)] += back;
    }
    if (at.chunk == 0) {
      double& tail = times.tails[static_cast<std::size_t>(at.stage)];
      tail = std::max(0.0, tail - back);
    }
  }
  std::fill(times.passes.message.begin(), times.passes.message.end(), 0.0);
}

LayoutTimes mixed(const std::vector<LayoutTimes>& of_kind,
                  const std::vector<std::vector<int>>& kinds_of_stage) {
  const LayoutTimes& one = of_kind.front();
  const std::size_t stages = kinds_of_stage.size();
  LayoutTimes out;
  out.send_blocks = one.send_blocks;
  out.passes.chunks.resize(one.passes.chunks.size());
  out.passes.ready.resize(stages);
  out.passes.message.resize(stages);
  out.tails.resize(stages);
  out.reductions.resize(stages);
  out.begun.resize(stages);
  out.mixed_ends.resize(stages);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (const int kind : kinds_of_stage[stage]) {
      const LayoutTimes& from = of_kind[static_cast<std::size_t>(kind)];
      add_passes(from, stage, kind == kinds_of_stage[stage].front(), out);
      add_messages(from, stage, out);
      if (from.ends != nullptr) {
        add_end(from, stage, out);
      }
    }
  }
  return out;
}

}  // namespace headway::analytic
