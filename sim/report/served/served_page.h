// The page of `headway serve`: a form beside the figures and pictures of a report.
#pragma once

#include <string>
#include <vector>

namespace headway::report {

/// A file of the page.
struct ServedFile {
  std::string path;  ///< "/page.css"
  std::string type;  ///< of its content
  std::string text;
};

/// All files of the page: the document, its style, its scripts. They hold nothing of a scenario;
/// the page asks for that (apps/headway/serve).
/// @param charts  JavaScript of the chart library; empty: tables stand for charts
std::vector<ServedFile> served_files(const std::string& charts);

}  // namespace headway::report
