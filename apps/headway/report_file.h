// Results as a page that is looked at: the file of --report, and the library that draws its charts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/report/trace/trace.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"

namespace headway::apps {

/// --report
void add_report_option(CLI::App& app, CommonOptions& options, bool in_help = false);

/// How the library of charts stands in share/headway beside the program's folder.
enum class ChartLibrary {
  script,  ///< charts.js, as a browser loads it
  packed,  ///< charts.packed, as a page holds it
};

/// The library of charts; empty where this installation has none.
std::string chart_library(ChartLibrary form);

/// What to deliver: the result as --format wants it, and with --report the page beside it.
/// @param json  the result's, as --format json prints it; asked for only if there is a page
std::vector<OutFile> with_report(const CommonOptions& options,
                                 OutFile shown,
                                 const std::function<std::string()>& json);

/// Files of traces beside a result; empty names are none.
struct TraceFiles {
  std::string step, run, drill;
  std::string ranks;   ///< of which the step's trace has the streams: "0-7,64"; empty: none
  int steps = 1;       ///< of the step's trace
  std::string format;  ///< perfetto or chrome; empty: by the files' names
};

/// --trace of `run` (the step), --trace-ranks, --trace-steps and --trace-run (one trial).
void add_trace_options(CLI::App& app, TraceFiles& files);
/// --trace of `drill`.
void add_drill_trace_option(CLI::App& app, TraceFiles& files);

/// Adds the traces of a result; what they leave out is remarked.
/// @param json     as in `with_report`; asked for only if there is a trace
/// @param of_step  what the step's trace has beside its timeline
void add_traces(const CommonOptions& options,
                const TraceFiles& traces,
                const std::function<std::string()>& json,
                std::vector<report::Trace> of_step,
                std::vector<OutFile>& files);

}  // namespace headway::apps
