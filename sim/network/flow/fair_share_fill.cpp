// Progressive filling of a region, the flows outside it staying as they are.
#include <algorithm>

#include "sim/network/flow/fair_share.h"

namespace headway::network {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.level > b.level; };

}  // namespace

void FairShare::begin_fill() {
  flow_solves_ += region_.size();
  unfrozen_flows_ = region_.size();
  fill_links_.clear();
  bounded_.clear();
  next_bounded_ = 0;
  ++fill_stamp_;
  for (const std::uint32_t flow : region_) {
    const Level old = level_[flow];
    in_fill_[flow] = fill_stamp_;
    if (bound_[flow] != kUnbounded) {
      bounded_.push_back(flow);
    }
    for (const FlowLoad& use : loads(flow)) {
      Link& link = links_[use.link];
      if (link.fill_stamp != fill_stamp_) {
        link.fill_stamp = fill_stamp_;
        link.unfrozen = 0;
        froze_at_[use.link] = kUnbounded;
        fill_links_.push_back(use.link);
      }
      link.used -= old > 0 ? old * use.load : 0;
      link.unfrozen += use.load;
    }
  }
  std::sort(bounded_.begin(), bounded_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return bound_[a] < bound_[b]; });
}

FairShare::Level FairShare::fill_level(const Link& link) const {
  return (link.capacity - link.used) / link.unfrozen;
}

/// The level at which the next links or bounds freeze their flows; the links are left in batch_.
FairShare::Level FairShare::lowest_level() {
  while (next_bounded_ < bounded_.size() && in_fill_[bounded_[next_bounded_]] != fill_stamp_) {
    ++next_bounded_;
  }
  Level lowest = next_bounded_ < bounded_.size() ? bound_[bounded_[next_bounded_]] : kUnbounded;
  batch_.clear();
  // Levels only grow while others freeze, so an entry is a lower bound of its link's level.
  while (!heap_.empty() && heap_.front().level <= lowest) {
    std::pop_heap(heap_.begin(), heap_.end(), kLater);
    HeapEntry entry = heap_.back();
    const Link& link = links_[entry.link];
    if (link.unfrozen == 0) {
      heap_.pop_back();
      continue;
    }
    const Level current = fill_level(link);
    if (current > entry.level) {
      heap_.back().level = current;
      std::push_heap(heap_.begin(), heap_.end(), kLater);
      continue;
    }
    heap_.pop_back();
    lowest = current;
    batch_.push_back(entry.link);
  }
  return lowest;
}

void FairShare::freeze(std::uint32_t flow, Level level) {
  in_fill_[flow] = 0;
  --unfrozen_flows_;
  level_[flow] = level;
  for (const FlowLoad& use : loads(flow)) {
    Link& link = links_[use.link];
    link.used += level * use.load;
    link.unfrozen -= use.load;
  }
}

void FairShare::freeze_batch(Level level) {
  for (const std::uint32_t index : batch_) {
    froze_at_[index] = level;
    for (const Member& member : members(links_[index])) {
      if (in_fill_[member.flow] == fill_stamp_) {
        freeze(member.flow, level);
      }
    }
  }
  for (; next_bounded_ < bounded_.size() && bound_[bounded_[next_bounded_]] == level;
       ++next_bounded_) {
    if (in_fill_[bounded_[next_bounded_]] == fill_stamp_) {
      freeze(bounded_[next_bounded_], level);
    }
  }
}

/// @returns the highest level on the link, and the load that stands there
std::pair<FairShare::Level, std::int64_t> FairShare::refresh_tight(Link& link) const {
  Level highest = kAbsent;
  std::int64_t weight = 0;
  for (const Member& member : members(link)) {
    const Level level = level_[member.flow];
    if (level >= highest) {
      weight = (level == highest ? weight : 0) + loads_[member.load_index].load;
      highest = level;
    }
  }
  link.tight = link.capacity - link.used < weight ? highest : kAbsent;
  return {highest, weight};
}

/// Progressive filling of region_, all other flows staying as they are.
void FairShare::fill() {
  begin_fill();
  heap_.clear();
  for (const std::uint32_t link : fill_links_) {
    heap_.push_back({fill_level(links_[link]), link});
  }
  std::make_heap(heap_.begin(), heap_.end(), kLater);
  while (unfrozen_flows_ > 0) {  // most links never run full: they stay in the heap
    const Level level = lowest_level();
    if (batch_.empty() && level == kUnbounded) {
      break;
    }
    freeze_batch(level);
  }
}

}  // namespace headway::network
