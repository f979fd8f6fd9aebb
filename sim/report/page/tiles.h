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

/// The sentence that matters: `limit` where the result has one, else one made of the figures of the
/// verbs above; empty where there is nothing to say.
std::string verdict_of(const Json& result);

/// "180 nodes, tensor 2, pipeline 4, data 8": what tells a plan from others, and its layout without
/// the degrees that are one. Machine, nodes and boards are told where `plans` differ in them.
std::string plan_words(const Json& plan, const Json& plans);

}  // namespace headway::report
