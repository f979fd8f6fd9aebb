#include "sim/report/verbs/check_report.h"

#include <fmt/format.h>

#include "sim/report/result_json.h"

namespace headway::report {

std::string check_text(const std::vector<study::FileCheck>& checks) {
  std::string out;
  for (const auto& check : checks) {
    if (check.errors.empty()) {
      out += fmt::format("{}: correct ({})\n", check.path, check.kind);
    }
  }
  return out;
}

std::string check_json(const std::vector<study::FileCheck>& checks) {
  return dump(result_object("headway.check/1", core::figures_of(study::CheckReport{checks})));
}

}  // namespace headway::report
