#include "sim/network/fabric/fabric_graph.h"

#include <map>
#include <utility>
#include <vector>

namespace headway::network {
namespace {

using core::LinkId;
using Vertex = FabricGraph::vertex_descriptor;

/// Fills a graph from the shape's coordinates and the states of the links.
class Builder {
 public:
  Builder(const Fabric& fabric, GraphDetail detail)
      : fabric_(fabric), shape_(fabric.shape()), detail_(detail) {}

  FabricGraph build() {
    add_hosts();
    add_vertices(VertexKind::leaf, shape_.leaves);
    add_vertices(VertexKind::spine, shape_.spines);
    add_vertices(VertexKind::core, shape_.cores);
    add_vertices(VertexKind::storage, shape_.storage_targets);
    add_vertices(VertexKind::wide_area, shape_.sites > 1 ? 1 : 0);
    if (detail_ == GraphDetail::full) {
      join_gpus();
    }
    join_nics();
    if (shape_.dragonfly) {
      join_groups();
    } else if (shape_.spines > 0) {
      join_spines();
    }
    join_storage();
    if (shape_.sites > 1) {
      join_sites();
    }
    return std::move(graph_);
  }

 private:
  void add_vertices(VertexKind kind, std::uint32_t count) {
    first_[kind] = boost::num_vertices(graph_);
    for (std::uint32_t i = 0; i < count; ++i) {
      boost::add_vertex(FabricVertex{kind, i}, graph_);
    }
  }

  void add_hosts() {
    if (detail_ == GraphDetail::nodes) {
      add_vertices(VertexKind::node, shape_.nodes);
      return;
    }
    add_vertices(VertexKind::gpu, shape_.gpus);
    const bool star = shape_.domain_gpus > 1 && fabric_.input().scale_up.kind != ScaleUpKind::mesh;
    add_vertices(VertexKind::nvswitch, star ? shape_.domains : 0);
    add_vertices(VertexKind::nic, shape_.nodes * shape_.rails);
  }

  Vertex at(VertexKind kind, std::uint32_t index) const { return first_.at(kind) + index; }

  static FabricEdge edge_of(const Link& link) {
    return {link.capacity, link.latency, link.cables, link.tier, link.state};
  }

  /// Part of a pool: `cables` of all its cables.
  static FabricEdge part_of(const Link& link, std::uint32_t cables) {
    return {link.capacity * (static_cast<double>(cables) / link.cables), link.latency, cables,
            link.tier, link.state};
  }

  /// Several links drawn as one.
  FabricEdge bundle(const std::vector<LinkId>& ids) const {
    FabricEdge sum = edge_of(fabric_.link(ids.front()));
    std::size_t down = sum.state == LinkState::down ? 1 : 0;
    bool touched = sum.state != LinkState::up;
    for (std::size_t i = 1; i < ids.size(); ++i) {
      const auto& link = fabric_.link(ids[i]);
      sum.capacity += link.capacity;
      sum.cables += link.cables;
      down += link.state == LinkState::down ? 1 : 0;
      touched = touched || link.state != LinkState::up;
    }
    sum.state =
        down == ids.size() ? LinkState::down : (touched ? LinkState::degraded : LinkState::up);
    return sum;
  }

  void join(Vertex low, Vertex high, const FabricEdge& up, const FabricEdge& down) {
    boost::add_edge(low, high, up, graph_);
    boost::add_edge(high, low, down, graph_);
  }

  void join_links(Vertex low, Vertex high, LinkId up, LinkId down) {
    join(low, high, edge_of(fabric_.link(up)), edge_of(fabric_.link(down)));
  }

  void join_gpus() {
    const bool mesh = fabric_.input().scale_up.kind == ScaleUpKind::mesh;
    for (std::uint32_t gpu = 0; gpu < shape_.gpus; ++gpu) {
      const auto place = fabric_.place(core::GpuId(gpu));
      join_links(at(VertexKind::gpu, gpu),
                 at(VertexKind::nic, place.node * shape_.rails + place.rail),
                 fabric_.host_link(gpu, true), fabric_.host_link(gpu, false));
      if (shape_.domain_gpus == 1) {
        continue;
      }
      if (!mesh) {
        join_links(at(VertexKind::gpu, gpu), at(VertexKind::nvswitch, place.domain),
                   fabric_.scale_up_link(gpu, true), fabric_.scale_up_link(gpu, false));
        continue;
      }
      const std::uint32_t first = place.domain * shape_.domain_gpus;
      for (std::uint32_t peer = first; peer < first + shape_.domain_gpus; ++peer) {
        if (peer != gpu) {
          boost::add_edge(at(VertexKind::gpu, gpu), at(VertexKind::gpu, peer),
                          edge_of(fabric_.link(fabric_.mesh_link(gpu, peer))), graph_);
        }
      }
    }
  }

  void join_nics() {
    for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
      std::map<std::uint32_t, std::pair<std::vector<LinkId>, std::vector<LinkId>>> by_leaf;
      for (std::uint32_t rail = 0; rail < shape_.rails; ++rail) {
        for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
          const auto up = fabric_.nic_link(node, rail, plane, true);
          const auto down = fabric_.nic_link(node, rail, plane, false);
          const std::uint32_t leaf = fabric_.leaf_of(node, rail, plane);
          if (detail_ == GraphDetail::full) {
            join_links(at(VertexKind::nic, node * shape_.rails + rail), at(VertexKind::leaf, leaf),
                       up, down);
          } else {
            by_leaf[leaf].first.push_back(up);
            by_leaf[leaf].second.push_back(down);
          }
        }
      }
      for (const auto& [leaf, links] : by_leaf) {
        join(at(VertexKind::node, node), at(VertexKind::leaf, leaf), bundle(links.first),
             bundle(links.second));
      }
    }
  }

  /// A server has one port in every tree; each is drawn with the server's whole rate.
  void join_storage() {
    for (std::uint32_t target = 0; target < shape_.storage_targets; ++target) {
      for (std::uint32_t tree = 0; tree < shape_.trees; ++tree) {
        join_links(at(VertexKind::storage, target),
                   at(VertexKind::leaf, fabric_.storage_leaf(target, tree)),
                   fabric_.storage_link(target, true), fabric_.storage_link(target, false));
      }
    }
  }

  /// The highest switches of a site share its way out; each is drawn with the whole of it.
  void join_sites() {
    const VertexKind top = shape_.cores > 0    ? VertexKind::core
                           : shape_.spines > 0 ? VertexKind::spine
                                               : VertexKind::leaf;
    const std::uint32_t switches = shape_.cores > 0    ? shape_.cores
                                   : shape_.spines > 0 ? shape_.spines
                                                       : shape_.leaves;
    for (std::uint32_t i = 0; i < switches; ++i) {
      const std::uint32_t site = i / (switches / shape_.sites);
      join_links(at(top, i), at(VertexKind::wide_area, 0), fabric_.site_link(site, true),
                 fabric_.site_link(site, false));
    }
  }

  /// The cables of a leaf to one spine of its pod.
  FabricEdge leaf_edge(std::uint32_t leaf, std::uint32_t spine, bool up) const {
    if (fabric_.pooled()) {
      return part_of(fabric_.link(fabric_.leaf_link(leaf, 0, up)),
                     shape_.uplinks / shape_.spines_per_pod);
    }
    std::vector<LinkId> ids;
    for (std::uint32_t cable = spine; cable < shape_.uplinks; cable += shape_.spines_per_pod) {
      ids.push_back(fabric_.leaf_link(leaf, cable, up));
    }
    return bundle(ids);
  }

  /// The cables of a spine to one of its cores.
  FabricEdge spine_edge(std::uint32_t pod, std::uint32_t spine, std::uint32_t core, bool up) const {
    if (fabric_.pooled()) {
      return part_of(fabric_.link(fabric_.spine_link(pod, 0, 0, up)),
                     shape_.spine_uplinks / shape_.cores_per_spine);
    }
    std::vector<LinkId> ids;
    for (std::uint32_t cable = core; cable < shape_.spine_uplinks;
         cable += shape_.cores_per_spine) {
      ids.push_back(fabric_.spine_link(pod, spine, cable, up));
    }
    return bundle(ids);
  }

  void join_spines() {
    for (std::uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
      const std::uint32_t first = fabric_.pod_of(leaf) * shape_.spines_per_pod;
      for (std::uint32_t spine = 0; spine < shape_.spines_per_pod; ++spine) {
        join(at(VertexKind::leaf, leaf), at(VertexKind::spine, first + spine),
             leaf_edge(leaf, spine, true), leaf_edge(leaf, spine, false));
      }
    }
    for (std::uint32_t i = 0; i < (shape_.cores > 0 ? shape_.spines : 0); ++i) {
      const std::uint32_t pod = i / shape_.spines_per_pod;
      const std::uint32_t spine = i % shape_.spines_per_pod;
      const std::uint32_t tree = pod / shape_.pods_per_tree;
      for (std::uint32_t core = 0; core < shape_.cores_per_spine; ++core) {
        const std::uint32_t number =
            (tree * shape_.spines_per_pod + spine) * shape_.cores_per_spine + core;
        join(at(VertexKind::spine, i), at(VertexKind::core, number),
             spine_edge(pod, spine, core, true), spine_edge(pod, spine, core, false));
      }
    }
  }

  Vertex vertex_of(std::uint32_t leaf) const { return at(VertexKind::leaf, leaf); }

  void join_groups() {
    for (std::uint32_t pod = 0; pod < shape_.pods_per_tree * shape_.trees; ++pod) {
      for (std::uint32_t a = 0; a < fabric_.leaves_in(pod); ++a) {
        for (std::uint32_t b = 0; b < fabric_.leaves_in(pod); ++b) {
          if (a != b) {
            const std::uint32_t leaf = fabric_.leaf_in(pod, a);
            boost::add_edge(
                vertex_of(leaf), vertex_of(fabric_.leaf_in(pod, b)),
                part_of(fabric_.link(fabric_.local_link(leaf, true)), shape_.local_cables), graph_);
          }
        }
      }
      const std::uint32_t first = pod / shape_.pods_per_tree * shape_.pods_per_tree;
      for (std::uint32_t other = first; other < first + shape_.pods_per_tree; ++other) {
        for (std::uint32_t k = 0; other != pod && k < shape_.global_cables; ++k) {
          boost::add_edge(vertex_of(fabric_.gateway(pod, other, k)),
                          vertex_of(fabric_.gateway(other, pod, k)),
                          part_of(fabric_.link(fabric_.global_link(pod, other)), 1), graph_);
        }
      }
    }
  }

  const Fabric& fabric_;
  const FabricShape& shape_;
  GraphDetail detail_;
  std::map<VertexKind, std::size_t> first_;
  FabricGraph graph_;
};

}  // namespace

FabricGraph build_graph(const Fabric& fabric, GraphDetail detail) {
  return Builder(fabric, detail).build();
}

}  // namespace headway::network
