// Where the scenario's own layout stands among the plans that were found for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/fields.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/plan/search.h"

namespace headway::study {

struct PlanReport;

/// The layout that the scenario had before it was searched.
struct OwnLayout {
  std::string sentence;
  std::optional<std::int64_t> plan;    ///< its place, from 1
  std::optional<core::Seconds> step;   ///< absent where it cannot run
  std::optional<double> behind;        ///< of the first plan, by the time of a token
  std::optional<std::int64_t> faster;  ///< layouts that were simulated and keep the limits

  template <class V>
  void fields(V& v) const {
    v.part("sentence", sentence, "how far it is from the first plan, or why it does not run");
    v.figure("plan", plan, "", "its place in `plans`, from 1; null where it is none of them",
             core::at_least_one);
    v.figure("step_s", step, "s", "its step, simulated; null where it does not run",
             core::positive);
    v.figure("behind", behind, "",
             "by how much longer it takes for a token than the first plan, relative; below zero "
             "where it is faster; null without either");
    v.figure("faster", faster, "",
             "of the layouts in `simulated_plans` those that take less time for a token",
             core::non_negative);
  }
};

/// "16.3 % longer a token than plan 1", of `OwnLayout::behind`.
std::string behind_words(double behind);

/// Of a search on the scenario's own machine; where the search did not simulate the scenario's own
/// layout, this does.
OwnLayout own_layout(const PlanReport& report, const plan::PlanOptions& options);

}  // namespace headway::study
