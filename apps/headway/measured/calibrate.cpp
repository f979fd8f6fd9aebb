// headway calibrate: measurements become profiles that scenarios use; it never touches a GPU.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "sim/config/reflect.h"
#include "sim/config/unit_text.h"
#include "sim/config/write_entry.h"
#include "sim/import/measured/nccl_tests_json.h"
#include "sim/import/text_file.h"
#include "sim/report/verbs/calibrate_report.h"
#include "sim/training/explain/anchor.h"
#include "sim/training/step/step.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"
#include "calibrate/fit/import_samples.h"
#include "calibrate/fit/profile.h"
#include "calibrate/fit/table_fit.h"

namespace headway::apps {

namespace {

struct CalibrateArguments {
  std::string format, profile, gpu, name, collective, flagged, tables;
  std::vector<std::string> files;
  fit::ImportHints hints;
  double tolerance = 0.02;
};

void read_hints(CalibrateArguments& given) {
  if (!given.collective.empty()) {
    given.hints.collective = fit::collective_of(given.collective);
    if (!given.hints.collective) {
      throw core::Error(fmt::format(
          "--collective {}: there are all_reduce, all_gather, reduce_scatter, all_to_all, "
          "broadcast, send_receive",
          given.collective));
    }
  }
}

fit::ImportedSamples read_measurement(const std::string& format,
                                      const std::string& file,
                                      const fit::ImportHints& hints) {
  const std::string text = import::read_input(file);
  if (format == "nccl-tests") {
    return fit::from_nccl_tests(import::read_nccl_tests_log(text, file), file, hints);
  }
  if (format == "nccl-tests-json") {
    return fit::from_nccl_tests(import::read_nccl_tests_json(text, file), file, hints);
  }
  if (format == "fio") {
    return fit::from_fio(import::read_fio_json(text, file), file);
  }
  if (format == "gemm") {
    return fit::from_gemm_csv(import::CsvTable(text, file));
  }
  return fit::from_torch_profile(import::read_torch_profile(text, file), file, hints);
}

void add(fit::SampleSet& to, const fit::SampleSet& from) {
  for (const auto& fact : from.facts) {
    if (std::find(to.facts.begin(), to.facts.end(), fact) == to.facts.end()) {
      to.facts.push_back(fact);
    }
  }
  to.samples.insert(to.samples.end(), from.samples.begin(), from.samples.end());
}

gpu::GpuSpec gpu_entry(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : config::list_entries("gpus", config_roots())) {
    if (entry.name == name) {
      return config::load_entry<gpu::GpuSpec>(entry.path, {config_roots(), {}}).spec;
    }
    names.push_back(entry.name);
  }
  const auto guess = core::did_you_mean(name, names);
  throw core::Error(fmt::format("'gpus' has no entry '{}'{}", name,
                                guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
}

/// A profile by file, or by name in the catalogue.
training::CalibrationSpec load_profile(const std::string& name) {
  const config::LoadOptions options{config_roots(), {}};
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored) && name.find('/') == std::string::npos) {
    for (const auto& entry : config::list_entries("calibrations", config_roots())) {
      if (entry.name == name) {
        return config::load_entry<training::CalibrationSpec>(entry.path, options).spec;
      }
    }
  }
  return config::load_entry<training::CalibrationSpec>(name, options).spec;
}

void add_out(CLI::App& app, CommonOptions& options) {
  app.add_option("--out", options.out, "Write the result to this file")
      ->check(file_name())
      ->option_text("FILE");
  app.add_flag("--force", options.force, "Let --out overwrite a file");
  app.add_flag("--quiet", options.quiet, "No remarks on standard error");
}

void add_hints(CLI::App& app, CalibrateArguments& given) {
  app.add_option("--collective", given.collective, "Where a log does not say which was measured")
      ->option_text("KIND");
  app.add_option("--ranks", given.hints.ranks, "Where a log does not list its ranks")
      ->transform(whole_number(1))
      ->option_text("N");
  app.add_option("--ranks-per-node", given.hints.ranks_per_node,
                 "Where a log does not list its hosts")
      ->transform(whole_number(1))
      ->option_text("N");
}

int run_calibrate_import(int argc, char** argv) {
  CLI::App app("Turns measurements of other programs into samples for `headway calibrate fit`.");
  CommonOptions options;
  CalibrateArguments given;
  describe(app, "calibrate import",
           "  headway calibrate import nccl-tests all_reduce.log --out samples.csv\n"
           "  headway calibrate import torch-profiler trace.json.gz --ranks-per-node 8");
  app.add_option("FORMAT", given.format, "What the files are")
      ->required()
      ->check(one_of({"nccl-tests", "nccl-tests-json", "fio", "gemm", "torch-profiler"}))
      ->option_text("nccl-tests|nccl-tests-json|fio|gemm|torch-profiler");
  app.add_option("FILE", given.files, "The files")->required()->option_text("...");
  add_hints(app, given);
  add_out(app, options);
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  read_hints(given);
  fit::SampleSet set;
  for (const auto& file : given.files) {
    const auto imported = read_measurement(given.format, file, given.hints);
    add(set, imported.set);
    for (const auto& text : imported.remarks) {
      remark(options, text);
    }
  }
  deliver(options, fit::write_samples(set));
  return 0;
}

int run_calibrate_fit(int argc, char** argv) {
  CLI::App app("Fits samples into a calibration profile that any scenario can `use:`.");
  CommonOptions options;
  CalibrateArguments given;
  describe(app, "calibrate fit",
           "  headway calibrate fit samples.csv --gpu h100-sxm --out calibrations/ours.yaml\n"
           "  headway calibrate fit *.csv --flagged flagged.csv --out ours.yaml");
  app.add_option("SAMPLES", given.files, "Tables of samples (CSV)")->required()->option_text("...");
  app.add_option("--gpu", given.gpu, "GPU entry whose peaks kernels are shares of")
      ->option_text("ENTRY");
  app.add_option("--name", given.name, "Name printed in reports")
      ->check(utf8_text())
      ->option_text("TEXT");
  app.add_option("--tolerance", given.tolerance, "Of curves thinned to fewer points, relative")
      ->check(number_between(0, 0.5))
      ->option_text("X [0.02]");
  app.add_option("--flagged", given.flagged, "Also write the samples with the flags of the fits")
      ->option_text("FILE");
  app.add_option("--tables", given.tables, "Also write GEMM tables by shape (an entry of kernels/)")
      ->option_text("FILE");
  add_out(app, options);
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options, {given.flagged, given.tables});
  fit::SampleSet set;
  for (const auto& file : given.files) {
    add(set, fit::read_samples(import::read_input(file), file));
  }
  fit::ProfileOptions how;
  how.name = !given.name.empty() ? given.name : (set.fact("device") + " measured");
  how.tolerance = given.tolerance;
  if (!given.gpu.empty()) {
    how.gpu = gpu_entry(given.gpu);
  }
  const auto profile = fit::fit_profile(std::move(set), how);
  remark(options, report::to_text(report::profile_document(profile)));
  std::vector<OutFile> files{{options.out, config::write_calibration(profile.spec)}};
  if (!given.flagged.empty()) {
    files.push_back({given.flagged, fit::write_samples(profile.samples)});
  }
  if (!given.tables.empty()) {
    const auto fitted = fit::fit_gemm_tables(profile.samples.samples, how.name, given.tolerance);
    for (const auto& text : fitted.remarks) {
      remark(options, text);
    }
    files.push_back({given.tables, config::write_kernels(fitted.tables)});
  }
  deliver(options, files);
  return 0;
}

int run_calibrate_compare(int argc, char** argv) {
  CLI::App app("Lays a profile's curve beside a log of nccl-tests that it did not see.");
  CommonOptions options;
  CalibrateArguments given;
  given.format = "nccl-tests";
  describe(app, "calibrate compare",
           "  headway calibrate compare ours.yaml all_reduce.log\n"
           "  headway calibrate compare nccl-h100-sxm report.json --format json");
  app.add_option("PROFILE", given.profile, "Calibration profile: file or entry")
      ->required()
      ->option_text(" ");
  app.add_option("LOG", given.files, "Output of nccl-tests, as text or as its JSON")
      ->required()
      ->expected(1)
      ->option_text(" ");
  add_hints(app, given);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  read_hints(given);
  const auto profile = load_profile(given.profile);
  const std::string& log = given.files.front();
  const bool is_json = log.ends_with(".json") || log.ends_with(".json.gz");
  const auto measured =
      read_measurement(is_json ? "nccl-tests-json" : "nccl-tests", log, given.hints);
  const auto comparison = study::compare_profile(profile, measured.set.samples, log);
  deliver(options,
          options.format == "json"  ? OutFile{options.out, report::comparison_json(comparison)}
          : options.format == "csv" ? printed(report::comparison_table(comparison), options)
                                    : printed(report::comparison_document(comparison), options));
  return 0;
}

/// "4.2 s" or "850 ms", positive.
core::Seconds step_time(const std::string& text) {
  std::string why;
  const auto si = config::parse_quantity(text, config::reflect::dimension_of(core::Seconds{}), why);
  if (!si || *si <= 0) {
    throw core::Error(fmt::format("--step {}: {}", text, si ? "a step takes more than 0 s" : why));
  }
  return core::Seconds(*si);
}

int run_calibrate_anchor(int argc, char** argv) {
  CLI::App app("Rescales a scenario's profile by one measured step of it; prints the profile.");
  CommonOptions options;
  CalibrateArguments given;
  std::string step;
  describe(app, "calibrate anchor",
           "  headway calibrate anchor ours.yaml --step '4.2 s' --out calibrations/ours.yaml\n"
           "  headway calibrate anchor ours.yaml other-layout.yaml --step 850ms");
  app.add_option("SCENARIO", given.files, "The scenario measured, then others to predict with it")
      ->required()
      ->option_text("...");
  app.add_option("--step", step, "Mean time of an undisturbed optimizer step")
      ->required()
      ->option_text("TIME");
  app.add_option("--name", given.name, "Name printed in reports")
      ->check(utf8_text())
      ->option_text("TEXT");
  add_scenario_options(app, options);
  add_out(app, options);
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  const core::Seconds measured = step_time(step);
  std::vector<training::CheckedScenario> scenarios;
  for (const auto& file : given.files) {
    const auto loaded = config::load_scenario(file, load_options(options));
    scenarios.push_back(training::check(loaded.scenario, loaded.marks));
  }
  auto anchor = training::anchor_step(scenarios.front(), measured);
  if (!given.name.empty()) {
    anchor.calibration.name = given.name;
  }
  std::vector<report::AnchoredStep> steps{{given.files.front(), anchor.predicted, anchor.matched}};
  for (std::size_t i = 1; i < scenarios.size(); ++i) {
    const auto after = training::recalibrated(scenarios[i], anchor.calibration);
    steps.push_back({given.files[i],
                     training::simulate_step(scenarios[i], {.trace = false, .hash_draws = 0}).time,
                     training::simulate_step(after, {.trace = false, .hash_draws = 0}).time});
  }
  remark(options, report::to_text(report::anchor_document(anchor, measured, steps)));
  deliver(options, config::write_calibration(anchor.calibration));
  return 0;
}

constexpr const char* kHelp =
    "Turns measurements into calibration profiles (docs/calibration.md).\n"
    "Usage:\n"
    "  headway calibrate import FORMAT FILE...  others' measurements as samples\n"
    "  headway calibrate fit SAMPLES...         samples as a profile for `use:`\n"
    "  headway calibrate compare PROFILE LOG    a profile against a log\n"
    "  headway calibrate anchor SCENARIO --step TIME\n"
    "                                           a profile rescaled by a measured step\n"
    "Measuring itself is done on the node by the program headway-calibrate.\n";

struct Part {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr std::array<Part, 4> kCalibrateParts{{{"import", run_calibrate_import},
                                               {"fit", run_calibrate_fit},
                                               {"compare", run_calibrate_compare},
                                               {"anchor", run_calibrate_anchor}}};

/// Of the manual page.
int print_calibrate_manual(char** argv) {
  print_result("Turns measurements into calibration profiles.\n");
  for (const auto& [name, run] : kCalibrateParts) {
    print_result(fmt::format(".SS headway calibrate {}\n", name));
    run(2, argv);
  }
  return 0;
}

}  // namespace

int run_calibrate(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  for (const auto& [name, run] : kCalibrateParts) {
    if (what == name) {
      return run(argc - 1, argv + 1);
    }
  }
  if (what == kManual) {
    return print_calibrate_manual(argv);
  }
  if (what == "--help" || what == "-h") {
    print_help(kHelp);
    return 0;
  }
  print_error(kHelp);
  return kUsage;
}

}  // namespace headway::apps
