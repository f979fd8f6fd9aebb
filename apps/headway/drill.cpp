// headway drill: one fault in a running job, what follows, what it costs, what
// would have helped.
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/report/drill_fault_text.h"
#include "sim/report/drill_report.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

std::string print(const report::DrillReport& result, const std::string& format) {
  if (format == "json") {
    return report::drill_json(result);
  }
  if (format == "csv") {
    return report::drill_csv(result);
  }
  const auto document = report::drill_document(result);
  return format == "md" ? report::to_markdown(document) : report::to_text(document);
}

std::string kinds() {
  std::string words;
  for (const auto& [kind, word] : enum_words(campaign::FaultKind{})) {
    words += (words.empty() ? "" : " ") + std::string(word);
  }
  return words;
}

}  // namespace

int run_drill(int argc, char** argv) {
  CLI::App app(
      "Injects one fault into a running job and prints what happens "
      "across the stack, who notices, "
      "what is blamed, what it costs, and which change of design "
      "would have helped most.\n"
      "Kinds: " +
      kinds());
  CommonOptions options;
  std::string scenario;
  std::string fault;
  std::vector<std::string> monitors;
  double hours = 24;
  bool no_remedies = false;
  describe(app, "drill",
           "  headway drill s.yaml --fault nvme-slow@node12,rate='15 MB/s' --set "
           "run.checkpoint.mode=sync\n"
           "  headway drill s.yaml --fault hang --monitor watchdog=off --format "
           "json");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML)")->required()->option_text(" ");
  app.add_option("--fault", fault, "KIND[@nodeN[/gpuM]][,key=value]")
      ->required()
      ->option_text("FAULT");
  app.add_option("--monitor", monitors, "A watcher: its time, on or off; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=TIME|on|off");
  app.add_option("--hours", hours, "Simulated time after the fault")
      ->check(CLI::Range(0.1, 2400.0))
      ->option_text("N [24]");
  app.add_flag("--no-remedies", no_remedies, "Do not run the drill again with changes of design");
  app.add_option("--set", options.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  app.add_option("--progress", options.progress, "Progress on standard error")
      ->check(CLI::IsMember({"auto", "plain", "json", "off"}))
      ->option_text("auto|plain|json|off");
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  const auto result = [&] {
    Progress progress(options);
    progress.phase("drilling");
    const auto loaded = config::load_scenario(scenario, load_options(options));
    campaign::DrillOptions how;
    how.horizon = core::Seconds(hours * 3600);
    how.remedies = !no_remedies;
    for (const auto& monitor : monitors) {
      how.monitors.insert_or_assign(report::parse_monitor(monitor).first,
                                    report::parse_monitor(monitor).second);
    }
    return report::run_drill(loaded, report::parse_fault(fault, loaded.scenario.cluster.node.gpus),
                             how);
  }();
  deliver(options, print(result, options.format));
  return 0;
}

}  // namespace headway::apps
