#include "sim/report/run_json.h"

#include "sim/report/result_json.h"

namespace headway::report {

namespace {

Json run_object(const study::RunReport& report) {
  return result_object("headway.run/1", core::figures_of(report));
}

}  // namespace

std::string run_json(const study::RunReport& report) { return dump(run_object(report)); }

std::string run_csv(const study::RunReport& report) { return flat_csv(run_object(report)); }

}  // namespace headway::report
