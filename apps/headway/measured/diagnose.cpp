// headway diagnose: why a job is slower than it should be.
#include <fmt/format.h>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/text_file.h"
#include "sim/report/measured/diagnose_report.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

/// What is measured once is one piece of evidence.
void refuse_twins(const std::vector<study::LogFile>& files) {
  core::Diagnostics twins;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (files[i].text == files[j].text) {
        twins.add(core::SourceMark{files[i].name},
                  fmt::format("the same text as {}, which would count twice; name it once",
                              files[j].name));
        break;
      }
    }
  }
  twins.throw_if_any();
}

}  // namespace

int run_diagnose(int argc, char** argv) {
  CLI::App app(
      "Why a job is slower than it should be: its logs beside its simulation, ranked suspects.\n"
      "Reads logs of Megatron-LM, NeMo, torchtitan, DeepSpeed and MaxText, of nccl-tests, traces "
      "of\n"
      "torch.profiler, tables of nvidia-smi dmon and DCGM, ml-goodput-measurement's details as "
      "JSON\n"
      "(docs/diagnose.md).");
  CommonOptions options;
  study::DiagnoseOptions how;
  std::string scenario;
  std::vector<std::string> logs;
  describe(app, "diagnose",
           "  headway diagnose s.yaml train.log\n"
           "  headway diagnose s.yaml train.log all_reduce.log node*.txt --format json");
  app.add_option("SCENARIO", scenario, "Scenario of the job (YAML)")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("LOG", logs, "What was measured; each file says itself what it is")
      ->required()
      ->option_text("...");
  app.add_option("--set", options.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_option("--threads", how.threads, "Threads; 0: all cores; no result depends on it")
      ->transform(whole_number(0, 4096))
      ->option_text("N [0]");
  add_progress_options(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  const auto loaded = config::load_scenario(scenario, load_options(options));
  how.known_errors = validation::load_known_errors(config_roots());
  std::vector<study::LogFile> files;
  for (const auto& log : logs) {
    files.push_back({log, import::read_log(log)});
  }
  refuse_twins(files);
  const auto result = [&] {
    Progress progress(options);
    how.progress = progress.named();
    return study::diagnose(loaded, files, how);
  }();
  deliver(options, printed(result, options, report::diagnose_json, report::diagnose_csv,
                           report::diagnose_document));
  for (const auto& line : result.wrong_data) {
    remark(options, "WRONG DATA: " + line);
  }
  for (const auto& line : result.unfinished) {
    remark(options, "DID NOT END: " + line);
  }
  return 0;
}

}  // namespace headway::apps
