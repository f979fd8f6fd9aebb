// What the served page asks and gets: text of JSON in, text of JSON out; no HTTP.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/report/result_json.h"

namespace headway::apps {

/// What is served: a scenario to start from.
struct Served {
  std::string text;              ///< of its file, or of an example
  std::filesystem::path file;    ///< its name, and where names in it are looked up
  std::vector<std::string> set;  ///< changes that the command line gave
  int threads = 0;               ///< of a simulation; 0: all cores
};

/// The questions that need a simulation. Each is answered by a process of its own (worker.h).
inline const std::vector<std::string>& simulated_questions() {
  static const std::vector<std::string> names{"run", "plan", "drill", "compare"};
  return names;
}

/// {"form", "text", "file", "set", "faults", "version"}: what the page needs once.
std::string start_answer(const Served& served);

/// {"estimate": headway.estimate/1, "values": of every field, "used": entries by path}.
/// @param question  {"text": a scenario, "set": changes over it}
/// @throws core::Error, which `errors_answer` turns into what the page shows
std::string estimate_answer(const Served& served, const report::Json& question);

/// {"text": the scenario with the changes written into it}.
std::string text_answer(const Served& served, const report::Json& question);

/// The page of `headway report`.
/// @param question  {"result": as a simulation gave it}
std::string report_answer(const report::Json& question);

/// The step of a run as Perfetto reads it: what `headway run --trace` writes.
/// @param question  {"result", "power": as a simulation gave them}
std::string trace_answer(const report::Json& question);

/// {"result": as --format json prints it, "text": that print, "html": its part of a report}, of a
/// run also "power": what the cluster draws over its step, for the trace.
/// @param question  with "verb", one of `simulated_questions`; of a drill with "fault"; of a
///                  comparison with "pinned", a scenario as {"text", "set"}
std::string simulated_answer(const Served& served, const report::Json& question);

/// {"errors": [{"field": a path or empty, "message", "place": lines of the file or empty}]}.
std::string errors_answer(const Served& served,
                          const report::Json& question,
                          const core::Error& error);

/// The question as the page sends it.
/// @throws core::Error if it is no object of texts and lists of texts
report::Json read_question(const std::string& body);

}  // namespace headway::apps
