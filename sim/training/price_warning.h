// A price of one GPU that bills another.
#pragma once

#include <string>
#include <vector>

#include "sim/training/scenario.h"

namespace headway::training {

/// Whether these are whole words of the name: "H100" of "H100 80 GB SXM", "B200" not of "GB200".
bool is_named(const gpu::GpuSpec& gpu, const std::string& words);

/// One sentence for each GPU of the cluster that `run.prices` bills and is not a price of, with how
/// to give another. Prices that do not say their GPU are of any.
std::vector<std::string> price_warnings(const Scenario& scenario);

}  // namespace headway::training
