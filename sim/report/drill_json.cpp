// headway.drill/1.
#include "sim/report/result_json.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/study/drill_figures.h"

namespace headway::report {

std::string drill_json(const study::DrillReport& report) {
  return dump(result_object("headway.drill/1", core::figures_of(report)));
}

}  // namespace headway::report
