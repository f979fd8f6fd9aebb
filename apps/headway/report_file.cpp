#include "apps/headway/report_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/core/read_file.h"
#include "sim/report/page/page.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

/// The library has 0.9 MB; what is far larger is not it.
constexpr std::size_t kLargestLibrary = std::size_t{16} << 20U;

}  // namespace

void add_report_option(CLI::App& app, CommonOptions& options, bool in_help) {
  auto* option = app.add_option("--report", options.report,
                                "Also a page of HTML with charts, which needs no network")
                     ->check(file_name())
                     ->option_text("FILE");
  if (!in_help) {
    option->group("");  // `headway report --help` tells it for all verbs
  }
}

std::string chart_library() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path file = program.parent_path().parent_path() / "share" / "headway" / "charts.js";
  return !error && fs::is_regular_file(file, error) ? core::read_file(file, kLargestLibrary) : "";
}

std::vector<OutFile> with_report(const CommonOptions& options,
                                 OutFile shown,
                                 const std::function<std::string()>& json) {
  std::vector<OutFile> files{std::move(shown)};
  if (!options.report.empty()) {
    files.push_back(
        {options.report,
         report::report_page({{{report::Json::parse(json()), options.report}, options.command}},
                             chart_library())});
  }
  return files;
}

}  // namespace headway::apps
