#include "sim/network/fabric/fabric_reach.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <map>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/fabric/fabric_graph.h"

namespace headway::network {
namespace {

/// Edges that carry anything.
struct Working {
  const FabricGraph* graph = nullptr;
  template <class E>
  bool operator()(const E& edge) const {
    return (*graph)[edge].state != LinkState::down;
  }
};

/// Links from `source` to every vertex; -1 where there is no way.
template <class G>
std::vector<int> distances(const G& graph, std::size_t source) {
  std::vector<int> far(boost::num_vertices(graph), -1);
  far[source] = 0;
  boost::breadth_first_search(graph, source,
                              boost::visitor(boost::make_bfs_visitor(
                                  boost::record_distances(far.data(), boost::on_tree_edge{}))));
  return far;
}

/// Distances between the GPUs of a healthy tree, all of whose planes are alike.
class Distances {
 public:
  explicit Distances(const Fabric& fabric) : fabric_(fabric), shape_(fabric.shape()) {}

  int between(std::uint32_t from, std::uint32_t to) {
    const auto a = fabric_.place(core::GpuId(from));
    const auto b = fabric_.place(core::GpuId(to));
    int least = a.node == b.node && a.rail == b.rail ? 2 : kFar;  // through their NIC
    if (a.domain == b.domain && shape_.domain_gpus > 1) {
      return std::min(least, inside());
    }
    for (const Exit& out : exits(a)) {
      for (const Exit& in : exits(b)) {
        // GPU, NIC, leaf ... leaf, NIC, GPU.
        least = std::min(least, 4 + out.links + in.links + leaves_apart(out.leaf, in.leaf));
      }
    }
    return least;
  }

 private:
  static constexpr int kFar = 1 << 20;

  /// A leaf that a GPU gets to, and the links to the GPU beside its NIC.
  struct Exit {
    std::uint32_t leaf = 0;
    int links = 0;
  };

  int inside() const { return fabric_.input().scale_up.kind == ScaleUpKind::mesh ? 1 : 2; }

  /// Its own leaf, and those of all GPUs of its NVLink domain.
  std::vector<Exit> exits(const GpuPlace& place) {
    const std::uint32_t own = fabric_.leaf_of(place.node, place.rail, 0);
    std::vector<Exit> list{{own, 0}};
    for (const std::uint32_t leaf : leaves_of(place.domain)) {
      if (leaf != own) {
        list.push_back({leaf, inside()});
      }
    }
    return list;
  }

  const std::vector<std::uint32_t>& leaves_of(std::uint32_t domain) {
    const auto [place, fresh] = leaves_of_domain_.try_emplace(domain);
    auto& leaves = place->second;
    const std::uint32_t first = domain * shape_.domain_gpus;
    const std::uint32_t end = std::min(first + shape_.domain_gpus, shape_.gpus);
    for (std::uint32_t gpu = first; fresh && gpu < end; ++gpu) {
      leaves.push_back(leaf_of(gpu));
    }
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    return leaves;
  }

  std::uint32_t leaf_of(std::uint32_t gpu) const {
    const auto place = fabric_.place(core::GpuId(gpu));
    return fabric_.leaf_of(place.node, place.rail, 0);
  }

  int leaves_apart(std::uint32_t a, std::uint32_t b) const {
    if (a == b) {
      return 0;
    }
    if (a / shape_.leaves_per_tree != b / shape_.leaves_per_tree) {
      return kFar;
    }
    return fabric_.pod_of(a) == fabric_.pod_of(b) ? 2 : 4;  // over a spine; over spine, core, spine
  }

  const Fabric& fabric_;
  const FabricShape& shape_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> leaves_of_domain_;
};

/// All nodes of a small fabric; of a large one some that are evenly spaced, the first and the last:
/// nodes of equal position are alike, so these meet the longest way.
std::vector<std::uint32_t> nodes_to_look_at(const FabricShape& shape) {
  constexpr std::uint32_t kMost = 16;
  std::vector<std::uint32_t> nodes;
  const std::uint32_t step = std::max(1U, shape.nodes / kMost);
  for (std::uint32_t node = 0; node < shape.nodes; node += step) {
    nodes.push_back(node);
  }
  nodes.push_back(shape.nodes - 1);
  return nodes;
}

}  // namespace

bool can_count_reach(const Fabric& fabric) {
  const auto& s = fabric.shape();
  const bool rails_joined = s.rails_joined() || s.rails == 1;
  return fabric.links_down() == 0 && !s.dragonfly && s.sites == 1 &&
         (rails_joined || s.domain_gpus >= s.gpus_per_node);
}

Reach counted_reach(const Fabric& fabric) {
  HEADWAY_CHECK(can_count_reach(fabric), "the reach of an irregular fabric was counted");
  const auto& s = fabric.shape();
  Distances distances(fabric);
  Reach reach{true, 0, 0};
  const auto nodes = nodes_to_look_at(s);
  for (const std::uint32_t a : nodes) {
    for (const std::uint32_t b : nodes) {
      for (std::uint32_t i = 0; i < s.gpus_per_node * s.gpus_per_node; ++i) {
        const std::uint32_t from = a * s.gpus_per_node + i % s.gpus_per_node;
        const std::uint32_t to = b * s.gpus_per_node + i / s.gpus_per_node;
        reach.diameter = std::max(reach.diameter, from == to ? 0 : distances.between(from, to));
      }
    }
  }
  return reach;
}

// GPUs are the first vertices of the full graph.
Reach searched_reach(const Fabric& fabric) {
  const FabricGraph graph = build_graph(fabric, GraphDetail::full);
  const Working working{&graph};
  const boost::filtered_graph<FabricGraph, Working> alive(graph, working);
  const std::size_t gpus = fabric.shape().gpus;
  const auto forth = distances(alive, 0);
  const auto back = distances(boost::make_reverse_graph(alive), 0);
  Reach reach;
  for (std::size_t g = 0; g < gpus; ++g) {
    reach.missed += forth[g] < 0 || back[g] < 0 ? 1 : 0;
  }
  reach.connected = reach.missed == 0;
  // Every GPU of a small fabric; of a large one the first GPU of each of 64 evenly spaced nodes and
  // the farthest from it: nodes of equal position are alike, so these meet the longest way.
  constexpr std::size_t kSmall = 512;
  constexpr std::size_t kSamples = 64;
  const std::size_t step = gpus <= kSmall ? 1 : std::max<std::size_t>(1, gpus / kSamples);
  for (std::size_t source = 0; source < gpus; source += step) {
    const auto far = distances(alive, source);
    reach.diameter =
        std::max(reach.diameter,
                 *std::max_element(far.begin(), far.begin() + static_cast<std::ptrdiff_t>(gpus)));
  }
  return reach;
}

}  // namespace headway::network
