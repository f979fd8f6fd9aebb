#include "sim/study/diagnose/pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <oneapi/tbb/parallel_for.h>
#include <optional>
#include <utility>

#include "sim/core/error.h"

namespace headway::study {

namespace {

/// Pairs that are simulated.
constexpr std::size_t kSimulatedPairs = 4;
/// Severities between two that were simulated. Of the widest, a factor of two, each is 9 %, near
/// what predictions of parts of a step are off by.
constexpr int kStepsOfPairs = 8;
/// No figure of a pair is moved below this share of what its causes say. Judged.
constexpr double kLeastMoved = 0.05;

/// The severities of a cause at the place where it is likeliest.
struct Side {
  std::vector<Severity> severities;
  double log_places = 0;  ///< logarithm of how many places it has
};

Side side_of(const Weighing& weighing, const std::vector<const Trial*>& trials) {
  const std::vector<Place> places = places_of(trials);
  std::vector<const Trial*> here;
  for (const Trial* trial : trials) {
    if (trial->hypothesis.node == places.front().node) {
      here.push_back(trial);
    }
  }
  Side side{weighing.severities_of(here, kStepsOfPairs),
            std::log(static_cast<double>(places.size()))};
  for (Severity& severity : side.severities) {
    severity.hypothesis.not_told_apart = not_told_apart(places);
    severity.hypothesis.words = words_of(severity.hypothesis);
  }
  return side;
}

/// Figures that two causes show at once, put together.
bool multiplies(Feature feature) {
  switch (feature) {
    case Feature::rank_ratio:
    case Feature::bus_bandwidth:
    case Feature::clock_ratio:
    case Feature::power:
    case Feature::products:
      return true;
    default:
      return false;
  }
}

/// A pair of causes as it is weighed.
class Pair {
 public:
  Pair(const Weighing& weighing, const Side& a, const Side& b)
      : weighing_(&weighing), a_(&a), b_(&b), moved_(weighing.healthy().size(), 0) {
    weigh();
  }

  [[nodiscard]] double log_likelihood() const { return log_likelihood_; }

  /// Simulates the likeliest severities, moves all figures by what that changes, and once more
  /// where others are likelier then. False: they cannot be simulated together.
  bool simulate() {
    for (int round = 0; round < 2; ++round) {
      const Hypothesis both = hypothesis();
      if (imagined_ && both.words == simulated_.words) {
        break;
      }
      try {
        imagined_ = weighing_->laboratory().imagine(both);
      } catch (const core::Error&) {
        return false;
      }
      simulated_ = both;
      figures_ = weighing_->figures_of(*imagined_, both);
      std::fill(moved_.begin(), moved_.end(), 0.0);
      const auto together = put_together(*best_a_, *best_b_);
      for (std::size_t i = 0; i < moved_.size(); ++i) {
        moved_[i] = figures_[i] - together[i];
      }
      weigh();
    }
    return true;
  }

  [[nodiscard]] Suspect suspect() const {
    const double healthy = weighing_->laboratory().healthy().mean_step.si();
    const double step = imagined_->mean_step.si();
    Suspect out;
    out.best = simulated_;
    out.log_likelihood = log_likelihood_;
    out.step_s = step;
    out.mending.step_share = std::max(0.0, 1 - healthy / step);
    out.figures = figures_;
    const auto part = [&](const Hypothesis& cause, const Severity& stays) {
      Mending alone;
      alone.step_share = std::clamp(1 - stays.mean_step / step, 0.0, 1.0);
      return SuspectPart{cause.cause, cause.words, alone};
    };
    Hypothesis first = simulated_;
    first.also.clear();
    first.words = words_a_;
    out.parts = {part(first, *simulated_b_), part(simulated_.also.front(), *simulated_a_)};
    return out;
  }

 private:
  [[nodiscard]] Hypothesis hypothesis() {
    Hypothesis both = best_a_->hypothesis;
    both.also = {best_b_->hypothesis};
    words_a_ = both.words;
    simulated_a_ = best_a_;
    simulated_b_ = best_b_;
    both.words = fmt::format("{} AND {}", both.words, both.also.front().words);
    return both;
  }

  [[nodiscard]] std::vector<double> put_together(const Severity& a, const Severity& b) const {
    const auto& healthy = weighing_->healthy();
    std::vector<double> out(healthy.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Feature feature = weighing_->evidence().observations[i].feature;
      const double together = multiplies(feature) ? a.figures[i] * b.figures[i] / healthy[i]
                              : feature == Feature::spread
                                  ? std::max(a.figures[i], b.figures[i])
                                  : a.figures[i] + b.figures[i] - healthy[i];
      const double least =
          is_ratio(feature) ? kLeastMoved * std::min(a.figures[i], b.figures[i]) : 0;
      out[i] = std::max(together + moved_[i], least);
    }
    return out;
  }

  void weigh() {
    std::vector<double> logs, widths;
    best_a_ = &a_->severities.front();
    best_b_ = &b_->severities.front();
    double most = -std::numeric_limits<double>::infinity();
    for (const Severity& a : a_->severities) {
      Hypothesis both = a.hypothesis;
      both.also.resize(1);
      for (const Severity& b : b_->severities) {
        both.also[0].cause = b.hypothesis.cause;
        logs.push_back(weighing_->log_likelihood_of(put_together(a, b), both));
        widths.push_back(a.weight * b.weight);
        if (logs.back() > most) {
          most = logs.back();
          best_a_ = &a;
          best_b_ = &b;
        }
      }
    }
    log_likelihood_ = log_mean(logs, widths) - a_->log_places - b_->log_places;
  }

  const Weighing* weighing_;
  const Side* a_;
  const Side* b_;
  std::vector<double> moved_;  ///< by the simulation, of each figure
  double log_likelihood_ = 0;
  const Severity *best_a_ = nullptr, *best_b_ = nullptr;
  const Severity *simulated_a_ = nullptr, *simulated_b_ = nullptr;
  std::string words_a_;
  Hypothesis simulated_;
  std::optional<Imagined> imagined_;
  std::vector<double> figures_;
};

}  // namespace

std::vector<Suspect> suspect_pairs(const Weighing& weighing,
                                   const std::vector<Trial>& trials,
                                   const core::Count& count) {
  std::map<Cause, std::vector<const Trial*>> by_cause;
  for (const Trial& trial : trials) {
    if (trial.imagined && trial.hypothesis.cause != Cause::none) {
      by_cause[trial.hypothesis.cause].push_back(&trial);
    }
  }
  std::vector<Side> sides;
  for (const auto& [cause, of_cause] : by_cause) {
    sides.push_back(side_of(weighing, of_cause));
  }
  std::vector<std::array<std::size_t, 2>> two;
  for (std::size_t a = 0; a < sides.size(); ++a) {
    for (std::size_t b = a + 1; b < sides.size(); ++b) {
      two.push_back({a, b});
    }
  }
  std::vector<std::optional<Pair>> pairs(two.size());
  oneapi::tbb::parallel_for(std::size_t{0}, two.size(), [&](std::size_t i) {
    pairs[i].emplace(weighing, sides[two[i][0]], sides[two[i][1]]);
  });
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return a->log_likelihood() > b->log_likelihood();
  });
  pairs.resize(std::min(pairs.size(), kSimulatedPairs));
  core::JointProgress progress(count, pairs.size());
  std::vector<char> possible(pairs.size(), 0);
  oneapi::tbb::parallel_for(std::size_t{0}, pairs.size(), [&](std::size_t i) {
    const auto told = progress.piece();
    possible[i] = pairs[i]->simulate() ? 1 : 0;
    if (told) {
      told(1);
    }
  });
  std::vector<Suspect> out;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (possible[i] != 0) {
      out.push_back(pairs[i]->suspect());
    }
  }
  return out;
}

}  // namespace headway::study
