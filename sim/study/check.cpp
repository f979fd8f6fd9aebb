#include "sim/study/check.h"

#include <algorithm>

#include "sim/study/verdict/assert.h"
#include "sim/training/check.h"

namespace headway::study {

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

}  // namespace

std::vector<FileError> FileCheck::shown() const {
  std::vector<FileError> out;
  for (const core::Diagnostic& error : errors) {
    FileError& place = out.emplace_back(FileError{error.message, {}, {}, {}});
    if (error.mark) {
      place.file = error.mark->file;
      place.line = core::if_positive(error.mark->line);
      place.column = place.line ? std::optional(error.mark->column) : std::nullopt;
    }
  }
  return out;
}

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

}  // namespace headway::study
