#include "sim/network/flow/fair_share.h"

#include <algorithm>

namespace headway::network {

FairShare::FairShare(FairShareTables tables)
    : links_(tables.capacity.size()),
      first_load_(std::move(tables.first_load)),
      loads_(std::move(tables.loads)),
      bound_(std::move(tables.bound)),
      level_(first_load_.size() - 1, kAbsent),
      contended_(level_.size(), 0),
      position_(loads_.size()),
      members_(loads_.size()),
      flow_stamp_(level_.size(), 0),
      in_fill_(level_.size(), 0),
      stop_(level_.size(), kUnbounded) {
  for (const FlowLoad& use : loads_) {
    ++links_[use.link].first;
  }
  std::uint32_t next = 0;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    links_[link].capacity = tables.capacity[link];
    next += std::exchange(links_[link].first, next);
  }
}

std::span<const FairShare::Member> FairShare::members(const Link& link) const {
  return {members_.data() + link.first, link.active};
}

bool FairShare::fits(const Link& link) const {
  // One flow stops at its own bound; several at unequal ones leave room to spare only so.
  return link.wanted + (link.active > 1 ? link.weight : 0) <= link.capacity;
}

void FairShare::swap_loads(std::uint32_t a, std::uint32_t b) {
  std::swap(loads_[a], loads_[b]);
  std::swap(position_[a], position_[b]);
  members_[position_[a]].load_index = a;
  members_[position_[b]].load_index = b;
}

/// Moves a load of an active flow to those on contended links.
void FairShare::contend(std::uint32_t load) {
  const std::uint32_t flow = members_[position_[load]].flow;
  swap_loads(load, first_load_[flow] + contended_[flow]++);
}

/// Looks again whether the link is slack, after its flows or its capacity changed.
void FairShare::update_slack(std::uint32_t index) {
  Link& link = links_[index];
  if (link.slack == fits(link)) {
    return;
  }
  link.slack = !link.slack;
  link.used = 0;  // `tight` stays: it tells the next solve whose bottleneck this was
  for (std::uint32_t m = link.first; m < link.first + link.active; ++m) {
    const auto [flow, load] = members_[m];
    if (link.slack) {
      swap_loads(load, first_load_[flow] + --contended_[flow]);
    } else {
      link.used += std::max<Level>(level_[flow], 0) * loads_[load].load;
      contend(load);
    }
  }
}

void FairShare::add(std::uint32_t flow) {
  ++active_;
  level_[flow] = kNew;
  added_.push_back(flow);
  for (std::uint32_t i = first_load_[flow]; i < first_load_[flow + 1]; ++i) {
    Link& link = links_[loads_[i].link];
    position_[i] = link.first + link.active++;
    members_[position_[i]] = {flow, i};
    link.weight += loads_[i].load;
    link.wanted += static_cast<Int128>(bound_[flow]) * loads_[i].load;
  }
  // Loads that have been looked at stand before i, whatever moves.
  for (std::uint32_t i = first_load_[flow]; i < first_load_[flow + 1]; ++i) {
    if (!links_[loads_[i].link].slack) {
      contend(i);
    } else {
      update_slack(loads_[i].link);
    }
  }
}

void FairShare::remove(std::uint32_t flow) {
  const Level level = std::exchange(level_[flow], kAbsent);
  --active_;
  const std::uint32_t contended = std::exchange(contended_[flow], 0);
  for (std::uint32_t i = first_load_[flow]; i < first_load_[flow + 1]; ++i) {
    Link& link = links_[loads_[i].link];
    link.weight -= loads_[i].load;
    link.wanted -= static_cast<Int128>(bound_[flow]) * loads_[i].load;
    const Member last = members_[link.first + --link.active];
    members_[position_[i]] = last;
    position_[last.load_index] = position_[i];
    if (i - first_load_[flow] < contended) {
      link.used -= level * loads_[i].load;
      if (link.active > 0) {
        // Without a flow of level r, filling goes on as before up to r.
        link_seeds_.push_back({level, kNoFlow, loads_[i].link});
      }
      update_slack(loads_[i].link);
    }
  }
}

void FairShare::set_capacity(std::uint32_t index, std::int64_t capacity) {
  Link& link = links_[index];
  const Level before = std::exchange(link.capacity, capacity);
  const bool was_slack = link.slack;
  update_slack(index);
  if (link.weight > 0 && !(was_slack && link.slack)) {
    // Below this level the link froze nothing before and freezes nothing now.
    link_seeds_.push_back({std::min(before, capacity) / link.weight, kNoFlow, index, true});
  }
}

void FairShare::collect_seeds() {
  seeds_.swap(link_seeds_);
  link_seeds_.clear();
  for (const std::uint32_t flow : added_) {
    if (level_[flow] != kNew) {
      continue;
    }
    if (contended_[flow] == 0) {
      level_[flow] = bound_[flow];
      changed_.push_back(flow);
      continue;
    }
    // With a new flow, no link of it can freeze below its equal share.
    Level threshold = kUnbounded;
    for (const FlowLoad& use : loads(flow)) {
      const Link& link = links_[use.link];
      threshold = std::min(threshold, link.capacity / link.weight);
    }
    seeds_.push_back({threshold, flow, 0});
  }
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
  if (added_.empty() && link_seeds_.empty()) {
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
    if (level_[flow] != kAbsent) {
      include(flow);
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
