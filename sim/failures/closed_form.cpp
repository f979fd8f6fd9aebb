#include "sim/failures/closed_form.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

#include "sim/core/error.h"

namespace headway::failures {

using core::PerSecond;
using core::Seconds;

double members(const HazardSpec& hazard, Fleet fleet) {
  switch (hazard.per) {
    case Population::gpu:
      return static_cast<double>(fleet.gpus);
    case Population::node:
      return static_cast<double>(fleet.nodes);
    case Population::domain: {
      // A domain that is only partly used can still fail.
      const std::int64_t domains = (fleet.nodes + hazard.nodes_lost - 1) / hazard.nodes_lost;
      return static_cast<double>(domains);
    }
    case Population::domain_pair: {
      const auto domains = (fleet.nodes + hazard.nodes_lost - 1) / hazard.nodes_lost;
      return static_cast<double>(domains) * static_cast<double>(domains - 1) / 2;
    }
    case Population::site:
      return static_cast<double>(fleet.sites);
    case Population::job:
      return 1;
  }
  return 1;
}

double infant_hazard_left(double defective, Seconds life, Seconds tested) {
  const double survived = std::exp(-(tested / life));
  return defective * survived / (1 - defective + defective * survived);
}

double burn_in_yield(double defective, Seconds life, Seconds tested) {
  return 1 + defective * std::expm1(-(tested / life));
}

PerSecond job_rate(const HazardSpec& hazard,
                   const std::optional<ExposureSpec>& observed,
                   Fleet fleet) {
  const double here = members(hazard, fleet);
  if (hazard.mtbf && hazard.law.kind == LawKind::defects) {
    return here * infant_hazard_left(hazard.law.defective, *hazard.mtbf, hazard.age) / *hazard.mtbf;
  }
  if (hazard.mtbf) {
    return here / *hazard.mtbf;
  }
  if (!hazard.count) {
    throw core::Error(fmt::format("hazard '{}' needs mtbf or count", hazard.name));
  }
  if (!observed) {
    throw core::Error(
        fmt::format("hazard '{}' has a count; say over which exposure in `observed`", hazard.name));
  }
  // Rounding up: a partly filled node was still one node that could fail.
  const std::int64_t nodes =
      (observed->gpus + observed->gpus_per_node - 1) / observed->gpus_per_node;
  const double there = members(hazard, {observed->gpus, nodes});
  return here * static_cast<double>(*hazard.count) / (there * observed->wall);
}

PerSecond job_rate(const FailureSpec& failures, Fleet fleet) {
  PerSecond total;
  for (const auto& hazard : failures.hazards) {
    total += job_rate(hazard, failures.observed, fleet);
  }
  return total;
}

Seconds mean_time_between(PerSecond rate) { return rate.si() > 0 ? 1.0 / rate : Seconds(0); }

double probability_of_any(PerSecond rate, Seconds time) { return -std::expm1(-(rate * time)); }

double Weibull::survival(Seconds t) const {
  return t.si() <= 0 ? 1 : std::exp(-std::pow(t / scale, shape));
}

Seconds Weibull::mean() const { return scale * boost::math::tgamma(1 + 1 / shape); }

Weibull weibull_with_mean(double shape, Seconds mean) {
  return {shape, mean / boost::math::tgamma(1 + 1 / shape)};
}

Weibull first_of(std::int64_t n, const Weibull& part) {
  return {part.shape, part.scale * std::pow(static_cast<double>(n), -1 / part.shape)};
}

PerSecond CommonShock::job_rate() const { return nodes * node_rate + domains * domain_rate; }

double CommonShock::probability_of_several() const { return domains * domain_rate / job_rate(); }

double CommonShock::nodes_lost_per_event() const {
  return (nodes * node_rate + domains * nodes_per_domain * domain_rate) / job_rate();
}

namespace {

/// B(a, c) from B(a, c - 1).
double with_one_server_more(double offered, double blocked, std::int64_t servers) {
  return offered * blocked / (static_cast<double>(servers) + offered * blocked);
}

}  // namespace

double erlang_b(double offered, std::int64_t servers) {
  double blocked = 1;
  for (std::int64_t c = 1; c <= servers; ++c) {
    blocked = with_one_server_more(offered, blocked, c);
  }
  return blocked;
}

double stalled_share(std::int64_t nodes, PerSecond node_rate, Seconds repair, std::int64_t spares) {
  return erlang_b(static_cast<double>(nodes) * node_rate * repair, spares + 1);
}

double stalled_share_with_crews(double offered, std::int64_t spares, std::int64_t crews) {
  HEADWAY_CHECK(crews >= 1, "{} crews repair nothing", crews);
  double stalled = 1;
  for (std::int64_t broken = 1; broken <= spares + 1; ++broken) {
    stalled = with_one_server_more(offered, stalled, std::min(broken, crews));
  }
  return stalled;
}

std::optional<std::int64_t> spares_needed(double offered,
                                          std::int64_t crews,
                                          double target,
                                          std::int64_t most) {
  HEADWAY_CHECK(target > 0, "no number of spares makes a stall impossible");
  // With endless spares all crews are always at work, and what they mend is what the job may break.
  if (crews > 0 && 1 - static_cast<double>(crews) / offered >= target) {
    return std::nullopt;
  }
  double stalled = 1;
  for (std::int64_t spares = 0; spares <= most; ++spares) {
    const std::int64_t broken = spares + 1;
    stalled = with_one_server_more(offered, stalled, crews > 0 ? std::min(broken, crews) : broken);
    if (stalled < target) {
      return spares;
    }
  }
  return std::nullopt;
}

}  // namespace headway::failures
