// headway catalog: what `use:` can name, the files behind it, and the constants of the models.
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/report/constants.h"
#include "sim/report/table.h"
#include "sim/report/table_json.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using report::Table;

OutFile print(const std::string& schema, const Table& table, const CommonOptions& options) {
  return options.format == "json" ? OutFile{options.out, report::table_json(schema, table)}
                                  : printed(table, options);
}

/// All entries, or those of one kind.
Table entries_table(const std::string& kind) {
  Table table{"Entries that `use:` can name",
              {{"kind", false}, {"name", false}, {"file", false}},
              {},
              false};
  const auto roots = config_roots();
  const auto kinds = kind.empty() ? config::catalogue_kinds() : std::vector<std::string>{kind};
  for (const auto& each : kinds) {
    for (const auto& entry : config::list_entries(each, roots)) {
      table.rows.push_back({each, entry.name, entry.path.string()});
    }
  }
  return table;
}

std::string entry_text(const std::string& kind, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : config::list_entries(kind, config_roots())) {
    if (entry.name == name) {
      std::ifstream file(entry.path);
      return "# " + entry.path.string() + "\n" +
             std::string(std::istreambuf_iterator<char>(file), {});
    }
    names.push_back(entry.name);
  }
  const auto guess = core::did_you_mean(name, names);
  throw core::Error(fmt::format("'{}' has no entry '{}'{}", kind, name,
                                guess
                                    ? fmt::format("; did you mean '{}'?", *guess)
                                    : fmt::format("; 'headway catalog list {}' lists them", kind)));
}

/// Words after the verb: list [KIND] | show KIND NAME | constants.
OutFile answer(const std::vector<std::string>& words, const CommonOptions& options) {
  const std::string action = words.empty() ? "list" : words[0];
  if (action == "list" && words.size() <= 2) {
    return print("headway.catalog/1", entries_table(words.size() == 2 ? words[1] : ""), options);
  }
  if (action == "show" && words.size() == 3) {
    return {options.out, entry_text(words[1], words[2])};
  }
  if (action == "constants" && words.size() == 1) {
    return print("headway.constants/1", report::constants_table(config_roots()), options);
  }
  throw core::Error("headway catalog: write 'list', 'list KIND', 'show KIND NAME' or 'constants'");
}

}  // namespace

int run_catalog(int argc, char** argv) {
  CLI::App app(
      "Lists what `use:` can name, shows an entry's file with its sources, lists the models' "
      "constants.");
  CommonOptions options;
  std::vector<std::string> words;
  describe(app, "catalog",
           "  headway catalog list gpus\n"
           "  headway catalog show gpus h100-sxm");
  app.add_option("ACTION", words, "list [KIND] | show KIND NAME | constants")
      ->option_text("[list]");
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  deliver(options, answer(words, options));
  return 0;
}

}  // namespace headway::apps
