// Several steps of a run in one trace.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/report/trace/trace.h"

namespace headway::report {

namespace {

/// The slices and counters of the first step once more, `by` later.
/// @param flows  added to the numbers of arrows, so that none leads into another step
void append_step(std::size_t slices,
                 const std::vector<std::size_t>& values,
                 std::int64_t by,
                 std::uint64_t flows,
                 TraceThread& thread) {
  for (std::size_t i = 0; i < slices; ++i) {
    TraceSlice slice = thread.slices[i];
    slice.begin_ns += by;
    for (std::uint64_t& flow : slice.flows) {
      flow += flows;
    }
    thread.slices.push_back(std::move(slice));
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    auto& counter = thread.counters[c].values;
    for (std::size_t i = 0; i < values[c]; ++i) {
      counter.emplace_back(counter[i].first + by, counter[i].second);
    }
  }
}

void repeat(int steps, std::int64_t length, std::uint64_t flows, TraceThread& thread) {
  const std::size_t slices = thread.slices.size();
  std::vector<std::size_t> values;
  for (const TraceCounter& counter : thread.counters) {
    values.push_back(counter.values.size());
  }
  for (int step = 1; step < steps; ++step) {
    append_step(slices, values, step * length, static_cast<std::uint64_t>(step) * flows, thread);
  }
}

}  // namespace

void repeat_step(int steps, core::Seconds length, std::vector<Trace>& traces) {
  if (steps <= 1) {
    return;
  }
  std::size_t slices = 1;  // of one step
  std::uint64_t last_flow = 0;
  for (const Trace& trace : traces) {
    for (const TraceThread& thread : trace.threads) {
      slices += thread.slices.size();
      for (const TraceCounter& counter : thread.counters) {
        slices += counter.values.size();
      }
      for (const TraceSlice& slice : thread.slices) {
        for (const std::uint64_t flow : slice.flows) {
          last_flow = std::max(last_flow, flow);
        }
      }
    }
  }
  const auto room =
      static_cast<int>(std::clamp<std::size_t>(kMostTraceSlices / slices, 1, kMostTraceSteps));
  const int shown = std::min(steps, room);
  const auto ns = static_cast<std::int64_t>(std::llround(length.si() * 1e9));
  for (Trace& trace : traces) {
    for (TraceThread& thread : trace.threads) {
      repeat(shown, ns, last_flow, thread);
    }
  }
  Trace all{"steps", {{"steps", {}, {}}}, {}};
  for (int step = 0; step < shown; ++step) {
    all.threads.front().slices.push_back(
        {fmt::format("step {}", step), step * ns, ns, false, {}, {}});
  }
  all.left_out.push_back(fmt::format(
      "what differs from step to step is not in it: its {} steps are the one that was simulated",
      shown));
  if (shown < steps) {
    all.left_out.push_back(
        fmt::format("{} steps are left out, so that there are at most {} "
                    "spans and values",
                    steps - shown, kMostTraceSlices));
  }
  traces.push_back(std::move(all));
}

}  // namespace headway::report
