#include "sim/campaign/job/gaps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace headway::campaign {

Gaps::Gaps(const JobModel& model, const JobPlaces& places) : model_(model), places_(places) {
  if (model.recovery.elastic) {
    word_ = model.recovery.elastic->broken_replica;
  }
}

std::uint64_t Gaps::groups_of_node() const {
  return static_cast<std::uint64_t>(std::max(1, model_.gpus_per_node / model_.tensor));
}

std::uint64_t Gaps::open(std::uint64_t slot, std::optional<std::uint64_t> group) {
  gaps_.push_back({++numbers_, slot, group});
  update();
  return numbers_;
}

bool Gaps::has(std::uint64_t number) const {
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [number](const Gap& gap) { return gap.number == number; });
}

void Gaps::close(std::uint64_t number) {
  std::erase_if(gaps_, [number](const Gap& gap) { return gap.number == number; });
  update();
}

void Gaps::forget_gpus(const std::vector<std::uint64_t>& slots) {
  std::erase_if(gaps_, [&](const Gap& gap) {
    return gap.group && std::find(slots.begin(), slots.end(), gap.slot) != slots.end();
  });
  update();
}

bool Gaps::holds(std::uint64_t slot) const {
  return std::any_of(gaps_.begin(), gaps_.end(),
                     [slot](const Gap& gap) { return gap.slot == slot && !gap.group; });
}

bool Gaps::bearable_without(const std::vector<std::uint64_t>& slots) const {
  std::vector<Gap> gaps = gaps_;
  for (const std::uint64_t slot : slots) {
    gaps.push_back({0, slot, {}});
  }
  return bearable(gaps);
}

bool Gaps::bearable_without_gpu(std::uint64_t slot, std::uint64_t group) const {
  std::vector<Gap> gaps = gaps_;
  gaps.push_back({0, slot, group});
  return bearable(gaps);
}

std::uint64_t Gaps::replica_of(std::uint64_t slot, std::uint64_t group) const {
  return places_.replica_of(slot) + group * places_.replicas_per_node() / groups_of_node();
}

core::Seconds Gaps::moved(std::uint64_t number) const {
  const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                [number](const Gap& it) { return it.number == number; });
  if (!narrows() || gap == gaps_.end()) {
    return core::Seconds(0);
  }
  const std::uint64_t replica = replica_of(gap->slot, gap->group.value_or(0));
  if (model_.recovery.elastic->pack) {
    return model_.dealt_anew;
  }
  return narrowed_by(account(gaps_).ranks_gone[replica]).moved;
}

Gaps::Account Gaps::account(const std::vector<Gap>& gaps) const {
  std::set<std::pair<std::uint64_t, std::uint64_t>> stages;  // class of places, replica
  std::map<std::uint64_t, std::uint64_t> groups;             // ranks gone of each tensor group
  std::map<std::uint64_t, std::uint64_t> replica_of_group;
  const std::uint64_t of_node = groups_of_node();
  const std::uint64_t replicas = places_.replicas_per_node();
  const auto tensor = static_cast<std::uint64_t>(model_.tensor);
  const auto node = static_cast<std::uint64_t>(model_.gpus_per_node);
  for (const Gap& gap : gaps) {
    const std::uint64_t first = places_.replica_of(gap.slot);
    const std::uint64_t place =
        gap.slot < model_.class_of_node.size() ? model_.class_of_node[gap.slot] : 0;
    for (std::uint64_t replica = first; !gap.group && replica < first + replicas; ++replica) {
      stages.emplace(place, replica);
    }
    for (std::uint64_t n = 0; n < of_node; ++n) {
      if (gap.group && *gap.group != n) {
        continue;
      }
      // Groups wider than a node have it whole, all others lie on it whole.
      const std::uint64_t group = tensor > node ? gap.slot * node / tensor : gap.slot * of_node + n;
      groups[group] += gap.group ? 1 : std::min(tensor, node);
      replica_of_group[group] = replica_of(gap.slot, n);
    }
  }
  Account result;
  result.ranks_gone.resize(static_cast<std::size_t>(model_.replicas), 0);
  for (const auto& [group, gone] : groups) {
    auto& most = result.ranks_gone[replica_of_group[group]];
    most = std::max(most, gone);
  }
  if (narrows() && model_.recovery.elastic->pack) {
    std::vector<std::uint64_t> lost;
    for (const auto& [group, gone] : groups) {
      lost.push_back(gone);
    }
    deal(std::move(lost), result);
  }
  for (const auto& [place, replica] : stages) {
    result.peers_gone.resize(std::max<std::size_t>(result.peers_gone.size(), place + 1), 0);
    ++result.peers_gone[place];
  }
  return result;
}

/// The groups that lost most share the first replica, and so on.
void Gaps::deal(std::vector<std::uint64_t> lost, Account& account) const {
  std::sort(lost.begin(), lost.end(), std::greater<>());
  std::fill(account.ranks_gone.begin(), account.ranks_gone.end(), 0);
  const std::int64_t of_replica =
      std::max<std::int64_t>(1, model_.gpus / model_.tensor / model_.replicas);
  for (std::size_t i = 0; i < lost.size(); i += static_cast<std::size_t>(of_replica)) {
    account.ranks_gone[i / static_cast<std::size_t>(of_replica)] = lost[i];
  }
}

NarrowedReplica Gaps::narrowed_by(std::uint64_t ranks) const {
  return ranks <= model_.narrowed.size() ? model_.narrowed[ranks - 1] : NarrowedReplica{};
}

bool Gaps::bearable(const std::vector<Gap>& gaps) const {
  const Account account = this->account(gaps);
  const auto fewest =
      static_cast<std::uint64_t>(std::max(1, model_.recovery.elastic->fewest_replicas));
  const auto replicas = static_cast<std::uint64_t>(model_.replicas);
  if (narrows()) {
    const auto gone = std::count_if(
        account.ranks_gone.begin(), account.ranks_gone.end(),
        [this](std::uint64_t ranks) { return ranks > 0 && narrowed_by(ranks).share <= 0; });
    return static_cast<std::uint64_t>(gone) + fewest <= replicas;
  }
  return std::all_of(account.peers_gone.begin(), account.peers_gone.end(), [&](std::uint64_t gone) {
    return gone + fewest <= replicas && gone <= static_cast<std::uint64_t>(model_.most_rerouted);
  });
}

void Gaps::update() {
  const Account account = this->account(gaps_);
  stages_.clear();
  longer_ = 1;
  if (narrows()) {
    double left = model_.replicas;
    double stretch = 1;
    for (const std::uint64_t ranks : account.ranks_gone) {
      if (ranks > 0) {
        const NarrowedReplica replica = narrowed_by(ranks);
        left -= 1 - replica.share;
        stretch = std::max(stretch, replica.stretch);
      }
    }
    // With no replica left nothing runs, and nobody asks.
    longer_ = left > 0 ? stretch * model_.replicas / left : 1;
    return;
  }
  for (std::size_t place = 0; place < account.peers_gone.size(); ++place) {
    const std::uint64_t gone = account.peers_gone[place];
    if (gone > 0 && gone < static_cast<std::uint64_t>(model_.replicas)) {
      stages_.push_back({SlowState::Kind::stage, peers_left(model_.replicas, gone),
                         static_cast<std::uint16_t>(place), 0});
    }
  }
}

}  // namespace headway::campaign
