#include "sim/failures/model.h"

#include <algorithm>

#include "sim/core/engine/event.h"
#include "sim/core/error.h"

namespace headway::failures {

using core::Seconds;
using core::Tick;

namespace {

std::optional<Ageing> ageing_of(const HazardSpec& spec, Fleet fleet) {
  if (spec.law.kind == LawKind::exponential) {
    return std::nullopt;
  }
  if (!spec.mtbf) {
    throw core::Error(
        fmt::format("hazard '{}' ages by a {} law and needs mtbf; a count does "
                    "not say how old the parts were",
                    spec.name, core::to_word(spec.law.kind)));
  }
  return Ageing{Law(spec.law, *spec.mtbf), static_cast<std::int64_t>(members(spec, fleet)),
                spec.age, spec.after_failure};
}

/// Only failures of single nodes and their GPUs make a lemon; domains and
/// software do not.
bool of_nodes(const HazardSpec& spec) {
  return (spec.per == Population::gpu || spec.per == Population::node) && spec.node_lost &&
         spec.law.kind == LawKind::exponential && spec.effect == Effect::stop;
}

Hazard lemon_hazard(const LemonSpec& spec,
                    core::PerSecond good_nodes,
                    Fleet fleet,
                    std::int64_t spares) {
  const core::PerSecond extra = (spec.factor - 1) * good_nodes / static_cast<double>(fleet.nodes);
  Hazard hazard;
  hazard.name = "lemon nodes";
  hazard.component = ComponentClass::host;
  hazard.rate = static_cast<double>(fleet.nodes) * spec.share * extra;
  hazard.lemons = LemonModel{spec.share, extra, spec.evict_after, spec.cured, fleet.nodes, spares};
  return hazard;
}

void add_recorded(const FailureSpec& failures, std::vector<Hazard>& hazards) {
  const std::size_t first = hazards.size();
  Seconds last;
  for (const auto& event : failures.recorded) {
    auto here = std::find_if(hazards.begin() + static_cast<std::ptrdiff_t>(first), hazards.end(),
                             [&](const Hazard& h) { return h.name == event.name; });
    if (here == hazards.end()) {
      Hazard hazard;
      hazard.name = event.name;
      hazard.component = event.component;
      hazard.detection = event.detection;
      hazard.nodes_lost = event.nodes_lost;
      here = hazards.insert(hazards.end(), hazard);
    }
    here->recorded.push_back({event.at, event.repair});
    last = std::max(last, event.at);
  }
  for (std::size_t h = first; h < hazards.size(); ++h) {
    auto& times = hazards[h].recorded;
    std::stable_sort(times.begin(), times.end(),
                     [](const Recorded& x, const Recorded& y) { return x.at < y.at; });
    if (last.si() > 0) {
      hazards[h].rate = static_cast<double>(times.size()) / last;
    }
  }
}

}  // namespace

std::vector<Hazard> hazards_of(const FailureSpec& failures, Fleet fleet, std::int64_t spares) {
  std::vector<Hazard> hazards;
  const double good_share =
      failures.lemons ? 1 / (1 + failures.lemons->share * (failures.lemons->factor - 1)) : 1;
  core::PerSecond good_nodes;
  for (const auto& spec : failures.hazards) {
    core::PerSecond rate = job_rate(spec, failures.observed, fleet);
    if (rate.si() <= 0) {
      continue;
    }
    if (failures.lemons && of_nodes(spec)) {
      rate *= good_share;
      good_nodes += rate;
    }
    Hazard hazard;
    hazard.name = spec.name;
    hazard.component = spec.component;
    hazard.rate = rate;
    hazard.detection = spec.detection;
    hazard.nodes_lost = spec.node_lost && !is_of_a_way(spec.effect) ? spec.nodes_lost : 0;
    hazard.latent = spec.latent;
    hazard.effect = spec.effect;
    hazard.keeps = spec.keeps;
    hazard.lasts = spec.lasts;
    hazard.notice = spec.notice;
    hazard.ageing = ageing_of(spec, fleet);
    hazards.push_back(std::move(hazard));
  }
  if (good_nodes.si() > 0) {
    hazards.push_back(lemon_hazard(*failures.lemons, good_nodes, fleet, spares));
  }
  add_recorded(failures, hazards);
  return hazards;
}

HazardSampler::HazardSampler(std::span<const Hazard> hazards,
                             std::uint64_t seed,
                             std::uint32_t trial,
                             core::Clock clock)
    : hazards_(hazards), clock_(clock), populations_(hazards.size()) {
  streams_.reserve(hazards.size());
  pending_.reserve(hazards.size());
  for (std::size_t h = 0; h < hazards.size(); ++h) {
    streams_.emplace_back(seed, hazards[h].name, trial);
    if (const auto& ageing = hazards[h].ageing) {
      populations_[h].emplace(ageing->law, ageing->parts, ageing->age, ageing->after_failure,
                              streams_[h]);
      pending_.push_back({ticks_or_never(populations_[h]->next().si()), 0});
    } else if (hazards[h].lemons || !hazards[h].recorded.empty()) {
      pending_.push_back({core::kEndOfTime, 0});
      if (hazards[h].lemons) {
        lemons_.emplace(*hazards[h].lemons, streams_[h], clock);
        lemon_hazard_ = static_cast<std::uint32_t>(h);
      }
    } else {
      pending_.push_back({gap(h, 0), 0});
    }
  }
}

Tick HazardSampler::ticks_or_never(double seconds) const {
  // Beyond the reach of the clock means never.
  constexpr double kReach = 4e18;  // Source: below 2^63 ticks
  return seconds * clock_.ticks_per_second() < kReach ? clock_.to_ticks(Seconds(seconds))
                                                      : core::kEndOfTime;
}

Tick HazardSampler::gap(std::size_t hazard, std::uint64_t event) const {
  const double uniform = streams_[hazard].uniform(event, static_cast<std::uint32_t>(Draw::time));
  return ticks_or_never(core::exponential_from(uniform, 1 / hazards_[hazard].rate.si()));
}

Strike HazardSampler::next() const {
  Strike first{.exposed = core::kEndOfTime};
  for (std::size_t h = 0; h < pending_.size(); ++h) {
    if (pending_[h].exposed < first.exposed) {
      first = {pending_[h].exposed, static_cast<std::uint32_t>(h), pending_[h].event};
    }
  }
  if (lemons_ && lemons_->next() < first.exposed) {
    first = {lemons_->next(), lemon_hazard_, pending_[lemon_hazard_].event};
  }
  return first;
}

void HazardSampler::take(const Strike& strike) {
  Pending& pending = pending_[strike.hazard];
  ++pending.event;
  if (auto& population = populations_[strike.hazard]) {
    population->advance();
    pending.exposed = ticks_or_never(population->next().si());
    return;
  }
  if (lemons_ && strike.hazard == lemon_hazard_) {
    lemons_->take();
    return;
  }
  if (pending.exposed == core::kEndOfTime) {
    return;  // a recorded failure
  }
  const Tick wait = gap(strike.hazard, pending.event);
  pending.exposed =
      wait < core::kEndOfTime - pending.exposed ? pending.exposed + wait : core::kEndOfTime;
}

Tick HazardSampler::repair(const Strike& strike,
                           std::uint64_t node,
                           Seconds mean,
                           double sigma) const {
  const double uniform = draw(strike, Draw::repair, node);
  return ticks_or_never(
      sigma > 0
          ? core::lognormal_from(uniform, core::portable_log(mean.si()) - sigma * sigma / 2, sigma)
          : core::exponential_from(uniform, mean.si()));
}

double HazardSampler::draw(const Strike& strike, Draw what, std::uint64_t turn) const {
  return streams_[strike.hazard].part(turn).uniform(strike.event, static_cast<std::uint32_t>(what));
}

std::uint64_t HazardSampler::index(const Strike& strike,
                                   Draw what,
                                   std::uint64_t turn,
                                   std::uint64_t bound) const {
  return streams_[strike.hazard].part(turn).index(strike.event, static_cast<std::uint32_t>(what),
                                                  bound);
}

std::uint64_t HazardSampler::victim(const Strike& strike, std::uint64_t nodes) const {
  if (lemons_ && strike.hazard == lemon_hazard_) {
    return lemons_->next_slot();
  }
  // A part that loses no node is in some node all the same: a slow one sits
  // somewhere.
  const auto lost =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(hazards_[strike.hazard].nodes_lost));
  const std::uint64_t domains = (nodes + lost - 1) / lost;
  return lost * streams_[strike.hazard].index(strike.event,
                                              static_cast<std::uint32_t>(Draw::victim), domains);
}

std::uint64_t HazardSampler::innocent(const Strike& strike,
                                      std::uint64_t turn,
                                      const std::vector<std::uint64_t>& guilty,
                                      std::uint64_t nodes) const {
  const std::uint64_t others = nodes - guilty.size();
  if (others == 0) {
    return index(strike, Draw::innocent, turn, nodes);
  }
  std::uint64_t slot = index(strike, Draw::innocent, turn, others);
  for (const std::uint64_t one : guilty) {
    slot += one <= slot ? 1 : 0;
  }
  return slot;
}

}  // namespace headway::failures
