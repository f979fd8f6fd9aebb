#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <sstream>

#include "sim/network/fabric/fabric_graph.h"
#include "sim/network/fabric/fabric_report.h"

namespace headway::network {
namespace {

const char* shape_of(VertexKind kind) {
  return kind == VertexKind::storage
             ? "cylinder"
             : (kind == VertexKind::node || kind == VertexKind::gpu ? "box" : "ellipse");
}

std::string state_word(LinkState state) {
  return state == LinkState::up ? "up" : (state == LinkState::down ? "down" : "degraded");
}

}  // namespace

std::string to_dot(const Fabric& fabric) {
  const FabricGraph graph = build_graph(fabric, GraphDetail::nodes);
  std::ostringstream out;
  boost::write_graphviz(
      out, graph,
      [&](std::ostream& os, FabricGraph::vertex_descriptor v) {
        os << "[label=\"" << graph[v].name() << "\", shape=" << shape_of(graph[v].kind) << ']';
      },
      [&](std::ostream& os, const FabricGraph::edge_descriptor& e) {
        const auto& edge = graph[e];
        os << "[label=\"" << edge.cables << " x " << edge.capacity.si() / 1e9 / edge.cables
           << " GB/s\"";
        os << (edge.state == LinkState::up
                   ? "]"
                   : (edge.state == LinkState::down ? ", color=red]" : ", color=orange]"));
      });
  return out.str();
}

std::string to_graphml(const Fabric& fabric) {
  const FabricGraph graph = build_graph(fabric, GraphDetail::full);
  using V = FabricGraph::vertex_descriptor;
  using E = FabricGraph::edge_descriptor;
  const auto vertex = [&](auto get) {
    return boost::make_function_property_map<V>(std::move(get));
  };
  const auto edge = [&](auto get) { return boost::make_function_property_map<E>(std::move(get)); };
  boost::dynamic_properties properties;
  properties.property("name", vertex([&](V v) { return graph[v].name(); }));
  properties.property("kind",
                      vertex([&](V v) { return std::string(core::to_word(graph[v].kind)); }));
  properties.property("tier", edge([&](E e) { return std::string(core::to_word(graph[e].tier)); }));
  properties.property("bandwidth_bytes_per_s", edge([&](E e) { return graph[e].capacity.si(); }));
  properties.property("latency_s", edge([&](E e) { return graph[e].latency.si(); }));
  properties.property("cables", edge([&](E e) { return static_cast<int>(graph[e].cables); }));
  properties.property("state", edge([&](E e) { return state_word(graph[e].state); }));
  std::ostringstream out;
  boost::write_graphml(out, graph, properties, true);
  return out.str();
}

}  // namespace headway::network
