// Failure rates, counts, spares and shocks, as formulas.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/units.h"
#include "sim/failures/spec.h"

namespace headway::failures {

/// The machine whose failures are asked for.
struct Fleet {
  std::int64_t gpus = 1;
  std::int64_t nodes = 1;
  std::int64_t sites = 1;
};

/// Parts of `fleet` that the hazard's rate counts: GPUs, nodes, domains of
/// `nodes_lost` nodes, pairs of such domains, M (M - 1) / 2 for M of them, sites,
/// or 1 for a hazard of the whole job, which does not grow with it.
double members(const HazardSpec& hazard, Fleet fleet);

/// Share of the parts that pass a burn-in of length `tested`: 1 - d (1 -
/// e^(-tested/life)).
/// @param defective  share d of new parts that are defective; the others never
/// fail
/// @param life       mean life of a defective part, exponential
double burn_in_yield(double defective, core::Seconds life, core::Seconds tested);
/// Share of those that passed which are defective all the same:
///     d e^(-tested/life) / (1 - d + d e^(-tested/life))
double infant_hazard_left(double defective, core::Seconds life, core::Seconds tested);

/// Rate at which one hazard strikes a job on `fleet`.
///     mtbf given:  members / mtbf
///     count given: members x count / (observed members x observed wall)
/// For parts that age this is the rate in the long run, each failed part
/// replaced by a new one; for defects the rate at the start, members x share
/// still defective / mtbf, which falls to zero.
/// @throws Error if neither mtbf nor count is given, or a count without
/// `observed`
core::PerSecond job_rate(const HazardSpec& hazard,
                         const std::optional<ExposureSpec>& observed,
                         Fleet fleet);

/// Sum over all hazards: independent hazards add.
core::PerSecond job_rate(const FailureSpec& failures, Fleet fleet);

/// 1 / rate; zero, by convention, when nothing fails.
core::Seconds mean_time_between(core::PerSecond rate);

/// P(at least one failure in `time`) = 1 - exp(-rate time).
double probability_of_any(core::PerSecond rate, core::Seconds time);

/// A Weibull law: S(t) = exp(-(t / scale)^shape).
struct Weibull {
  double shape = 1;
  core::Seconds scale;
  [[nodiscard]] double survival(core::Seconds t) const;
  [[nodiscard]] core::Seconds mean() const;  ///< scale Gamma(1 + 1/shape)
};

/// The Weibull law of this shape whose mean is `mean`.
Weibull weibull_with_mean(double shape, core::Seconds mean);

/// First failure of `n` equal, independent, new parts: Weibull(shape, scale
/// n^(-1/shape)).
Weibull first_of(std::int64_t n, const Weibull& part);

/// Nodes that fail alone, and domains whose shock takes all their nodes at once
/// (Marshall-Olkin).
struct CommonShock {
  double nodes = 1;
  core::PerSecond node_rate;
  double domains = 0;
  core::PerSecond domain_rate;
  double nodes_per_domain = 2;  ///< at least 2

  [[nodiscard]] core::PerSecond job_rate() const;       ///< nodes node_rate + domains domain_rate
  [[nodiscard]] double probability_of_several() const;  ///< share of events that take >= 2 nodes
  [[nodiscard]] double nodes_lost_per_event() const;
};

/// Erlang's loss formula.
///     B(a, 0) = 1,  B(a, c) = a B(a, c-1) / (c + a B(a, c-1))
/// @param offered  a = arrival rate x mean holding time
double erlang_b(double offered, std::int64_t servers);

/// Share of time a job of `nodes` stands still because no spare is left: Erlang
/// B with spares + 1. The job does not fail while it stands; repairs have any
/// law and never queue.
double stalled_share(std::int64_t nodes,
                     core::PerSecond node_rate,
                     core::Seconds repair,
                     std::int64_t spares);

/// The same with `crews` repairs at a time and exponential repairs (truncated
/// birth-death chain).
///     B(0) = 1,  B(c) = a B(c-1) / (min(c, crews) + a B(c-1))
double stalled_share_with_crews(double offered, std::int64_t spares, std::int64_t crews);

/// Fewest spares with which the job stands still less than `target` of the time: by
/// `stalled_share`, or with so many crews.
/// @param offered  rate at which nodes are lost x mean repair time
/// @param crews  repairs at a time; 0: all at once
/// @returns nothing if `most` are too few, or any number: crews that mend more slowly than nodes
///          break leave 1 - crews / offered
std::optional<std::int64_t> spares_needed(double offered,
                                          std::int64_t crews,
                                          double target,
                                          std::int64_t most);

}  // namespace headway::failures
