// headway expect: what a sound cluster must reach, and whether it does.
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/text_file.h"
#include "sim/report/measured/expect_report.h"
#include "sim/study/expect/against.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

OutFile shown(const study::ExpectReport& report, const CommonOptions& options) {
  using Write = std::string (*)(const study::ExpectReport&);
  static const std::map<std::string, Write> kShapes{{"json", report::expect_json},
                                                    {"csv", report::expect_csv},
                                                    {"nvcre", report::expect_nvcre},
                                                    {"cvs", report::expect_cvs},
                                                    {"cvs-rccl", report::expect_cvs_rccl}};
  const auto shape = kShapes.find(options.format);
  return shape == kShapes.end() ? printed(report::expect_document(report), options)
                                : OutFile{options.out, shape->second(report)};
}

/// Their tools measure by themselves and write results of their own: these files are what they are
/// told beforehand, and hold limits only.
void refuse_results_of_other_tools(const std::vector<std::string>& against,
                                   const std::string& format) {
  if (!against.empty() && (format == "nvcre" || format == "cvs" || format == "cvs-rccl")) {
    throw core::Error(fmt::format(
        "--against with --format {}: the file has a place for limits only, none for what was "
        "measured; leave --against out, or write table, md, json or csv, which have both",
        format));
  }
}

}  // namespace

int run_expect(int argc, char** argv) {
  CLI::App app("Acceptance thresholds of a sound cluster, and measured figures against them.");
  CommonOptions options;
  study::ExpectOptions how;
  std::string scenario;
  std::vector<std::string> against;
  describe(app, "expect",
           "  headway expect s.yaml --nodes 2 --format cvs-rccl\n"
           "  headway expect s.yaml --against pair-*.log --against measured.csv");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("--against", against,
                 "Measured: logs of nccl-tests, or a table (docs/diagnose.md)")
      ->option_text("FILE...");
  app.add_option("--nodes", how.nodes, "Also thresholds of a group of so many nodes")
      ->transform(whole_number(1))
      ->option_text("N");
  app.add_option("--set", options.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  add_output_options(app, options, {"table", "json", "csv", "md", "nvcre", "cvs", "cvs-rccl"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  refuse_results_of_other_tools(against, options.format);
  check_out(options);
  const auto loaded = config::load_scenario(scenario, load_options(options));
  how.known_errors = validation::load_known_errors(config_roots());
  std::vector<study::MeasuredFile> files;
  for (const auto& file : against) {
    files.push_back({file, import::read_input(file)});
  }
  auto report = study::expect(loaded, how);
  study::hold_against(loaded, files, report);
  deliver(options, shown(report, options));
  for (const auto& reason : report.reasons) {
    remark(options, std::string(core::to_word(report.status)) + ": " + reason);
  }
  return study::exit_code(report.status);
}

}  // namespace headway::apps
