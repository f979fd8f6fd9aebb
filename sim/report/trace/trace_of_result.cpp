#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <tuple>

#include "sim/core/error.h"
#include "sim/report/trace/trace.h"

namespace headway::report {

namespace {

constexpr std::int64_t kNsPerUs = 1000;

std::int64_t whole(const Json& number) { return number.get<std::int64_t>(); }

std::int64_t nanoseconds(const Json& seconds) {
  return static_cast<std::int64_t>(std::llround(seconds.get<double>() * 1e9));
}

void say_left_out(const Json& from, const char* key, const char* what, Trace& trace) {
  if (const std::int64_t count = whole(from[key]); count > 0) {
    trace.left_out.push_back(fmt::format("{} {} are left out", count, what));
  }
}

/// Passes of one kind of micro-batch and chunk: where the last span of it ends.
using PassEnds = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

/// A forward pass keeps its activations until the backward pass of the same layers has ended.
TraceCounter held_passes(const PassEnds& forward, const PassEnds& backward) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const auto& [pass, end] : forward) {
    changes.emplace_back(end, 1);
  }
  for (const auto& [pass, end] : backward) {
    if (forward.count(pass) != 0) {
      changes.emplace_back(end, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  TraceCounter counter{"passes that hold activations", {{0, 0}}};
  std::int64_t now = 0;
  for (const auto& [time, change] : changes) {
    now += change;
    if (counter.values.back().first == time) {
      counter.values.back().second = now;
    } else {
      counter.values.emplace_back(time, now);
    }
  }
  return counter;
}

/// What the job does between the moments of a drill, as far as they come.
TraceThread job_of_drill(const Json& timeline) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kFrom{
      {{"fault", "not noticed"}, {"alarm", "noticed"}, {"recovery", "recovery"}, {"running", ""}}};
  TraceThread thread{"what the job does", {}, {}};
  for (const auto& [moment, name] : kFrom) {
    const auto found =
        std::find_if(timeline.begin(), timeline.end(), [&wanted = moment](const Json& each) {
          return each["moment"].get<std::string>() == wanted;
        });
    if (found == timeline.end()) {
      continue;
    }
    const std::int64_t at = nanoseconds((*found)["at_s"]);
    if (!thread.slices.empty()) {
      thread.slices.back().length_ns = at - thread.slices.back().begin_ns;
    }
    if (!name.empty()) {
      thread.slices.push_back({std::string(name), at, 0, false, {}, {}});
    }
  }
  // What nothing ends, lasts as long as the drill is looked at, which no moment says.
  if (!thread.slices.empty() && thread.slices.back().length_ns == 0) {
    thread.slices.pop_back();
  }
  return thread;
}

/// The words of a span's kind that are passes of a micro-batch.
constexpr std::string_view kForward = "forward", kBackward = "backward";

/// What the GPU holds, where it changes.
TraceCounter memory_counter(const Json& stage) {
  constexpr std::int64_t kMiB = 1 << 20;
  TraceCounter counter{"memory [MiB]", {}};
  for (std::size_t i = 0; i < common_length(stage, {"begin_us", "memory_bytes"}); ++i) {
    const std::int64_t held = whole(stage["memory_bytes"][i]) / kMiB;
    if (counter.values.empty() || counter.values.back().second != held) {
      counter.values.emplace_back(whole(stage["begin_us"][i]) * kNsPerUs, held);
    }
  }
  return counter;
}

TraceThread stage_thread(const Json& stage, const Json& names) {
  TraceThread thread{fmt::format("stage {}", whole(stage["stage"])), {}, {}};
  PassEnds forward, backward;
  const std::size_t spans =
      common_length(stage, {"begin_us", "length_us", "exposed_us", "what", "micro_batch", "chunk"});
  for (std::size_t i = 0; i < spans; ++i) {
    TraceSlice slice;
    slice.name = names.at(stage["what"][i].get<std::size_t>()).get<std::string>();
    slice.begin_ns = whole(stage["begin_us"][i]) * kNsPerUs;
    slice.length_ns = whole(stage["length_us"][i]) * kNsPerUs;
    const std::int64_t micro_batch = whole(stage["micro_batch"][i]);
    const std::int64_t chunk = whole(stage["chunk"][i]);
    if (micro_batch >= 0) {
      slice.more.emplace_back("micro_batch", micro_batch);
      slice.more.emplace_back("chunk", chunk);
      const std::int64_t end = slice.begin_ns + slice.length_ns;
      const bool is_forward = slice.name == kForward;
      if (is_forward || slice.name == kBackward) {
        slice.flows.push_back(static_cast<std::uint64_t>((2 * micro_batch) + (is_forward ? 1 : 2)));
        (is_forward ? forward : backward)[{micro_batch, chunk}] = end;
      }
    }
    if (const std::int64_t exposed = whole(stage["exposed_us"][i]); exposed > 0) {
      slice.more.emplace_back("waits_inside_us", exposed);
    }
    thread.slices.push_back(std::move(slice));
  }
  thread.counters.push_back(held_passes(forward, backward));
  thread.counters.push_back(memory_counter(stage));
  return thread;
}

TraceSlice moment_at(std::string name, const Json& seconds) {
  TraceSlice slice{std::move(name), nanoseconds(seconds), 0, true, {}, {}};
  return slice;
}

/// All failures of a trial as moments in order of time.
TraceThread failures_of(const Json& trial) {
  TraceThread thread{"failures", {}, {}};
  for (const Json& hazard : trial["hazards"]) {
    for (const Json& struck : hazard["struck_s"]) {
      thread.slices.push_back(moment_at(hazard["hazard"].get<std::string>(), struck));
    }
  }
  std::stable_sort(thread.slices.begin(), thread.slices.end(),
                   [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  return thread;
}

/// Checkpoints for which the job stands still take that time, others are moments; of so many that
/// several are one span, it lasts from the first to the last.
TraceThread checkpoints_of(const Json& trial) {
  TraceThread thread{"checkpoints", {}, {}};
  const Json& saves = trial["saves"];
  const std::int64_t together = whole(saves["together"]);
  const std::size_t entries = common_length(saves, {"begin_s", "length_s", "still_s", "level"});
  for (std::size_t i = 0; i < entries; ++i) {
    const Json& level = trial["levels"].at(saves["level"][i].get<std::size_t>());
    const std::string what = together > 1 ? "checkpoints to " : "checkpoint to ";
    TraceSlice slice = moment_at(what + level.get<std::string>(), saves["begin_s"][i]);
    slice.length_ns = nanoseconds(saves["length_s"][i]);
    if (together > 1) {
      slice.more.emplace_back("stands_still_ns", nanoseconds(saves["still_s"][i]));
    }
    slice.instant = slice.length_ns == 0;
    thread.slices.push_back(std::move(slice));
  }
  return thread;
}

std::string name_of(const ReadResult& result) {
  return text_at(result.json(), {"scenario", "name"});
}

[[noreturn]] void refuse(const char* what, const char* remedy) {
  throw core::Error(fmt::format("the result has no {} to trace; {}", what, remedy));
}

}  // namespace

void add_lanes(const std::string& name, std::vector<TraceSlice> slices, Trace& trace) {
  std::vector<TraceThread> lanes;
  for (TraceSlice& slice : slices) {
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const TraceThread& each) {
      const TraceSlice& last = each.slices.back();
      return last.begin_ns + last.length_ns <= slice.begin_ns;
    });
    if (lane == lanes.end()) {
      lanes.push_back(
          {lanes.empty() ? name : fmt::format("{} ({})", name, lanes.size() + 1), {}, {}});
      lane = lanes.end() - 1;
    }
    lane->slices.push_back(std::move(slice));
  }
  trace.threads.insert(trace.threads.end(), lanes.begin(), lanes.end());
}

Trace trace_of_step(const ReadResult& result) {
  const Json& timeline = at(result.json(), {"pictures", "timeline"});
  if (timeline.is_null()) {
    refuse("timeline", "'headway run --pictures' writes one");
  }
  Trace trace{"step of " + name_of(result), {}, {}};
  for (const Json& stage : timeline["stages"]) {
    trace.threads.push_back(stage_thread(stage, timeline["names"]));
  }
  say_left_out(timeline, "stages_left_out", "stages", trace);
  say_left_out(timeline, "spans_left_out", "spans", trace);
  return trace;
}

std::optional<Trace> trace_of_links(const ReadResult& result) {
  constexpr double kMega = 1e6;
  Trace trace{"links", {}, {}};
  for (const Json& link : at(result.json(), {"pictures", "loads"})) {
    const std::int64_t alike = whole(link["alike"]);
    TraceThread thread{fmt::format("busiest {} link{}", link["tier"].get<std::string>(),
                                   alike > 1 ? fmt::format(" (one of {} alike)", alike) : ""),
                       {},
                       {}};
    const std::int64_t window = whole(link["mean_of_ns"]);
    TraceCounter counter{
        fmt::format("load [MB/s] of {:.0f}{}", link["capacity_bytes_per_s"].get<double>() / kMega,
                    window > 0 ? fmt::format(", means of {} us", window / kNsPerUs) : ""),
        {}};
    for (std::size_t i = 0; i < common_length(link, {"from_ns", "load_bytes_per_s"}); ++i) {
      counter.values.emplace_back(whole(link["from_ns"][i]),
                                  std::llround(link["load_bytes_per_s"][i].get<double>() / kMega));
    }
    thread.counters.push_back(std::move(counter));
    trace.threads.push_back(std::move(thread));
  }
  return trace.threads.empty() ? std::nullopt : std::optional(std::move(trace));
}

Trace trace_of_run(const ReadResult& result) {
  const Json& trial = at(result.json(), {"pictures", "campaign", "trial"});
  if (trial.is_null()) {
    refuse("trial", "'headway run --pictures' of a scenario with 'run.until' writes one");
  }
  Trace trace{fmt::format("trial {} of {}", whole(trial["trial"]), name_of(result)), {}, {}};
  for (const Json& hazard : trial["hazards"]) {
    std::vector<TraceSlice> slices;
    for (std::size_t i = 0; i < common_length(hazard, {"begin_s", "length_s", "stage"}); ++i) {
      TraceSlice slice;
      slice.name = trial["stages"].at(hazard["stage"][i].get<std::size_t>()).get<std::string>();
      slice.begin_ns = nanoseconds(hazard["begin_s"][i]);
      slice.length_ns = nanoseconds(hazard["length_s"][i]);
      slices.push_back(std::move(slice));
    }
    std::stable_sort(slices.begin(), slices.end(),
                     [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    add_lanes(hazard["hazard"].get<std::string>(), std::move(slices), trace);
  }
  trace.threads.push_back(failures_of(trial));
  trace.threads.push_back(checkpoints_of(trial));
  std::erase_if(trace.threads, [](const TraceThread& thread) { return thread.slices.empty(); });
  say_left_out(trial, "spans_left_out", "stages of failures", trace);
  say_left_out(trial, "failures_left_out", "failures", trace);
  if (const std::int64_t together = whole(trial["saves"]["together"]); together > 1) {
    trace.left_out.push_back(fmt::format(
        "every {} checkpoints in a row are one span, from the first to the last", together));
  }
  return trace;
}

Trace trace_of_drill(const ReadResult& result) {
  const Json& timeline = at(result.json(), {"timeline"});
  if (!timeline.is_array()) {
    refuse("timeline", "'headway drill --format json' writes one");
  }
  Trace trace{"drill of " + name_of(result), {}, {}};
  for (const Json& moment : timeline) {
    const std::string layer =
        moment["layer"].is_null() ? "the job" : moment["layer"].get<std::string>();
    auto thread = std::find_if(trace.threads.begin(), trace.threads.end(),
                               [&](const TraceThread& each) { return each.name == layer; });
    if (thread == trace.threads.end()) {
      trace.threads.push_back({layer, {}, {}});
      thread = trace.threads.end() - 1;
    }
    TraceSlice instant;
    instant.name = moment["text"].get<std::string>();
    instant.begin_ns = nanoseconds(moment["at_s"]);
    instant.instant = true;
    instant.more.emplace_back("moment", moment["moment"]);
    thread->slices.push_back(std::move(instant));
  }
  trace.threads.push_back(job_of_drill(timeline));
  return trace;
}

std::string trace_text(const std::vector<Trace>& traces,
                       const std::string& file,
                       const std::string& format) {
  const bool chrome = format.empty() ? file.ends_with(".json") : format == "chrome";
  return chrome ? chrome_trace(traces) : perfetto_trace(traces);
}

}  // namespace headway::report
