// What plans are judged by: objectives, the Pareto front, limits of a run.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/entry.h"
#include "sim/plan/search.h"

namespace headway::plan {

/// What of a scenario a search varies beside the layout; of the first machine.
Setting make_setting(const training::Scenario& s);

/// Where a run is so many steps long and the steps of `s` are of another size than those of the
/// scenario that it comes from, it is as many tokens long instead.
/// @returns whether it is
bool hold_tokens(const training::Scenario& scenario, training::Scenario& s);
/// What is held then, beside the result.
SearchedField held_tokens(const training::Scenario& scenario);
/// The scenario in a setting, training as many tokens as the scenario itself would.
training::Scenario with_setting(const training::Scenario& scenario, const Setting& setting);

Plan make_plan(const Entry& entry);

/// Simulates the run, where the scenario has `run.until`. Candidates are too many to know where
/// each of their values was written; a plan does, so that a campaign's complaint has its place.
/// @param count  who is told how many of a run's trials are done, asked for each of
///               `runs_of_a_plan`; may be empty
void add_campaign(const training::Scenario& setting,
                  const PlanOptions& options,
                  int threads,
                  Plan& plan,
                  const std::function<core::Count()>& count = {});
/// With `search.spares` one run says how many spares it needs, and the next has them. Those that
/// try fewer are not counted here, since nobody knows how many they will be.
std::size_t runs_of_a_plan(const training::Scenario& setting);

/// All layouts of one setting that were simulated, fastest first, within limits of the run.
/// @param plans  of the same setting, fastest first, with their campaigns
std::vector<SimulatedPoint> simulated_points(const std::vector<Entry>& simulated,
                                             const std::vector<Plan>& plans,
                                             const Limits& limits);

/// Of an objective; smaller is better.
double value(const Plan& plan, Objective objective);

/// Whether of the same GPUs another layout than the fastest may be the best by what plans are
/// judged by: a shorter step ends sooner and, but for electricity that is billed apart, costs less;
/// it may take more energy, and more of it may be lost.
bool weighs_slower(const PlanOptions& options);

/// Whether a plan comes before another: by the objective, and of equals the one whose run costs
/// less.
bool comes_first(const Plan& a, const Plan& b, Objective objective);

/// Marks the plans that no other dominates.
void mark_front(std::vector<Plan>& plans, const PlanOptions& options);

}  // namespace headway::plan
