#include "sim/campaign/step_times.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "sim/core/engine/executor.h"
#include "sim/core/error.h"

namespace headway::campaign {

SlowState slow_state(failures::Effect effect,
                     double keeps,
                     std::uint16_t position,
                     std::uint32_t replica) {
  HEADWAY_CHECK(failures::is_slow(effect), "effect '{}' slows nothing", core::to_word(effect));
  if (effect == failures::Effect::flapping_link) {
    return {SlowState::Kind::flap, keeps, position, replica};
  }
  if (effect == failures::Effect::slow_site) {
    return {SlowState::Kind::site, keeps, 0, 0};
  }
  const auto kind =
      effect == failures::Effect::slow_gpu ? SlowState::Kind::gpu : SlowState::Kind::link;
  return {kind, keeps, position, replica};
}

double stretched_by_outages(const ClusterState& state) {
  double up = 1;
  for (const auto& part : state.parts) {
    up *= part.kind == SlowState::Kind::flap ? part.keeps : 1;
  }
  return 1 / up;
}

namespace {

ClusterState without_outages(const ClusterState& state) {
  ClusterState rest{{}, state.heat};
  std::copy_if(state.parts.begin(), state.parts.end(), std::back_inserter(rest.parts),
               [](const SlowState& part) { return part.kind != SlowState::Kind::flap; });
  return canonical(std::move(rest));
}

/// Slow parts of one kind, one severity and one class of places, by replica.
using AlikeParts = std::vector<SlowState>;

std::vector<AlikeParts> by_likeness(std::vector<SlowState> parts) {
  std::sort(parts.begin(), parts.end());  // by replica last
  std::vector<AlikeParts> classes;
  for (const SlowState& part : parts) {
    const auto is_like = [&](const SlowState& other) {
      return part.kind == other.kind && part.keeps == other.keeps &&
             part.position == other.position;
    };
    if (classes.empty() || !is_like(classes.back().front())) {
      classes.emplace_back();
    }
    classes.back().push_back(part);
  }
  return classes;
}

/// Of all pairs of parts one of each sort: thousands of slow parts are of few classes, and of two
/// in a pair only their classes matter, and whether they are in one replica. Of one class no two
/// are (`canonical`).
std::vector<std::pair<SlowState, SlowState>> different_pairs(std::vector<SlowState> parts) {
  const std::vector<AlikeParts> classes = by_likeness(std::move(parts));
  std::vector<std::pair<SlowState, SlowState>> pairs;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const AlikeParts& one = classes[i];
    if (one.size() > 1) {
      pairs.emplace_back(one[0], one[1]);
    }
    for (std::size_t k = 0; k < i; ++k) {
      const AlikeParts& other = classes[k];
      const auto apart = [](const SlowState& a, const SlowState& b) {
        return a.replica != b.replica;
      };
      if (apart(one.front(), other.back())) {  // in rising order: the farthest apart
        pairs.emplace_back(one.front(), other.back());
      } else if (apart(one.back(), other.front())) {
        pairs.emplace_back(one.back(), other.front());
      }
      auto a = one.begin();
      auto b = other.begin();
      while (a != one.end() && b != other.end() && apart(*a, *b)) {
        a->replica < b->replica ? ++a : ++b;
      }
      if (a != one.end() && b != other.end()) {
        pairs.emplace_back(*a, *b);
      }
    }
  }
  return pairs;
}

}  // namespace

ClusterState canonical(ClusterState state) {
  auto& parts = state.parts;
  if (parts.size() == 1) {
    parts.front().replica = 0;
    return state;
  }
  std::sort(parts.begin(), parts.end());
  const auto one_place = [](const SlowState& a, const SlowState& b) {
    return a.kind == b.kind && a.kind != SlowState::Kind::flap && a.position == b.position &&
           a.replica == b.replica;
  };
  // The slower comes first; parts between two of one place have other replicas, so look at all.
  std::vector<SlowState> kept;
  for (const auto& part : parts) {
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const SlowState& other) { return one_place(part, other); })) {
      kept.push_back(part);
    }
  }
  std::vector<std::uint32_t> seen;
  for (auto& part : kept) {
    if (part.kind == SlowState::Kind::site || part.kind == SlowState::Kind::stage) {
      continue;  // it is in no replica
    }
    const auto place = std::find(seen.begin(), seen.end(), part.replica);
    const auto number = static_cast<std::uint32_t>(place - seen.begin());
    if (place == seen.end()) {
      seen.push_back(part.replica);
    }
    part.replica = number;
  }
  parts = std::move(kept);
  return state;
}

double waits_for_the_slowest(const ClusterState& state) {
  double slowest = 1 / state.heat;
  for (const auto& part : state.parts) {
    const bool computes = part.kind == SlowState::Kind::gpu || part.kind == SlowState::Kind::stage;
    const double heat = computes ? state.heat : 1;
    slowest = std::max(slowest, 1 / (part.keeps * heat));
  }
  return slowest;
}

void StepTimes::prepare(const std::vector<SlowState>& parts,
                        int threads,
                        const Progress& progress) {
  std::vector<ClusterState> states;
  for (const double heat : circumstances_.heats) {
    if (heat < 1) {
      states.push_back({{}, heat});
    }
    for (const auto& part : parts) {
      if (part.kind == SlowState::Kind::flap) {
        continue;
      }
      const bool anywhere = part.kind == SlowState::Kind::site;
      const std::uint16_t positions = anywhere ? std::uint16_t{1} : circumstances_.positions;
      for (std::uint16_t position = 0; position < positions; ++position) {
        states.push_back({{{part.kind, part.keeps, position, 0}}, heat});
      }
    }
  }
  std::atomic<std::size_t> done{0};
  core::make_executor(threads)->for_each(states.size(), [&](std::size_t i) {
    remembered(states[i]);
    const std::size_t finished = ++done;
    if (progress) {
      progress(finished, states.size());
    }
  });
}

void StepTimes::know(const std::vector<StepAnswer>& answers) {
  for (const StepAnswer& one : answers) {
    auto& place = known_[one.state];
    place = std::make_unique<Answer>();
    std::call_once(place->once, [&] { place->slowness = one.slowness; });
  }
}

std::vector<StepAnswer> StepTimes::answers() const {
  std::vector<StepAnswer> list;
  list.reserve(known_.size());
  for (const auto& [state, answer] : known_) {
    list.push_back({state, answer->slowness});
  }
  return list;
}

double StepTimes::slowness(const ClusterState& state) {
  if (state.parts.empty() && state.heat >= 1) {
    return 1;
  }
  if (const double stretch = stretched_by_outages(state); stretch > 1) {
    return stretch * slowness(without_outages(state));
  }
  if (state.parts.size() < kSimulatedTogether) {
    return remembered(state);
  }
  const double heat = slowness({{}, state.heat});
  double slowest = heat;
  std::vector<SlowState> felt;
  for (const auto& part : state.parts) {
    const double alone = remembered({{{part.kind, part.keeps, part.position, 0}}, state.heat});
    slowest = std::max(slowest, alone);
    if (alone > heat * (1 + kHidden)) {
      felt.push_back(part);
    }
  }
  for (const auto& [one, other] : different_pairs(std::move(felt))) {
    slowest = std::max(slowest, of_pair(canonical({{one, other}, state.heat})));
  }
  return slowest;
}

double StepTimes::of_pair(const ClusterState& pair) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = pairs_.find(pair); found != pairs_.end()) {
      return found->second;
    }
  }
  const double slowness = remembered(merged(pair));
  const std::scoped_lock lock(mutex_);
  pairs_.emplace(pair, slowness);
  return slowness;
}

/// Positions that are like that of `part`, itself among them.
std::vector<std::uint16_t> StepTimes::alike(const SlowState& part) {
  const auto alone = [&](std::uint16_t position, double heat) {
    return remembered({{{part.kind, part.keeps, position, 0}}, heat});
  };
  std::vector<std::uint16_t> positions;
  for (std::uint16_t other = 0; other < circumstances_.positions; ++other) {
    const bool equal =
        std::all_of(circumstances_.heats.begin(), circumstances_.heats.end(),
                    [&](double heat) { return alone(other, heat) == alone(part.position, heat); });
    if (equal) {
      positions.push_back(other);
    }
  }
  return positions;
}

/// The state that stands for all pairs of places alike. Whether both are in one place, or in one
/// replica, stays as it is.
ClusterState StepTimes::merged(const ClusterState& pair) {
  ClusterState state = pair;
  SlowState& first = state.parts[0];
  SlowState& second = state.parts[1];
  const bool together = first.replica == second.replica;
  if (circumstances_.positions == 1 || (together && first.position == second.position)) {
    return state;
  }
  // One in the middle: the ends of a pipeline are the places that differ.
  const auto places = alike(first);
  first.position = places[places.size() / 2];
  if (second.kind == SlowState::Kind::site) {
    return canonical(std::move(state));
  }
  const auto others = alike(second);
  second.position = others[others.size() / 2];
  if (together && second.position == first.position) {
    if (others.size() == 1) {
      return pair;
    }
    second.position = others[others.size() / 2 - 1];
  }
  return canonical(std::move(state));
}

double StepTimes::remembered(const ClusterState& state) {
  Answer* answer = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    auto& place = known_[state];
    if (!place) {
      place = std::make_unique<Answer>();
    }
    answer = place.get();
  }
  std::call_once(answer->once, [&] { answer->slowness = std::max(1.0, slowness_(state)); });
  return answer->slowness;
}

}  // namespace headway::campaign
