#include "sim/campaign/job/spare_pool.h"

#include <algorithm>
#include <iterator>

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

void SparePool::add(failures::Node node, Tick now) {
  cold_.push_back(node);
  keep_warm(now);
}

std::size_t SparePool::warm(Tick now) const {
  return static_cast<std::size_t>(std::count_if(
      chosen_.begin(), chosen_.end(), [&](const Chosen& spare) { return spare.warm_at <= now; }));
}

/// Those that waited longest begin to get warm.
void SparePool::keep_warm(Tick now) {
  while (chosen_.size() < warm_.most && !cold_.empty()) {
    chosen_.push_back({cold_.front(), now == 0 ? 0 : now + warm_.warming});
    cold_.pop_front();
  }
}

namespace {

/// Which of the nodes `[first, last)` is taken; `node_of` looks into one.
template <class It, class NodeOf>
It chosen_of(It first, It last, failures::SpareChoice choice, NodeOf node_of) {
  if (choice == failures::SpareChoice::last_ready) {
    return std::prev(last);
  }
  if (choice == failures::SpareChoice::fewest_failures) {
    return std::min_element(first, last, [&](const auto& x, const auto& y) {
      return node_of(x).failures < node_of(y).failures;
    });
  }
  return first;
}

}  // namespace

failures::Node SparePool::take(Tick now) {
  HEADWAY_CHECK(ready() > 0, "no spare is ready");
  failures::Node node;
  if (warm(now) > 0 || cold_.empty()) {
    // They get warm in the order in which they were chosen.
    const auto end =
        chosen_.begin() + static_cast<std::ptrdiff_t>(warm(now) > 0 ? warm(now) : chosen_.size());
    const auto taken =
        chosen_of(chosen_.begin(), end, choice_,
                  [](const Chosen& spare) -> const failures::Node& { return spare.node; });
    node = taken->node;
    chosen_.erase(taken);
  } else {
    const auto taken =
        chosen_of(cold_.begin(), cold_.end(), choice_,
                  [](const failures::Node& spare) -> const failures::Node& { return spare; });
    node = *taken;
    cold_.erase(taken);
  }
  keep_warm(now);
  return node;
}

void FailureCounts::insert(failures::Node node, std::uint64_t slot) {
  if (!of_slot_.empty()) {
    of_slot_[slot] = node;
  }
}

failures::Node FailureCounts::remove(failures::Node node,
                                     std::uint64_t slot,
                                     bool failed,
                                     Tick now) {
  if (!of_slot_.empty()) {
    node.failures = of_slot_[slot].failures + (failed ? 1 : 0);
    node.record = of_slot_[slot].record;
    if (failed && score_) {
      if (node.record == 0) {
        node.record = static_cast<std::uint32_t>(records_.size());
        records_.emplace_back();
      }
      score_->note(records_[node.record], now);
    }
  }
  return node;
}

std::uint64_t NodesAway::put(failures::Node node) {
  if (free_.empty()) {
    free_.push_back(nodes_.size());
    nodes_.emplace_back();
  }
  const std::uint64_t place = free_.back();
  free_.pop_back();
  nodes_[place] = node;
  return place;
}

failures::Node NodesAway::take(std::uint64_t place) {
  free_.push_back(place);
  return nodes_[place];
}

namespace {

constexpr unsigned kRackBits = 32;

}  // namespace

Spares::Spares(failures::SpareChoice choice, std::size_t racks, WarmSpares warm)
    : anywhere_(choice, warm), of_rack_(racks, Rack{SparePool(choice)}) {}

Spares::Address Spares::address_of(std::size_t rack) const {
  return (std::uint64_t{of_rack_[rack].generation} << kRackBits) + rack + 1;
}

void Spares::add(failures::Node node, Address address, Tick now) {
  const Address rack = address & ((std::uint64_t{1} << kRackBits) - 1);
  const bool home = rack > 0 && address_of(rack - 1) == address;
  (home ? of(rack - 1) : anywhere_).add(node, now);
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
