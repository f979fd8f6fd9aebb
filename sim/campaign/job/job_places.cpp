#include "sim/campaign/job/job_places.h"

#include <algorithm>

#include "sim/core/error.h"

namespace headway::campaign {

namespace {

void sort_unique(std::vector<std::uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

JobPlaces::JobPlaces(const JobModel& job)
    : nodes_(static_cast<std::uint64_t>((job.gpus + job.gpus_per_node - 1) / job.gpus_per_node)),
      place_of_slot_(job.place_of_node),
      replica_of_slot_(job.replica_of_node) {
  const auto replicas = static_cast<std::uint64_t>(job.replicas);
  replicas_per_node_ = std::max<std::uint64_t>(1, replicas / nodes_);
  slot_at_place_.resize(place_of_slot_.size());
  for (std::uint32_t slot = 0; slot < place_of_slot_.size(); ++slot) {
    slot_at_place_[place_of_slot_[slot]] = slot;
  }
  if (replica_of_slot_.empty()) {
    const std::uint64_t nodes_per_replica = std::max<std::uint64_t>(1, nodes_ / replicas);
    for (std::uint64_t slot = 0; slot < nodes_; ++slot) {
      replica_of_slot_.push_back(
          static_cast<std::uint32_t>(slot / nodes_per_replica * replicas_per_node_));
    }
  }
  HEADWAY_CHECK(replica_of_slot_.size() == nodes_, "{} nodes, {} of them in a replica", nodes_,
                replica_of_slot_.size());
  for (std::uint32_t slot = 0; slot < nodes_; ++slot) {
    const std::size_t replica = replica_of_slot_[slot];
    slots_of_replica_.resize(std::max(slots_of_replica_.size(), replica + 1));
    slots_of_replica_[replica].push_back(slot);
  }
}

std::uint64_t JobPlaces::place_of(std::uint64_t slot) const {
  return slot < place_of_slot_.size() ? place_of_slot_[slot] : slot;
}

std::uint64_t JobPlaces::slot_at(std::uint64_t place) const {
  return place < slot_at_place_.size() ? slot_at_place_[place] : place;
}

std::vector<std::uint64_t> JobPlaces::slots_from(std::uint64_t slot, std::uint64_t count) const {
  std::vector<std::uint64_t> slots;
  const std::uint64_t first = place_of(slot);
  for (std::uint64_t place = first; place < std::min(first + count, nodes_); ++place) {
    slots.push_back(slot_at(place));
  }
  return slots;
}

std::vector<std::uint64_t> JobPlaces::units_of(const std::vector<std::uint64_t>& slots,
                                               std::uint64_t unit) const {
  std::vector<std::uint64_t> found;
  for (const std::uint64_t slot : slots) {
    const std::uint64_t first = place_of(slot) / unit * unit;
    for (std::uint64_t place = first; place < std::min(first + unit, nodes_); ++place) {
      found.push_back(slot_at(place));
    }
  }
  sort_unique(found);
  return found;
}

std::vector<std::uint64_t> JobPlaces::groups_of(const std::vector<std::uint64_t>& slots) const {
  std::vector<std::uint64_t> found;
  for (const std::uint64_t slot : slots) {
    const auto& group = slots_of_replica_[replica_of(slot)];
    found.insert(found.end(), group.begin(), group.end());
  }
  sort_unique(found);
  return found;
}

std::uint64_t JobPlaces::replica_of(std::uint64_t slot) const { return replica_of_slot_[slot]; }

std::uint64_t JobPlaces::replicas_hit(const std::vector<std::uint64_t>& slots) const {
  std::vector<std::uint64_t> replicas;
  for (const std::uint64_t slot : slots) {
    replicas.push_back(replica_of(slot));
  }
  sort_unique(replicas);
  return replicas.size() * replicas_per_node_;
}

bool JobPlaces::peers_survive(const std::vector<std::uint64_t>& slots) const {
  std::vector<std::uint64_t> rising = slots;
  std::sort(rising.begin(), rising.end());
  return std::none_of(slots.begin(), slots.end(), [&](std::uint64_t slot) {
    return std::binary_search(rising.begin(), rising.end(), (slot + 1) % nodes_);
  });
}

}  // namespace headway::campaign
