// headway compare: two scenarios side by side and which layer matters, or one and its profiles.
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/text_file.h"
#include "sim/report/measured/profile_report.h"
#include "sim/report/verbs/compare_report.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

/// Profiles are JSON, packed or not; scenarios are YAML.
bool is_profile(const std::string& file) {
  return file.ends_with(".json") || file.ends_with(".gz");
}

void check_files(const std::vector<std::string>& files, bool layers) {
  for (std::size_t i = 2; i < files.size(); ++i) {
    if (!is_profile(files[i])) {
      throw core::Error(files[i] +
                        ": more than two files are a scenario and profiles of torch.profiler "
                        "(.json, .json.gz)");
    }
  }
  if (layers && is_profile(files[1])) {
    throw core::Error("--layers divides the difference of two scenarios; a profile has no layers");
  }
}

int compare_with_profiles(const std::vector<std::string>& files, const CommonOptions& options) {
  const auto result = [&] {
    Progress progress(options);
    progress.phase("comparing profiles");
    study::CompareProfileOptions how;
    how.threads = options.threads;
    how.fold = options.fold;
    how.count = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
    how.known_errors = validation::load_known_errors(config_roots());
    std::vector<study::ProfileFile> profiles;
    for (std::size_t i = 1; i < files.size(); ++i) {
      profiles.push_back({files[i], import::read_input(files[i])});
    }
    return study::compare_profiles(config::load_scenario(files[0], load_options(options)), profiles,
                                   how);
  }();
  auto out = with_report(
      options,
      printed(result, options, report::profile_json, report::profile_csv, report::profile_document),
      [&] { return report::profile_json(result); });
  add_tables(result, options, report::profile_document, out);
  deliver(options, out);
  return 0;
}

}  // namespace

int run_compare(int argc, char** argv) {
  CLI::App app(
      "Predicts two scenarios side by side: step time, goodput, days and "
      "dollars. With --layers "
      "the difference is divided among the layers of the architecture. Or one scenario beside "
      "profiles of torch.profiler.");
  CommonOptions options;
  std::string a;
  std::vector<std::string> others;
  study::CompareOptions how;
  describe(app, "compare",
           "  headway compare configs/scenarios/reference-general-purpose.yaml "
           "configs/scenarios/reference-purpose-built.yaml --layers\n"
           "  headway compare s.yaml rank0.json.gz rank8.json.gz");
  app.add_option("A", a, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("B", others, "The other scenario (YAML), or profiles of a run of A (JSON)")
      ->required()
      ->transform(scenario_name())
      ->expected(1, -1)
      ->option_text(" ");
  app.add_flag("--layers", how.layers, "Switch layers one at a time, in every order (Shapley)");
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_report_option(app, options);
  add_tables_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  std::vector<std::string> files{a};
  files.insert(files.end(), others.begin(), others.end());
  check_out(options, {options.report, options.tables});
  check_files(files, how.layers);
  if (is_profile(files[1])) {
    return compare_with_profiles(files, options);
  }
  const auto result = [&] {
    Progress progress(options);
    progress.phase("comparing architectures");
    how.threads = options.threads;
    how.fold = options.fold;
    how.progress = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
    return study::compare(config::load_scenario(files[0], load_options(options)),
                          config::load_scenario(files[1], load_options(options)), how);
  }();
  auto out = with_report(
      options,
      printed(result, options, report::compare_json, report::compare_csv, report::compare_document),
      [&] { return report::compare_json(result); });
  add_tables(result, options, report::compare_document, out);
  deliver(options, out);
  return result.a.fits && result.b.fits ? 0 : study::exit_code(study::Status::infeasible);
}

}  // namespace headway::apps
