// How rooms that know nothing of one another name the same part of the cluster.
#pragma once

#include <compare>
#include <cstdint>

#include "sim/core/fields.h"

namespace headway::core {

/// Kinds of parts that can fail, slow down or be replaced.
enum class ComponentKind : std::uint8_t {
  gpu,
  nic,
  node,
  network_switch,
  link,
  rack,
  power_domain,
  storage
};

constexpr auto enum_words(ComponentKind) {
  using K = ComponentKind;
  using E = EnumWord<K>;
  return std::array{E{K::gpu, "gpu"},
                    E{K::nic, "nic"},
                    E{K::node, "node"},
                    E{K::network_switch, "switch"},
                    E{K::link, "link"},
                    E{K::rack, "rack"},
                    E{K::power_domain, "power_domain"},
                    E{K::storage, "storage"}};
}

/// One part: "the `index`-th of its kind", numbered as the cluster's description lists them.
/// `failures` names a victim by it and `network` or `training` says what that is; neither includes
/// the other.
struct ComponentId {
  ComponentKind kind = ComponentKind::node;
  std::uint32_t index = 0;

  friend constexpr auto operator<=>(const ComponentId&, const ComponentId&) = default;
};

}  // namespace headway::core
