#include "sim/campaign/drill_belief.h"

#include <algorithm>

namespace headway::campaign {

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

double likelihood(const Signature& signature, const Sightings& visible, Tick now, Tick first) {
  double chance = 1;
  for (std::size_t s = 0; s < kSymptoms; ++s) {
    const bool seen = visible[s] && *visible[s] <= now;
    if (seen) {
      chance *= signature.visible[s] ? kShown : kStray;
    } else if (signature.visible[s] && *signature.visible[s] <= now - first) {
      chance *= 1 - kShown;
    }
  }
  return chance;
}

}  // namespace

std::vector<Signature> signatures_of(const DrillSetup& setup, const SlowdownOf& slowdown) {
  std::vector<Signature> signatures;
  for (const auto& [kind, word] : enum_words(FaultKind{})) {
    Fault plain;
    plain.kind = kind;
    const Fault fault = with_defaults(plain, setup);
    DrillInput input;
    input.setup = &setup;
    input.fault = fault;
    input.effect = effect_of(fault, setup, slowdown);
    // The restart that a wrong checkpoint needs is an everyday one; what gives it away comes after.
    Signature signature{kind, {}};
    if (kind == FaultKind::wrong_checkpoint) {
      signature.visible[static_cast<std::size_t>(Symptom::step_went_back)] = 0;
      signature.visible[static_cast<std::size_t>(Symptom::loss_jump)] = 0;
    } else {
      signature.visible = run_drill(input).visible;
      const Tick first = first_of(signature.visible).value_or(0);
      for (auto& at : signature.visible) {
        if (at) {
          at = *at - first;
        }
      }
    }
    signatures.push_back(signature);
  }
  return signatures;
}

std::vector<Suspect> posterior(const std::array<double, kFaultKinds>& rate,
                               const std::vector<Signature>& signatures,
                               const Sightings& visible,
                               Tick now,
                               const std::set<FaultKind>& ruled_out) {
  const Tick first = first_of(visible).value_or(now);
  std::vector<Suspect> suspects;
  double total = 0;
  for (const auto& signature : signatures) {
    if (ruled_out.count(signature.kind) == 0) {
      const double weight = rate[static_cast<std::size_t>(signature.kind)] *
                            likelihood(signature, visible, now, first);
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

}  // namespace headway::campaign
