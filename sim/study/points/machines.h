// Several machines in one search: which candidates a scenario's `search` names, and what becomes of
// each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/result_fields.h"
#include "sim/plan/search.h"

namespace headway::study {

/// Reads a scenario with further changes, each as `--set` takes it.
using LoadScenario = std::function<config::LoadedScenario(const std::vector<std::string>& set)>;

/// One candidate, and what became of it.
struct PlannedMachine {
  std::string name;  ///< what tells it from the others
  std::vector<std::pair<std::string, std::string>> changes;
  training::Scenario scenario;
  bool holds_tokens = false;  ///< plan::hold_tokens
  std::string price_source;
  plan::PlanResult result;
  std::string refused;             ///< why it was not searched; empty: it was
  std::optional<plan::Plan> best;  ///< of its plans by the objective

  // By comparison with the others:
  std::optional<double> behind;
  std::optional<core::DollarsPerSecond> break_even;
  std::optional<double> latest_delivery;  ///< [d]
  std::string outcome;

  [[nodiscard]] std::optional<double> days() const {
    return best && best->campaign ? std::optional(best->campaign->result.days().p50) : std::nullopt;
  }
  /// Of these, from the order to the first step; absent where the scenario does not say.
  [[nodiscard]] std::optional<double> bring_up_days() const;
  [[nodiscard]] std::optional<double> dollars() const {
    return best && best->campaign && best->campaign->total_usd
               ? std::optional(best->campaign->total_usd->p50)
               : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> gpus() const {
    return best ? std::optional(best->gpus) : std::nullopt;
  }
  /// With every GPU at its limit, hosts and switches, times PUE.
  [[nodiscard]] std::optional<core::Watts> power() const;

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "what tells it from the others");
    v.part("changes", changes, "what it changes in the scenario: field and value");
    v.figure("gpus", gpus(), "", "of its best plan; null where it has none", core::at_least_one);
    v.figure("behind", behind, "",
             "by how much `objective` is worse than that of the best machine's, relative",
             core::non_negative);
    v.figure(
        "days", days(), "d",
        "of the run on its best plan, from the order of the cluster where `run.bring_up` says when "
        "that is, median",
        core::non_negative);
    v.figure("bring_up_days", bring_up_days(), "d",
             "of these, from the order to the first step, median; null without `run.bring_up`",
             core::non_negative);
    v.figure(
        "latest_delivery_days", latest_delivery, "d",
        "`run.bring_up.delivery` at which its model is ready when that of the best plan's machine "
        "is; of that one: when the soonest other's is; null where no machine of the search has "
        "a bring-up, and where no delivery is soon enough",
        core::non_negative);
    v.figure("usd", dollars(), "USD", "cost of that run, median", core::non_negative);
    v.figure("power_w", power(), "W",
             "of that plan's cluster with every GPU at its limit, hosts and switches, times PUE",
             core::non_negative);
    v.figure("break_even_usd_per_gpu_hour",
             break_even ? std::optional(break_even->si() * 3600) : std::nullopt, "USD",
             "price of one of its GPU-hours at which its run costs as much as that of the best "
             "plan's machine, medians; of that one: as much as the cheapest other's; null without "
             "prices, and where no price does it",
             core::non_negative);
    v.part("outcome", outcome, "why it won, or lost");
  }
};

/// The candidates of a scenario, read and told apart; empty where its `search` names none.
/// @param base  the scenario without changes
/// @throws core::Error with every value that its field cannot have
std::vector<PlannedMachine> candidate_machines(const config::LoadedScenario& base,
                                               const LoadScenario& load);

/// What the search of one machine says.
struct MachineAnswer {
  plan::PlanResult result;
  std::string refused;      ///< why it was not searched; empty: it was
  bool infeasible = false;  ///< refused because it cannot be, not for an error of the input
};

/// Searches one machine; what it breaks is an answer.
MachineAnswer search_machine(const plan::PlanOptions& options, const training::Scenario& scenario);

/// Searches each machine.
/// @param known  the answers of all, where they were searched before
/// @throws core::Error if none can be searched, each for an error of the input
void search_machines(const plan::PlanOptions& options,
                     std::vector<PlannedMachine>& machines,
                     const std::vector<MachineAnswer>* known = nullptr);

/// The plans of all machines, best first, and what was left out; fills what follows by comparison.
plan::PlanResult compare_machines(const plan::PlanOptions& options,
                                  std::vector<PlannedMachine>& machines);

}  // namespace headway::study
