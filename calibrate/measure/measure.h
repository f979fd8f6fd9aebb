// One whole measurement: the parts in order, each with its share of the time.
#pragma once

#include "calibrate/measure/host/bench.h"

namespace headway::measure {

/// Runs the parts that `bench.options` asks for and this machine has.
/// @throws NoGpu if a GPU part is asked for and no GPU is usable
void measure_all(Bench& bench);

}  // namespace headway::measure
