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
  ++fill_stamp_;
  for (const std::uint32_t flow : region_) {
    const Level old = flows_[flow].level;
    flows_[flow].unfrozen = fill_stamp_;
    flows_[flow].stop = flows_[flow].bound;
    for (const Load& use : loads(flow)) {
      Link& link = links_[use.link];
      if (link.fill_stamp != fill_stamp_) {
        link.fill_stamp = fill_stamp_;
        link.unfrozen = 0;
        link.froze_at = kUnbounded;
        fill_links_.push_back(use.link);
      }
      link.used -= old > 0 ? old * use.load : 0;
      link.shared = link.unfrozen > 0;
      link.unfrozen += use.load;
      link.last_flow = flow;
    }
  }
  make_heap();
}

/// A link that one flow of the region uses stops it at a level that nothing can move.
void FairShare::make_heap() {
  heap_.clear();
  for (const std::uint32_t index : fill_links_) {
    Link& link = links_[index];
    const Level level = fill_level(link);
    if (link.shared) {
      heap_.push_back({level, index, false});
    } else {
      link.froze_at = level;  // taken back if the flow stops before
      flows_[link.last_flow].stop = std::min(flows_[link.last_flow].stop, level);
    }
  }
  for (const std::uint32_t flow : region_) {
    if (flows_[flow].stop != kUnbounded) {
      heap_.push_back({flows_[flow].stop, flow, true});
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), kLater);
}

FairShare::Level FairShare::fill_level(const Link& link) const {
  return (link.capacity - link.used) / link.unfrozen;
}

/// Whether all flows that the entry could freeze are frozen.
bool FairShare::is_over(const HeapEntry& entry) const {
  return entry.flow ? flows_[entry.index].unfrozen != fill_stamp_
                    : links_[entry.index].unfrozen == 0;
}

/// The level at which the next links freeze their flows, or flows stop, which are left in batch_
/// and flow_batch_.
FairShare::Level FairShare::lowest_level() {
  Level lowest = kUnbounded;
  batch_.clear();
  flow_batch_.clear();
  // Levels only grow while others freeze, so an entry is a lower bound of its link's level.
  while (!heap_.empty() && heap_.front().level <= lowest) {
    std::pop_heap(heap_.begin(), heap_.end(), kLater);
    const HeapEntry entry = heap_.back();
    if (is_over(entry)) {
      heap_.pop_back();
      continue;
    }
    const Level current = entry.flow ? entry.level : fill_level(links_[entry.index]);
    if (current > entry.level) {
      heap_.back().level = current;
      std::push_heap(heap_.begin(), heap_.end(), kLater);
      continue;
    }
    heap_.pop_back();
    lowest = current;
    (entry.flow ? flow_batch_ : batch_).push_back(entry.index);
  }
  return lowest;
}

void FairShare::freeze(std::uint32_t flow, Level level) {
  flows_[flow].unfrozen = 0;
  --unfrozen_flows_;
  flows_[flow].level = level;
  for (const Load& use : loads(flow)) {
    Link& link = links_[use.link];
    link.used += level * use.load;
    link.unfrozen -= use.load;
    link.froze_at = link.froze_at > level ? kUnbounded : link.froze_at;
  }
}

void FairShare::freeze_batch(Level level) {
  for (const std::uint32_t index : batch_) {
    links_[index].froze_at = level;
    for (std::uint32_t m = 0; m < links_[index].active; ++m) {
      const Member& user = member(links_[index], m);
      if (flows_[user.flow].unfrozen == fill_stamp_) {
        freeze(user.flow, level);
      }
    }
  }
  for (const std::uint32_t flow : flow_batch_) {
    if (flows_[flow].unfrozen == fill_stamp_) {
      freeze(flow, level);
    }
  }
}

/// @returns the highest level on the link, and the load that stands there
std::pair<FairShare::Level, std::int64_t> FairShare::refresh_tight(Link& link) const {
  Level highest = kAbsent;
  std::int64_t weight = 0;
  for (std::uint32_t m = 0; m < link.active; ++m) {
    const Member& user = member(link, m);
    const Level level = flows_[user.flow].level;
    if (level >= highest) {
      weight = (level == highest ? weight : 0) + loads_[user.load_index].load;
      highest = level;
    }
  }
  link.tight = link.capacity - link.used < weight ? highest : kAbsent;
  return {highest, weight};
}

/// Progressive filling of region_, all other flows staying as they are.
void FairShare::fill() {
  begin_fill();
  while (unfrozen_flows_ > 0) {  // most links never run full: they stay in the heap
    freeze_batch(lowest_level());
  }
}

}  // namespace headway::network
