#include "sim/drill/belief.h"

#include <algorithm>

#include "sim/drill/constants.h"

namespace headway::drill {

using namespace core::literals;
using core::Tick;

namespace {

std::optional<Tick> first_of(const Sightings& sightings) {
  std::optional<Tick> first;
  for (const auto& at : sightings) {
    if (at && (!first || *at < *first)) {
      first = at;
    }
  }
  return first;
}

bool fails_restart(std::size_t symptom) {
  return symptom == static_cast<std::size_t>(Symptom::start_failed) ||
         symptom == static_cast<std::size_t>(Symptom::init_failed);
}

double stray(Symptom symptom) {
  return facts_of(symptom).layer == StackLayer::hardware ? kStrayHardware : kStray;
}

double likelihood(const Signature& signature, const Evidence& evidence, Tick first) {
  double chance = 1;
  for (std::size_t s = 0; s < kSymptoms; ++s) {
    const auto& at = evidence.visible[s];
    const bool restart_shows = evidence.restarted && signature.after_restart[s].has_value();
    if (at && *at <= evidence.now) {
      chance *= signature.visible[s] || restart_shows ? kShown : stray(static_cast<Symptom>(s));
    } else if ((signature.visible[s] && *signature.visible[s] <= evidence.now - first) ||
               (restart_shows && fails_restart(s))) {
      chance *= 1 - kShown;
    }
  }
  return chance;
}

Sightings sightings_of(const DrillInput& input) {
  Sightings visible = run_drill(input).visible;
  const Tick first = first_of(visible).value_or(0);
  for (auto& at : visible) {
    if (at) {
      at = *at - first;
    }
  }
  return visible;
}

}  // namespace

std::vector<Signature> signatures_of(const DrillSetup& given, const SlowdownOf& slowdown) {
  DrillSetup setup = given;
  setup.horizon = 1_days;  // however short the drill, an engineer knows more
  std::vector<Signature> signatures;
  for (const auto& [kind, word] : enum_words(FaultKind{})) {
    if (is_of_ways(kind) && setup.sites == 1) {
      continue;
    }
    Fault plain;
    plain.kind = kind;
    const Fault fault = with_defaults(plain, setup);
    DrillInput input;
    input.setup = &setup;
    input.fault = fault;
    input.effect = effect_of(fault, setup, slowdown);
    input.probe = Probe::watch;
    Signature signature{kind, sightings_of(input)};
    input.probe = Probe::restart;
    signature.after_restart = sightings_of(input);
    signatures.push_back(signature);
  }
  return signatures;
}

std::vector<Suspect> posterior(const std::array<double, kFaultKinds>& rate,
                               const std::vector<Signature>& signatures,
                               const Evidence& evidence) {
  const Tick first = first_of(evidence.visible).value_or(evidence.now);
  std::vector<Suspect> suspects;
  double total = 0;
  for (const auto& signature : signatures) {
    if (evidence.ruled_out.count(signature.kind) == 0 && first_of(signature.visible)) {
      const double weight =
          rate[static_cast<std::size_t>(signature.kind)] * likelihood(signature, evidence, first);
      suspects.push_back({signature.kind, weight});
      total += weight;
    }
  }
  for (auto& suspect : suspects) {
    suspect.probability = total > 0 ? suspect.probability / total : 0;
  }
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const auto& x, const auto& y) { return x.probability > y.probability; });
  return suspects;
}

}  // namespace headway::drill
