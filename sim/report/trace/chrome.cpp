// "Trace Event Format" (Google, 2016): an object with a list of events; times are microseconds.
#include "sim/report/trace/trace.h"

namespace headway::report {

namespace {

constexpr double kNsOfChromesUnit = 1000;

/// Events of one process.
class ChromeProcess {
 public:
  ChromeProcess(int process, Json& events) : process_(process), events_(events) {}

  void add(const Trace& trace) {
    name("process_name", trace.process, 0);
    for (std::size_t t = 0; t < trace.threads.size(); ++t) {
      const TraceThread& thread = trace.threads[t];
      name("thread_name", thread.name, t + 1);
      for (const TraceSlice& slice : thread.slices) {
        add_slice(slice, t + 1);
      }
      for (const TraceCounter& counter : thread.counters) {
        add_counter(counter, thread.name, t + 1);
      }
    }
  }

 private:
  Json event(const char* phase, const std::string& name, std::size_t thread) const {
    return {{"ph", phase}, {"name", name}, {"pid", process_}, {"tid", thread}};
  }

  void name(const char* what, const std::string& name, std::size_t thread) {
    Json out = event("M", what, thread);
    out["args"] = {{"name", name}};
    events_.push_back(std::move(out));
  }

  void add_slice(const TraceSlice& slice, std::size_t thread) {
    Json out = event(slice.instant ? "i" : "X", slice.name, thread);
    out["ts"] = static_cast<double>(slice.begin_ns) / kNsOfChromesUnit;
    if (slice.instant) {
      out["s"] = "t";
    } else {
      out["dur"] = static_cast<double>(slice.length_ns) / kNsOfChromesUnit;
    }
    for (const auto& [key, value] : slice.more) {
      out["args"][key] = value;
    }
    events_.push_back(std::move(out));
  }

  void add_counter(const TraceCounter& counter, const std::string& of, std::size_t thread) {
    for (const auto& [time, value] : counter.values) {
      Json out = event("C", of + ", " + counter.name, thread);
      out["ts"] = static_cast<double>(time) / kNsOfChromesUnit;
      out["args"] = {{"value", value}};
      events_.push_back(std::move(out));
    }
  }

  int process_;
  Json& events_;
};

}  // namespace

std::string chrome_trace(const std::vector<Trace>& traces) {
  Json events = Json::array();
  Json left_out = Json::array();
  int process = 0;
  for (const Trace& trace : traces) {
    ChromeProcess(++process, events).add(trace);
    for (const std::string& note : trace.left_out) {
      left_out.push_back(note);
    }
  }
  return Json{{"traceEvents", std::move(events)}, {"leftOut", std::move(left_out)}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace headway::report
