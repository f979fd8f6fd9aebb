#include "sim/study/diagnose/places.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/study/diagnose/likelihood.h"
#include "sim/study/diagnose/weighing.h"

namespace headway::study {

std::vector<Place> places_of(const std::vector<const Trial*>& trials) {
  std::map<std::string, double> most;
  for (const Trial* trial : trials) {
    double& here = most.try_emplace(trial->hypothesis.node, trial->log_likelihood).first->second;
    here = std::max(here, trial->log_likelihood);
  }
  std::vector<double> logs;
  for (const auto& [node, likelihood] : most) {
    logs.push_back(likelihood);
  }
  const double all = log_mean(logs) + std::log(static_cast<double>(logs.size()));
  std::vector<Place> places;
  for (const auto& [node, likelihood] : most) {
    places.push_back({node, std::min(1.0, std::exp(likelihood - all))});
  }
  // Of places that are alike those that have a name come first.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.probability != b.probability ? a.probability > b.probability
                                          : !a.node.empty() && b.node.empty();
  });
  return places;
}

std::vector<std::string> not_told_apart(const std::vector<Place>& places) {
  constexpr double kTogether = 0.9;
  constexpr double kAlike = 0.99;
  std::vector<std::string> names;
  double sum = places.front().probability;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const bool alike = places[i].probability >= kAlike * places[i - 1].probability;
    if (sum >= kTogether && (names.empty() || !alike)) {
      break;
    }
    names.push_back(places[i].node);
    sum += places[i].probability;
  }
  return names;
}

}  // namespace headway::study
