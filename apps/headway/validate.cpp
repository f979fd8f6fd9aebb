// headway validate: predicts published measurements and prints the errors.
#include <fstream>
#include <sstream>
#include <string>

#include "sim/report/validate_report.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw core::Error(path + ": the file cannot be read");
  }
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

int run_validate(int argc, char** argv) {
  CLI::App app("Predicts published training runs from their configurations and prints the errors.");
  CommonOptions options;
  std::string runs;
  describe(app, "validate",
           "  headway validate --runs training_runs.csv\n"
           "  headway validate --runs training_runs.csv --format json --out errors.json");
  app.add_option("--runs", runs, "Table of published runs (CSV; columns in docs/validation.md)")
      ->required()
      ->option_text("FILE");
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  const import::CsvTable table(read_file(runs), runs);
  const auto rows = validation::predict_runs(table, validation::load_catalogue(config_roots()));
  if (options.format == "json") {
    deliver(options, report::validate_json(rows));
  } else if (options.format == "csv") {
    deliver(options, report::validate_csv(rows));
  } else {
    const auto document = report::validate_document(rows);
    deliver(options,
            options.format == "md" ? report::to_markdown(document) : report::to_text(document));
  }
  return 0;
}

}  // namespace headway::apps
