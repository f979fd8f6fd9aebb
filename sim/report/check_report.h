// What `headway check` found in configuration files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/load.h"

namespace headway::report {

/// One file and what is wrong with it.
struct FileCheck {
  std::string path;
  std::string kind;  ///< "scenarios", "gpus", ...
  std::vector<core::Diagnostic> errors;
};

/// Reads every file as what its folder says; a scenario must also keep the rules across fields.
std::vector<FileCheck> check_files(const std::vector<std::string>& paths,
                                   const config::LoadOptions& options);

/// True if no file has an error.
bool all_correct(const std::vector<FileCheck>& checks);

/// One line a file that is correct.
std::string check_text(const std::vector<FileCheck>& checks);
/// "headway.check/1"
std::string check_json(const std::vector<FileCheck>& checks);

}  // namespace headway::report
