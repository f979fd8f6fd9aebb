#include "sim/network/flow/fair_share.h"

#include <algorithm>

namespace headway::network {

FairShare::FairShare(FairShareTables tables)
    : links_(tables.capacity.size()),
      first_load_(std::move(tables.first_load)),
      loads_(std::move(tables.loads)),
      bound_(std::move(tables.bound)),
      level_(first_load_.size() - 1, kAbsent),
      private_level_(level_.size(), kShares),
      owner_(links_.size(), kNoFlow),
      position_(loads_.size()),
      members_(loads_.size()),
      flow_stamp_(level_.size(), 0),
      in_fill_(level_.size(), 0),
      froze_at_(links_.size(), kUnbounded) {
  for (const FlowLoad& use : loads_) {
    ++links_[use.link].first;
  }
  std::uint32_t next = 0;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    links_[link].capacity = tables.capacity[link];
    next += std::exchange(links_[link].first, next);
  }
  find_private_flows();
}

void FairShare::find_private_flows() {
  const auto has_one_user = [&](const FlowLoad& use) {
    const std::size_t end =
        use.link + std::size_t{1} < links_.size() ? links_[use.link + 1].first : loads_.size();
    return end - links_[use.link].first == 1;
  };
  for (std::uint32_t flow = 0; flow < level_.size(); ++flow) {
    const auto uses = loads(flow);
    if (std::all_of(uses.begin(), uses.end(), has_one_user)) {
      for (const FlowLoad& use : uses) {
        owner_[use.link] = flow;
      }
      private_level_[flow] = private_level(flow);
    }
  }
}

FairShare::Level FairShare::private_level(std::uint32_t flow) const {
  Level level = bound_[flow];
  for (const FlowLoad& use : loads(flow)) {
    level = std::min(level, links_[use.link].capacity / use.load);
  }
  return level;
}

FairShare::Level FairShare::used(std::uint32_t link) const {
  const std::uint32_t flow = owner_[link];
  if (flow == kNoFlow || level_[flow] < 0) {
    return links_[link].used;
  }
  const auto uses = loads(flow);
  const auto here = std::find_if(uses.begin(), uses.end(),
                                 [link](const FlowLoad& use) { return use.link == link; });
  return level_[flow] * here->load;
}

std::span<const FlowLoad> FairShare::loads(std::uint32_t flow) const {
  return {loads_.data() + first_load_[flow], loads_.data() + first_load_[flow + 1]};
}

std::span<const FairShare::Member> FairShare::members(const Link& link) const {
  return {members_.data() + link.first, link.active};
}

void FairShare::add(std::uint32_t flow) {
  ++active_;
  if (is_private(flow)) {
    level_[flow] = private_level_[flow];
    private_changed_.push_back(flow);
    return;
  }
  level_[flow] = kNew;
  added_.push_back(flow);
  for (std::uint32_t i = first_load_[flow]; i < first_load_[flow + 1]; ++i) {
    Link& link = links_[loads_[i].link];
    position_[i] = link.first + link.active++;
    members_[position_[i]] = {flow, i};
    link.weight += loads_[i].load;
  }
}

void FairShare::remove(std::uint32_t flow) {
  const Level level = std::exchange(level_[flow], kAbsent);
  bool shared = false;
  --active_;
  if (is_private(flow)) {
    return;
  }
  for (std::uint32_t i = first_load_[flow]; i < first_load_[flow + 1]; ++i) {
    Link& link = links_[loads_[i].link];
    link.used -= level * loads_[i].load;
    link.weight -= loads_[i].load;
    const Member last = members_[link.first + --link.active];
    members_[position_[i]] = last;
    position_[last.load_index] = position_[i];
    shared |= link.active > 0;
  }
  if (shared) {
    removed_.emplace_back(flow, level);
  }
}

void FairShare::set_capacity(std::uint32_t index, std::int64_t capacity) {
  Link& link = links_[index];
  if (link.weight > 0) {
    // Below this level the link froze nothing before and freezes nothing now.
    const Level threshold = std::min(link.capacity, capacity) / link.weight;
    link_seeds_.push_back({threshold, kNoFlow, index, true});
  }
  link.capacity = capacity;
  const std::uint32_t flow = owner_[index];
  if (flow != kNoFlow) {
    private_level_[flow] = private_level(flow);
    if (level_[flow] != kAbsent && level_[flow] != private_level_[flow]) {
      level_[flow] = private_level_[flow];
      private_changed_.push_back(flow);
    }
  }
}

/// A flow that shares no link needs no solve.
bool FairShare::take_alone(std::uint32_t flow) {
  Level level = bound_[flow];
  for (const FlowLoad& use : loads(flow)) {
    const Link& link = links_[use.link];
    if (link.active != 1) {
      return false;
    }
    level = std::min(level, use.load == 1 ? link.capacity : link.capacity / use.load);
  }
  level_[flow] = level;
  for (const FlowLoad& use : loads(flow)) {
    Link& link = links_[use.link];
    link.used = level * use.load;
    link.tight = link.capacity - link.used < use.load ? level : kAbsent;
  }
  changed_.push_back(flow);
  return true;
}

void FairShare::collect_seeds() {
  seeds_.swap(link_seeds_);
  link_seeds_.clear();
  // Without a flow of level r, filling goes on as before up to r.
  for (const auto& [flow, level] : removed_) {
    for (const FlowLoad& use : loads(flow)) {
      if (links_[use.link].active > 0) {
        seeds_.push_back({level, kNoFlow, use.link});
      }
    }
  }
  // With a new flow, no link of it can freeze below its equal share.
  for (const std::uint32_t flow : added_) {
    if (level_[flow] != kNew || take_alone(flow)) {
      continue;
    }
    Level threshold = kUnbounded;
    for (const FlowLoad& use : loads(flow)) {
      const Link& link = links_[use.link];
      threshold = std::min(threshold, link.capacity / link.weight);
    }
    seeds_.push_back({threshold, flow, 0});
  }
  removed_.clear();
  added_.clear();
}

void FairShare::new_region() {
  ++region_stamp_;
  region_.clear();
  old_level_.clear();
}

/// @returns whether the flow is new to the region
bool FairShare::include(std::uint32_t flow) {
  if (included(flow)) {
    return false;
  }
  flow_stamp_[flow] = region_stamp_;
  region_.push_back(flow);
  old_level_.push_back(level_[flow]);
  return true;
}

std::span<const std::uint32_t> FairShare::solve() {
  changed_.clear();
  for (const std::uint32_t flow : private_changed_) {
    if (level_[flow] != kAbsent) {  // it may have left since
      changed_.push_back(flow);
    }
  }
  private_changed_.clear();
  if (added_.empty() && removed_.empty() && link_seeds_.empty()) {
    return changed_;
  }
  collect_seeds();
  if (!seeds_.empty()) {
    // Both ways give the same rates. Where much changes at once the first finds nothing to save.
    if (seeds_.size() > active_ / 8 + 16 || !solve_tight()) {
      solve_by_level_cut();
    }
    seeds_.clear();
    report_changes();
  }
  return changed_;
}

void FairShare::report_changes() {
  for (std::size_t i = 0; i < region_.size(); ++i) {
    if (level_[region_[i]] != old_level_[i]) {
      changed_.push_back(region_[i]);
    }
  }
}

bool FairShare::agrees_with_full_solve() {
  new_region();
  for (std::uint32_t flow = 0; flow < level_.size(); ++flow) {
    if (level_[flow] != kAbsent && !is_private(flow)) {
      include(flow);
    } else if (level_[flow] != kAbsent && level_[flow] != private_level(flow)) {
      return false;
    }
  }
  fill();
  for (std::size_t i = 0; i < region_.size(); ++i) {
    if (level_[region_[i]] != old_level_[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace headway::network
