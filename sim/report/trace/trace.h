// What happens when, as viewers of traces show it: Perfetto (ui.perfetto.dev) and those that read
// Chrome's format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/read_result.h"
#include "sim/study/power.h"
#include "sim/training/explain/observed_rank.h"

namespace headway::report {

/// Something that takes time, or (length 0, `instant`) a moment.
struct TraceSlice {
  std::string name;
  std::int64_t begin_ns = 0, length_ns = 0;
  bool instant = false;
  /// What the viewer shows beside it: whole numbers and texts.
  std::vector<std::pair<std::string, Json>> more;
  std::vector<std::uint64_t> flows;  ///< slices of one flow are joined by arrows in order of time
};

/// A value that changes.
struct TraceCounter {
  std::string name;
  std::vector<std::pair<std::int64_t, std::int64_t>> values;  ///< from when [ns], what
};

/// A line of slices, which neither overlap nor go back in time, and what is counted on it.
struct TraceThread {
  std::string name;
  std::vector<TraceSlice> slices;
  std::vector<TraceCounter> counters;
};

/// A process of the viewer, with its lines.
struct Trace {
  std::string process;
  std::vector<TraceThread> threads;
  std::vector<std::string> left_out;  ///< what is not in it, a sentence each
};

/// One rank of every stage: its passes with micro-batch, chunk and the waits inside them, arrows
/// from each pass of a micro-batch to its next, and how many passes hold their activations.
/// @param result  of `headway run` with its pictures
/// @throws core::Error if it has no timeline
Trace trace_of_step(const ReadResult& result);

/// What the busiest link of each tier carries, as a counter each; nothing where no link does.
std::optional<Trace> trace_of_links(const ReadResult& result);

/// What the GPUs of single ranks do, a process each: a line of kernels and one a kind of transfer
/// (several where they overlap), and what the GPU sends over NVLink and its network cards, each
/// transfer's bytes spread over its time. At most 100,000 spans a rank.
std::vector<Trace> traces_of_ranks(const training::ObservedRanks& ranks);

/// What the cluster draws over the step, as a counter.
Trace trace_of_power(const study::PowerReport& power);

/// Steps of one trace at most, and slices of all its processes.
inline constexpr int kMostTraceSteps = 1000;
inline constexpr std::size_t kMostTraceSlices = 400'000;

/// The step so many times, one after another, as far as kMostTraceSlices go: steps of a run are
/// alike. A process more has the steps themselves.
/// @param steps   at least 1; 1: as it was
/// @param length  of a step
void repeat_step(int steps, core::Seconds length, std::vector<Trace>& traces);

/// One trial: its failures as moments, by class with their stages until the job runs again, and its
/// checkpoints.
/// @throws core::Error if the result has no such trial
Trace trace_of_run(const ReadResult& result);

/// What follows a fault, a line a layer of the stack, and one of what the job does: not noticed,
/// noticed, recovery.
/// @param result  of `headway drill`
Trace trace_of_drill(const ReadResult& result);

/// As TrackEvents of Perfetto's protobuf format, a byte string; a process each.
std::string perfetto_trace(const std::vector<Trace>& traces);
/// As JSON of Chrome's trace events, times in microseconds.
std::string chrome_trace(const std::vector<Trace>& traces);

/// The one of both that is asked for.
/// @param format  perfetto or chrome; empty: by the name of the file, .json is Chrome's
std::string trace_text(const std::vector<Trace>& traces,
                       const std::string& file,
                       const std::string& format = {});

/// Gives slices to lines called `name`, as many as keep slices of one line from overlapping.
/// @param slices  in order of their begins
void add_lanes(const std::string& name, std::vector<TraceSlice> slices, Trace& trace);

}  // namespace headway::report
