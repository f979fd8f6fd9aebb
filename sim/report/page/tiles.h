// What a page shows first: the figures that decide and the sentence that matters.
#pragma once

#include <optional>
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

/// B / A of a comparison; nothing where either lacks the figure.
/// @param key  of the figure on a side
std::optional<double> ratio_of_sides(const Json& result, const char* key);
/// What B makes of A, as people read it: of shares "+1.2 points", else the ratio as `change_text`
/// has it; empty where either lacks the figure.
std::string change_of_sides(const Json& result, const char* key);
/// A figure of side "a" or "b" with its unit.
std::string side_text(const Json& result, const char* side, const char* key);
/// "+12.5 %", or from twice on "2.72 x".
std::string change_text(double ratio);

/// The sentence that matters: `verdict` of the result, or its `limit`; empty where it has neither,
/// as results of versions that wrote none.
std::string verdict_of(const Json& result);

}  // namespace headway::report
