#include "sim/failures/law.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>

#include "sim/core/error.h"
#include "sim/core/math.h"

namespace headway::failures {

using core::PerSecond;
using core::Seconds;

namespace {

// Draws go through age_at, so it uses core's own logarithm and exponential: the
// same bits everywhere.

double hazard_of(const ExponentialLaw& law, Seconds age) { return age / law.mean; }
Seconds age_of(const ExponentialLaw& law, double hazard) { return hazard * law.mean; }

double hazard_of(const Weibull& law, Seconds age) {
  return core::portable_pow(age / law.scale, law.shape);
}
Seconds age_of(const Weibull& law, double hazard) {
  return core::portable_pow(hazard, 1 / law.shape) * law.scale;
}

/// From here on the upper tail of the normal law is its series, whose error is below 2e-12; at 38
/// the tail itself is below what a double holds.
constexpr double kFarTail = 30;  // Source: chosen, 945 / z^10

/// -log Q(z) of the normal law, z >= `kFarTail`:
///     z^2 / 2 + log(z sqrt(2 pi)) - log(1 - 1/z^2 + 3/z^4 - 15/z^6 + 105/z^8)
double far_tail_hazard(double z) {
  constexpr double kRootOfTwoPi = 2.5066282746310005;  // Source: sqrt(2 pi)
  const double y = 1 / (z * z);
  const double series = 1 + y * (-1 + y * (3 + y * (-15 + y * 105)));
  return z * z / 2 + core::portable_log(z * kRootOfTwoPi) - core::portable_log(series);
}

/// Its inverse, where it lies beyond `kFarTail`; Newton's steps, the slope being nearly z.
double far_tail_at(double hazard) {
  double z = std::sqrt(2 * hazard);
  for (int step = 0; step < 6; ++step) {
    z = std::max(kFarTail, z - (far_tail_hazard(z) - hazard) / z);
  }
  return z;
}

double hazard_of(const LognormalLaw& law, Seconds age) {
  if (age.si() <= 0) {
    return 0;
  }
  const double z = (core::portable_log(age.si()) - law.mu) / law.sigma;
  return z < kFarTail ? -std::log(boost::math::erfc(z / std::sqrt(2.0)) / 2) : far_tail_hazard(z);
}
Seconds age_of(const LognormalLaw& law, double hazard) {
  if (hazard <= 0) {
    return Seconds(0);
  }
  double z = 0;
  if (static const double far = far_tail_hazard(kFarTail); hazard >= far) {
    z = far_tail_at(hazard);
  } else {
    // Of S and 1 - S the smaller keeps its digits.
    const double survival = core::portable_exp(-hazard);
    z = survival < 0.5 ? -core::normal_quantile(survival) : core::normal_quantile(1 - survival);
  }
  return Seconds(core::portable_exp(law.mu + law.sigma * z));
}

double hazard_of(const PiecewiseLaw& law, Seconds age) {
  const auto* here = &law.stretches.front();
  for (const auto& stretch : law.stretches) {
    if (stretch.from <= age) {
      here = &stretch;
    }
  }
  return here->hazard_before + here->rate * (age - here->from);
}
Seconds age_of(const PiecewiseLaw& law, double hazard) {
  const auto* here = &law.stretches.front();
  for (const auto& stretch : law.stretches) {
    if (stretch.hazard_before <= hazard && stretch.rate.si() > 0) {
      here = &stretch;
    }
  }
  if (here->rate.si() <= 0) {
    return Seconds(std::numeric_limits<double>::infinity());
  }
  return here->from + (hazard - here->hazard_before) / here->rate;
}

double hazard_of(const DefectsLaw& law, Seconds age) {
  return -std::log1p(law.defective * std::expm1(-(age / law.life)));
}
Seconds age_of(const DefectsLaw& law, double hazard) {
  // Of all parts the share 1 - e^-H has failed; only the defective ones ever
  // do.
  const double failed = 1 - core::portable_exp(-hazard);
  if (failed >= law.defective) {
    return Seconds(std::numeric_limits<double>::infinity());
  }
  return -core::portable_log(1 - failed / law.defective) * law.life;
}

PiecewiseLaw piecewise(const std::vector<AgeFactorSpec>& factors, Seconds mean) {
  PiecewiseLaw law;
  Seconds from;
  double hazard = 0;
  for (const auto& [until, factor] : factors) {
    if (until <= from) {
      throw core::Error(
          fmt::format("the ages of a piecewise law must rise, "
                      "but {:.4g} s does not come after {:.4g} s",
                      until.si(), from.si()));
    }
    law.stretches.push_back({from, factor / mean, hazard});
    hazard += factor * ((until - from) / mean);
    from = until;
  }
  law.stretches.push_back({from, 1.0 / mean, hazard});
  return law;
}

}  // namespace

Law::Law(const LawSpec& spec, Seconds mean) {
  switch (spec.kind) {
    case LawKind::exponential:
      law_ = ExponentialLaw{mean};
      break;
    case LawKind::weibull:
      law_ = weibull_with_mean(spec.shape, mean);
      break;
    case LawKind::lognormal:
      law_ = LognormalLaw{core::portable_log(mean.si()) - spec.sigma * spec.sigma / 2, spec.sigma};
      break;
    case LawKind::defects:
      law_ = DefectsLaw{spec.defective, mean};
      break;
    case LawKind::piecewise:
      law_ = piecewise(spec.factors, mean);
      break;
  }
}

double Law::cumulative_hazard(Seconds age) const {
  return std::visit([&](const auto& law) { return hazard_of(law, age); }, law_);
}

Seconds Law::age_at(double hazard) const {
  return std::visit([&](const auto& law) { return age_of(law, hazard); }, law_);
}

double Law::survival(Seconds age) const { return std::exp(-cumulative_hazard(age)); }

}  // namespace headway::failures
