// What `headway check` asks: every error of every file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/result_fields.h"

namespace headway::study {

/// One error with its place, where it has one.
struct FileError {
  std::string message;
  std::optional<std::string> file;
  std::optional<int> line, column;

  template <class V>
  void fields(V& v) const {
    v.part("message", message, "what was found, what was expected");
    v.part("file", file, "where it is; null: nowhere in particular");
    v.figure("line", line, "", "from 1; null: the whole file", core::at_least_one);
    v.figure("column", column, "", "from 1", core::at_least_one);
  }
};

/// One file and what is wrong with it.
struct FileCheck {
  std::string path;
  std::string kind;  ///< "scenarios", "gpus", ...
  std::vector<core::Diagnostic> errors;

  /// The errors as a result shows them.
  [[nodiscard]] std::vector<FileError> shown() const;

  template <class V>
  void fields(V& v) const {
    v.part("path", path, "of the file");
    v.part("kind", kind, "scenarios, gpus, ...");
    v.part("correct", errors.empty(), "there is no error");
    v.part("errors", shown(), "all of them");
  }
};

struct CheckReport {
  std::vector<FileCheck> files;

  template <class V>
  void fields(V& v) const {
    v.part("version", HEADWAY_VERSION, "of the program");
    v.part("files", files, "in the order given");
  }
};

/// Reads every file as what its folder says; a scenario must also keep the rules across fields.
std::vector<FileCheck> check_files(const std::vector<std::string>& paths,
                                   const config::LoadOptions& options);

/// True if no file has an error.
bool all_correct(const std::vector<FileCheck>& checks);

}  // namespace headway::study
