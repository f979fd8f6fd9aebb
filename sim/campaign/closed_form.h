// How much of the wall clock is progress, as exact formulas: the yardsticks of the event
// simulation.
//
// Notation of all functions (README.md draws it): tau useful work between saves, C time training
// stands still for a save, P time from there until the save is durable, D downtime without
// failures (detection, diagnosis, replacement), R restart that a failure can interrupt,
// mu mean time between failures while the job is exposed.
#pragma once

#include <functional>

#include "sim/core/units.h"

namespace headway::campaign {

/// The numbers that decide how much of the wall clock is progress.
struct Rhythm {
  core::Seconds work;                        ///< tau
  core::Seconds stall;                       ///< C
  core::Seconds persist;                     ///< P, 0 when synchronous
  core::Seconds downtime;                    ///< D, mean
  core::Seconds restart;                     ///< R
  core::Seconds mean_time_between_failures;  ///< mu; 0: nothing fails

  /// tau + C
  [[nodiscard]] core::Seconds segment() const { return work + stall; }
};

/// Mean wall time until one segment is done, exponential failures, synchronous saves.
///     E = (mu + D) e^(R/mu) (e^((tau+C)/mu) - 1);  tau + C if nothing fails
/// Source: Daly, FGCS 2006; Aupy et al. 2013. Exact.
core::Seconds expected_segment(const Rhythm& r);

/// The same when failures cannot strike during the restart: (mu + D + R) (e^((tau+C)/mu) - 1).
core::Seconds expected_segment_uninterrupted_restart(const Rhythm& r);

/// Share of the wall clock that is durable progress, exponential failures.
///     tau e^(-P/mu) / E[segment],  tau / (tau + C) if nothing fails
/// Asynchronous saves need P <= tau + C (`save_every` makes it so).
double efficiency(const Rhythm& r);

/// Mean wall time of `work` in segments of tau and a last, shorter one; P = 0. Exact.
core::Seconds expected_makespan(core::Seconds work, const Rhythm& r);

/// The interval tau that maximises `efficiency`.
///     tau* = mu (1 + W0(-e^(-C/mu - 1))), and no less than P - C
/// W0: Lambert's function. Independent of R and D; zero if nothing fails.
core::Seconds optimal_interval(core::Seconds stall,
                               core::Seconds mean_time_between_failures,
                               core::Seconds persist = core::Seconds(0));

/// Young 1974: sqrt(2 mu C).
core::Seconds young_interval(core::Seconds stall, core::Seconds mean_time_between_failures);

/// Daly 2006, higher order: sqrt(2 C mu) [1 + sqrt(C/2mu)/3 + (C/2mu)/9] - C if C < 2 mu, else mu.
core::Seconds daly_interval(core::Seconds stall, core::Seconds mean_time_between_failures);

/// How many intervals of work lie between two saves when a save takes `persist` to become durable.
/// The host holds two snapshots, so a save may begin when the one before it is durable at its end:
/// the smallest k >= 1 with k tau + C >= P.
long long save_every(core::Seconds work, core::Seconds stall, core::Seconds persist);

/// Efficiency under any law of times between failures that starts anew at each failure.
///     tau sum_{j>=1} S(R + j (tau+C) + P) / (E[X] + D)
/// @param survival  S(t) = P(X > t) of the exposed time X between failures
/// @param mean      E[X]
/// Exact; equals `efficiency` for S(t) = e^(-t/mu). Of a long sum all but the first terms are an
/// integral, to 1e-9. The law must always fail in the end.
double renewal_efficiency(const Rhythm& r,
                          const std::function<double(core::Seconds)>& survival,
                          core::Seconds mean);

struct Moments {
  double mean = 0;      ///< [s]
  double variance = 0;  ///< [s^2]
};

/// Mean and variance of the wall time of one segment whose restart no failure can interrupt.
///     K ~ Geometric(e^(-s/mu)),  L = work lost at one failure, 0 <= L < s = tau + C
///     E = s + E[K] (E[L] + D + R),  Var = E[K] Var[L] + Var[K] (E[L] + D + R)^2
Moments segment_moments(const Rhythm& r);

/// Mean step, relative, when each of `n` ranks is slow by `factor` with probability `p` and all
/// wait.
///     1 + exposed (factor - 1) (1 - (1-p)^n)
/// @param exposed  share of the slowness that no overlap hides
double straggler_step(double p, double factor, double n, double exposed = 1);

/// One level of a two-level checkpoint scheme.
struct Level {
  core::Seconds interval, stall, restart;
};
/// First-order efficiency of two checkpoint levels.
///     1 - C1/t1 - C2/t2 - [q (t1/2 + R1) + (1-q) (t2/2 + R2)] / mu;  error O((s/mu)^2)
/// @param q  share of failures that the first level survives
double two_level_efficiency(const Level& near,
                            const Level& far,
                            double q,
                            core::Seconds mean_time_between_failures);

/// First-order efficiency of elastic data parallelism: a failure stalls all replicas, then one of
/// `replicas` is missing for `degraded`.
///     1 - stall/mu - degraded / (replicas mu)
double elastic_efficiency(core::Seconds stall,
                          core::Seconds degraded,
                          double replicas,
                          core::Seconds mean_time_between_failures);

}  // namespace headway::campaign
