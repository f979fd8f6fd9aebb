// The files a measurement leaves: the samples (CSV) and the profile made from them (YAML).
#pragma once

#include <string>

#include "calibrate/measure/host/bench.h"

namespace headway::measure {

/// Why the results could not be written where the user wants them; empty if they can.
std::string cannot_write(const BenchOptions& options);

/// Writes samples and profile and says where.
/// @throws std::runtime_error if a file cannot be written
/// @throws core::Error if the samples tell too little for a profile; they are written by then
void write_results(Bench& bench);

}  // namespace headway::measure
