// What the training tests ask of a scenario: its step, how long it takes, why it is refused.
#pragma once

#include <numeric>
#include <string>

#include "sim/core/error.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

namespace headway::training {

inline StepResult step_of(const Scenario& s) { return simulate_step(check(Scenario(s))); }

inline core::Seconds time_of(const Scenario& s) { return step_of(s).time; }

/// What a scenario is refused with; empty: it is not.
inline std::string complaint(const Scenario& s) {
  try {
    check(Scenario(s));
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

inline double sum(const core::ByActivity<core::Seconds>& parts) {
  return std::accumulate(parts.values.begin(), parts.values.end(), 0.0,
                         [](double total, core::Seconds part) { return total + part.si(); });
}

}  // namespace headway::training
