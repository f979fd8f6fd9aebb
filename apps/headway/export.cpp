// headway export: a scenario as the file that starts a training framework, or its step as traces.
#include <fmt/format.h>

#include "sim/config/launch/launch_file.h"
#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/training/check.h"

#include "apps/headway/measured/export_traces.h"
#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

struct ExportArguments {
  std::string framework, file, ranks;
};

/// Beside the frameworks: execution traces of a step.
constexpr const char* kChakra = "chakra";

std::string export_text(const ExportArguments& given, const CommonOptions& options) {
  const import::LaunchTable& table = *config::launch_table_named(given.framework);
  const auto loaded = config::load_scenario(given.file, load_options(options));
  const auto checked = training::check(loaded.scenario, loaded.marks);
  const auto file = config::launch_file(table, checked,
                                        fmt::format("Written by headway export {} from {}: {}",
                                                    table.name, given.file, loaded.scenario.name),
                                        config_roots());
  for (const std::string& lost : file.lost) {
    remark(options, fmt::format("{} cannot say: {}", table.name, lost));
  }
  return file.text;
}

}  // namespace

int run_export(int argc, char** argv) {
  CLI::App app(
      "Writes the file that starts a training framework as a scenario says, or its predicted step "
      "as "
      "execution traces (chakra).");
  CommonOptions options;
  ExportArguments given;
  describe(app, "export",
           "  headway export megatron my.yaml --out pretrain.sh\n"
           "  headway export chakra my.yaml --set parallelism.pipeline=8 --out traces");
  std::vector<std::string> names;
  for (const import::LaunchTable* table : import::launch_tables()) {
    names.emplace_back(table->name);
  }
  names.emplace_back(kChakra);
  app.add_option("FRAMEWORK", given.framework, "Whose file")
      ->required()
      ->check(one_of(names))
      ->option_text(fmt::format("{}", fmt::join(names, "|")));
  app.add_option("FILE", given.file, "The scenario, or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("--set", options.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_option("--ranks", given.ranks, "chakra: of these ranks, as 0-7,64; else of all")
      ->option_text("LIST");
  app.add_option("--out", options.out, "Write the result to this file (chakra: a folder)")
      ->check(file_name())
      ->option_text("FILE");
  app.add_flag("--force", options.force, "Let --out overwrite a file");
  app.add_flag("--quiet", options.quiet, "No remarks on standard error");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  if (given.framework == kChakra) {
    export_traces(given.file, given.ranks, options);
    return 0;
  }
  if (!given.ranks.empty()) {
    throw core::Error("--ranks is of chakra; a launch file starts all ranks");
  }
  check_out(options);
  deliver(options, export_text(given, options));
  return 0;
}

}  // namespace headway::apps
