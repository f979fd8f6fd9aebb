// How firm the choice of a plan is: which input must change, and by how much, before another of the
// plans wins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/result_fields.h"
#include "sim/plan/search.h"

namespace headway::study {

struct PlanReport;

/// Which way an input is changed.
enum class ChangeWay { less, more };
constexpr auto enum_words(ChangeWay) {
  using E = core::EnumWord<ChangeWay>;
  return std::array{E{ChangeWay::less, "less"}, E{ChangeWay::more, "more"}};
}

/// One input, changed one way.
struct ChoiceChange {
  std::string input;          ///< "NVLink"
  std::string scaled_fields;  ///< the scenario's fields that are scaled
  ChangeWay way = ChangeWay::less;
  std::optional<double> factor;        ///< at which another plan wins; absent: none of the range
  std::optional<std::int64_t> winner;  ///< its place, from 1; absent with a factor: no plan is left
  std::string reason;  ///< why the first plan is out, or the input was not changed; may be empty
  /// By how much the best other plan is worse than the first where that still wins, at the least,
  /// and at which factor.
  std::optional<double> lead, lead_at;

  template <class V>
  void fields(V& v) const {
    v.part("input", input, "what is changed");
    v.part("fields", scaled_fields, "the scenario's fields that are scaled, of every machine");
    v.part("way", way, "less or more of it");
    v.figure("factor", factor, "1",
             "times what the scenario says, nearest to 1, at which plan 1 is no longer the best; "
             "null: it is at every factor looked at, from 0.5 to 2",
             core::positive);
    v.figure("winner", winner, "",
             "the plan that wins there, by its place from 1; null: none, or no plan is left",
             core::at_least_one);
    v.part("reason", reason, "why plan 1 is out there, or why the input was not changed; or empty");
    v.figure("lead", lead, "1",
             "by how much the best other plan is worse than plan 1, relative, least of the factors "
             "at which plan 1 wins; null where no other is left");
    v.figure("lead_at", lead_at, "1", "the factor of that", core::positive);
  }
};

/// All inputs, both ways.
struct Choice {
  std::string sentence;
  std::vector<ChoiceChange> changes;

  template <class V>
  void fields(V& v) const {
    v.part("sentence", sentence, "how firm the choice of plan 1 is");
    v.part("changes", changes, "one input at a time, less and more of it");
  }
};

/// Looks for the nearest change of each input, from half to twice its value, at which the first of
/// a report's plans is no longer its best by the objective, within the limits: every plan is
/// simulated again, with its campaign where objective or limits need one, at 0.71 and 0.5, at 1.41
/// and 2 times the value, and where the winner changes, the factor is narrowed down to 0.5 %. Only
/// the plans of the report are compared: what would be found with the changed input is another
/// search. More memory lets in layouts that no plan has, so only less is looked at. Nothing where
/// there are fewer than two plans.
std::optional<Choice> find_choice(const PlanReport& report, const plan::PlanOptions& options);

}  // namespace headway::study
