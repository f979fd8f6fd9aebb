#include "sim/study/points/machines.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

#include "sim/config/suggestions/suggest.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/plan/judge.h"
#include "sim/plan/sweep_points.h"
#include "sim/study/points/sweep.h"
#include "sim/study/predict.h"
#include "sim/training/check.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::study {

using namespace core::literals;

namespace {

/// Most candidates: each is a search of its own.
constexpr std::size_t kMostMachines = 1000;

/// A field of the catalogue is chosen by name: `cluster.node` is `cluster.node.use`.
std::string chosen_key(const std::string& key) {
  const auto found = config::find_keys(key);
  const bool record = found.size() == 1 && found.front().path == key &&
                      found.front().field->type->shape != config::Shape::list && [&] {
                        const config::SpecType* type = found.front().field->type;
                        while (type->element != nullptr) {
                          type = type->element;
                        }
                        return type->shape == config::Shape::record && !type->catalogue.empty();
                      }();
  return record ? key + ".use" : key;
}

std::string argument_of(const plan::SweepChange& change) {
  if (change.key == "cluster.spares" && change.value == "auto") {
    return "search.spares=auto";
  }
  return chosen_key(change.key) + "=" + change.value;
}

/// "dgx-b200", "spares 8" or "other hazards": entries of the catalogue speak for themselves, and
/// lists are too long to.
std::string value_words(const plan::SweepChange& change) {
  const std::string key = chosen_key(change.key);
  if (key.ends_with(".use")) {
    return change.value;
  }
  const std::string field = key.substr(key.rfind('.') + 1);
  const bool long_value = change.value.starts_with('[') || change.value.starts_with('{');
  return long_value ? "other " + field : fmt::format("{} {}", field, change.value);
}

/// Fields that are not the same in all candidates.
std::set<std::string> telling_keys(const plan::SweepPoints& points) {
  std::map<std::string, std::multiset<std::string>> values;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const auto& change : points.changes(i)) {
      values[change.key].insert(change.value);
    }
  }
  std::set<std::string> keys;
  for (const auto& [key, of_key] : values) {
    if (of_key.count(*of_key.begin()) <
        points.size()) {  // another value, or as the scenario has it
      keys.insert(key);
    }
  }
  return keys;
}

/// What tells it from the others; of one machine, or of several that are alike, all there is.
std::string name_of_machine(const plan::SweepChanges& changes, const std::set<std::string>& keys) {
  std::vector<std::string> words;
  for (const auto& change : changes) {
    if (keys.empty() || keys.count(change.key) > 0) {
      words.push_back(value_words(change));
    }
  }
  return words.empty() ? "as the scenario" : fmt::format("{}", fmt::join(words, ", "));
}

/// Where `search` lists machines, by the paths of the sweep that goes through them.
core::SourceMarks marks_of_sweep(const core::SourceMarks& marks) {
  core::SourceMarks out;
  for (const auto& [from, to] : {std::pair<std::string, std::string>("search.over", "sweep.grid"),
                                 {"search.machines", "sweep.rows"}}) {
    for (const auto& [path, mark] : marks) {
      if (path.starts_with(from)) {
        out[to + path.substr(from.size())] = mark;
      }
    }
  }
  return out;
}

/// The field of the search that varies a key of the scenario within each machine; empty: none.
std::string varied_by(const training::SearchSpec& search, const std::string& key) {
  const std::tuple<const char*, bool, const char*> lists[] = {
      {"cluster.nodes", search.nodes.empty(), "nodes"},
      {"training.global_batch", search.global_batch.empty(), "global_batch"},
      {"training.sequence_length", search.sequence_length.empty(), "sequence_length"},
      {"training.precision", search.precision.empty(), "precision"}};
  for (const auto& [listed, empty, field] : lists) {
    if (key == listed) {
      return empty ? "" : field;
    }
  }
  constexpr std::string_view kLayout = "parallelism.";
  std::string field = key.starts_with(kLayout) ? key.substr(kLayout.size()) : "";
  field = field == "first_stage_layers" || field == "last_stage_layers" ? "stage_layers"
          : field.starts_with("recompute_")                             ? "recompute"
          : field == "offload_layers"                                   ? "offload"
                                                                        : field;
  const auto axis = core::from_word<training::SearchAxis>(field);
  return axis && plan::varies(search, *axis) ? field : "";
}

/// Refuses a field that the search of each machine varies too: all machines would be alike.
void refuse_what_is_varied(const training::SearchSpec& search, const std::set<std::string>& keys) {
  core::Diagnostics diagnostics;
  for (const std::string& key : keys) {
    const std::string field = varied_by(search, key);
    if (field.empty()) {
      continue;
    }
    const bool axis = key.starts_with("parallelism.");
    diagnostics.add(
        std::nullopt,
        fmt::format(
            "candidate machines differ in {0}, which the search of each varies "
            "too; {1}",
            key,
            axis ? fmt::format("hold it (--hold {0}), or list its values as "
                               "search.{0}",
                               field)
                 : fmt::format("keep search.{} or the machines{}", field,
                               field == "nodes" ? " (--nodes stands for search.nodes)" : "")));
  }
  diagnostics.throw_if_any();
}

/// Refuses machines that are alike in every field.
void refuse_twins(const std::vector<PlannedMachine>& machines) {
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (machines[i].scenario == machines[j].scenario) {
        throw core::Error(fmt::format("machines {} and {} are the same ({}); name each once", j + 1,
                                      i + 1, machines[i].name));
      }
    }
  }
}

/// What its GPU-hours, those of spares and of bring-up included, cost, and all that the run costs:
/// of the run of median dollars, by which machines are judged, as far as the bill of the mean run
/// divides it.
std::optional<std::pair<double, double>> hours_and_total(const PlannedMachine& machine) {
  const auto total = machine.dollars();
  if (!total || !machine.best->campaign->mean_bill || !machine.scenario.run.prices) {
    return std::nullopt;
  }
  const price::Bill& bill = *machine.best->campaign->mean_bill;
  const double of_hours = (bill.gpus + bill.spares + bill.bring_up).si() / bill.total().si();
  return std::pair(of_hours * *total, *total);
}

/// The cheapest machine but one.
const PlannedMachine* cheapest_other(const std::vector<PlannedMachine>& machines,
                                     const PlannedMachine& but) {
  const PlannedMachine* cheapest = nullptr;
  for (const PlannedMachine& machine : machines) {
    const auto bill = hours_and_total(machine);
    if (&machine != &but && bill &&
        (cheapest == nullptr || bill->second < hours_and_total(*cheapest)->second)) {
      cheapest = &machine;
    }
  }
  return cheapest;
}

/// The part of the bill that goes with the price of a GPU-hour is scaled until both totals are
/// equal:  price' = price (1 + (other - total) / hours).
std::optional<core::DollarsPerSecond> break_even(const PlannedMachine& machine,
                                                 const PlannedMachine* other) {
  const auto mine = hours_and_total(machine);
  const auto theirs = other == nullptr ? std::nullopt : hours_and_total(*other);
  if (!mine || !theirs || mine->first <= 0) {
    return std::nullopt;
  }
  const double factor = 1 + (theirs->second - mine->second) / mine->first;
  return factor >= 0 ? std::optional(training::relative_price(machine.scenario) *
                                     machine.scenario.run.prices->gpu_hour * factor)
                     : std::nullopt;
}

/// The machine that is ready first, but one.
const PlannedMachine* soonest_other(const std::vector<PlannedMachine>& machines,
                                    const PlannedMachine& but) {
  const PlannedMachine* soonest = nullptr;
  for (const PlannedMachine& machine : machines) {
    if (&machine != &but && machine.days() &&
        (soonest == nullptr || *machine.days() < *soonest->days())) {
      soonest = &machine;
    }
  }
  return soonest;
}

/// Delivery is scaled until both are ready at the same time:
///     delivery' = delivery + other's days - days.
std::optional<double> latest_delivery(const PlannedMachine& machine, const PlannedMachine* other) {
  if (!machine.days() || other == nullptr || !other->days()) {
    return std::nullopt;
  }
  const auto& spec = machine.scenario.run.bring_up;
  const double delivery = spec ? spec->delivery / 1_days : 0;
  const double latest = delivery + *other->days() - *machine.days();
  return latest >= 0 ? std::optional(latest) : std::nullopt;
}

/// Why a machine with a plan won, or lost.
std::string outcome_words(const PlannedMachine& machine,
                          const PlannedMachine& first,
                          plan::Objective objective) {
  const auto by = core::to_word(objective);
  if (&machine == &first) {
    return fmt::format("best by {}", by);
  }
  if (*machine.behind > 0) {
    const std::string percent = core::percent(*machine.behind);
    return fmt::format("{} % worse by {}", percent == "0.0" ? "less than 0.1" : percent, by);
  }
  const auto mine = machine.dollars(), theirs = first.dollars();
  return mine && theirs && *mine > *theirs
             ? fmt::format("as good by {}, {} USD more", by, core::number(*mine - *theirs))
             : fmt::format("as good by {}", by);
}

void fill_outcomes(const plan::PlanOptions& options,
                   const plan::PlanResult& all,
                   std::vector<PlannedMachine>& machines) {
  if (all.plans.empty()) {
    for (PlannedMachine& machine : machines) {
      machine.outcome =
          machine.refused.empty() ? plan::why_none(machine.result.rejected) : machine.refused;
    }
    return;
  }
  const bool brought_up = std::any_of(machines.begin(), machines.end(), [](const auto& machine) {
    return machine.scenario.run.bring_up.has_value();
  });
  PlannedMachine& first = machines[static_cast<std::size_t>(all.plans.front().setting.machine)];
  for (PlannedMachine& machine : machines) {
    if (!machine.best) {
      machine.outcome =
          machine.refused.empty() ? plan::why_none(machine.result.rejected) : machine.refused;
      continue;
    }
    machine.behind = plan::behind(*machine.best, *first.best, options.objective);
    machine.break_even =
        break_even(machine, &machine == &first ? cheapest_other(machines, first) : &first);
    if (brought_up) {
      machine.latest_delivery =
          latest_delivery(machine, &machine == &first ? soonest_other(machines, first) : &first);
    }
    machine.outcome = outcome_words(machine, first, options.objective);
  }
}

/// Values that no machine has a layout with.
std::vector<plan::SearchedField> unused_everywhere(const std::vector<PlannedMachine>& machines) {
  std::optional<std::vector<plan::SearchedField>> unused;
  for (const PlannedMachine& machine : machines) {
    const auto& here = machine.result.searched.unused;
    if (!machine.refused.empty()) {
      continue;
    }
    if (!unused) {
      unused = here;
    }
    std::erase_if(*unused, [&](const plan::SearchedField& value) {
      return std::find(here.begin(), here.end(), value) == here.end();
    });
  }
  return unused.value_or(std::vector<plan::SearchedField>{});
}

/// What was varied and held, of the first machine that was searched, and the machines' own fields.
plan::Searched searched_fields(const std::vector<PlannedMachine>& machines) {
  plan::Searched out;
  const auto first = std::find_if(machines.begin(), machines.end(),
                                  [](const PlannedMachine& m) { return m.refused.empty(); });
  if (first != machines.end()) {
    out = first->result.searched;
  }
  std::vector<std::string> names;
  for (const PlannedMachine& machine : machines) {
    names.push_back(machine.name);
  }
  std::set<std::string> keys;
  for (const PlannedMachine& machine : machines) {
    for (const auto& [key, value] : machine.changes) {
      keys.insert(key);
    }
  }
  for (const std::string& key : keys) {
    std::erase_if(out.held, [&](const plan::SearchedField& field) { return field.key == key; });
  }
  out.varied.push_back(
      {fmt::format("{}", fmt::join(keys, ", ")), fmt::format("{}", fmt::join(names, "; "))});
  out.unused = unused_everywhere(machines);
  return out;
}

}  // namespace

std::optional<double> PlannedMachine::bring_up_days() const {
  return best && best->campaign && best->campaign->result.time_to_market
             ? std::optional(best->campaign->result.time_to_market->bring_up_days.p50)
             : std::nullopt;
}

std::optional<core::Watts> PlannedMachine::power() const {
  return best ? std::optional(best->power) : std::nullopt;
}

std::vector<PlannedMachine> candidate_machines(const config::LoadedScenario& base,
                                               const LoadScenario& load) {
  const auto& search = base.scenario.search;
  if (search.over.empty() && search.machines.empty()) {
    return {};
  }
  training::SweepSpec spec;
  spec.grid = search.over;
  spec.rows = search.machines;
  const plan::SweepPoints points(spec, marks_of_sweep(base.marks));
  if (points.size() > kMostMachines) {
    throw core::Error(
        fmt::format("search names {} machines, each of them a search of its own; name "
                    "at most {}",
                    points.size(), kMostMachines));
  }
  const auto keys = telling_keys(points);
  refuse_what_is_varied(search, {points.keys().begin(), points.keys().end()});
  std::vector<PlannedMachine> machines;
  core::Diagnostics diagnostics;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto changes = points.changes(i);
    std::vector<std::string> set;
    std::transform(changes.begin(), changes.end(), std::back_inserter(set), argument_of);
    PlannedMachine& machine = machines.emplace_back();
    machine.name = name_of_machine(changes, keys);
    for (const auto& change : changes) {
      machine.changes.emplace_back(change.key, change.value);
    }
    try {
      const auto loaded = load(set);
      machine.scenario = loaded.scenario;
      machine.holds_tokens = plan::hold_tokens(base.scenario, machine.scenario);
      machine.price_source = price_source(loaded);
    } catch (const core::Infeasible&) {
      throw;
    } catch (const core::Error& error) {
      for (auto diagnostic : error.diagnostics()) {
        name_writer("search", diagnostic);
        diagnostics.add(diagnostic.mark, diagnostic.message);
      }
    }
  }
  diagnostics.throw_if_any();
  refuse_twins(machines);
  return machines;
}

MachineAnswer search_machine(const plan::PlanOptions& options, const training::Scenario& scenario) {
  MachineAnswer answer;
  try {
    training::check_apart_from_layout(scenario);
    answer.result = plan::search(scenario, options);
  } catch (const core::Error& error) {
    answer.refused = error.diagnostics().front().message;
    answer.infeasible = core::exit_code(error) == exit_code(Status::infeasible);
  }
  return answer;
}

void search_machines(const plan::PlanOptions& options,
                     std::vector<PlannedMachine>& machines,
                     const std::vector<MachineAnswer>* known) {
  HEADWAY_CHECK(known == nullptr || known->size() == machines.size(), "{} answers of {} machines",
                known->size(), machines.size());
  bool any = false;
  core::JointProgress joint(plan::told_by_all(options.progress), machines.size());
  plan::PlanOptions how = options;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    PlannedMachine& machine = machines[i];
    how.progress = plan::told_by_one(options.progress, joint, machines.size());
    MachineAnswer answer = known == nullptr ? search_machine(how, machine.scenario) : (*known)[i];
    plan::tell_end(how.progress, machines.size());
    machine.result = std::move(answer.result);
    machine.refused = std::move(answer.refused);
    any = any || machine.refused.empty() || answer.infeasible;
    for (plan::Plan& plan : machine.result.plans) {
      plan.setting.machine = static_cast<int>(i);
    }
    for (plan::SimulatedPoint& point : machine.result.points) {
      point.setting.machine = static_cast<int>(i);
    }
    if (!machine.result.plans.empty()) {
      machine.best = machine.result.plans.front();
    }
  }
  if (!any && !machines.empty()) {  // each for an error of the input: the first says which
    training::check_apart_from_layout(machines.front().scenario);
    std::ignore = plan::search(machines.front().scenario, options);
  }
}

plan::PlanResult compare_machines(const plan::PlanOptions& options,
                                  std::vector<PlannedMachine>& machines) {
  plan::PlanResult all;
  plan::Rejections rejected;
  for (PlannedMachine& machine : machines) {
    const plan::PlanResult& result = machine.result;
    all.plans.insert(all.plans.end(), result.plans.begin(), result.plans.end());
    all.points.insert(all.points.end(), result.points.begin(), result.points.end());
    all.enumerated += result.enumerated;
    all.estimated += result.estimated;
    all.simulated += result.simulated;
    all.verification.asked += result.verification.asked;
    all.verification.simulated += result.verification.simulated;
    const auto& better = result.verification.better;
    all.verification.better.insert(all.verification.better.end(), better.begin(), better.end());
    rejected.add(result.rejected, machine.name.empty() ? "" : machine.name + ": ");
    if (!machine.refused.empty()) {
      rejected.add("machine", machine.refused);
    }
  }
  const auto before = [&](const plan::Plan& a, const plan::Plan& b) {
    return plan::comes_first(a, b, options.objective);
  };
  std::stable_sort(all.plans.begin(), all.plans.end(), before);
  plan::mark_front(all.plans, options);
  std::erase_if(all.verification.better, [&](const plan::Plan& plan) {
    return !all.plans.empty() && plan::value(plan, options.objective) >=
                                     plan::value(all.plans.front(), options.objective);
  });
  std::stable_sort(all.verification.better.begin(), all.verification.better.end(), before);
  fill_outcomes(options, all, machines);
  std::size_t place = 0;
  std::erase_if(all.plans,
                [&](const plan::Plan& plan) { return place++ >= options.keep && !plan.pareto; });
  all.rejected = rejected.list();
  if (!all.plans.empty()) {
    all.classes =
        machines[static_cast<std::size_t>(all.plans.front().setting.machine)].result.classes;
  }
  all.searched = searched_fields(machines);
  return all;
}

}  // namespace headway::study
