#include "sim/campaign/job/spare_pool.h"

#include <algorithm>

#include "sim/core/engine/event.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

Tick RepairShop::take(Tick now, Tick repair) {
  if (repair >= core::kEndOfTime - now) {
    return core::kEndOfTime;
  }
  if (free_at_.empty()) {
    return now + repair;
  }
  const auto crew = std::min_element(free_at_.begin(), free_at_.end());
  *crew = std::max(*crew, now) + repair;
  return *crew;
}

failures::Node SparePool::take() {
  HEADWAY_CHECK(!ready_.empty(), "no spare is ready");
  auto taken = ready_.begin();
  if (choice_ == failures::SpareChoice::last_ready) {
    taken = ready_.end() - 1;
  } else if (choice_ == failures::SpareChoice::fewest_failures) {
    taken = std::min_element(ready_.begin(), ready_.end(),
                             [](const auto& x, const auto& y) { return x.failures < y.failures; });
  }
  const failures::Node node = *taken;
  ready_.erase(taken);
  return node;
}

void FailureCounts::insert(failures::Node node, std::uint64_t slot) {
  if (!of_slot_.empty()) {
    of_slot_[slot] = node.failures;
  }
}

failures::Node FailureCounts::remove(failures::Node node, std::uint64_t slot, bool failed) const {
  if (!of_slot_.empty()) {
    node.failures = of_slot_[slot] + (failed ? 1 : 0);
  }
  return node;
}

namespace {

constexpr unsigned kRackBits = 32;

}  // namespace

Spares::Spares(failures::SpareChoice choice, std::size_t racks)
    : anywhere_(choice), of_rack_(racks, Rack{SparePool(choice)}) {}

Spares::Address Spares::address_of(std::size_t rack) const {
  return (std::uint64_t{of_rack_[rack].generation} << kRackBits) + rack + 1;
}

void Spares::add(failures::Node node, Address address) {
  const Address rack = address & ((std::uint64_t{1} << kRackBits) - 1);
  const bool home = rack > 0 && address_of(rack - 1) == address;
  (home ? of(rack - 1) : anywhere_).add(node);
}

std::vector<failures::Node> Spares::exchange(std::size_t rack) {
  std::vector<failures::Node> left;
  while (of(rack).ready() > 0) {
    left.push_back(of(rack).take());
  }
  ++of_rack_[rack].generation;
  return left;
}

}  // namespace headway::campaign
