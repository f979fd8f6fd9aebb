#include "sim/report/check_report.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/report/assert.h"
#include "sim/report/json_parts.h"
#include "sim/training/check.h"

namespace headway::report {

namespace {

void check_file(const std::string& path,
                const std::string& kind,
                const config::LoadOptions& options) {
  if (kind != "scenarios") {
    config::check_entry(path, options);
    return;
  }
  const auto loaded = config::load_scenario(path, options);
  training::check(loaded.scenario, loaded.marks);
  parse_assertions(loaded.scenario.assertions, loaded.marks);
}

Json error_json(const core::Diagnostic& error) {
  Json out = {
      {"message", error.message}, {"file", nullptr}, {"line", nullptr}, {"column", nullptr}};
  if (error.mark) {
    out["file"] = error.mark->file;
    if (error.mark->line > 0) {
      out["line"] = error.mark->line;
      out["column"] = error.mark->column;
    }
  }
  return out;
}

}  // namespace

std::vector<FileCheck> check_files(const std::vector<std::string>& paths,
                                   const config::LoadOptions& options) {
  std::vector<FileCheck> checks;
  for (const auto& path : paths) {
    FileCheck check{path, config::kind_of_file(path), {}};
    try {
      check_file(path, check.kind, options);
    } catch (const core::Error& error) {
      check.errors = error.diagnostics();
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

bool all_correct(const std::vector<FileCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(),
                     [](const FileCheck& check) { return check.errors.empty(); });
}

std::string check_text(const std::vector<FileCheck>& checks) {
  std::string out;
  for (const auto& check : checks) {
    if (check.errors.empty()) {
      out += fmt::format("{}: correct ({})\n", check.path, check.kind);
    }
  }
  return out;
}

std::string check_json(const std::vector<FileCheck>& checks) {
  Json files = Json::array();
  for (const auto& check : checks) {
    Json errors = Json::array();
    for (const auto& error : check.errors) {
      errors.push_back(error_json(error));
    }
    files.push_back({{"path", check.path},
                     {"kind", check.kind},
                     {"correct", check.errors.empty()},
                     {"errors", errors}});
  }
  return dump({{"schema", "headway.check/1"}, {"version", HEADWAY_VERSION}, {"files", files}});
}

}  // namespace headway::report
