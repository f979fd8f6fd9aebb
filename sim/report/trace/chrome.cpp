// "Trace Event Format" (Google, 2016): an object with a list of events; times are microseconds.
#include "sim/report/trace/trace.h"

namespace headway::report {

namespace {

constexpr double kNsOfChromesUnit = 1000;
constexpr int kProcess = 1;

Json chrome_event(const char* phase, const std::string& name, std::size_t thread) {
  return {{"ph", phase}, {"name", name}, {"pid", kProcess}, {"tid", thread}};
}

Json named(const char* what, const std::string& name, std::size_t thread) {
  Json out = chrome_event("M", what, thread);
  out["args"] = {{"name", name}};
  return out;
}

Json slice_event(const TraceSlice& slice, std::size_t thread) {
  Json out = chrome_event(slice.instant ? "i" : "X", slice.name, thread);
  out["ts"] = static_cast<double>(slice.begin_ns) / kNsOfChromesUnit;
  if (slice.instant) {
    out["s"] = "t";
  } else {
    out["dur"] = static_cast<double>(slice.length_ns) / kNsOfChromesUnit;
  }
  for (const auto& [key, value] : slice.more) {
    out["args"][key] = value;
  }
  return out;
}

}  // namespace

std::string chrome_trace(const Trace& trace) {
  Json events = Json::array();
  events.push_back(named("process_name", trace.process, 0));
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const TraceThread& thread = trace.threads[t];
    events.push_back(named("thread_name", thread.name, t + 1));
    for (const TraceSlice& slice : thread.slices) {
      events.push_back(slice_event(slice, t + 1));
    }
    for (const TraceCounter& counter : thread.counters) {
      for (const auto& [time, value] : counter.values) {
        Json out = chrome_event("C", thread.name + ", " + counter.name, t + 1);
        out["ts"] = static_cast<double>(time) / kNsOfChromesUnit;
        out["args"] = {{"value", value}};
        events.push_back(std::move(out));
      }
    }
  }
  return Json{{"traceEvents", std::move(events)}, {"leftOut", trace.left_out}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace headway::report
