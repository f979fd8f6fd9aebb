#include "sim/core/fair_share.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/error.h"

namespace headway::core {

namespace {

__extension__ using Wide = __int128;

constexpr double kLargestRate = 0x1p62;

/// Rates of one problem while they rise.
class Filling {
 public:
  explicit Filling(const ShareProblem& problem);
  std::vector<Rate> run();

 private:
  [[nodiscard]] Rate level(std::size_t constraint) const {
    return static_cast<Rate>(remaining_[constraint] / weight_[constraint]);
  }
  Rate lowest_level() const;
  void freeze(std::size_t variable, Rate level);

  struct Use {
    std::uint32_t constraint;
    Wide weight;  // coefficient x weight of the variable
  };

  std::vector<Wide> remaining_;  // capacity less what is frozen, by constraint
  std::vector<Wide> weight_;     // of the variables that still rise, by constraint
  std::vector<std::vector<std::uint32_t>> users_;  // variables, by constraint
  std::vector<std::vector<Use>> uses_;  // by variable; the last is its bound, if it has one
  std::vector<std::uint32_t> variable_weight_;
  std::vector<bool> frozen_;
  std::vector<Rate> rate_;
};

Filling::Filling(const ShareProblem& problem)
    : remaining_(problem.capacity.begin(), problem.capacity.end()),
      weight_(problem.capacity.size()),
      users_(problem.capacity.size()),
      uses_(problem.variables.size()),
      frozen_(problem.variables.size()),
      rate_(problem.variables.size()) {
  for (std::uint32_t v = 0; v < problem.variables.size(); ++v) {
    const ShareVariable& variable = problem.variables[v];
    HEADWAY_CHECK(variable.weight > 0, "variable {} has weight 0", v);
    HEADWAY_CHECK(variable.uses > 0 || variable.bound > 0, "nothing limits the rate of variable {}",
                  v);
    variable_weight_.push_back(variable.weight);
    for (std::uint32_t u = variable.first_use; u < variable.first_use + variable.uses; ++u) {
      const auto [constraint, coefficient] = problem.uses[u];
      HEADWAY_CHECK(constraint < problem.capacity.size(), "variable {} uses constraint {} of {}", v,
                    constraint, problem.capacity.size());
      HEADWAY_CHECK(coefficient > 0, "variable {} uses constraint {} with coefficient 0", v,
                    constraint);
      uses_[v].push_back({constraint, Wide{coefficient} * variable.weight});
    }
    if (variable.bound > 0) {
      uses_[v].push_back({static_cast<std::uint32_t>(remaining_.size()), variable.weight});
      remaining_.push_back(variable.bound);
      weight_.push_back(0);
      users_.emplace_back();
    }
    for (const Use& use : uses_[v]) {
      weight_[use.constraint] += use.weight;
      users_[use.constraint].push_back(v);
    }
  }
}

Rate Filling::lowest_level() const {
  Rate lowest = std::numeric_limits<Rate>::max();
  for (std::size_t c = 0; c < remaining_.size(); ++c) {
    if (weight_[c] > 0) {
      lowest = std::min(lowest, level(c));
    }
  }
  return lowest;
}

void Filling::freeze(std::size_t variable, Rate level) {
  frozen_[variable] = true;
  rate_[variable] = level * static_cast<Rate>(variable_weight_[variable]);
  for (const Use& use : uses_[variable]) {
    remaining_[use.constraint] -= level * use.weight;
    weight_[use.constraint] -= use.weight;
  }
}

std::vector<Rate> Filling::run() {
  std::size_t left = rate_.size();
  std::vector<std::size_t> full;
  while (left > 0) {
    const Rate lowest = lowest_level();
    // All that are full at this level first, and only then freeze: freezing moves the levels of the
    // others.
    full.clear();
    for (std::size_t c = 0; c < remaining_.size(); ++c) {
      if (weight_[c] > 0 && level(c) == lowest) {
        full.push_back(c);
      }
    }
    for (const std::size_t c : full) {
      for (const std::uint32_t v : users_[c]) {
        if (!frozen_[v]) {
          freeze(v, lowest);
          --left;
        }
      }
    }
  }
  return rate_;
}

}  // namespace

RateUnit RateUnit::for_largest(BytesPerSecond capacity) {
  const double bytes_per_picosecond = capacity.si() * 1e-12;
  HEADWAY_CHECK(std::isfinite(bytes_per_picosecond) && bytes_per_picosecond >= 0,
                "capacity of {} B/s", capacity.si());
  // At most 60, so that 128-bit volumes (bytes x 2^shift) hold up to 2^67 bytes.
  int shift = 60;
  while (shift > 0 && std::ldexp(bytes_per_picosecond, shift) >= kLargestRate) {
    --shift;
  }
  return RateUnit(shift);
}

Rate RateUnit::to_rate(BytesPerSecond bandwidth) const {
  const double rate = std::ldexp(bandwidth.si(), shift_) / 1e12;
  HEADWAY_CHECK(rate >= 0 && rate < kLargestRate,
                "{} B/s do not fit into 2^62 units of 2^-{} byte/ps", bandwidth.si(), shift_);
  return std::llround(rate);
}

BytesPerSecond RateUnit::to_bandwidth(Rate rate) const {
  return BytesPerSecond(std::ldexp(static_cast<double>(rate) * 1e12, -shift_));
}

std::vector<Rate> max_min_rates(const ShareProblem& problem) { return Filling(problem).run(); }

}  // namespace headway::core
