// What a page shows first: the figures that decide and the sentence that matters.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/report/result_json.h"

namespace headway::report {

/// Values with their units, and what they are.
using Tiles = std::vector<std::pair<std::string, std::string>>;

/// Of a run and an estimate their own figures; of a plan those of the best layout; of a comparison
/// what B makes of A; of a sweep the best point; of a drill what is lost and until when; of
/// published rows the errors and what the intervals cover. Nothing of other verbs.
Tiles tiles_of(const Json& result);

/// The sentence that matters: `verdict` of the result, or its `limit`; empty where it has neither,
/// as results of versions that wrote none.
std::string verdict_of(const Json& result);

}  // namespace headway::report
