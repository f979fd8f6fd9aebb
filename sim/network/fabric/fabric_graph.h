// The fabric as a Boost graph, for what needs one: connectivity, diameter, drawings. Routing does
// not use it.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <string>

#include "sim/core/units.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

enum class VertexKind : std::uint8_t {
  gpu,
  nvswitch,
  nic,
  node,
  leaf,
  spine,
  core,
  storage,
  wide_area
};
constexpr auto enum_words(VertexKind) {
  using E = core::EnumWord<VertexKind>;
  return std::array{E{VertexKind::gpu, "gpu"},
                    E{VertexKind::nvswitch, "nvswitch"},
                    E{VertexKind::nic, "nic"},
                    E{VertexKind::node, "node"},
                    E{VertexKind::leaf, "leaf"},
                    E{VertexKind::spine, "spine"},
                    E{VertexKind::core, "core"},
                    E{VertexKind::storage, "storage"},
                    E{VertexKind::wide_area, "wide_area"}};
}

struct FabricVertex {
  VertexKind kind = VertexKind::gpu;
  std::uint32_t index = 0;  ///< within its kind
  [[nodiscard]] std::string name() const {
    return std::string(core::to_word(kind)) + std::to_string(index);
  }
};

/// One direction of a bundle of parallel cables.
struct FabricEdge {
  core::BytesPerSecond capacity;
  core::Seconds latency;
  std::uint32_t cables = 1;
  Tier tier = Tier::nic;
  LinkState state = LinkState::up;
};

using FabricGraph = boost::
    adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, FabricVertex, FabricEdge>;

/// full: every GPU, NVSwitch, NIC and switch. nodes: a server is one vertex, its rails to a leaf
/// one edge.
enum class GraphDetail : std::uint8_t { full, nodes };

FabricGraph build_graph(const Fabric& fabric, GraphDetail detail);

}  // namespace headway::network
