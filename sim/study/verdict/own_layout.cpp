#include "sim/study/verdict/own_layout.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/plan/entry.h"
#include "sim/plan/judge.h"
#include "sim/study/plan.h"
#include "sim/training/check.h"

namespace headway::study {

namespace {

core::Seconds of_token(core::Seconds step, const plan::Setting& setting) {
  return step / (static_cast<double>(setting.global_batch) * setting.sequence_length);
}

/// Its step, if it runs; else `why` says what stands against it.
std::optional<core::Seconds> simulated_step(const training::CheckedScenario& own,
                                            const plan::PlanOptions& options,
                                            std::string& why) {
  const double headroom = plan::least_headroom(options.limits);
  if (const auto lack = plan::lack(own, headroom)) {
    why = fmt::format("does not fit: it lacks {}", core::to_word(lack->memory));
    return std::nullopt;
  }
  plan::Entry entry = plan::make_entry(own, {});
  try {
    plan::simulate(options.fold, entry);
  } catch (const core::Infeasible&) {
    entry.too_large = true;
  }
  why = entry.too_large ? "is too large to be simulated" : "";
  return entry.too_large ? std::nullopt : std::optional(entry.step.time);
}

void say(OwnLayout& own, std::size_t simulated) {
  if (own.plan == 1) {
    own.sentence = "Plan 1 is the scenario's own layout.";
    return;
  }
  own.sentence =
      fmt::format("{} takes {} s a step",
                  own.plan ? fmt::format("Plan {}, the scenario's own layout,", *own.plan)
                           : "The scenario's own layout",
                  core::number(own.step->si()));
  own.sentence += own.behind ? fmt::format(", {}", behind_words(*own.behind)) : "";
  own.sentence += own.faster ? fmt::format("; {} of {} simulated layouts {} faster.", *own.faster,
                                           simulated, *own.faster == 1 ? "is" : "are")
                             : ".";
}

}  // namespace

std::string behind_words(double behind) {
  constexpr double kEqual = 0.0005;  // what is printed as 0.0 %
  return std::abs(behind) < kEqual
             ? "as long a token as plan 1"
             : fmt::format("{} % {} a token than plan 1", core::percent(std::abs(behind)),
                           behind > 0 ? "longer" : "less");
}

OwnLayout own_layout(const PlanReport& report, const plan::PlanOptions& options) {
  OwnLayout own;
  std::optional<training::CheckedScenario> checked;
  try {
    checked = training::check(report.scenario);
  } catch (const core::Error&) {
    own.sentence = "The scenario's own layout breaks a rule, which `headway check` names.";
    return own;
  }
  const auto layout = plan::resolved(*checked);
  const auto setting = plan::make_setting(report.scenario);
  const auto is_own = [&](const auto& one) {
    return one.setting == setting && one.layout == layout;
  };
  const auto& plans = report.result.plans;
  const auto& points = report.result.points;
  const auto place = std::find_if(plans.begin(), plans.end(), is_own);
  const auto point = std::find_if(points.begin(), points.end(), is_own);
  std::string why;
  if (place != plans.end()) {
    own.plan = place - plans.begin() + 1;
    own.step = place->step.time;
  } else {
    own.step = point != points.end() ? point->step : simulated_step(*checked, options, why);
  }
  if (!own.step) {
    own.sentence = fmt::format("The scenario's own layout {}.", why);
    return own;
  }
  const core::Seconds time = of_token(*own.step, setting);
  if (!plans.empty()) {
    own.behind = time / of_token(plans.front().step.time, plans.front().setting) - 1;
  }
  if (!points.empty()) {
    own.faster = std::count_if(points.begin(), points.end(), [&](const auto& one) {
      return of_token(one.step, one.setting) < time;
    });
  }
  say(own, points.size());
  return own;
}

}  // namespace headway::study
