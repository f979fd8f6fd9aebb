#include "sim/campaign/slow/slow_parts.h"

#include <algorithm>

#include "sim/campaign/job/gaps.h"
#include "sim/core/engine/event.h"

namespace headway::campaign {

using namespace core::literals;
using core::Tick;

namespace {

Tick day() { return kClock.to_ticks(1_days); }

bool throttled(const failures::ThrottleSpec& spec, Tick time_of_day) {
  const Tick from = kClock.to_ticks(spec.from);
  const Tick until = kClock.to_ticks(spec.until);
  if (from < until) {
    return time_of_day >= from && time_of_day < until;
  }
  return time_of_day >= from || time_of_day < until;  // over midnight
}

}  // namespace

std::vector<SlowState> slow_parts_of(const JobModel& model) {
  std::vector<SlowState> parts;
  for (const auto& hazard : model.hazards) {
    if (failures::is_slow(hazard.effect) && hazard.effect != failures::Effect::slow_drive) {
      parts.push_back(slow_state(hazard.effect, hazard.keeps, 0, 0));
    }
  }
  const auto& elastic = model.recovery.elastic;
  if (elastic && elastic->broken_replica == failures::BrokenReplica::reroutes &&
      model.most_rerouted > 0) {
    parts.push_back({SlowState::Kind::stage, peers_left(model.replicas, 1), 0, 0});
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

Circumstances circumstances(const JobModel& model) {
  Circumstances result;
  for (const auto position : model.class_of_node) {
    result.positions =
        std::max<std::uint16_t>(result.positions, static_cast<std::uint16_t>(position + 1));
  }
  for (const auto& spec : model.throttling) {
    if (std::find(result.heats.begin(), result.heats.end(), spec.keeps) == result.heats.end()) {
      result.heats.push_back(spec.keeps);
    }
  }
  return result;
}

SlowPart& SlowParts::add(const failures::Strike& strike, std::uint64_t slot) {
  const auto& hazard = model_.hazards[strike.hazard];
  SlowPart part;
  part.number = numbers_++;
  part.strike = strike;
  part.slot = slot;
  if (failures::is_slow(hazard.effect) && hazard.effect != failures::Effect::slow_drive) {
    part.state = slow_state(
        hazard.effect, hazard.keeps,
        slot < model_.class_of_node.size() ? model_.class_of_node[slot] : std::uint16_t{0},
        static_cast<std::uint32_t>(places_.replica_of(slot)));
    part.slowness = times_.slowness(canonical({{*part.state}}));
  }
  parts_.push_back(part);
  return parts_.back();
}

SlowPart* SlowParts::find(std::uint64_t number) {
  const auto place = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const SlowPart& part) { return part.number == number; });
  return place == parts_.end() ? nullptr : &*place;
}

void SlowParts::remove(std::uint64_t number) {
  parts_.erase(std::remove_if(parts_.begin(), parts_.end(),
                              [&](const SlowPart& part) { return part.number == number; }),
               parts_.end());
}

std::vector<SlowPart> SlowParts::remove_slots(const std::vector<std::uint64_t>& slots) {
  std::vector<SlowPart> gone;
  for (const auto& part : parts_) {
    if (std::find(slots.begin(), slots.end(), part.slot) != slots.end()) {
      gone.push_back(part);
    }
  }
  for (const auto& part : gone) {
    remove(part.number);
  }
  return gone;
}

std::vector<SlowPart> SlowParts::take_misjudged() {
  std::vector<SlowPart> found;
  for (auto& part : parts_) {
    if (part.misjudged) {
      found.push_back(part);
      part.misjudged = false;
    }
  }
  return found;
}

double SlowParts::slowness(Tick now, const std::vector<SlowState>& stages) {
  ClusterState state{stages, 1};
  for (const auto& spec : model_.throttling) {
    if (throttled(spec, now % day())) {
      state.heat = std::min(state.heat, spec.keeps);
    }
  }
  for (const auto& part : parts_) {
    if (part.state) {
      state.parts.push_back(*part.state);
    }
  }
  state = canonical(std::move(state));
  if (state != state_) {
    slowness_ = times_.slowness(state);
    state_ = std::move(state);
  }
  return slowness_;
}

Tick SlowParts::next_change(Tick now) const {
  Tick next = core::kEndOfTime;
  const Tick midnight = now / day() * day();
  for (const auto& spec : model_.throttling) {
    for (const core::Seconds edge : {spec.from, spec.until}) {
      const Tick today = midnight + kClock.to_ticks(edge);
      next = std::min(next, today > now ? today : today + day());
    }
  }
  return next;
}

const SlowPart* SlowParts::slow_drive_part() const {
  const SlowPart* slowest = nullptr;
  for (const auto& part : parts_) {
    const auto& hazard = model_.hazards[part.strike.hazard];
    if (hazard.effect == failures::Effect::slow_drive &&
        (slowest == nullptr || hazard.keeps < model_.hazards[slowest->strike.hazard].keeps)) {
      slowest = &part;
    }
  }
  return slowest;
}

std::optional<std::uint32_t> SlowParts::slow_drive() const {
  const SlowPart* part = slow_drive_part();
  return part != nullptr ? std::optional(part->strike.hazard) : std::nullopt;
}

const SlowPart* SlowParts::slowest() const {
  const SlowPart* worst = nullptr;
  for (const auto& part : parts_) {
    if (part.slowness > 1 && (worst == nullptr || part.slowness > worst->slowness)) {
      worst = &part;
    }
  }
  return worst;
}

}  // namespace headway::campaign
