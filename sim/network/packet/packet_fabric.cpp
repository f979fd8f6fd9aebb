#include "sim/network/packet/packet_fabric.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::network {

namespace {

void check_classes(const PacketSpec& spec) {
  constexpr std::size_t kMostClasses = 8;  // of IEEE 802.1Q
  constexpr const char* kField = "fabric.packets.classes";
  if (spec.classes.size() > kMostClasses) {
    throw core::Error(
        fmt::format("{}: {} classes, at most {}", kField, spec.classes.size(), kMostClasses));
  }
  for (const auto& [traffic, word] : enum_words(TrafficKind{})) {
    std::ptrdiff_t named = 0;
    for (const TrafficClassSpec& one : spec.classes) {
      named += std::count(one.traffic.begin(), one.traffic.end(), traffic);
    }
    if (named > 1) {
      throw core::Error(
          fmt::format("{}: {} is in two classes: name each traffic once", kField, word));
    }
  }
  if (spec.transport == Transport::receiver && spec.classes.size() > 1) {
    throw core::Error(
        fmt::format("{}: transport receiver has no classes here, since heads go before all else: "
                    "take another transport, or leave classes out",
                    kField));
  }
}

}  // namespace

PacketSpec packet_spec(const FabricSpec& fabric, std::optional<Transport> transport) {
  PacketSpec spec = fabric.packets.value_or(PacketSpec{});
  const bool hashed = fabric.routing == Routing::ecmp;
  if (transport) {
    spec.transport = transport;
  }
  if (!spec.transport) {
    spec.transport = hashed ? Transport::dcqcn : Transport::credits;
  }
  if (!spec.path_choice) {
    const bool fixed = fabric.routing == Routing::destination_modulo;
    // What receivers rule is sprayed by definition: EQDS, NDP, Ultra Ethernet.
    const bool sprayed = spec.transport == Transport::receiver;
    spec.path_choice = hashed  ? (sprayed ? PathChoice::packet : PathChoice::flow)
                       : fixed ? PathChoice::destination
                               : PathChoice::queue;
  }
  check_classes(spec);
  return spec;
}

std::uint32_t class_of(const PacketSpec& spec, TrafficKind traffic) {
  for (std::uint32_t k = 0; k < spec.classes.size(); ++k) {
    const auto& of = spec.classes[k].traffic;
    if (std::find(of.begin(), of.end(), traffic) != of.end()) {
      return k;
    }
  }
  return 0;
}

namespace {

Guard guard_of(Transport transport) {
  switch (transport) {
    case Transport::credits:
      return Guard::credit;
    case Transport::pauses:
    case Transport::dcqcn:
      return Guard::pause;
    default:
      return Guard::none;
  }
}

/// Entries of all switches' routing tables, 4 bytes each. Source: chosen, a gigabyte.
constexpr double kMostRoutes = 2.5e8;

/// Before anything is allocated.
void check_routes(const FabricShape& shape) {
  const bool own_card = shape.rails == shape.gpus_per_node;
  const double cards = own_card ? 0 : 1.0 * shape.nodes * shape.rails;
  const double edges = 1.0 * shape.leaves + shape.domains + cards;
  const double devices = 1.0 * shape.gpus + edges + shape.spines + shape.cores;
  if (devices * edges > kMostRoutes) {
    throw core::Error(fmt::format(
        "a network of {:.0f} devices is too large for packets: its switches would have {:.2g} "
        "routes, at most {:.2g}: take fewer nodes, or granularity fluid",
        devices, devices * edges, kMostRoutes));
  }
}

}  // namespace

PacketFabric::PacketFabric(const Fabric& fabric, const PacketSpec& packets)
    : fabric_(fabric),
      shape_(fabric.shape()),
      guard_(guard_of(*packets.transport)),
      buffer_per_port_(std::llround(packets.buffer_per_port.si())),
      payload_(std::llround(packets.payload.si())),
      classes_(std::max<std::int64_t>(1, static_cast<std::int64_t>(packets.classes.size()))),
      ports_of_leaf_(shape_.leaves),
      cable_of_link_(fabric.link_count(), kNowhere) {
  check_routes(shape_);
  network_.cable_buffer = buffer_per_port_;
  add_devices();
  for (std::uint32_t gpu = 0; gpu < shape_.gpus; ++gpu) {
    add_gpu_cables(gpu);
  }
  if (shape_.domain_gpus > 1 && fabric.input().scale_up.kind != ScaleUpKind::mesh) {
    for (std::uint32_t gpu = 0; gpu < shape_.gpus; ++gpu) {
      add_scale_up(first_domain_ + gpu / shape_.domain_gpus, gpu, fabric.scale_up_link(gpu, false));
    }
  }
  for (std::uint32_t port = 0; !own_card() && port < shape_.nodes * shape_.rails; ++port) {
    add_card_cables(port / shape_.rails, port % shape_.rails);
  }
  for (std::uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
    add_leaf_cables(leaf);
  }
  for (std::uint32_t s = 0; s < shape_.pods_per_tree * shape_.trees * shape_.spines_per_pod; ++s) {
    add_spine_cables(s / shape_.spines_per_pod, s % shape_.spines_per_pod);
  }
  for (std::uint32_t c = 0; c < shape_.trees * shape_.spines_per_pod * shape_.cores_per_spine;
       ++c) {
    const std::uint32_t spine = c / shape_.cores_per_spine;
    add_core_cables(spine / shape_.spines_per_pod, spine % shape_.spines_per_pod,
                    c % shape_.cores_per_spine);
  }
  for (Device& device : network_.devices) {
    device.buffer = buffer_per_port_ * device.cables;
  }
  network_.find_routes();
}

void PacketFabric::add_devices() {
  const auto add = [this](std::uint32_t count, const char* name, bool endpoint) {
    const auto first = static_cast<std::uint32_t>(network_.devices.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      network_.add_device(fmt::format("{} {}", name, i), endpoint);
    }
    return first;
  };
  add(shape_.gpus, "GPU", true);
  const bool switched =
      shape_.domain_gpus > 1 && fabric_.input().scale_up.kind != ScaleUpKind::mesh;
  first_domain_ = add(switched ? shape_.domains : 0, "NVLink domain", false);
  first_card_ = add(own_card() ? 0 : shape_.nodes * shape_.rails, "card", false);
  first_leaf_ = add(shape_.leaves, "leaf", false);
  first_spine_ = add(shape_.pods_per_tree * shape_.trees * shape_.spines_per_pod, "spine", false);
  first_core_ = add(shape_.trees * shape_.spines_per_pod * shape_.cores_per_spine, "core", false);
  for (std::uint32_t port = 0; port < shape_.nodes * shape_.rails * shape_.planes; ++port) {
    const std::uint32_t plane = port % shape_.planes;
    const std::uint32_t rail = port / shape_.planes % shape_.rails;
    ports_of_leaf_[fabric_.leaf_of(port / shape_.planes / shape_.rails, rail, plane)].push_back(
        port);
  }
}

void PacketFabric::add_link(
    std::uint32_t from, std::uint32_t to, core::LinkId link, core::Seconds more, Guard guard) {
  const Link& of = fabric_.link(link);
  if (of.state != LinkState::down) {
    cable_of_link_[link.index()] =
        network_.add_cable(from, to, of.capacity, of.latency + more, guard, link);
  }
}

void PacketFabric::add_scale_up(std::uint32_t from, std::uint32_t to, core::LinkId link) {
  constexpr std::int64_t kPackets = 8;
  add_link(from, to, link, core::Seconds{0}, Guard::credit);
  if (const std::uint32_t c = cable_of_link_[link.index()]; c != kNowhere) {
    Cable& cable = network_.cables[c];
    cable.scale_up = true;
    cable.buffer =
        classes_ * (8 * (cable.bytes_in(2 * cable.latency) + kPackets * payload_) + 6) / 7;
  }
}

void PacketFabric::add_pooled(
    std::uint32_t from, std::uint32_t to, core::LinkId link, std::uint32_t rank, std::uint32_t of) {
  const Link& pool = fabric_.link(link);
  const double alive = pool.capacity / pool.nominal * of;
  const double whole = std::ceil(alive - 1e-9);
  if (rank < whole) {
    network_.add_cable(from, to, pool.nominal / of * (alive / whole), pool.latency, guard_, link);
  }
}

void PacketFabric::add_gpu_cables(std::uint32_t gpu) {
  const auto& scale_up = fabric_.input().scale_up;
  const std::uint32_t domain = gpu / shape_.domain_gpus;
  if (shape_.domain_gpus > 1 && scale_up.kind == ScaleUpKind::mesh) {
    for (std::uint32_t other = domain * shape_.domain_gpus;
         other < std::min((domain + 1) * shape_.domain_gpus, shape_.gpus); ++other) {
      if (other != gpu) {
        add_scale_up(gpu, other, fabric_.mesh_link(gpu, other));
      }
    }
  } else if (shape_.domain_gpus > 1) {
    add_scale_up(gpu, first_domain_ + domain, fabric_.scale_up_link(gpu, true));
  }
  const GpuPlace at = fabric_.place(core::GpuId(gpu));
  const core::LinkId host = fabric_.host_link(gpu, true);
  if (!own_card()) {
    add_link(gpu, card(at.node, at.rail), host, core::Seconds{0}, guard_);
    return;
  }
  for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
    add_link(gpu, first_leaf_ + fabric_.leaf_of(at.node, at.rail, plane),
             fabric_.nic_link(at.node, at.rail, plane, true), fabric_.link(host).latency, guard_);
  }
}

void PacketFabric::add_card_cables(std::uint32_t node, std::uint32_t rail) {
  for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
    add_link(card(node, rail), first_leaf_ + fabric_.leaf_of(node, rail, plane),
             fabric_.nic_link(node, rail, plane, true), core::Seconds{0}, guard_);
  }
  for (std::uint32_t local = 0; local < shape_.gpus_per_node; ++local) {
    const std::uint32_t gpu = node * shape_.gpus_per_node + local;
    if (fabric_.place(core::GpuId(gpu)).rail == rail) {
      add_link(card(node, rail), gpu, fabric_.host_link(gpu, false), core::Seconds{0}, guard_);
    }
  }
}

void PacketFabric::add_leaf_cables(std::uint32_t leaf) {
  const std::uint32_t from = first_leaf_ + leaf;
  for (const std::uint32_t port : ports_of_leaf_[leaf]) {
    const std::uint32_t plane = port % shape_.planes;
    const std::uint32_t rail = port / shape_.planes % shape_.rails;
    const std::uint32_t node = port / shape_.planes / shape_.rails;
    const core::LinkId link = fabric_.nic_link(node, rail, plane, false);
    if (own_card()) {
      const std::uint32_t gpu = fabric_.gpu_on_rail(node, rail);
      add_link(from, gpu, link, fabric_.link(fabric_.host_link(gpu, false)).latency, guard_);
    } else {
      add_link(from, card(node, rail), link, core::Seconds{0}, guard_);
    }
  }
  if (shape_.dragonfly) {
    add_group_cables(leaf);
    return;
  }
  for (std::uint32_t c = 0; c < shape_.uplinks; ++c) {
    const std::uint32_t spine = fabric_.spine_of(c);
    const std::uint32_t rank =
        spine * (shape_.uplinks / shape_.spines_per_pod) + c / shape_.spines_per_pod;
    add_pooled(from, spine_device(fabric_.pod_of(leaf), spine), fabric_.leaf_link(leaf, c, true),
               fabric_.pooled() ? rank : 0, fabric_.pooled() ? shape_.uplinks : 1);
  }
}

/// Leaves of a group joined each to each; the cables between two groups go round their leaves.
void PacketFabric::add_group_cables(std::uint32_t leaf) {
  const std::uint32_t a = shape_.leaves_per_pod;
  const std::uint32_t pod = fabric_.pod_of(leaf);
  const std::uint32_t tree = pod / shape_.pods_per_tree;
  const std::uint32_t in_tree = leaf % shape_.leaves_per_tree;
  const std::uint32_t first = first_leaf_ + tree * shape_.leaves_per_tree;
  const auto leaf_at = [&](std::uint32_t group, std::uint32_t cable, std::uint32_t other) {
    return group * a + (other + cable) % a;
  };
  const std::uint32_t group = pod % shape_.pods_per_tree;
  for (std::uint32_t other = group * a; other < std::min((group + 1) * a, shape_.leaves_per_tree);
       ++other) {
    for (std::uint32_t c = 0; other != in_tree && c < shape_.local_cables; ++c) {
      add_pooled(first_leaf_ + leaf, first + other, fabric_.local_link(leaf, true),
                 c * (a - 1) + (other % a < in_tree % a ? other % a : other % a - 1),
                 shape_.local_cables * (a - 1));
    }
  }
  for (std::uint32_t to = 0; to < shape_.pods_per_tree; ++to) {
    for (std::uint32_t c = 0; to != group && c < shape_.global_cables; ++c) {
      const std::uint32_t there = leaf_at(to, c, group);
      if (leaf_at(group, c, to) == in_tree && there < shape_.leaves_per_tree) {
        add_pooled(first_leaf_ + leaf, first + there,
                   fabric_.global_link(pod, tree * shape_.pods_per_tree + to), c,
                   shape_.global_cables);
      }
    }
  }
}

void PacketFabric::add_spine_cables(std::uint32_t pod, std::uint32_t spine) {
  const std::uint32_t from = spine_device(pod, spine);
  const bool pooled = fabric_.pooled();
  const std::uint32_t tree = pod / shape_.pods_per_tree;
  const std::uint32_t first = pod % shape_.pods_per_tree * shape_.leaves_per_pod;
  for (std::uint32_t i = first; i < std::min(first + shape_.leaves_per_pod, shape_.leaves_per_tree);
       ++i) {
    const std::uint32_t leaf = tree * shape_.leaves_per_tree + i;
    for (std::uint32_t c = spine; c < shape_.uplinks; c += shape_.spines_per_pod) {
      const std::uint32_t rank =
          spine * (shape_.uplinks / shape_.spines_per_pod) + c / shape_.spines_per_pod;
      add_pooled(from, first_leaf_ + leaf, fabric_.leaf_link(leaf, c, false), pooled ? rank : 0,
                 pooled ? shape_.uplinks : 1);
    }
  }
  for (std::uint32_t c = 0; shape_.cores > 0 && c < shape_.spine_uplinks; ++c) {
    add_pooled(from, core_device(tree, spine, c % shape_.cores_per_spine),
               fabric_.spine_link(pod, spine, c, true),
               pooled ? spine * shape_.spine_uplinks + c : 0,
               pooled ? shape_.spine_uplinks * shape_.spines_per_pod : 1);
  }
}

void PacketFabric::add_core_cables(std::uint32_t tree, std::uint32_t spine, std::uint32_t core) {
  const bool pooled = fabric_.pooled();
  for (std::uint32_t pod = tree * shape_.pods_per_tree; pod < (tree + 1) * shape_.pods_per_tree;
       ++pod) {
    for (std::uint32_t c = core; c < shape_.spine_uplinks; c += shape_.cores_per_spine) {
      add_pooled(core_device(tree, spine, core), spine_device(pod, spine),
                 fabric_.spine_link(pod, spine, c, false),
                 pooled ? spine * shape_.spine_uplinks + c : 0,
                 pooled ? shape_.spine_uplinks * shape_.spines_per_pod : 1);
    }
  }
}

std::vector<std::vector<Way>> PacketFabric::legs(const Route& route) const {
  std::vector<std::vector<Way>> legs;
  std::vector<std::uint32_t> out, in;
  const auto cable_of = [this](core::LinkId link) {
    const std::uint32_t c = cable_of_link_[link.index()];
    if (c == kNowhere) {
      throw core::Error(fmt::format("{} is down or no single cable", fabric_.describe(link)));
    }
    return c;
  };
  const auto close = [&] {
    HEADWAY_CHECK(!out.empty() && out.size() == in.size(), "{} ways out, {} in", out.size(),
                  in.size());
    legs.emplace_back();
    for (std::size_t i = 0; i < out.size(); ++i) {
      legs.back().push_back({out[i], in[i]});
    }
    out.clear();
    in.clear();
  };
  for (const RouteHop& hop : route.hops) {
    const Tier tier = fabric_.link(hop.link).tier;
    if (tier == Tier::scale_up || (tier == Tier::nic && own_card()) ||
        (tier == Tier::host && !own_card())) {
      const std::uint32_t c = cable_of(hop.link);
      if (network_.devices[network_.cables[c].from].endpoint) {
        out.push_back(c);
      }
      if (network_.devices[network_.cables[c].to].endpoint) {
        in.push_back(c);
      }
    }
    // A leg ends at a GPU: over NVLink, by its host link, or where that follows its card's planes.
    if (!in.empty() && (tier == Tier::scale_up || tier == Tier::host)) {
      close();
    }
  }
  HEADWAY_CHECK(out.empty() && in.empty() && !legs.empty(), "a route of {} links",
                route.hops.size());
  return legs;
}

}  // namespace headway::network
