#include "sim/plan/keep_limits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "sim/core/text.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::plan {

using namespace core::literals;

namespace {

/// A number of so many digits that is no nearer to the limit: as a limit, the value keeps it.
double rounded_away(double value, double limit, int digits) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - (digits - 1));
  const double units = value / unit;
  constexpr double kWhole = 1e-9;  // Source: above the rounding of doubles, below every digit
  return unit *
         (value > limit ? std::ceil(units * (1 - kWhole)) : std::floor(units * (1 + kWhole)));
}

/// Two numbers, with as many digits as it takes to tell them apart.
std::pair<std::string, std::string> told_apart(double value, double limit) {
  constexpr int kFewest = 3, kMost = 9;
  const bool plain = std::isfinite(value) && value != 0;
  const auto away = [&](int digits) { return plain ? rounded_away(value, limit, digits) : value; };
  std::pair texts(core::number(away(kFewest)), core::number(limit));
  for (int digits = kFewest + 1; plain && texts.first == texts.second && digits <= kMost;
       ++digits) {
    const auto decimals =
        std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
    texts = {fmt::format("{:.{}f}", away(digits), decimals),
             fmt::format("{:.{}f}", limit, decimals)};
  }
  return texts;
}

/// "9.31 days, the deadline is 9.00"
MissedLimit missed(
    const char* kind, const char* reason, const char* value_words, double value, double limit) {
  const auto texts = told_apart(value, limit);
  return {kind, reason, value / limit - 1,
          fmt::format("{}, the {} is {}", fmt::format(fmt::runtime(value_words), texts.first), kind,
                      texts.second)};
}

void reject(const MissedLimit& missed, Rejections& rejected) {
  rejected.add(missed.kind, missed.reason);
  rejected.set_nearest(missed.kind, missed.reason, missed.distance, missed.text);
}

/// Steps of the whole run, if it is not ended by the clock.
std::optional<double> run_steps(const training::Scenario& s) {
  if (s.run.until && s.run.until->steps) {
    return static_cast<double>(*s.run.until->steps);
  }
  if (s.run.until && s.run.until->tokens) {
    return *s.run.until->tokens /
           (static_cast<double>(s.training.global_batch) * s.training.sequence_length);
  }
  return std::nullopt;
}

constexpr double kMega = 1e6;  // Source: the prefix

double beyond(std::int64_t value, std::int64_t limit) {
  return static_cast<double>(value) / static_cast<double>(limit) - 1;
}

/// Limits of the machine again, now that its spares are known.
std::vector<MissedLimit> missed_with_spares(const Plan& plan, const Limits& limits) {
  std::vector<MissedLimit> all;
  if (limits.racks && plan.racks > *limits.racks) {
    all.push_back({"racks", "takes more racks than the limit with the spares that its run needs",
                   beyond(plan.racks, *limits.racks),
                   fmt::format("{} racks with {} spares, the limit is {}", plan.racks, plan.spares,
                               *limits.racks)});
  }
  if (limits.power && plan.power > *limits.power) {
    const auto texts = told_apart(plan.power.si() / kMega, limits.power->si() / kMega);
    all.push_back({"power", "draws more than the limit with the spares that its run needs",
                   plan.power / *limits.power - 1,
                   fmt::format("{} MW with {} spares, the limit is {}", texts.first, plan.spares,
                               texts.second)});
  }
  return all;
}

}  // namespace

std::int64_t racks_of(const training::Scenario& s) {
  const std::int64_t each = s.run.recovery.rack_nodes;
  return (s.cluster.nodes + each - 1) / each + (s.cluster.spares + each - 1) / each;
}

std::optional<MissedLimit> furthest(const std::vector<MissedLimit>& all) {
  if (all.empty()) {
    return std::nullopt;
  }
  MissedLimit most = *std::max_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  for (const MissedLimit& limit : all) {
    most.text += limit.kind == most.kind ? "" : "; and " + limit.text;
  }
  return most;
}

std::optional<MissedLimit> machine_limit(const training::Scenario& s, const Limits& limits) {
  const std::int64_t gpus = std::int64_t{s.cluster.nodes} * s.cluster.node.gpus;
  if (limits.gpus && gpus > *limits.gpus) {
    return MissedLimit{"gpus",
                       fmt::format("{} GPUs are more than the limit of {}", gpus, *limits.gpus),
                       beyond(gpus, *limits.gpus), ""};
  }
  if (limits.racks && racks_of(s) > *limits.racks) {
    return MissedLimit{
        "racks",
        fmt::format("{} nodes and {} spares take {} racks of {}, the limit is {}", s.cluster.nodes,
                    s.cluster.spares, racks_of(s), s.run.recovery.rack_nodes, *limits.racks),
        beyond(racks_of(s), *limits.racks), ""};
  }
  const double pue = training::pue_of(s);
  const core::Watts power = training::peak_power(s) * pue;
  if (limits.power && power > *limits.power) {
    const auto texts = told_apart(power.si() / kMega, limits.power->si() / kMega);
    return MissedLimit{
        "power",
        fmt::format("{} nodes draw {} MW with every GPU at its limit, times a PUE of "
                    "{}, the limit is {}",
                    s.cluster.nodes, texts.first, core::number(pue), texts.second),
        power / *limits.power - 1, ""};
  }
  return std::nullopt;
}

void drop_beyond_limits(const training::Scenario& s,
                        const Limits& limits,
                        std::vector<Entry>& entries,
                        Rejections& rejected) {
  const auto steps = run_steps(s);
  if (!steps) {
    return;
  }
  const double gpus = static_cast<double>(s.cluster.nodes) * s.cluster.node.gpus;
  std::erase_if(entries, [&](const Entry& entry) {
    const core::Seconds run = entry.bound * *steps;
    std::vector<MissedLimit> all;
    if (limits.deadline && run > *limits.deadline) {
      all.push_back(missed("deadline", "takes longer than the deadline even if nothing fails",
                           "at least {} days of steps", run / 1_days, *limits.deadline / 1_days));
    }
    if (limits.budget && s.run.prices) {
      const core::Dollars hours = training::relative_price(s) * s.run.prices->gpu_hour * run * gpus;
      if (hours > *limits.budget) {
        all.push_back(missed("budget",
                             "its GPU-hours cost more than the budget even if nothing fails",
                             "GPU-hours of at least {} USD", hours.si(), limits.budget->si()));
      }
    }
    const auto most = furthest(all);
    if (most) {
      reject(*most, rejected);
    }
    return most.has_value();
  });
}

std::optional<MissedLimit> missed_limit(const Plan& plan, const Limits& limits) {
  if (!plan.campaign) {
    return std::nullopt;
  }
  std::vector<MissedLimit> all = missed_with_spares(plan, limits);
  const double days = plan.campaign->result.days().p50;
  if (limits.deadline && days * 1_days > *limits.deadline) {
    all.push_back(missed("deadline", "takes longer than the deadline in half of all trials",
                         "{} days", days, *limits.deadline / 1_days));
  }
  if (limits.budget && plan.campaign->total_usd &&
      plan.campaign->total_usd->p50 > limits.budget->si()) {
    all.push_back(missed("budget", "costs more than the budget in half of all trials", "{} USD",
                         plan.campaign->total_usd->p50, limits.budget->si()));
  }
  const double goodput = plan.campaign->result.goodput.p50;
  if (limits.goodput && goodput < *limits.goodput) {
    const auto texts = told_apart(goodput, *limits.goodput);
    all.push_back({"goodput", "has less than the goodput asked for in half of all trials",
                   1 - goodput / *limits.goodput,
                   fmt::format("a goodput of {}, asked for {}", texts.first, texts.second)});
  }
  return furthest(all);
}

void drop_late_and_dear(const Limits& limits, std::vector<Plan>& plans, Rejections& rejected) {
  std::erase_if(plans, [&](const Plan& plan) {
    const auto most = missed_limit(plan, limits);
    if (most) {
      reject(*most, rejected);
    }
    return most.has_value();
  });
}

}  // namespace headway::plan
