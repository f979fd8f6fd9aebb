// How the failure rate of one part changes with its age, and what a failure
// leaves behind.
#pragma once

#include <vector>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::failures {

enum class LawKind { exponential, weibull, lognormal, piecewise, defects };
constexpr auto enum_words(LawKind) {
  using E = core::EnumWord<LawKind>;
  return std::array{E{LawKind::exponential, "exponential"}, E{LawKind::weibull, "weibull"},
                    E{LawKind::lognormal, "lognormal"}, E{LawKind::piecewise, "piecewise"},
                    E{LawKind::defects, "defects"}};
}

/// A stretch of a part's life with its own failure rate.
struct AgeFactorSpec {
  core::Seconds until;
  double factor = 1;
  template <class V>
  void fields(V& v) {
    v.required("until", until, "Age at which the stretch ends; the first begins at age 0.",
               core::some_time);
    v.required("factor", factor, "Failure rate in it / 1 over mtbf.",
               core::Range{0, 1e6, false, false, "from 0 to 1,000,000"});
  }
  bool operator==(const AgeFactorSpec&) const = default;
};

/// The law of the time to failure of one part.
struct LawSpec {
  LawKind kind = LawKind::exponential;
  double shape = 1;
  double sigma = 1;
  double defective = 0.1;
  std::vector<AgeFactorSpec> factors;
  template <class V>
  void fields(V& v) {
    v.optional("kind", kind,
               "exponential never ages; the mean of weibull and lognormal is "
               "mtbf; defects: infant "
               "mortality, mtbf is the mean life of a defective part.");
    v.optional("shape", shape, "Weibull: below 1 the young fail more often, above 1 the old.",
               core::Range{0.1, 100, false, false, "from 0.1 to 100"});
    v.optional("sigma", sigma, "Lognormal: standard deviation of the logarithm.",
               core::Range{0, 10, true, false, "above 0 and at most 10"});
    v.optional("defective", defective,
               "Defects: share of new parts that are defective; the others "
               "never fail. `age` is the "
               "burn-in behind them.",
               core::fraction);
    v.optional("factors", factors, "Piecewise: rising in age; after the last the factor is 1.");
  }
  bool operator==(const LawSpec&) const = default;
};

/// What stands in the place of a part that failed.
enum class AfterFailure { renewed, as_old };
constexpr auto enum_words(AfterFailure) {
  using E = core::EnumWord<AfterFailure>;
  return std::array{E{AfterFailure::renewed, "renewed"}, E{AfterFailure::as_old, "as_old"}};
}

/// Nodes that fail more often than their neighbours, until a repair finds out why.
struct LemonSpec {
  double share = 0.012;
  double factor = 20;
  int evict_after = 0;
  double cured = 0;
  template <class V>
  void fields(V& v) {
    v.required("share", share, "Share of the nodes that are lemons.", core::probability);
    v.required("factor", factor,
               "Failure rate of a lemon / that of a good node; the table's "
               "rates are the mean of both.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("evict_after", evict_after,
               "Failures after which a lemon is exchanged for a good node; 0: never.",
               core::non_negative);
    v.optional("cured", cured,
               "Chance that a repair makes a lemon a good node; 0: it comes back no better.",
               core::probability);
  }
  bool operator==(const LemonSpec&) const = default;
};

}  // namespace headway::failures
