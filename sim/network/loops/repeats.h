// How often the steps of a program run.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/flow/problem.h"

namespace headway::network {

/// Per step of the program, the product of the counts of the loops around it; of a loop and its end
/// as well, which take no time.
std::vector<std::int64_t> times_run(const Program& program);

}  // namespace headway::network
