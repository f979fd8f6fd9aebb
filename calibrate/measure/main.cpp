// headway-calibrate: measures a GPU node; one command, one calibration profile.
#include <cstdio>
#include <exception>
#include <fmt/format.h>

#include "calibrate/measure/cuda/device.h"
#include "calibrate/measure/host/options.h"
#include "calibrate/measure/host/results.h"
#include "calibrate/measure/measure.h"

namespace {

using namespace headway;

enum Exit { kDone = 0, kFault = 1, kUsage = 2 };

int complain(int code, const std::string& text) {
  fmt::print(stderr, "headway-calibrate: {}\n", text);
  return code;
}

int run(const measure::BenchOptions& options) {
  if (const std::string reason = measure::cannot_write(options); !reason.empty()) {
    return complain(kUsage, reason);
  }
  measure::Bench bench(options);
  measure::measure_all(bench);
  if (options.rank == 0) {
    measure::write_results(bench);
  }
  return bench.wrong_results > 0
             ? complain(kFault, fmt::format("{} results were wrong", bench.wrong_results))
             : kDone;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int code = kDone;
    const auto options = measure::read_options(argc, argv, code);
    return options ? run(*options) : code;
  } catch (const measure::NoGpu& error) {
    return complain(kUsage, fmt::format("no usable GPU: {}", error.what()));
  } catch (const std::exception& error) {
    return complain(kFault, error.what());
  }
}
