// Which flows a change can reach: the tight rule, and the level cut when that does not settle.
//
// Levels are those of a filling from scratch if and only if on every link, M being its highest
// level,
//   (1) no more than the capacity is used,
//   (2) each level v < M leaves room: floor((capacity - what lower levels take) / loads at v and
//   above) > v,
// and every flow has a bottleneck: its bound, or a link where it stands at M and less than the load
// at M is left over. By induction over rising levels: where (1) and (2) hold, filling freezes at
// its lowest level exactly the flows that stand there. So it is enough to re-establish this around
// a change. (2) fails only where two levels of a link are within its total load of each other, a
// few units of rate.
#include <algorithm>
#include <utility>

#include "sim/network/flow/fair_share.h"
#include "sim/network/flow/integer.h"

namespace headway::network {
namespace {

constexpr int kTightRounds = 12;

}  // namespace

void FairShare::reach_link(std::uint32_t index) {
  Link& link = links_[index];
  if (link.stamp != region_stamp_) {
    link.stamp = region_stamp_;
    link_queue_.push_back(index);
  }
}

void FairShare::reach(std::uint32_t flow) {
  if (include(flow)) {
    for (const Load& use : loads(flow)) {
      reach_link(use.link);
    }
  }
}

/// Re-solves the flows reachable through shared links, at levels from the change's threshold
/// upward.
void FairShare::solve_by_level_cut() {
  new_region();
  // Lowest first: what a seed reaches contains all that a higher one reaches from there.
  std::sort(seeds_.begin(), seeds_.end(),
            [](const Seed& a, const Seed& b) { return a.threshold < b.threshold; });
  for (const Seed& seed : seeds_) {
    if (seed.flow != kNoFlow) {
      reach(seed.flow);
    } else {
      reach_link(seed.link);
    }
    while (!link_queue_.empty()) {
      const std::uint32_t link = link_queue_.back();
      link_queue_.pop_back();
      for (std::uint32_t m = 0; m < links_[link].active; ++m) {
        const Member& user = member(links_[link], m);
        const Level level = flows_[user.flow].level;
        if (level == kNew || level >= seed.threshold) {
          reach(user.flow);
        }
      }
    }
  }
  fill();
  for (const std::uint32_t link : fill_links_) {
    refresh_tight(links_[link]);
  }
}

bool FairShare::has_bottleneck(std::uint32_t flow) const {
  const Level level = flows_[flow].level;
  if (level == flows_[flow].bound) {
    return true;
  }
  const std::span<const Load> uses = loads(flow);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const Load& use) { return links_[use.link].tight == level; });
}

/// The region starts with the new flows and with all flows of links whose capacity changed.
void FairShare::begin_tight() {
  new_region();
  ++fill_stamp_;  // what earlier fills noted about links does not count
  for (const Seed& seed : seeds_) {
    if (seed.flow != kNoFlow) {
      reach(seed.flow);
      continue;
    }
    reach_link(seed.link);
    if (seed.whole_link) {
      for (std::uint32_t m = 0; m < links_[seed.link].active; ++m) {
        const Member& user = member(links_[seed.link], m);
        include(user.flow);
      }
    }
  }
}

/// Solves the region again and again, each time with the flows that lost their bottleneck, stand
/// higher than a link allows, or are too near to another level. @returns false if that takes too
/// long
bool FairShare::solve_tight() {
  begin_tight();
  for (int round = 0; round < kTightRounds; ++round) {
    if (!region_.empty()) {
      fill();
    }
    if (!grow_region()) {
      return true;
    }
  }
  restore_region();
  return false;
}

/// Examines the links of the change (link_queue_, in the first round) and of the region.
bool FairShare::grow_region() {
  const std::size_t before = region_.size();
  suspects_.clear();
  for (const std::uint32_t link : link_queue_) {
    if (links_[link].fill_stamp != fill_stamp_) {
      examine(link);
    }
  }
  link_queue_.clear();
  if (before > 0) {
    for (const std::uint32_t link : fill_links_) {
      examine(link);
    }
  }
  for (const std::uint32_t flow : suspects_) {
    if (!included(flow) && !has_bottleneck(flow)) {
      include(flow);
    }
  }
  return region_.size() > before;
}

/// Suspects the flows that had their bottleneck here, when it was tight at this level.
void FairShare::suspect(const Link& link, Level was) {
  for (std::uint32_t m = 0; m < link.active; ++m) {
    const Member& user = member(link, m);
    if (flows_[user.flow].level == was) {
      suspects_.push_back(user.flow);
    }
  }
}

/// Brings the link's `tight` up to date, includes members that break a rule here, and suspects
/// those that had their bottleneck here.
void FairShare::examine(std::uint32_t index) {
  Link& link = links_[index];
  if (link.slack) {
    suspect(link, std::exchange(link.tight, kAbsent));
    return;
  }
  const Level was = link.tight;
  const auto [highest, weight] = refresh_tight(link);
  const Level left = link.capacity - link.used;
  const Level ceiling = link.fill_stamp == fill_stamp_ ? link.froze_at : kUnbounded;
  for (std::uint32_t m = 0; m < link.active; ++m) {
    const Member& user = member(link, m);
    if (included(user.flow)) {
      continue;
    }
    const Level level = flows_[user.flow].level;
    const bool near = level < highest && highest - level <= link.weight &&
                      left + static_cast<Int128>(highest - level - 1) * weight < link.weight;
    if (level > ceiling || near) {
      include(user.flow);
    } else if (level == was && was != link.tight) {
      suspects_.push_back(user.flow);
    }
  }
}

/// Takes back what the rounds did.
void FairShare::restore_region() {
  for (std::size_t i = 0; i < region_.size(); ++i) {
    const std::uint32_t flow = region_[i];
    const Level change = std::max<Level>(old_level_[i], 0) - std::max<Level>(flows_[flow].level, 0);
    flows_[flow].level = old_level_[i];
    for (const Load& use : loads(flow)) {
      links_[use.link].used += change * use.load;
    }
  }
}

}  // namespace headway::network
