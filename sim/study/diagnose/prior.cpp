#include "sim/study/diagnose/prior.h"

#include <algorithm>
#include <cmath>

namespace headway::study {

namespace {

/// Whether it is a setting that a process reads once.
bool is_setting(const Hypothesis& hypothesis) {
  return hypothesis.cause == Cause::eager_kernels || hypothesis.cause == Cause::wrong_attention ||
         hypothesis.cause == Cause::recompute;
}

}  // namespace

double log_prior(const Hypothesis& hypothesis, const Evidence& evidence) {
  const bool settings_alone =
      is_setting(hypothesis) &&
      std::all_of(hypothesis.also.begin(), hypothesis.also.end(), is_setting);
  return (hypothesis.also.empty() ? 0 : std::log(kPairOfCauses)) +
         (settings_alone && evidence.slowed_midway ? std::log(kSettingMidway) : 0);
}

}  // namespace headway::study
