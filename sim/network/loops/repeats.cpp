#include "sim/network/loops/repeats.h"

namespace headway::network {

std::vector<std::int64_t> times_run(const Program& program) {
  std::vector<std::int64_t> times;
  times.reserve(program.size());
  std::vector<std::int64_t> around{1};
  for (const ProgramStep& step : program) {
    if (step.code == StepCode::loop) {
      around.push_back(around.back() * step.ticks);
    }
    times.push_back(around.back());
    if (step.code == StepCode::end_loop) {
      around.pop_back();
    }
  }
  return times;
}

}  // namespace headway::network
