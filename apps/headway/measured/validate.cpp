// headway validate: predicts published measurements and prints the errors.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "sim/core/error.h"
#include "sim/import/delimited.h"
#include "sim/import/even_rows.h"
#include "sim/import/text_file.h"
#include "sim/report/verbs/collective_rows_report.h"
#include "sim/report/verbs/goodput_report.h"
#include "sim/report/verbs/stress_report.h"
#include "sim/report/verbs/validate_report.h"
#include "sim/validation/run_row.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using import::CsvTable;

/// Nothing is predicted of a table; its rows are printed all the same, with the reasons.
constexpr int kNoAnswer = 3;

/// A table, and what it was read from.
struct ReadTable {
  CsvTable rows;
  validation::ReadInput input;
};

ReadTable table_at(const std::string& path) {
  const std::string text = import::read_input(path);
  return {CsvTable(text, path), validation::table_input(path, text)};
}

/// Published runs: one table of the user's, or the program's three.
struct RunTable {
  CsvTable rows;
  validation::ReadInput input;
  std::string mark;       ///< what is said of the rows of a further table (validation::marked)
  std::string told = {};  ///< how its cells are parted, where not by commas
};
using RunTables = std::vector<RunTable>;

/// Nothing is drawn for a step.
validation::ReadInputs inputs_of(const RunTables& tables) {
  validation::ReadInputs inputs;
  for (const RunTable& table : tables) {
    inputs.list.push_back(table.input);
  }
  inputs.list.push_back(validation::catalogue_input(config_roots()));
  return inputs;
}

/// Rows whose id begins with `only`.
std::vector<std::size_t> chosen_rows(const CsvTable& table, const std::string& only) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text_or_none(row, "id").rfind(only, 0) == 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<validation::RunPrediction> predicted(const RunTables& tables,
                                                 const std::string& only,
                                                 validation::OpenFlags open,
                                                 const CommonOptions& options) {
  Progress progress(options);
  const auto catalogue = validation::load_catalogue(config_roots());
  std::vector<validation::ChosenRuns> chosen;
  for (const RunTable& table : tables) {
    if (!table.told.empty()) {
      remark(options, fmt::format("note: {}: {}", table.rows.file(), table.told));
    }
    for (const std::string& unknown : validation::check_run_columns(table.rows)) {
      remark(options, fmt::format("warning: {}: {}", table.rows.file(), unknown));
    }
    chosen.push_back({&table.rows, chosen_rows(table.rows, only)});
  }
  progress.phase("predicting published runs");
  auto predictions = validation::predict_tables(
      chosen, catalogue, open,
      [&](std::size_t done, std::size_t total) { progress.count(done, total); });
  std::vector<validation::RunPrediction> all;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    auto rows = validation::marked(std::move(predictions[i]), tables[i].mark);
    all.insert(all.end(), std::make_move_iterator(rows.begin()),
               std::make_move_iterator(rows.end()));
  }
  if (all.empty()) {
    throw core::Error(fmt::format("no row of {} has an id that begins with '{}'",
                                  tables.front().rows.file(), only));
  }
  return all;
}

bool has_row(const CsvTable& table, const std::string& id) {
  const auto rows = chosen_rows(table, id);
  return std::any_of(rows.begin(), rows.end(),
                     [&](std::size_t row) { return table.text_or_none(row, "id") == id; });
}

/// A result in the form that --format names, and its page where --report asks for one.
template <class Text, class Csv, class Document>
std::vector<OutFile> in_form(const CommonOptions& options,
                             const Text& json,
                             const Csv& csv,
                             const Document& document) {
  OutFile shown = options.format == "json"  ? OutFile{options.out, json()}
                  : options.format == "csv" ? OutFile{options.out, csv()}
                                            : printed(document(), options);
  auto files = with_report(options, std::move(shown), json);
  if (!options.tables.empty()) {
    files.push_back({options.tables, report::to_text(document())});
  }
  return files;
}

std::vector<OutFile> validate_anchor(const RunTables& tables,
                                     const std::string& id,
                                     const CommonOptions& options) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const RunTable& table) { return has_row(table.rows, id); });
  const auto& table = found != tables.end() ? *found : tables.front();
  const auto anchor =
      validation::anchor_runs(table.rows, validation::load_catalogue(config_roots()), id);
  return in_form(
      options, [&] { return report::anchor_json(anchor, inputs_of(tables)); },
      [&] { return report::to_text(report::anchor_document(anchor)); },
      [&] { return report::anchor_document(anchor); });
}

/// @param answered  whether any row is predicted
std::vector<OutFile> validate_runs(const RunTables& tables,
                                   const std::string& only,
                                   validation::OpenFlags open,
                                   const CommonOptions& options,
                                   bool& answered) {
  const auto rows = predicted(tables, only, open, options);
  answered = std::any_of(rows.begin(), rows.end(),
                         [](const validation::RunPrediction& row) { return row.predicted; });
  // Of the user's own table, or of a part of ours, no constant was fitted.
  const bool own = tables.size() > 1 && only.empty();
  return in_form(
      options, [&] { return report::validate_json(rows, own, inputs_of(tables)); },
      [&] { return report::validate_csv(rows); },
      [&] { return report::validate_document(rows, own); });
}

std::vector<OutFile> validate_collectives(const std::string& path,
                                          bool calibrated,
                                          const CommonOptions& options) {
  const auto [table, input] = table_at(path);
  const auto catalogue = validation::load_catalogue(config_roots());
  const auto rows = calibrated ? validation::predict_collectives_calibrated(table, catalogue)
                               : validation::predict_collectives(table, catalogue);
  const auto how = calibrated ? study::Calibration::leave_one_out : study::Calibration::none;
  const validation::ReadInputs made_from{{input, validation::catalogue_input(config_roots())}, {}};
  return in_form(
      options, [&] { return report::collective_rows_json(rows, how, made_from); },
      [&] { return report::collective_rows_csv(rows); },
      [&] { return report::collective_rows_document(rows, how); });
}

std::vector<OutFile> validate_goodput(const std::string& path, const CommonOptions& options) {
  const auto [table, input] = table_at(path);
  const auto rows = validation::predict_goodput(table);
  const validation::ReadInputs made_from{{input}, validation::kGoodputSeed};
  return in_form(
      options, [&] { return report::goodput_json(rows, made_from); },
      [&] { return report::goodput_csv(rows); }, [&] { return report::goodput_document(rows); });
}

std::vector<OutFile> validate_fluid(const std::string& only, const CommonOptions& options) {
  const auto result = study::validate_flow_model(only, load_options(options));
  return in_form(
      options, [&] { return report::flow_model_json(result); },
      [&] { return report::flow_model_csv(result); },
      [&] { return report::flow_model_document(result); });
}

/// A table of published runs that comes with the catalogue.
ReadTable own_table(const std::string& name) {
  for (const auto& root : config_roots()) {
    const auto file = root / "validation" / name;
    if (std::filesystem::exists(file)) {
      ReadTable table = table_at(file.string());
      table.input.name = name;  // wherever the catalogue lies
      return table;
    }
  }
  throw core::Error(
      fmt::format("the catalogue has no validation/{}; is HEADWAY_CONFIGS complete? Or name a "
                  "table: --runs FILE",
                  name));
}

RunTables run_tables(const std::string& path) {
  if (!path.empty()) {
    const std::string text = import::read_input(path);
    const auto [parted, told] = import::with_commas(text);
    return {{CsvTable(import::with_even_rows(parted, "unreadable"), path),
             validation::table_input(path, text), "", told}};
  }
  RunTables tables;
  for (const auto& [name, mark] : {std::pair("training_runs.csv", ""),
                                   std::pair("training_runs_unfitted.csv", validation::kNotFitted),
                                   std::pair("layout_sweep.csv", validation::kLayoutSweep)}) {
    auto [rows, input] = own_table(name);
    tables.push_back({std::move(rows), std::move(input), mark});
  }
  return tables;
}

}  // namespace

int run_validate(int argc, char** argv) {
  CLI::App app("Predicts published measurements from their configurations and prints the errors.");
  CommonOptions options;
  std::string runs;
  std::string collectives;
  bool calibrated = false;
  bool quick = false;
  bool flow_model = false;
  std::string goodput;
  std::string only;
  std::string anchor;
  describe(app, "validate",
           "  headway validate --runs training_runs.csv --anchor dgxc-142\n"
           "  headway validate --collectives collectives.csv --format json --out errors.json");
  auto* what = app.add_option_group(
      "Measurements", "At most one of these; without one, the runs that come with the program");
  what->add_option("table,--runs", runs,
                   "Published training runs (CSV; columns in docs/validation.md)")
      ->check(file_name())
      ->option_text("FILE");
  what->add_option("--collectives", collectives, "Published timings of collectives (CSV)")
      ->check(file_name())
      ->option_text("FILE");
  what->add_option("--goodput", goodput, "Published shares of useful time (CSV)")
      ->check(file_name())
      ->option_text("FILE");
  what->add_flag("--flow-model", flow_model,
                 "The fluid network model against simulated packets, on every fabric");
  what->require_option(0, 1);
  app.add_flag("--calibrated", calibrated,
               "With --collectives: from the other sizes of each system's own curve")
      ->needs("--collectives")
      ->option_text(" ");
  app.add_option("--only", only, "Rows whose id, fabrics whose name begins with this")
      ->option_text("TEXT");
  app.add_flag("--quick", quick,
               "Simulate what a row leaves open one way only: intervals are too narrow");
  app.add_option("--anchor", anchor,
                 "Scale the profile by this row and say what it does to the others")
      ->option_text("ROW");
  add_progress_options(app, options);
  app.get_option("--progress")->group("");  // beside --quiet
  add_report_option(app, options);
  add_tables_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options, {options.report, options.tables});
  const auto open = quick ? validation::OpenFlags::one_way : validation::OpenFlags::both_ways;
  bool answered = true;
  deliver(options, flow_model             ? validate_fluid(only, options)
                   : !collectives.empty() ? validate_collectives(collectives, calibrated, options)
                   : !goodput.empty()     ? validate_goodput(goodput, options)
                   : anchor.empty() ? validate_runs(run_tables(runs), only, open, options, answered)
                                    : validate_anchor(run_tables(runs), anchor, options));
  return answered ? 0 : kNoAnswer;
}

}  // namespace headway::apps
