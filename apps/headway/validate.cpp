// headway validate: predicts published measurements and prints the errors.
#include <filesystem>
#include <string>

#include "sim/core/error.h"
#include "sim/report/collective_rows_report.h"
#include "sim/report/goodput_report.h"
#include "sim/report/validate_report.h"

#include "apps/headway/input.h"
#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

/// Rows whose id begins with `only`.
std::vector<std::size_t> chosen_rows(const import::CsvTable& table, const std::string& only) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "id").rfind(only, 0) == 0) {
      rows.push_back(row);
    }
  }
  if (rows.empty() && table.rows() > 0) {
    throw core::Error(
        fmt::format("no row of {} has an id that begins with '{}'", table.file(), only));
  }
  return rows;
}

std::string validate_anchor(const std::string& path,
                            const std::string& id,
                            const std::string& format) {
  const import::CsvTable table(read_input(path), path);
  const auto anchor =
      validation::anchor_runs(table, validation::load_catalogue(config_roots()), id);
  if (format == "json") {
    return report::anchor_json(anchor);
  }
  const auto document = report::anchor_document(anchor);
  return format == "md" ? report::to_markdown(document) : report::to_text(document);
}

std::string validate_runs(const std::string& path,
                          const std::string& only,
                          const std::string& format) {
  const import::CsvTable table(read_input(path), path);
  const auto rows = validation::predict_runs(table, validation::load_catalogue(config_roots()),
                                             chosen_rows(table, only));
  if (format == "json") {
    return report::validate_json(rows);
  }
  if (format == "csv") {
    return report::validate_csv(rows);
  }
  const auto document = report::validate_document(rows);
  return format == "md" ? report::to_markdown(document) : report::to_text(document);
}

std::string validate_collectives(const std::string& path,
                                 bool calibrated,
                                 const std::string& format) {
  const import::CsvTable table(read_input(path), path);
  const auto catalogue = validation::load_catalogue(config_roots());
  const auto rows = calibrated ? validation::predict_collectives_calibrated(table, catalogue)
                               : validation::predict_collectives(table, catalogue);
  const auto how = calibrated ? report::Calibration::leave_one_out : report::Calibration::none;
  if (format == "json") {
    return report::collective_rows_json(rows, how);
  }
  if (format == "csv") {
    return report::collective_rows_csv(rows);
  }
  const auto document = report::collective_rows_document(rows, how);
  return format == "md" ? report::to_markdown(document) : report::to_text(document);
}

std::string validate_goodput(const std::string& path, const std::string& format) {
  const import::CsvTable table(read_input(path), path);
  const auto rows = validation::predict_goodput(table);
  if (format == "json") {
    return report::goodput_json(rows);
  }
  if (format == "csv") {
    return report::goodput_csv(rows);
  }
  const auto document = report::goodput_document(rows);
  return format == "md" ? report::to_markdown(document) : report::to_text(document);
}

/// The published runs that come with the catalogue.
std::string own_runs() {
  for (const auto& root : config_roots()) {
    const auto file = root / "validation" / "training_runs.csv";
    if (std::filesystem::exists(file)) {
      return file.string();
    }
  }
  throw core::Error(
      "the catalogue has no validation/training_runs.csv; is HEADWAY_CONFIGS complete? Or name a "
      "table: --runs FILE");
}

}  // namespace

int run_validate(int argc, char** argv) {
  CLI::App app("Predicts published measurements from their configurations and prints the errors.");
  CommonOptions options;
  std::string runs;
  std::string collectives;
  bool calibrated = false;
  std::string goodput;
  std::string only;
  std::string anchor;
  describe(app, "validate",
           "  headway validate --runs training_runs.csv --anchor dgxc-142\n"
           "  headway validate --collectives collectives.csv --format json --out errors.json");
  auto* what = app.add_option_group(
      "Measurements", "At most one of these; none: the runs that come with the program");
  what->add_option("--runs", runs, "Published training runs (CSV; columns in docs/validation.md)")
      ->option_text("FILE");
  what->add_option("--collectives", collectives, "Published timings of collectives (CSV)")
      ->option_text("FILE");
  what->add_option("--goodput", goodput, "Published shares of useful time (CSV)")
      ->option_text("FILE");
  what->require_option(0, 1);
  app.add_flag("--calibrated", calibrated,
               "With --collectives: from the other sizes of each system's own curve")
      ->needs("--collectives");
  app.add_option("--only", only, "Rows whose id begins with this")->option_text("TEXT");
  app.add_option("--anchor", anchor,
                 "Scale the profile by this row and say what it does to the others")
      ->option_text("ROW");
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  if (runs.empty() && collectives.empty() && goodput.empty()) {
    runs = own_runs();
  }
  deliver(options, !collectives.empty()
                       ? validate_collectives(collectives, calibrated, options.format)
                   : !goodput.empty() ? validate_goodput(goodput, options.format)
                   : anchor.empty()   ? validate_runs(runs, only, options.format)
                                      : validate_anchor(runs, anchor, options.format));
  return 0;
}

}  // namespace headway::apps
