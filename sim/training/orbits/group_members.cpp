#include "sim/training/orbits/group_members.h"

#include <algorithm>
#include <numeric>

namespace headway::training {

using core::GpuId;
using core::Rank;
using workload::Group;

GroupMembers::GroupMembers(const CheckedScenario& checked,
                           const network::Fabric& fabric,
                           const RankLayout& layout,
                           const RankOrbits& orbits,
                           GroupMachines& machines)
    : checked_(checked),
      fabric_(fabric),
      layout_(layout),
      orbits_(orbits),
      machines_(machines),
      first_block_(static_cast<std::size_t>(orbits.replica.first_data())),
      ends_(orbits.replica.without_middle()) {
  std::iota(first_block_.begin(), first_block_.end(), 0);
}

const Members& GroupMembers::of(Group group, Rank leader) {
  const std::uint64_t key =
      (std::uint64_t{static_cast<std::uint8_t>(group)} << 32U) | leader.index();
  const auto [found, fresh] = known_.try_emplace(key);
  Members& members = found->second;
  if (!fresh) {
    return members;
  }
  const bool folds = !orbits_.replica.empty() && spans_replicas(group);
  const auto ranks = folds ? ranks_of(group, leader, first_block_) : layout_.members(group, leader);
  members.gpus = gpus_of(ranks);
  members.place = place_of(members.gpus);
  const auto kept = std::count_if(ranks.begin(), ranks.end(), [this](Rank rank) {
    return orbits_.tensor.empty() || orbits_.tensor.keeps(layout_.coordinates(rank).tensor);
  });
  members.kept = static_cast<std::size_t>(kept);
  if (folds) {
    members.place.shape = network::repeated(members.place.shape, orbits_.replica.blocks());
  }
  return members;
}

GroupPlace GroupMembers::place_of(const std::vector<GpuId>& gpus) {
  return {network::group_shape(fabric_, gpus), machines_.of_group(gpus)};
}

std::vector<GpuId> GroupMembers::all(Group group, Rank leader) const {
  return gpus_of(layout_.members(group, leader));
}

std::vector<GpuId> GroupMembers::without_middle(Group group, Rank leader) const {
  return ends_.empty() ? std::vector<GpuId>{} : gpus_of(ranks_of(group, leader, ends_));
}

std::vector<GpuId> GroupMembers::gpus_of(std::span<const Rank> ranks) const {
  std::vector<GpuId> gpus;
  gpus.reserve(ranks.size());
  for (const Rank rank : ranks) {
    gpus.push_back(layout_.gpu(rank));
  }
  return gpus;
}

std::vector<Rank> GroupMembers::ranks_of(Group group,
                                         Rank leader,
                                         std::span<const int> data) const {
  const Scenario& s = checked_.scenario();
  const RankLayout few(s.parallelism, static_cast<int>(data.size()), 0, {}, 1,
                       workload::encoder_stages(s.model));
  auto ranks = few.members(group, few.rank(layout_.coordinates(leader)));
  for (Rank& rank : ranks) {
    RankCoordinates at = few.coordinates(rank);
    at.data = data[static_cast<std::size_t>(at.data)];
    rank = layout_.rank(at);
  }
  return ranks;
}

}  // namespace headway::training
