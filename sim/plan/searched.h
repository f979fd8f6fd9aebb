// What a search varies and what it holds as the scenario has it: both are said beside its result.
#pragma once

#include <string>
#include <vector>

#include "sim/training/scenario.h"

namespace headway::plan {

/// A field of the scenario and its value, or the values that are tried.
struct SearchedField {
  std::string key;  ///< dotted path
  std::string values;
  bool operator==(const SearchedField&) const = default;

  template <class V>
  void fields(V& v) const {
    v.part("key", key, "dotted path of the field");
    v.part("values", values, "what was tried, or what it has");
  }
};

struct Searched {
  std::vector<SearchedField> varied, held;
};

/// Every field of `parallelism` is in one of the lists; of the rest of the scenario those that
/// searches by hand vary most often.
/// @param nodes  cluster sizes that are looked at; empty: the scenario's
Searched searched(const training::Scenario& scenario, const std::vector<int>& nodes);

/// Whether the search replaces the schedule: 1f1b and interleaved, one by the other.
bool searches_schedule(workload::ScheduleKind schedule);

/// The layout with every recompute that the search tries, the least first: none, by parts, full;
/// the scenario's own where it is none of these. Parts are the scenario's where it has some.
std::vector<workload::ParallelismSpec> recompute_levels(const workload::ParallelismSpec& layout);

}  // namespace headway::plan
