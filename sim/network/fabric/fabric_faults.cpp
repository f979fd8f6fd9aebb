#include "sim/network/fabric/fabric_faults.h"

#include <map>

#include "sim/core/error.h"
#include "sim/core/text.h"

namespace headway::network {
namespace {

using core::LinkId;

/// Cables that are lost, by link.
class Losses {
 public:
  explicit Losses(const Fabric& fabric) : fabric_(fabric), shape_(fabric.shape()) {}

  void lose(SwitchId id) {
    switch (id.tier) {
      case SwitchTier::leaf:
        lose_leaf(id.index);
        return;
      case SwitchTier::spine:
        lose_spine(id.index);
        return;
      case SwitchTier::core:
        lose_core(id.index);
        return;
    }
  }

  void apply(Fabric& fabric) const {
    for (const auto& [link, cables] : cables_) {
      fabric.degrade(LinkId(link), 0, cables);
    }
  }

 private:
  void add(LinkId up, LinkId down, std::uint32_t cables) {
    cables_[up.index()] += cables;
    cables_[down.index()] += cables;
  }

  void lose_leaf(std::uint32_t leaf) {
    for (std::uint32_t port = 0; port < shape_.nodes * shape_.rails * shape_.planes; ++port) {
      const std::uint32_t plane = port % shape_.planes;
      const std::uint32_t rail = port / shape_.planes % shape_.rails;
      const std::uint32_t node = port / shape_.planes / shape_.rails;
      if (fabric_.leaf_of(node, rail, plane) == leaf) {
        const LinkId up = fabric_.nic_link(node, rail, plane, true);
        add(up, fabric_.nic_link(node, rail, plane, false), fabric_.link(up).cables);
      }
    }
    for (std::uint32_t target = 0; target < shape_.storage_targets; ++target) {
      if (fabric_.storage_leaf(target, leaf / shape_.leaves_per_tree) == leaf &&
          shape_.trees == 1) {
        add(fabric_.storage_link(target, true), fabric_.storage_link(target, false), 1);
      }
    }
    if (shape_.dragonfly) {
      lose_group_member(leaf);
    } else if (shape_.spines > 0) {
      for (std::uint32_t cable = 0; cable < shape_.uplinks; ++cable) {
        add(fabric_.leaf_link(leaf, cable, true), fabric_.leaf_link(leaf, cable, false), 1);
      }
    }
  }

  /// Its cables inside the group, at both ends, and those to other groups that it holds.
  void lose_group_member(std::uint32_t leaf) {
    const LinkId up = fabric_.local_link(leaf, true);
    add(up, fabric_.local_link(leaf, false), fabric_.link(up).cables);
    const std::uint32_t pod = fabric_.pod_of(leaf);
    for (std::uint32_t within = 0; within < fabric_.leaves_in(pod); ++within) {
      const std::uint32_t sibling = fabric_.leaf_in(pod, within);
      if (sibling != leaf) {
        add(fabric_.local_link(sibling, true), fabric_.local_link(sibling, false),
            shape_.local_cables);
      }
    }
    const std::uint32_t first = pod / shape_.pods_per_tree * shape_.pods_per_tree;
    for (std::uint32_t other = first; other < first + shape_.pods_per_tree; ++other) {
      for (std::uint32_t k = 0; other != pod && k < shape_.global_cables; ++k) {
        if (fabric_.gateway(pod, other, k) == leaf) {
          add(fabric_.global_link(pod, other), fabric_.global_link(other, pod), 1);
        }
      }
    }
  }

  void lose_spine(std::uint32_t spine) {
    const std::uint32_t pod = spine / shape_.spines_per_pod;
    const std::uint32_t within = spine % shape_.spines_per_pod;
    for (std::uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
      for (std::uint32_t cable = within; fabric_.pod_of(leaf) == pod && cable < shape_.uplinks;
           cable += shape_.spines_per_pod) {
        add(fabric_.leaf_link(leaf, cable, true), fabric_.leaf_link(leaf, cable, false), 1);
      }
    }
    for (std::uint32_t cable = 0; cable < shape_.spine_uplinks; ++cable) {
      add(fabric_.spine_link(pod, within, cable, true),
          fabric_.spine_link(pod, within, cable, false), 1);
    }
  }

  /// A core joins the spines of one index in all pods of its tree.
  void lose_core(std::uint32_t core) {
    const std::uint32_t group = core / shape_.cores_per_spine;
    const std::uint32_t tree = group / shape_.spines_per_pod;
    const std::uint32_t spine = group % shape_.spines_per_pod;
    for (std::uint32_t pod = 0; pod < shape_.pods_per_tree; ++pod) {
      const std::uint32_t number = tree * shape_.pods_per_tree + pod;
      for (std::uint32_t cable = core % shape_.cores_per_spine; cable < shape_.spine_uplinks;
           cable += shape_.cores_per_spine) {
        add(fabric_.spine_link(number, spine, cable, true),
            fabric_.spine_link(number, spine, cable, false), 1);
      }
    }
  }

  const Fabric& fabric_;
  const FabricShape& shape_;
  std::map<std::uint32_t, std::uint32_t> cables_;
};

std::uint32_t count_of(const FabricShape& shape, SwitchTier tier) {
  return tier == SwitchTier::leaf    ? shape.leaves
         : tier == SwitchTier::spine ? shape.spines
                                     : shape.cores;
}

}  // namespace

SwitchId parse_switch(std::string_view words, const FabricShape& shape) {
  const std::size_t colon = words.find(':');
  const std::string_view tier = words.substr(0, colon);
  for (const auto& word : enum_words(SwitchTier{})) {
    if (tier != word.word || colon == std::string_view::npos) {
      continue;
    }
    const auto index = core::whole_text_as<std::uint32_t>(words.substr(colon + 1));
    const std::uint32_t count = count_of(shape, word.value);
    if (index && *index < count) {
      return {word.value, *index};
    }
    throw core::Error(fmt::format("'{}' is no switch: the fabric has {} {} switches, from 0", words,
                                  count, tier));
  }
  throw core::Error(fmt::format("'{}' names no switch; write leaf:N, spine:N or core:N", words));
}

void fail_switches(std::span<const SwitchId> switches, Fabric& fabric) {
  Losses losses(fabric);
  for (const SwitchId id : switches) {
    HEADWAY_CHECK(id.index < count_of(fabric.shape(), id.tier), "{} {} of {}",
                  core::to_word(id.tier), id.index, count_of(fabric.shape(), id.tier));
    losses.lose(id);
  }
  losses.apply(fabric);
}

}  // namespace headway::network
