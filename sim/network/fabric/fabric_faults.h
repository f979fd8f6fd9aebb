// Switches that fail: all cables of a switch at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/network/fabric/fabric.h"

namespace headway::network {

enum class SwitchTier : std::uint8_t { leaf, spine, core };
constexpr auto enum_words(SwitchTier) {
  using E = core::EnumWord<SwitchTier>;
  return std::array{E{SwitchTier::leaf, "leaf"}, E{SwitchTier::spine, "spine"},
                    E{SwitchTier::core, "core"}};
}

/// A switch, numbered over all trees as in the drawings of `headway topo`.
struct SwitchId {
  SwitchTier tier = SwitchTier::leaf;
  std::uint32_t index = 0;
};

/// "leaf:3", "spine:0", "core:1".
/// @throws core::Error if the words name no switch of this fabric
SwitchId parse_switch(std::string_view words, const FabricShape& shape);

/// Takes the switches out with all their cables. A pool of cables (adaptive routing) loses their
/// share; hashed and static routes pass over them. Replaces what `degrade` did to the same links.
void fail_switches(std::span<const SwitchId> switches, Fabric& fabric);

}  // namespace headway::network
