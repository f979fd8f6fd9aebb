#include "sim/campaign/closed_form.h"

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>

#include "sim/core/error.h"

namespace headway::campaign {

using core::Seconds;

namespace {

bool nothing_fails(const Rhythm& r) { return r.mean_time_between_failures.si() <= 0; }

/// e^((tau+C)/mu) - 1: mean failures before a segment succeeds.
double mean_failures(const Rhythm& r) {
  return std::expm1(r.segment() / r.mean_time_between_failures);
}

/// Terms of a sum that are added one by one; beyond them it is an integral.
constexpr int kTerms = 4096;
/// What is left of a sum below this share of it is left out. Source: rounding of a double.
constexpr double kNegligible = 1e-16;

/// sum_{j>first} f(j) for a falling f that changes little from one whole number to the next:
///     the integral from first + 1/2 on (midpoint rule, Euler-Maclaurin), in stretches that double
/// @param sum  of the terms before it: stretches are added until they are negligible beside it
double tail(const std::function<double(double)>& f, double first, double sum) {
  double begin = first + 0.5;
  double total = 0;
  for (double length = begin;; length *= 2) {
    HEADWAY_CHECK(std::isfinite(begin), "a survival that never falls has no mean");
    const double part = boost::math::quadrature::gauss_kronrod<double, 31>::integrate(
        f, begin, begin + length, 5, 1e-10);
    total += part;
    begin += length;
    if (part <= kNegligible * (sum + total)) {
      return total;
    }
  }
}

/// 1 + W0(-e^(-c - 1)) for c >= 0.
double one_plus_lambert(double c) {
  // W0 has a square-root branch point at c = 0 and loses digits near it: take its series there.
  const double p = std::sqrt(-2 * std::expm1(-c));
  if (p < 1e-3) {
    return p * (1 - p / 3 + 11 * p * p / 72 - 43 * p * p * p / 540);
  }
  return 1 + boost::math::lambert_w0(-std::exp(-c - 1));
}

}  // namespace

Seconds expected_segment(const Rhythm& r) {
  if (nothing_fails(r)) {
    return r.segment();
  }
  const Seconds mu = r.mean_time_between_failures;
  return (mu + r.downtime) * std::exp(r.restart / mu) * mean_failures(r);
}

Seconds expected_segment_uninterrupted_restart(const Rhythm& r) {
  if (nothing_fails(r)) {
    return r.segment();
  }
  return (r.mean_time_between_failures + r.downtime + r.restart) * mean_failures(r);
}

double efficiency(const Rhythm& r) {
  const double durable =
      nothing_fails(r) ? 1 : std::exp(-(r.persist / r.mean_time_between_failures));
  return r.work * durable / expected_segment(r);
}

Seconds expected_makespan(Seconds work, const Rhythm& r) {
  const double whole = std::floor(work / r.work * (1 + 1e-12));
  Seconds total = whole * expected_segment(r);
  Rhythm last = r;
  last.work = work - whole * r.work;
  // A remainder below a nanosecond per day of work is rounding, not a segment.
  if (last.work > 1e-14 * work) {
    total += expected_segment(last);
  }
  return total;
}

Seconds optimal_interval(Seconds stall, Seconds mean_time_between_failures, Seconds persist) {
  const Seconds mu = mean_time_between_failures;
  if (mu.si() <= 0) {
    return Seconds(0);
  }
  const double c = stall / mu;
  return std::max(mu * one_plus_lambert(c), persist - stall);
}

Seconds young_interval(Seconds stall, Seconds mean_time_between_failures) {
  return Seconds(std::sqrt(2 * stall.si() * mean_time_between_failures.si()));
}

Seconds daly_interval(Seconds stall, Seconds mean_time_between_failures) {
  const double half = stall / (2 * mean_time_between_failures);
  if (half >= 1) {
    return mean_time_between_failures;
  }
  return young_interval(stall, mean_time_between_failures) * (1 + std::sqrt(half) / 3 + half / 9) -
         stall;
}

long long save_every(Seconds work, Seconds stall, Seconds persist) {
  HEADWAY_CHECK(work.si() > 0, "an interval of {} s holds no work", work.si());
  return std::max(1LL, std::llround(std::ceil((persist - stall) / work)));
}

double renewal_efficiency(const Rhythm& r,
                          const std::function<double(Seconds)>& survival,
                          Seconds mean) {
  const auto term = [&](double j) { return survival(r.restart + j * r.segment() + r.persist); };
  double sum = 0;
  for (int j = 1; j <= kTerms; ++j) {
    const double next = term(j);
    sum += next;
    if (next <= kNegligible * sum) {
      return r.work * sum / (mean + r.downtime);
    }
  }
  return r.work * (sum + tail(term, kTerms, sum)) / (mean + r.downtime);
}

Moments segment_moments(const Rhythm& r) {
  const double s = r.segment().si();
  if (nothing_fails(r)) {
    return {s, 0};
  }
  const double mu = r.mean_time_between_failures.si();
  const double k_mean = mean_failures(r);
  const double growth = k_mean + 1;  // e^(s/mu)
  const double k_variance = k_mean * growth;
  const double lost_mean = mu - s / k_mean;
  const double lost_variance = mu * mu - s * s * growth / (k_mean * k_mean);
  const double per_failure = lost_mean + r.downtime.si() + r.restart.si();
  return {s + k_mean * per_failure,
          k_mean * lost_variance + k_variance * per_failure * per_failure};
}

double straggler_step(double p, double factor, double n, double exposed) {
  return 1 - exposed * (factor - 1) * std::expm1(n * std::log1p(-p));
}

double two_level_efficiency(const Level& near,
                            const Level& far,
                            double q,
                            Seconds mean_time_between_failures) {
  const Seconds lost =
      q * (near.interval / 2 + near.restart) + (1 - q) * (far.interval / 2 + far.restart);
  return 1 - near.stall / near.interval - far.stall / far.interval -
         lost / mean_time_between_failures;
}

double elastic_efficiency(Seconds stall,
                          Seconds degraded,
                          double replicas,
                          Seconds mean_time_between_failures) {
  return 1 - stall / mean_time_between_failures -
         degraded / (replicas * mean_time_between_failures);
}

}  // namespace headway::campaign
