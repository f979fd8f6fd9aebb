#include "sim/plan/judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/plan/keep_limits.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/power/power_fit.h"

namespace headway::plan {

using namespace core::literals;

namespace {

double days(const Plan& plan) { return plan.campaign->result.days().p50; }
double dollars(const Plan& plan) { return plan.campaign->total_usd->p50; }

/// The most that the machine takes of what feeds it.
core::Watts building_power(const training::Scenario& s) {
  training::Scenario fed = s;
  training::limit_boards(fed);
  return training::peak_power(fed) * training::pue_of(fed);
}

/// What the front is of. Time and money: of the run where there is one, else of a token;
/// GPU-seconds where there are no prices.
std::vector<double> front_values(const Plan& plan, const PlanOptions& options) {
  if (options.beside.empty()) {
    const double time = plan.campaign ? days(plan) : seconds_a_token(plan);
    const bool priced = plan.campaign && plan.campaign->total_usd;
    return {time, priced ? dollars(plan) : time * static_cast<double>(plan.gpus)};
  }
  std::vector<double> values{value(plan, options.objective)};
  for (const Objective objective : options.beside) {
    values.push_back(value(plan, objective));
  }
  return values;
}

/// Whether `a` is nowhere worse than `b`, and somewhere better.
bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    better = better || a[i] < b[i];
  }
  return better;
}

/// Whether fewer spares than the run needs may serve the objective: a step knows of none.
bool spares_are_weighed(Objective objective) { return objective != Objective::step; }

/// Fewer spares make no run shorter.
bool late(const Plan& plan, const Limits& limits) {
  return limits.deadline && days(plan) * 1_days > *limits.deadline;
}

double tokens_of_step(const training::Scenario& s) {
  return static_cast<double>(s.training.global_batch) * s.training.sequence_length;
}

/// Of a run that is so many steps long.
double tokens_of_run(const training::Scenario& s) {
  return static_cast<double>(*s.run.until->steps) * tokens_of_step(s);
}

}  // namespace

Setting make_setting(const training::Scenario& s) {
  return {s.cluster.nodes, s.training.global_batch, s.training.sequence_length,
          s.training.precision, 0};
}

bool hold_tokens(const training::Scenario& scenario, training::Scenario& s) {
  const bool steps = scenario.run.until && scenario.run.until->steps && s.run.until &&
                     s.run.until->steps == scenario.run.until->steps;
  if (!steps || tokens_of_step(s) == tokens_of_step(scenario)) {
    return false;
  }
  s.run.until->tokens = tokens_of_run(scenario);
  s.run.until->steps.reset();
  return true;
}

SearchedField held_tokens(const training::Scenario& scenario) {
  return {"run.until.tokens", fmt::format("{}, what the scenario's own steps train",
                                          core::number(tokens_of_run(scenario)))};
}

training::Scenario with_setting(const training::Scenario& scenario, const Setting& setting) {
  training::Scenario s = scenario;
  s.cluster.nodes = setting.nodes;
  s.training.global_batch = setting.global_batch;
  s.training.sequence_length = setting.sequence_length;
  s.training.precision = setting.precision;
  hold_tokens(scenario, s);
  return s;
}

Plan make_plan(const Entry& entry) {
  const auto& s = entry.layout.scenario();
  Plan plan;
  plan.setting = make_setting(s);
  plan.gpus = std::int64_t{s.cluster.nodes} * s.cluster.node.gpus;
  plan.spares = s.cluster.spares;
  plan.racks = racks_of(s);
  plan.power = building_power(s);
  plan.layout = resolved(entry.layout);
  plan.micro_batches = entry.layout.micro_batches();
  plan.estimate = entry.estimate;
  plan.step = entry.step;
  plan.outside = entry.outside;
  return plan;
}

std::size_t runs_of_a_plan(const training::Scenario& setting) {
  return setting.search.spares ? 2 : 1;
}

void add_campaign(const training::Scenario& setting,
                  const PlanOptions& options,
                  int threads,
                  Plan& plan,
                  const std::function<core::Count()>& count) {
  if (!setting.run.until) {
    return;
  }
  const auto run = [&](const training::Scenario& s, bool advice, const core::Count& told) {
    const auto placed = training::check(with_layout(s, plan.layout), options.marks);
    return campaign::simulate_campaign(placed, plan.step,
                                       {.threads = threads, .advice = advice, .progress = told});
  };
  const auto piece = [&] { return count ? count() : core::Count(); };
  if (!setting.search.spares) {
    plan.campaign = run(setting, false, piece());
    return;
  }
  const auto advised = run(setting, true, piece()).result.advice.spares;
  const auto with_spares = [&](int spares, const core::Count& told) {
    training::Scenario s = setting;
    s.cluster.spares = spares;
    Plan with = plan;
    with.spares = spares;
    with.racks = racks_of(s);
    with.power = building_power(s);
    with.campaign = run(s, false, told);
    return with;
  };
  plan = with_spares(static_cast<int>(advised.value_or(0)), piece());  // nothing fails: none
  const Plan as_needed = plan;
  // One by one, as long as each is better, or a limit is missed that fewer may keep: every spare
  // costs as much, and the fewer there are the more the next is missed.
  bool missed = missed_limit(plan, options.limits).has_value();
  while (plan.spares > 0 &&
         (missed ? !late(plan, options.limits) : spares_are_weighed(options.objective))) {
    try {
      Plan fewer = with_spares(plan.spares - 1, {});
      const bool misses = missed_limit(fewer, options.limits).has_value();
      if (!missed && (misses || !comes_first(fewer, plan, options.objective))) {
        return;
      }
      plan = std::move(fewer);
      missed = misses;
    } catch (const core::Infeasible&) {  // with fewer the run would not end
      break;
    }
  }
  if (missed) {  // as it is with as many as it needs
    plan = as_needed;
  }
}

std::vector<SimulatedPoint> simulated_points(const std::vector<Entry>& simulated,
                                             const std::vector<Plan>& plans,
                                             const Limits& limits) {
  std::vector<SimulatedPoint> points;
  for (const Entry& entry : simulated) {
    const Plan bare = make_plan(entry);
    const auto own = std::find_if(plans.begin(), plans.end(),
                                  [&](const Plan& plan) { return plan.layout == bare.layout; });
    SimulatedPoint point{bare.setting, bare.gpus, bare.layout, bare.step.time, {}, {}, false};
    const Plan* like = own != plans.end() ? &*own : plans.empty() ? nullptr : &plans.front();
    if (like != nullptr && like->campaign) {
      point.own_run = own != plans.end();
      const double longer = point.step / like->step.time;
      point.days = longer * days(*like);
      if (like->campaign->total_usd) {
        point.usd = longer * dollars(*like);
      }
    }
    const bool late = limits.deadline && point.days && *point.days * 1_days > *limits.deadline;
    const bool dear = limits.budget && point.usd && *point.usd > limits.budget->si();
    if (!late && !dear) {
      points.push_back(std::move(point));
    }
  }
  return points;
}

double seconds_a_token(const Plan& plan) {
  return plan.step.time.si() /
         (static_cast<double>(plan.setting.global_batch) * plan.setting.sequence_length);
}

double value(const Plan& plan, Objective objective) {
  switch (objective) {
    case Objective::step:  // a token, where steps differ in length
      return seconds_a_token(plan);
    case Objective::days:
      return days(plan);
    case Objective::dollars:
      return dollars(plan);
    case Objective::goodput:
      return -plan.campaign->result.goodput.p50;
    case Objective::energy:
      return plan.campaign->mean_bill->energy.si();
    case Objective::co2:
      return plan.campaign->mean_bill->co2_kg;
    case Objective::tokens_per_joule:
      return plan.campaign->mean_bill->energy.si() / plan.campaign->result.tokens;
    case Objective::tokens_per_dollar:
      return plan.campaign->mean_bill->usd_per_million_tokens;
    case Objective::power:
      return plan.power.si();
  }
  return 0;
}

bool weighs_slower(const PlanOptions& options) {
  const auto weighs = [](Objective objective) {
    return objective == Objective::energy || objective == Objective::co2 ||
           objective == Objective::tokens_per_joule || objective == Objective::goodput;
  };
  return weighs(options.objective) || options.limits.goodput ||
         std::any_of(options.beside.begin(), options.beside.end(), weighs);
}

bool comes_first(const Plan& a, const Plan& b, Objective objective) {
  const auto key = [&](const Plan& plan) {
    const bool priced = plan.campaign && plan.campaign->total_usd;
    return std::pair(value(plan, objective), priced ? dollars(plan) : 0.0);
  };
  return key(a) < key(b);
}

double behind(const Plan& plan, const Plan& best, Objective objective) {
  const double least = value(best, objective);
  const double more = value(plan, objective) - least;
  return more == 0 ? 0 : more / std::abs(least);
}

void mark_front(std::vector<Plan>& plans, const PlanOptions& options) {
  std::vector<std::pair<std::vector<double>, Plan*>> order;
  for (Plan& plan : plans) {
    order.emplace_back(front_values(plan, options), &plan);
  }
  // In this order nothing is dominated by what follows, and of what is dominated one of the front
  // before it does. With two values that is the last of the front, which has the least second one.
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const std::vector<double>*> front;
  for (const auto& [values, plan] : order) {
    const auto& mine = values;  // clang 14 captures no binding
    const auto first = values.size() == 2 && !front.empty() ? front.end() - 1 : front.begin();
    plan->pareto = std::none_of(first, front.end(),
                                [&](const auto* other) { return dominates(*other, mine); });
    if (plan->pareto) {
      front.push_back(&values);
    }
  }
}

}  // namespace headway::plan
