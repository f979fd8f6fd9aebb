#include "sim/study/verdict/choice.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/plan/judge.h"
#include "sim/plan/keep_limits.h"
#include "sim/study/plan.h"
#include "sim/training/explain/inputs.h"

namespace headway::study {

namespace {

constexpr double kWidest = 2;         // an input is halved and doubled
constexpr double kPrecision = 0.005;  // of a factor, relative

/// A plan under a changed input.
struct Judged {
  std::optional<double> value;  ///< of the objective, smaller is better; absent: it is out
  std::string reason;           ///< why it is out
  bool refused = false;         ///< because the changed scenario breaks a rule
};

/// All plans under it.
struct Standing {
  std::optional<std::size_t> winner;  ///< absent: all are out
  std::string reason;                 ///< why the first is out; empty: it is not
  bool refused = false;
  /// By how much the best other plan is worse than the first, relative, below 0 where it is better;
  /// absent where either is out.
  std::optional<double> lead;
};

/// The reports' plans, simulated again under one changed input after the other.
class ChoiceSearch {
 public:
  ChoiceSearch(const PlanReport& report, const plan::PlanOptions& options)
      : report_(report), options_(options) {
    options_.marks.clear();
    const auto& limits = options.limits;
    const bool of_step =
        options.objective == plan::Objective::step || options.objective == plan::Objective::power;
    campaign_ = !of_step || limits.deadline || limits.budget || limits.goodput;
    for (std::size_t i = 0; i < report.result.plans.size(); ++i) {
      scenarios_.push_back(scenario_of_plan(report, i));
    }
  }

  [[nodiscard]] std::vector<training::Input> inputs() const {
    std::vector<training::Input> list = training::step_inputs();
    const auto any = [&](const auto& condition) {
      return std::any_of(scenarios_.begin(), scenarios_.end(), condition);
    };
    if (any([](const auto& s) { return s.parallelism.offload != workload::Offload::none; })) {
      list.push_back(training::host_way_input());
    }
    list.push_back(training::memory_input());
    if (campaign_ && any([](const auto& s) { return s.run.failures.has_value(); })) {
      list.push_back(training::failure_input());
    }
    return list;
  }

  [[nodiscard]] ChoiceChange change(const training::Input& input, ChangeWay way) const {
    ChoiceChange out{input.name, input.fields, way, {}, {}, {}, {}, {}};
    if (way == ChangeWay::more && input.scale == training::memory_input().scale) {
      out.reason = "more layouts fit: search again with it";
      return out;
    }
    const double end = way == ChangeWay::less ? -std::log(kWidest) : std::log(kWidest);
    Looked looked;
    double holds = 0;
    for (const double x : {end / 2, end}) {
      const Standing& here = stand(input, x, looked);
      if (here.refused) {
        out.reason = here.reason;
        break;
      }
      if (here.winner != std::optional<std::size_t>(0)) {
        const double edge = narrow(input, holds, x, looked);
        const Standing& there = looked.at(edge);
        out.factor = std::exp(edge);
        out.winner = there.winner ? std::optional(static_cast<std::int64_t>(*there.winner) + 1)
                                  : std::nullopt;
        out.reason = there.reason;
        return out;
      }
      holds = x;
    }
    for (const auto& [x, standing] : looked) {
      if (standing.lead && !standing.refused && (!out.lead || *standing.lead < *out.lead)) {
        out.lead = standing.lead;
        out.lead_at = std::exp(x);
      }
    }
    return out;
  }

 private:
  using Looked = std::map<double, Standing>;  ///< by the logarithm of the factor

  [[nodiscard]] Judged judge(std::size_t place, const training::Input& input, double factor) const {
    try {
      auto checked = training::check(training::scaled(scenarios_[place], input, factor));
      if (const auto missing = plan::lack(checked, plan::least_headroom(options_.limits))) {
        return {{}, "does not fit", false};
      }
      const training::Scenario changed = checked.scenario();
      plan::Entry entry = plan::make_entry(std::move(checked), {});
      plan::simulate(options_.fold, entry);
      if (entry.too_large) {
        return {{}, "has a step too long to be simulated", false};
      }
      plan::Plan plan = plan::make_plan(entry);
      if (campaign_) {
        plan::add_campaign(changed, options_, options_.threads, plan);
        if (const auto missed = plan::missed_limit(plan, options_.limits)) {
          return {{}, fmt::format("misses the limit of {}", missed->kind), false};
        }
      }
      return {plan::value(plan, options_.objective), {}, false};
    } catch (const core::Error& error) {
      return {{}, error.diagnostics().front().message, true};
    }
  }

  const Standing& stand(const training::Input& input, double x, Looked& looked) const {
    const auto known = looked.find(x);
    if (known != looked.end()) {
      return known->second;
    }
    std::vector<Judged> judged(scenarios_.size());
    tbb::parallel_for(std::size_t{0}, judged.size(),
                      [&](std::size_t i) { judged[i] = judge(i, input, std::exp(x)); });
    Standing& out = looked[x];
    std::optional<double> other;
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const auto& value = judged[i].value;
      if (judged[i].refused && !out.refused) {
        out.refused = true;
        out.reason = judged[i].reason;
      }
      if (value && (!out.winner || *value < *judged[*out.winner].value)) {
        out.winner = i;
      }
      if (value && i > 0 && (!other || *value < *other)) {
        other = value;
      }
    }
    if (!out.refused) {
      out.reason = judged[0].reason;
    }
    if (judged[0].value && other) {
      const double first = *judged[0].value;
      out.lead = *other == first ? 0 : (*other - first) / std::abs(first);
    }
    return out;
  }

  /// Where the winner changes between `holds`, at which the first plan wins, and `changed`: the
  /// nearest value looked at at which it does not.
  [[nodiscard]] double narrow(const training::Input& input,
                              double holds,
                              double changed,
                              Looked& looked) const {
    const auto lead = [&](double x) {
      const Standing& here = stand(input, x, looked);
      if (here.winner != std::optional<std::size_t>(0)) {
        return here.lead && *here.lead < 0 ? *here.lead : -1.0;
      }
      return here.lead && *here.lead > 0 ? *here.lead : 1.0;
    };
    std::uintmax_t most = 20;
    const auto tight = [](double a, double b) { return std::abs(a - b) <= kPrecision; };
    // At the scenario's own value the first plan wins.
    const double lead_holds =
        holds == 0 ? std::max(report_.plans()[1].behind, std::numeric_limits<double>::min())
                   : lead(holds);
    const bool up = holds < changed;
    const auto edge = up ? boost::math::tools::toms748_solve(lead, holds, changed, lead_holds,
                                                             lead(changed), tight, most)
                         : boost::math::tools::toms748_solve(lead, changed, holds, lead(changed),
                                                             lead_holds, tight, most);
    return up ? edge.second : edge.first;
  }

  const PlanReport& report_;
  plan::PlanOptions options_;
  bool campaign_ = false;
  std::vector<training::Scenario> scenarios_;  ///< of every plan
};

/// "plan 2 wins".
std::string outcome_words(const ChoiceChange& change) {
  return change.winner ? fmt::format("plan {} wins", *change.winner) : "no plan is left";
}

std::string sentence_of(const std::vector<ChoiceChange>& changes) {
  std::vector<const ChoiceChange*> found;
  const ChoiceChange* nearest = nullptr;
  for (const ChoiceChange& change : changes) {
    if (change.factor) {
      found.push_back(&change);
    } else if (change.lead && (nearest == nullptr || *change.lead < *nearest->lead)) {
      nearest = &change;
    }
  }
  if (found.empty()) {
    return nearest == nullptr
               ? "No input could be changed."
               : fmt::format(
                     "The choice of plan 1 holds whatever one of these inputs is, from half "
                     "to twice its value; nearest: another plan is {} % behind with {} at "
                     "{} times.",
                     core::percent(*nearest->lead), nearest->input,
                     core::number(*nearest->lead_at));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return std::abs(std::log(*a->factor)) < std::abs(std::log(*b->factor));
  });
  constexpr std::size_t kTold = 3;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(found.size(), kTold); ++i) {
    words.push_back(fmt::format("{} to {:.2f} times ({})", found[i]->input, *found[i]->factor,
                                outcome_words(*found[i])));
  }
  return fmt::format("The choice of plan 1 holds until one input changes so far: {}{}.",
                     fmt::join(words, ", "), found.size() > kTold ? ", and as the table says" : "");
}

}  // namespace

std::optional<Choice> find_choice(const PlanReport& report, const plan::PlanOptions& options) {
  if (report.result.plans.size() < 2) {
    return std::nullopt;
  }
  plan::PlanOptions how = options;
  how.threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(how.threads));
  const ChoiceSearch search(report, how);
  const auto inputs = search.inputs();
  Choice choice;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (options.progress) {
      options.progress("changing inputs", i, inputs.size());
    }
    for (const ChangeWay way : {ChangeWay::less, ChangeWay::more}) {
      choice.changes.push_back(search.change(inputs[i], way));
    }
  }
  choice.sentence = sentence_of(choice.changes);
  return choice;
}

}  // namespace headway::study
