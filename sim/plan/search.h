// The search for a parallelism plan: the analytic tier finds the layouts worth simulating, the
// simulation decides among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/campaign.h"
#include "sim/core/fields.h"
#include "sim/plan/search_progress.h"
#include "sim/plan/shortlist/class_miss.h"
#include "sim/plan/shortlist/shortlist.h"
#include "sim/plan/space.h"
#include "sim/training/step/step_result.h"

namespace headway::plan {

/// What makes one plan better than another.
enum class Objective {
  step,
  days,
  dollars,
  goodput,
  energy,
  co2,
  tokens_per_joule,
  tokens_per_dollar,
  power
};
constexpr auto enum_words(Objective) {
  using O = Objective;
  using E = core::EnumWord<Objective>;
  return std::array{E{O::step, "step"},
                    E{O::days, "days"},
                    E{O::dollars, "dollars"},
                    E{O::goodput, "goodput"},
                    E{O::energy, "energy"},
                    E{O::co2, "co2"},
                    E{O::tokens_per_joule, "tokens-per-joule"},
                    E{O::tokens_per_dollar, "tokens-per-dollar"},
                    E{O::power, "power"}};
}

/// What a plan must not exceed, or fall below; absent: no limit.
struct Limits {
  std::optional<core::Seconds> deadline;  ///< of the run's wall clock, median
  std::optional<core::Dollars> budget;    ///< of the run, median
  std::optional<std::int64_t> gpus;
  std::optional<std::int64_t> racks;  ///< of `run.recovery.rack_nodes` nodes, spares included
  std::optional<core::Watts> power;   ///< of GPUs at their limit, hosts and switches, times PUE
  std::optional<double> headroom;     ///< share of a GPU's memory that stays free, at least
  std::optional<double> goodput;      ///< of the run, median, at least
};

/// Share of a GPU's memory that stays free: what the allocator needs, or what is asked for.
double least_headroom(const Limits& limits);

struct PlanOptions {
  std::size_t keep = 10;      ///< plans returned; members of the Pareto front come on top
  bool variants = false;      ///< return variants beside the best of their family
  std::size_t simulate = 50;  ///< layouts of a cluster that are simulated at most, `keep` at least
  std::size_t verify = 0;     ///< layouts drawn from those left out and simulated all the same
  bool sensitivity =
      false;        ///< how firm the choice is (study/verdict/choice.h); no search reads it
  int threads = 0;  ///< 0: all cores; the result does not depend on it
  bool fold = true;
  Objective objective = Objective::step;
  std::vector<Objective> beside;  ///< with the objective, what the Pareto front is of; empty: time
                                  ///< and money
  Limits limits;
  std::vector<int>
      nodes;  ///< cluster sizes to look at; empty: those of `search`, or the scenario's
  core::SourceMarks marks;  ///< where the scenario's values were written; may be empty
  /// What is being done, how much of it is done, in parts that take as long; called from several
  /// threads; may be empty.
  PhaseTold progress;
};

/// What a search varies beside the layout.
struct Setting {
  int nodes = 1;
  int global_batch = 1;
  int sequence_length = 1;
  core::Precision precision = core::Precision::bf16;
  int machine = 0;  ///< of several candidates, from 0
  bool operator==(const Setting&) const = default;
};

/// One plan that fits.
struct Plan {
  Setting setting;
  std::int64_t gpus = 1;             ///< nodes x GPUs of a node
  int spares = 0;                    ///< nodes; chosen where `search.spares` asks for it
  std::int64_t racks = 1;            ///< of nodes and spares (`run.recovery.rack_nodes`)
  core::Watts power;                 ///< of GPUs at their limit, hosts and switches, times PUE
  workload::ParallelismSpec layout;  ///< with `data` resolved
  int micro_batches = 1;
  core::Seconds estimate;  ///< of the step, by the analytic tier
  training::StepResult step;
  std::optional<campaign::CampaignOutcome> campaign;  ///< where the scenario has run.until
  bool pareto = false;   ///< no other is as good in all of the front and better in one
  bool outside = false;  ///< the scenario's own layout, with a value that `search` does not list
  int variants = 0;      ///< further layouts of its family that were simulated and are not returned
};

/// Time of a token: steps of different batches compared.
double seconds_a_token(const Plan& plan);

/// By how much the objective of a plan is worse than that of the best, relative to it.
double behind(const Plan& plan, const Plan& best, Objective objective);

/// Layouts drawn from those that were not simulated.
struct Verification {
  std::int64_t asked = 0;      ///< for so many
  std::int64_t simulated = 0;  ///< of these, found to keep the rules and to fit
  std::vector<Plan> better;    ///< better than the best plan, if there is one; best first

  template <class V>
  void fields(V& v) const {
    v.figure("asked", asked, "", "layouts asked for", core::non_negative);
    v.figure("simulated", simulated, "",
             "layouts drawn from those left out that keep the rules and fit", core::non_negative);
    v.figure("better", static_cast<std::int64_t>(better.size()), "",
             "of these, within the limits and better than the best plan by the objective",
             core::non_negative);
  }
};

/// Any layout that was simulated, in figures that a chart of all of them needs.
struct SimulatedPoint {
  Setting setting;
  std::int64_t gpus = 1;             ///< nodes x GPUs of a node
  workload::ParallelismSpec layout;  ///< with `data` resolved
  core::Seconds step;
  /// Medians, where the scenario has `run.until`, and prices: of its own campaign, or in proportion
  /// to its step as those of the fastest layout of its setting, on the same GPUs.
  std::optional<double> days, usd;
  bool own_run = false;  ///< it has a campaign of its own
};

struct PlanResult {
  std::vector<Plan> plans;  ///< best first; equals in the order of settings, then of the space
  std::vector<Rejection> rejected;
  std::int64_t enumerated = 0;         ///< layouts of the space
  std::int64_t estimated = 0;          ///< of these, timed whole by the analytic tier
  std::int64_t simulated = 0;          ///< and simulated
  std::vector<SimulatedPoint> points;  ///< those within the limits, of a setting the fastest first
  std::vector<ClassMiss> classes;      ///< that no plan is of, on the cluster of the first plan
  Verification verification;
  Searched searched;  ///< what was varied, and what was held
};

/// The `keep` best plans and the Pareto front of time and money. Of each setting the layouts that
/// the analytic tier finds fastest are simulated, at most `simulate` and at most a tenth of them of
/// one family. Of a family the best is returned, unless `variants` asks for all. All plans of one
/// setting have the same GPUs, so the fastest steps are taken to give the shortest and cheapest
/// runs; what the campaign says decides among those.
/// @throws core::Error if the scenario itself breaks a rule that no layout mends, or lacks what the
/// objective and the limits need
PlanResult search(const training::Scenario& scenario, const PlanOptions& options = {});

}  // namespace headway::plan
