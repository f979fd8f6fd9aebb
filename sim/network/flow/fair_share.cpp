#include "sim/network/flow/fair_share.h"

#include <algorithm>

namespace headway::network {
namespace {

constexpr std::uint32_t kFew = 4;  ///< links to fetch: most flows cross no more that matter

}  // namespace

FairShare::FairShare(FairShareTables tables)
    : tables_(std::move(tables)),
      links_(tables_.capacity.size()),
      loads_(2 * tables_.loads.size()),
      members_(2 * tables_.loads.size()) {
  flows_.reserve(tables_.bound.size());
  for (std::size_t link = 0; link < links_.size(); ++link) {
    links_[link].capacity = tables_.capacity[link];
  }
}

void FairShare::prefetch_flow(std::uint32_t flow) const {
  __builtin_prefetch(&tables_.first_load[flow]);
  __builtin_prefetch(&tables_.bound[flow]);
}

void FairShare::prefetch_flow_loads(std::uint32_t flow) const {
  __builtin_prefetch(tables_.loads.data() + tables_.first_load[flow]);
}

void FairShare::prefetch_flow_links(std::uint32_t flow) const {
  const std::uint32_t first = tables_.first_load[flow];
  const std::uint32_t end = std::min(first + kFew, tables_.first_load[flow + 1]);
  for (std::uint32_t i = first; i < end; ++i) {
    __builtin_prefetch(&links_[tables_.loads[i].link], 1);
  }
}

void FairShare::prefetch_members(std::uint32_t seat) const {
  const FlowState& state = flows_[seat];
  for (std::uint32_t i = state.first; i < state.first + std::min(state.loads, kFew); ++i) {
    const Link& link = links_[loads_[i].link];
    if (link.active > 1) {
      __builtin_prefetch(members_.data() + link.first + link.active - 2, 1);
    }
  }
}

void FairShare::prefetch_links(std::uint32_t seat) const {
  const FlowState& state = flows_[seat];
  for (std::uint32_t i = state.first; i < state.first + std::min(state.loads, kFew); ++i) {
    __builtin_prefetch(&links_[loads_[i].link], 1);
  }
}

bool FairShare::fits(const Link& link) const {
  // One flow stops at its own bound; several at unequal ones leave room to spare only so.
  return link.wanted + (link.active > 1 ? link.weight : 0) <= link.capacity;
}

void FairShare::swap_loads(std::uint32_t a, std::uint32_t b) {
  if (a != b) {
    std::swap(loads_[a], loads_[b]);
    member_of(loads_[a]).load_index = a;
    member_of(loads_[b]).load_index = b;
  }
}

/// Moves a load of an active flow to those on contended links.
void FairShare::contend(std::uint32_t load) {
  FlowState& flow = flows_[member_of(loads_[load]).flow];
  swap_loads(load, flow.first + flow.contended++);
}

/// Looks again whether the link is slack, after its flows or its capacity changed.
void FairShare::update_slack(std::uint32_t index) {
  Link& link = links_[index];
  if (link.slack == fits(link)) {
    return;
  }
  link.slack = !link.slack;
  link.used = 0;  // `tight` stays: it tells the next solve whose bottleneck this was
  for (std::uint32_t m = 0; m < link.active; ++m) {
    const auto [index_of_flow, load] = member(link, m);
    FlowState& flow = flows_[index_of_flow];
    if (link.slack) {
      swap_loads(load, flow.first + --flow.contended);
    } else {
      link.used += std::max<Level>(flow.level, 0) * loads_[load].load;
      contend(load);
    }
  }
}

/// For one member more, where all of its slice are taken: twice as many.
void FairShare::make_room(Link& link) {
  const std::uint32_t members = link.active - 1;
  const auto order = static_cast<std::int8_t>(link.order + 1);
  const std::uint32_t first = members_.take(static_cast<unsigned>(order));
  for (std::uint32_t m = 0; m < members; ++m) {
    members_[first + m] = members_[link.first + m];
  }
  if (link.order >= 0) {
    members_.give_back(link.first, static_cast<unsigned>(link.order));
  }
  link.first = first;
  link.order = order;
}

std::uint32_t FairShare::add(std::uint32_t flow) {
  auto seat = static_cast<std::uint32_t>(flows_.size());
  if (free_seats_.empty()) {
    flows_.emplace_back();
  } else {
    seat = free_seats_.back();
    free_seats_.pop_back();
  }
  ++active_;
  added_.push_back(seat);
  FlowState& state = flows_[seat];
  const std::span<const FlowLoad> loads(tables_.loads.data() + tables_.first_load[flow],
                                        tables_.loads.data() + tables_.first_load[flow + 1]);
  state.level = kNew;
  state.bound = tables_.bound[flow];
  state.loads = static_cast<std::uint32_t>(loads.size());
  state.first = loads.empty() ? 0 : loads_.take(loads_.order_for(state.loads));
  for (std::uint32_t i = 0; i < state.loads; ++i) {
    const FlowLoad& load = loads[i];
    Link& link = links_[load.link];
    if (link.active > 0 && link.active == (link.order < 0 ? 1U : 1 + (1U << link.order))) {
      make_room(link);
    }
    loads_[state.first + i] = {load.link, load.load, link.active};
    member(link, link.active++) = {seat, state.first + i};
    link.weight += load.load;
    link.wanted += static_cast<Int128>(state.bound) * load.load;
  }
  // Loads that have been looked at stand before i, whatever moves.
  for (std::uint32_t i = state.first; i < state.first + state.loads; ++i) {
    if (!links_[loads_[i].link].slack) {
      contend(i);
    } else {
      update_slack(loads_[i].link);
    }
  }
  return seat;
}

void FairShare::remove(std::uint32_t seat) {
  FlowState& flow = flows_[seat];
  const Level level = std::exchange(flow.level, kAbsent);
  --active_;
  const std::uint32_t contended = flow.first + std::exchange(flow.contended, 0);
  const std::uint32_t end = flow.first + flow.loads;
  for (std::uint32_t i = flow.first; i < end; ++i) {
    const Load load = loads_[i];
    Link& link = links_[load.link];
    link.weight -= load.load;
    link.wanted -= static_cast<Int128>(flow.bound) * load.load;
    const Member last = member(link, --link.active);
    member(link, load.member) = last;
    loads_[last.load_index].member = load.member;
    if (i < contended) {
      link.used -= level * load.load;
      if (link.active > 0) {
        // Without a flow of level r, filling goes on as before up to r.
        link_seeds_.push_back({level, kNoFlow, load.link});
      }
      update_slack(load.link);
    }
  }
  if (flow.loads > 0) {
    loads_.give_back(flow.first, loads_.order_for(flow.loads));
  }
  free_seats_.push_back(seat);
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
    if (flows_[flow].level != kNew) {
      continue;
    }
    if (flows_[flow].contended == 0) {
      flows_[flow].level = flows_[flow].bound;
      changed_.push_back(flow);
      continue;
    }
    // With a new flow, no link of it can freeze below its equal share.
    Level threshold = kUnbounded;
    for (const Load& use : loads(flow)) {
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
  flows_[flow].stamp = region_stamp_;
  region_.push_back(flow);
  old_level_.push_back(flows_[flow].level);
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
    if (flows_[region_[i]].level != old_level_[i]) {
      changed_.push_back(region_[i]);
    }
  }
}

bool FairShare::agrees_with_full_solve() {
  new_region();
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
    if (flows_[flow].level != kAbsent) {
      include(flow);
    }
  }
  fill();
  for (std::size_t i = 0; i < region_.size(); ++i) {
    if (flows_[region_[i]].level != old_level_[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace headway::network
