// Goals and limits of a search as people write them.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/search.h"

namespace headway::study {

/// Sets one limit from "deadline=34 d", "budget=5e6 USD", "gpus=1024" and so on.
/// @throws core::Error if it is none, or is set already
void add_limit(const std::string& text, plan::Limits& limits);

/// Sets what plans are judged by; the first is what they are ordered by.
/// @throws core::Error if a word is no goal, or named twice
void set_goals(const std::vector<std::string>& words, plan::PlanOptions& how);

/// Sizes of a cluster that a search is asked for.
/// @throws core::Error if one is named twice
void check_sizes(std::vector<int> nodes);

}  // namespace headway::study
