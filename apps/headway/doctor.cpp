// headway doctor: what this installation finds and what it lacks.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <optional>
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

/// What a shell command prints first, without the newline; nothing if it fails.
std::optional<std::string> first_line_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "r"), ::pclose);
  std::array<char, 256> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    return std::nullopt;
  }
  const std::string text = line.data();
  return text.substr(0, text.find('\n'));
}

/// The Python that is first on PATH: has it this version's module, and what notebooks need? Neither
/// is needed by the program, so what lacks is said and is no error.
/// @returns  whether all of it is there
bool add_python(Table& table) {
  const auto python = first_line_of(
      "python3 -c 'import sys; print(sys.executable, sys.version.split()[0])' 2>/dev/null");
  if (!python) {
    table.rows.push_back({"Python", "no python3 on PATH", "missing"});
    return false;
  }
  table.rows.push_back({"Python", *python, "ok"});
  const auto module =
      first_line_of("python3 -c 'import headway; print(headway.__version__)' 2>/dev/null");
  table.rows.push_back(
      {"Python module headway", module ? *module : "none; pip install .",
       !module ? "missing" : (*module == HEADWAY_VERSION ? "ok" : "other version")});
  const auto notebooks = first_line_of(
      "python3 -c 'import altair, jupyterlab, pandas; print(pandas.__version__)' 2>/dev/null");
  table.rows.push_back({"Python notebooks",
                        notebooks ? "pandas " + *notebooks : "none; pip install '.[notebook]'",
                        notebooks ? "ok" : "missing"});
  return module == HEADWAY_VERSION && notebooks;
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
  const bool whole = errors == 0;
  const bool python = add_python(table);
  const report::Document document{
      "headway doctor",
      {},
      {table},
      {!whole   ? "Something is missing or wrong; see the last column."
       : python ? "Everything is in place."
                : "All that the program needs is in place; of Python, which it does not need, "
                  "something is missing."}};
  deliver(options, options.format == "json"
                       ? OutFile{options.out, report::table_json("headway.doctor/1", table)}
                   : options.format == "csv" ? printed(table, options)
                                             : printed(document, options));
  return whole ? 0 : 2;
}

}  // namespace headway::apps
