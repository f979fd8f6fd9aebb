// headway doctor: what this installation finds and what it lacks.
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <thread>

#include "sim/report/table.h"
#include "sim/report/table_json.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using report::Table;

bool readable(const std::filesystem::path& path, const std::vector<std::filesystem::path>& roots) {
  try {
    config::check_entry(path, {roots, {}});
    return true;
  } catch (const core::Error&) {
    return false;  // `headway check` says why
  }
}

/// Counts and reads every entry of one kind.
/// @returns entries that have errors
std::size_t add_kind(const std::string& kind,
                     const std::vector<std::filesystem::path>& roots,
                     Table& table) {
  std::string wrong;
  std::size_t entries = 0;
  std::size_t errors = 0;
  for (const auto& entry : config::list_entries(kind, roots)) {
    ++entries;
    if (!readable(entry.path, roots)) {
      ++errors;
      wrong += fmt::format(", wrong: {}", entry.path.string());
    }
  }
  table.rows.push_back({fmt::format("catalogue {}", kind),
                        fmt::format("{} entries{}", entries, wrong), errors == 0 ? "ok" : "wrong"});
  return errors;
}

}  // namespace

int run_doctor(int argc, char** argv) {
  CLI::App app(
      "Says what this installation finds: version, threads, configuration folders, catalogue.");
  CommonOptions options;
  describe(app, "doctor",
           "  headway doctor\n"
           "  HEADWAY_CONFIGS=my/configs headway doctor --format json");
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  Table table{"Installation", {{"what", false}, {"found", false}, {"state", false}}, {}, false};
  table.rows.push_back({"version", HEADWAY_VERSION, "ok"});
  table.rows.push_back(
      {"hardware threads", std::to_string(std::thread::hardware_concurrency()), "ok"});
  const auto roots = config_roots();
  for (const auto& root : roots) {
    table.rows.push_back({"configuration folder", root.string(), "ok"});
  }
  if (roots.empty()) {
    table.rows.push_back({"configuration folder", "none; set HEADWAY_CONFIGS", "missing"});
  }
  std::size_t errors = roots.empty() ? 1 : 0;
  for (const auto& kind : config::catalogue_kinds()) {
    errors += add_kind(kind, roots, table);
  }
  const report::Document document{
      "headway doctor",
      {},
      {table},
      {errors == 0 ? "Everything is in place."
                   : "Something is missing or wrong; see the last column."}};
  if (options.format == "json") {
    deliver(options, report::table_json("headway.doctor/1", table));
  } else if (options.format == "csv") {
    deliver(options, report::to_csv(table));
  } else {
    deliver(options,
            options.format == "md" ? report::to_markdown(document) : report::to_text(document));
  }
  return errors == 0 ? 0 : 2;
}

}  // namespace headway::apps
