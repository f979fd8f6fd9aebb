// Laws of the time to failure of one part, by their cumulative hazard.
#pragma once

#include <variant>
#include <vector>

#include "sim/core/units.h"
#include "sim/failures/closed_form.h"
#include "sim/failures/law_spec.h"

namespace headway::failures {

/// H(t) = t / mean.
struct ExponentialLaw {
  core::Seconds mean;
};

/// ln X is normal with mean `mu` and deviation `sigma`.
struct LognormalLaw {
  double mu = 0;  ///< of the time in seconds
  double sigma = 1;
};

/// A share of the parts is defective and lives exponentially, the others never
/// fail: S(t) = 1 - d + d e^(-t / life).
struct DefectsLaw {
  double defective = 0;
  core::Seconds life;
};

/// Constant rates between ages.
struct PiecewiseLaw {
  struct Stretch {
    core::Seconds from;
    core::PerSecond rate;
    double hazard_before = 0;  ///< H(from)
  };
  std::vector<Stretch> stretches;  ///< rising; the last has no end
};

/// The law of one part's time to failure X.
///     S(t) = P(X > t) = e^(-H(t));  H is the cumulative hazard
/// With E exponential of mean 1, H^-1(E) has the law, and H^-1(H(a) + E) - a
/// that of the life left at age a.
class Law {
 public:
  Law() = default;
  /// @param mean  of exponential, Weibull and lognormal; 1 / rate at factor 1
  /// of a piecewise law;
  ///              life of a defective part
  Law(const LawSpec& spec, core::Seconds mean);

  [[nodiscard]] double cumulative_hazard(core::Seconds age) const;
  /// The age at which the cumulative hazard is `hazard`; infinite if it never
  /// gets there.
  [[nodiscard]] core::Seconds age_at(double hazard) const;
  [[nodiscard]] double survival(core::Seconds age) const;
  /// Every part fails in the end: S falls to zero.
  [[nodiscard]] bool always_fails() const { return !std::holds_alternative<DefectsLaw>(law_); }
  /// The rate does not change with age.
  [[nodiscard]] bool memoryless() const { return std::holds_alternative<ExponentialLaw>(law_); }

 private:
  std::variant<ExponentialLaw, Weibull, LognormalLaw, PiecewiseLaw, DefectsLaw> law_;
};

}  // namespace headway::failures
