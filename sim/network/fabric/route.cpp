#include "sim/network/fabric/route.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/random.h"

namespace headway::network {
namespace {

using core::GpuId;
using core::LinkId;

/// splitmix64's finalizer: a good hash of a 64-bit word (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// A rail port of one node.
struct Port {
  std::uint32_t node = 0, rail = 0;
};

/// Builds one route; holds what the steps of the way share.
class Router {
 public:
  Router(const Fabric& fabric, GpuId from, GpuId to, std::uint64_t label, Route& route)
      : fabric_(fabric),
        shape_(fabric.shape()),
        from_(from.index()),
        to_(to.index()),
        healthy_(fabric.links_down() == 0),
        route_(route) {
    route_.hops.clear();
    route_.latency = {};
    route_.switches = 0;
    const std::uint64_t ends = (std::uint64_t{from_} << 32U) | to_;
    hash_ = mix(mix(ends ^ fabric.input().hash_seed) ^ label);
  }

  void find() {
    const auto a = fabric_.place(GpuId(from_));
    const auto b = fabric_.place(GpuId(to_));
    if (from_ == to_) {
      return;
    }
    if (a.domain == b.domain && shape_.domain_gpus > 1) {
      cross_domain(from_, to_);
      check_up(route_.hops.begin());
      return;
    }
    route_.hops.reserve(kUsualHops);
    scale_out(a, b);
  }

  /// Between `from` and a storage server.
  void find_storage(std::uint32_t target, bool write) {
    const auto place = fabric_.place(GpuId(from_));
    const auto port = working(from_, {place.node, place.rail});
    const LinkId server = fabric_.storage_link(target, !write);
    if (!port || down(server)) {
      no_path(port ? fmt::format("storage target {} is down", target)
                   : fmt::format("no NIC of node {} is up", place.node));
    }
    const std::uint32_t at_nic = place.rail == port->rail ? from_ : owner(*port);
    if (write) {
      if (at_nic != from_) {
        cross_domain(from_, at_nic);
      }
      step(fabric_.host_link(at_nic, true));
      spread_storage(*port, target, write);
      step(server);
    } else {
      step(server);
      spread_storage(*port, target, write);
      step(fabric_.host_link(at_nic, false));
      if (at_nic != from_) {
        cross_domain(at_nic, from_);
      }
    }
  }

 private:
  static constexpr std::size_t kUsualHops = 8;

  bool down(LinkId id) const { return fabric_.link(id).state == LinkState::down; }

  [[noreturn]] void no_path(const std::string& why) const {
    throw core::Error(from_ == to_
                          ? fmt::format("no path from GPU {} to storage: {}", from_, why)
                          : fmt::format("no path from GPU {} to GPU {}: {}", from_, to_, why));
  }

  void check_up(std::vector<RouteHop>::iterator first) const {
    for (auto hop = first; !healthy_ && hop != route_.hops.end(); ++hop) {
      if (down(hop->link)) {
        no_path(fabric_.describe(hop->link) + " is down");
      }
    }
  }

  void add(LinkId id, std::uint32_t coefficient = kCoefficientUnit) {
    route_.hops.push_back({id, coefficient});
  }

  /// Adds the latency of one path; parallel paths count once.
  void wait(LinkId id) { route_.latency += fabric_.link(id).latency; }

  void step(LinkId id) {
    add(id);
    wait(id);
  }

  void cross_domain(std::uint32_t from, std::uint32_t to) {
    if (fabric_.input().scale_up.kind == ScaleUpKind::mesh) {
      step(fabric_.mesh_link(from, to));
      return;
    }
    step(fabric_.scale_up_link(from, true));
    step(fabric_.scale_up_link(to, false));
  }

  bool usable(Port port) const {
    if (healthy_) {
      return true;
    }
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      if (!down(fabric_.nic_link(port.node, port.rail, plane, true)) &&
          !down(fabric_.nic_link(port.node, port.rail, plane, false))) {
        return true;
      }
    }
    return false;
  }

  std::uint32_t owner(Port port) const { return fabric_.gpu_on_rail(port.node, port.rail); }

  /// Whether `gpu` reaches the NIC of `port`: its own rail, or over NVLink through the rail's GPU.
  bool reaches(std::uint32_t gpu, Port port) const {
    return fabric_.place(GpuId(gpu)).rail == port.rail ||
           (shape_.domain_gpus > 1 && owner(port) / shape_.domain_gpus == gpu / shape_.domain_gpus);
  }

  /// The rail itself, or the next one of the node that works and that `gpu` reaches.
  std::optional<Port> working(std::uint32_t gpu, Port port) const {
    for (std::uint32_t k = 0; k < shape_.rails; ++k) {
      const Port next{port.node, (port.rail + k) % shape_.rails};
      if (usable(next) && reaches(gpu, next)) {
        return next;
      }
    }
    return std::nullopt;
  }

  void scale_out(const GpuPlace& a, const GpuPlace& b) {
    const auto dest = working(to_, {b.node, b.rail});
    auto source = working(from_, {a.node, a.rail});
    if (!dest || !source) {
      no_path(fmt::format("no NIC of node {} is up", dest ? a.node : b.node));
    }
    const bool rails_apart = shape_.rail_leaves && !shape_.rails_joined();
    if (shape_.rail_leaves && source->rail != dest->rail) {
      const Port same{a.node, dest->rail};
      const bool pxn = fabric_.input().fabric.pxn && usable(same) && reaches(from_, same);
      if (!pxn && rails_apart) {
        no_path(
            fmt::format("rail {} and rail {} are not joined, and PXN cannot cross NVLink: set "
                        "fabric.pxn true, or a topology whose spines join the rails",
                        source->rail, dest->rail));
      }
      if (pxn) {
        source = same;
      }
    }
    if (a.rail != source->rail) {
      cross_domain(from_, owner(*source));
    }
    step(fabric_.host_link(a.rail == source->rail ? from_ : owner(*source), true));
    spread_planes(*source, *dest);
    step(fabric_.host_link(b.rail == dest->rail ? to_ : owner(*dest), false));
    if (b.rail != dest->rail) {
      cross_domain(owner(*dest), to_);
    }
  }

  /// Planes whose ports work at both ends; one of them unless routing is adaptive.
  std::vector<std::uint32_t> planes(Port source, Port dest) const {
    std::vector<std::uint32_t> up;
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      if (!down(fabric_.nic_link(source.node, source.rail, plane, true)) &&
          !down(fabric_.nic_link(dest.node, dest.rail, plane, false))) {
        up.push_back(plane);
      }
    }
    if (up.empty()) {
      no_path("no plane has both NIC ports up");
    }
    const auto routing = fabric_.input().fabric.routing;
    if (routing == Routing::ecmp) {
      return {up[mix(hash_ + 1) % up.size()]};
    }
    if (routing == Routing::destination_modulo) {
      return {up[port_number(dest) % up.size()]};
    }
    return up;
  }

  /// The way between a rail and a server, over the planes whose port works.
  void spread_storage(Port port, std::uint32_t target, bool write) {
    std::vector<std::uint32_t> up;
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      if (!down(fabric_.nic_link(port.node, port.rail, plane, write))) {
        up.push_back(plane);
      }
    }
    if (up.empty()) {
      no_path("no plane has its NIC port up");
    }
    if (fabric_.input().fabric.routing != Routing::adaptive) {
      up = {up[mix(hash_ + target) % up.size()]};
    }
    const auto share = static_cast<std::uint32_t>((kCoefficientUnit + up.size() - 1) / up.size());
    for (const std::uint32_t plane : up) {
      storage_plane(port, target, plane, share, write, plane == up.front());
    }
  }

  void storage_plane(Port port,
                     std::uint32_t target,
                     std::uint32_t plane,
                     std::uint32_t share,
                     bool write,
                     bool first) {
    const std::size_t begin = route_.hops.size();
    const std::uint32_t near = fabric_.leaf_of(port.node, port.rail, plane);
    const std::uint32_t far = fabric_.storage_leaf(target, near / shape_.leaves_per_tree);
    const LinkId nic = fabric_.nic_link(port.node, port.rail, plane, write);
    // Servers are numbered behind the rail ports.
    const std::uint32_t number =
        write ? shape_.nodes * shape_.rails + target : number_by_leaf(port);
    int switches = 1;
    if (write) {
      add(nic, share);
      switches = near == far ? 1 : switches_path(near, far, number, share);
    } else {
      switches = near == far ? 1 : switches_path(far, near, number, share);
      add(nic, share);
    }
    check_up(route_.hops.begin() + static_cast<std::ptrdiff_t>(begin));
    for (std::size_t i = begin; first && i < route_.hops.size(); ++i) {
      wait(route_.hops[i].link);
    }
    route_.switches = first ? switches : route_.switches;
  }

  int switches_path(std::uint32_t leaf_a,
                    std::uint32_t leaf_b,
                    std::uint32_t number,
                    std::uint32_t share) {
    return shape_.dragonfly ? groups_path(leaf_a, leaf_b, share)
                            : spines_path(leaf_a, leaf_b, number, share);
  }

  std::uint32_t port_number(Port port) const { return port.node * shape_.rails + port.rail; }

  /// Numbered leaf by leaf, as subnet managers find them: what is behind a leaf goes by all of its
  /// cables in turn (D-mod-k; Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
  /// permutations on real life fat trees", 2010).
  std::uint32_t number_by_leaf(Port port) const {
    if (!shape_.rail_leaves) {
      return port_number(port);
    }
    const std::uint32_t leaf = fabric_.leaf_of(port.node, port.rail, 0) % shape_.leaves_per_tree;
    return leaf * shape_.ports_per_leaf + port.node % shape_.nodes_per_site % shape_.ports_per_leaf;
  }

  void spread_planes(Port source, Port dest) {
    if (healthy_ && shape_.planes == 1) {
      plane_path(source, dest, 0, kCoefficientUnit, true);
      return;
    }
    const auto chosen = planes(source, dest);
    // An uneven share is rounded up, so that a link is never thought emptier than it is.
    const auto share =
        static_cast<std::uint32_t>((kCoefficientUnit + chosen.size() - 1) / chosen.size());
    for (const std::uint32_t plane : chosen) {
      const bool first = plane == chosen.front();
      plane_path(source, dest, plane, share, first);
    }
  }

  void plane_path(Port source, Port dest, std::uint32_t plane, std::uint32_t share, bool first) {
    const std::size_t begin = route_.hops.size();
    const std::uint32_t leaf_a = fabric_.leaf_of(source.node, source.rail, plane);
    const std::uint32_t leaf_b = fabric_.leaf_of(dest.node, dest.rail, plane);
    add(fabric_.nic_link(source.node, source.rail, plane, true), share);
    int switches = 1;
    const std::uint32_t site_a = fabric_.site_of(source.node);
    const std::uint32_t site_b = fabric_.site_of(dest.node);
    if (site_a != site_b) {
      climb(leaf_a, true, share);
      add(fabric_.site_link(site_a, true), share);
      add(fabric_.site_link(site_b, false), share);
      climb(leaf_b, false, share);
      switches = shape_.cores > 0 ? 6 : (shape_.spines > 0 ? 4 : 2);
    } else if (leaf_a != leaf_b) {
      switches = switches_path(leaf_a, leaf_b, number_by_leaf(dest), share);
    }
    add(fabric_.nic_link(dest.node, dest.rail, plane, false), share);
    check_up(route_.hops.begin() + static_cast<std::ptrdiff_t>(begin));
    if (first) {
      route_.switches = switches;
      for (std::size_t i = begin; i < route_.hops.size(); ++i) {
        wait(route_.hops[i].link);
      }
    }
  }

  /// Between a leaf and the highest switches of its site, which hang on the way to other sites.
  void climb(std::uint32_t leaf, bool up, std::uint32_t share) {
    const auto at_leaf = [&] {
      if (shape_.spines > 0) {
        add(fabric_.leaf_link(leaf, 0, up), share);
      }
    };
    const auto at_spines = [&] {
      if (shape_.cores > 0) {
        add(fabric_.spine_link(fabric_.pod_of(leaf), 0, 0, up), share);
      }
    };
    if (up) {
      at_leaf();
      at_spines();
    } else {
      at_spines();
      at_leaf();
    }
  }

  /// Minimal dragonfly route: at most one local hop, one global hop, one local hop. Cables are
  /// pools.
  int groups_path(std::uint32_t leaf_a, std::uint32_t leaf_b, std::uint32_t share) {
    const std::uint32_t pod_a = fabric_.pod_of(leaf_a);
    const std::uint32_t pod_b = fabric_.pod_of(leaf_b);
    if (pod_a == pod_b) {
      add(fabric_.local_link(leaf_a, true), share);
      return 2;
    }
    // Of the leaves of a group, 1 / a hold the cable themselves; the others take a local hop.
    const auto through = [&](std::uint32_t coefficient) {
      const std::uint32_t a = shape_.leaves_per_pod;
      return (coefficient * (a - 1) + a - 1) / a;
    };
    if (shape_.leaves_per_pod > 1) {
      add(fabric_.local_link(leaf_a, true), through(share));
    }
    add(fabric_.global_link(pod_a, pod_b), share);
    if (shape_.leaves_per_pod > 1) {
      add(fabric_.local_link(leaf_b, false), through(share));
    }
    return 4;
  }

  struct Climb {
    std::uint32_t up = 0, down = 0;
  };

  /// A cable of `count` by hash or by destination, and one of the other side that ends at the same
  /// switch (equal index modulo `switches`); pairs with a dead cable are passed over.
  template <class Dead>
  Climb choose(std::uint32_t count,
               std::uint32_t switches,
               std::uint32_t by_destination,
               std::uint64_t salt,
               Dead dead) const {
    const bool hashed = fabric_.input().fabric.routing == Routing::ecmp;
    const std::uint32_t parallel = count / switches;
    // A switch by one hash, its parallel cables by two more, each by the hash's upper bits: with
    // fewer cables the flows of several come together, and none part.
    const std::uint64_t hash = mix(hash_ ^ salt);
    const auto draw = [&](std::uint64_t purpose, std::uint32_t bound) {
      return static_cast<std::uint32_t>(core::index_below(mix(hash + purpose), bound));
    };
    const std::uint32_t first =
        hashed ? draw(1, switches) + switches * draw(2, parallel) : by_destination % count;
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t up = (first + k) % count;
      const std::uint32_t turn = hashed ? draw(3, parallel) : up / switches;
      for (std::uint32_t j = 0; j < parallel; ++j) {
        const std::uint32_t down_cable = up % switches + switches * ((turn + j) % parallel);
        if (!dead(up, down_cable)) {
          return {up, down_cable};
        }
      }
    }
    no_path("every cable between two switches of the way is down");
  }

  /// @param number  of the destination's port: what static routing takes cables by
  int spines_path(std::uint32_t leaf_a,
                  std::uint32_t leaf_b,
                  std::uint32_t number,
                  std::uint32_t share) {
    const std::uint32_t pod_a = fabric_.pod_of(leaf_a);
    const std::uint32_t pod_b = fabric_.pod_of(leaf_b);
    Climb leaf;
    if (!fabric_.pooled()) {
      leaf = choose(shape_.uplinks, shape_.spines_per_pod, number, 2,
                    [&](std::uint32_t u, std::uint32_t d) {
                      return down(fabric_.leaf_link(leaf_a, u, true)) ||
                             down(fabric_.leaf_link(leaf_b, d, false));
                    });
    }
    add(fabric_.leaf_link(leaf_a, leaf.up, true), share);
    if (pod_a != pod_b) {
      const std::uint32_t spine = fabric_.spine_of(leaf.up);
      Climb core;
      if (!fabric_.pooled()) {
        core = choose(shape_.spine_uplinks, shape_.cores_per_spine, number / shape_.uplinks, 3,
                      [&](std::uint32_t u, std::uint32_t d) {
                        return down(fabric_.spine_link(pod_a, spine, u, true)) ||
                               down(fabric_.spine_link(pod_b, spine, d, false));
                      });
      }
      add(fabric_.spine_link(pod_a, spine, core.up, true), share);
      add(fabric_.spine_link(pod_b, spine, core.down, false), share);
    }
    add(fabric_.leaf_link(leaf_b, leaf.down, false), share);
    return pod_a == pod_b ? 3 : 5;
  }

  const Fabric& fabric_;
  const FabricShape& shape_;
  std::uint32_t from_, to_;
  bool healthy_;
  std::uint64_t hash_ = 0;
  Route& route_;
};

}  // namespace

Route storage_route(
    const Fabric& fabric, GpuId gpu, std::uint32_t target, bool write, std::uint64_t label) {
  HEADWAY_CHECK(target < fabric.shape().storage_targets, "storage target {} of {}", target,
                fabric.shape().storage_targets);
  Route way;
  Router(fabric, gpu, gpu, label, way).find_storage(target, write);
  return way;
}

Route route(const Fabric& fabric, GpuId from, GpuId to, std::uint64_t label) {
  Route way;
  find_route(fabric, from, to, label, way);
  return way;
}

void find_route(const Fabric& fabric, GpuId from, GpuId to, std::uint64_t label, Route& way) {
  Router(fabric, from, to, label, way).find();
}

}  // namespace headway::network
