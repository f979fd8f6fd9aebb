#include "sim/network/collective/exchange_count.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/fabric/route.h"

namespace headway::network {
namespace {

using core::GpuId;

struct Member {
  std::uint32_t gpu = 0;
  GpuPlace place;
};

/// Messages by zone, a part of the fabric (a leaf, a pod): out of it and into it.
struct Traffic {
  explicit Traffic(std::uint32_t zones) : out(zones), in(zones) {}
  std::vector<double> out, in;
};

/// The same of one NVLink domain, which touches few zones.
class DomainTraffic {
 public:
  struct Entry {
    std::uint32_t zone = 0;
    double out = 0, in = 0;
  };
  Entry& at(std::uint32_t zone) {
    const auto same = [zone](const Entry& e) { return e.zone == zone; };
    const auto found = std::find_if(entries_.begin(), entries_.end(), same);
    return found != entries_.end() ? *found : entries_.emplace_back(Entry{zone});
  }

 private:
  std::vector<Entry> entries_;
};

/// Counts the messages to the members of one rail after the other. Planes are alike: the first is
/// counted, and each carries its share.
class Counter {
 public:
  Counter(const Fabric& fabric, std::span<const GpuId> members, core::Bytes part, LinkLoads& loads)
      : fabric_(fabric), shape_(fabric.shape()), part_(part), loads_(loads) {
    for (const GpuId gpu : members) {
      members_.push_back({gpu.index(), fabric.place(gpu)});
    }
    std::stable_sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
      return a.place.domain < b.place.domain;
    });
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (i == 0 || members_[i].place.domain != members_[i - 1].place.domain) {
        domain_begins_.push_back(i);
      }
    }
    // As routes take an uneven share: rounded up.
    const std::uint32_t share = (kCoefficientUnit + shape_.planes - 1) / shape_.planes;
    of_plane_ = static_cast<double>(share) / kCoefficientUnit;
  }

  void count() {
    for (std::size_t d = 0; d < domain_begins_.size(); ++d) {
      add_inside(domain(d));
    }
    for (std::uint32_t rail = 0; rail < shape_.rails; ++rail) {
      const double targets = on_rail(members_, rail);
      if (targets > 0) {
        add_rail(rail, targets);
      }
    }
  }

 private:
  using Members = std::span<const Member>;

  Members domain(std::size_t d) const {
    const std::size_t end = d + 1 < domain_begins_.size() ? domain_begins_[d + 1] : members_.size();
    return Members(members_).subspan(domain_begins_[d], end - domain_begins_[d]);
  }

  static double on_rail(Members members, std::uint32_t rail) {
    return static_cast<double>(std::count_if(
        members.begin(), members.end(), [rail](const Member& m) { return m.place.rail == rail; }));
  }

  void cross(std::uint32_t from, std::uint32_t to, double messages) {
    if (fabric_.input().scale_up.kind == ScaleUpKind::mesh) {
      loads_.add(fabric_.mesh_link(from, to), part_ * messages);
      return;
    }
    loads_.add(fabric_.scale_up_link(from, true), part_ * messages);
    loads_.add(fabric_.scale_up_link(to, false), part_ * messages);
  }

  void add_inside(Members mates) {
    for (const Member& from : mates) {
      for (const Member& to : mates) {
        if (from.gpu != to.gpu) {
          cross(from.gpu, to.gpu, 1);
        }
      }
    }
  }

  /// The rail by which `from` leaves for a GPU on `rail` of another domain, as routes do.
  std::uint32_t exit_rail(const Member& from, std::uint32_t rail) const {
    const std::uint32_t forwarder = fabric_.gpu_on_rail(from.place.node, rail);
    const bool forwards = shape_.rail_leaves && fabric_.input().fabric.pxn &&
                          forwarder / shape_.domain_gpus == from.place.domain;
    return forwards ? rail : from.place.rail;
  }

  /// The leaf (of the first plane) where messages to `rail` leave a member.
  std::uint32_t exit_leaf(const Member& from, std::uint32_t rail) const {
    return fabric_.leaf_of(from.place.node, exit_rail(from, rail), 0);
  }

  void add_rail(std::uint32_t rail, double targets) {
    for (std::size_t d = 0; d < domain_begins_.size(); ++d) {
      add_ports(domain(d), rail, targets);
    }
    if (shape_.spines > 0) {
      const auto same = [](std::uint32_t leaf) { return leaf; };
      add_tier(crossings(rail, targets, shape_.leaves, same),
               [&](std::uint32_t leaf, bool up) { return fabric_.leaf_link(leaf, 0, up); });
    }
    if (shape_.cores > 0) {
      const auto pod_of = [&](std::uint32_t leaf) { return fabric_.pod_of(leaf); };
      add_tier(crossings(rail, targets, shape_.pods_per_tree * shape_.trees, pod_of),
               [&](std::uint32_t pod, bool up) { return fabric_.spine_link(pod, 0, 0, up); });
    }
  }

  /// NVLink to the rail's GPU where messages are forwarded, and the NICs.
  void add_ports(Members mates, std::uint32_t rail, double targets) {
    const double sent = targets - on_rail(mates, rail);
    const auto received = static_cast<double>(members_.size() - mates.size());
    for (const Member& m : mates) {
      const std::uint32_t exit = exit_rail(m, rail);
      if (sent > 0) {
        check_joined(m, exit, rail);
        if (exit != m.place.rail) {
          cross(m.gpu, fabric_.gpu_on_rail(m.place.node, exit), sent);
        }
        add_nic(m.place.node, exit, true, sent);
      }
      if (received > 0 && m.place.rail == rail) {
        add_nic(m.place.node, rail, false, received);
      }
    }
  }

  void add_nic(std::uint32_t node, std::uint32_t rail, bool up, double messages) {
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      loads_.add(fabric_.nic_link(node, rail, plane, up), part_ * (messages * of_plane_));
    }
  }

  /// Rails without a cable between them are joined by NVLink or not at all.
  void check_joined(const Member& from, std::uint32_t exit, std::uint32_t rail) const {
    if (exit == rail || shape_.rails_joined()) {
      return;
    }
    for (const Member& to : members_) {
      if (to.place.rail == rail && to.place.domain != from.place.domain) {
        route(fabric_, GpuId(from.gpu), GpuId(to.gpu));  // throws, with the reason
      }
    }
  }

  /// Messages to `rail` that leave their zone, by the zone they leave and by the one they enter:
  /// a member's messages less those to the same zone, of which those to its own domain are none.
  template <class ZoneOf>
  Traffic crossings(std::uint32_t rail, double targets, std::uint32_t zones, ZoneOf zone_of) const {
    const auto from = [&](const Member& m) { return zone_of(exit_leaf(m, rail)); };
    const auto to = [&](const Member& m) {
      return zone_of(fabric_.leaf_of(m.place.node, rail, 0));
    };
    Traffic ends(zones), across(zones);
    for (const Member& m : members_) {
      ends.out[from(m)] += 1;
      ends.in[to(m)] += m.place.rail == rail ? 1 : 0;
    }
    for (std::size_t d = 0; d < domain_begins_.size(); ++d) {
      const Members mates = domain(d);
      DomainTraffic own;
      for (const Member& m : mates) {
        own.at(from(m)).out += 1;
        own.at(to(m)).in += m.place.rail == rail ? 1 : 0;
      }
      const double sent = targets - on_rail(mates, rail);
      const auto received = static_cast<double>(members_.size() - mates.size());
      for (const Member& m : mates) {
        const std::uint32_t out = from(m);
        across.out[out] += sent - (ends.in[out] - own.at(out).in);
        if (m.place.rail == rail) {
          const std::uint32_t in = to(m);
          across.in[in] += received - (ends.out[in] - own.at(in).out);
        }
      }
    }
    return across;
  }

  template <class LinkOf>
  void add_tier(const Traffic& across, LinkOf link_of) {
    const auto zones = static_cast<std::uint32_t>(across.out.size());
    const std::uint32_t in_plane = zones / shape_.planes;
    for (std::uint32_t zone = 0; zone < zones; ++zone) {
      const std::uint32_t counted = zone % in_plane;
      for (const bool up : {true, false}) {
        const double messages = up ? across.out[counted] : across.in[counted];
        if (messages > 0) {
          loads_.add(link_of(zone, up), part_ * (messages * of_plane_));
        }
      }
    }
  }

  const Fabric& fabric_;
  const FabricShape& shape_;
  core::Bytes part_;
  LinkLoads& loads_;
  std::vector<Member> members_;  ///< by NVLink domain
  std::vector<std::size_t> domain_begins_;
  double of_plane_ = 1;  ///< share of a message on each plane
};

}  // namespace

bool can_count_exchange(const Fabric& fabric) {
  return fabric.pooled() && !fabric.shape().dragonfly && fabric.shape().sites == 1 &&
         fabric.links_down() == 0;
}

void add_counted_exchange(const Fabric& fabric,
                          std::span<const GpuId> members,
                          core::Bytes part,
                          LinkLoads& loads) {
  HEADWAY_CHECK(can_count_exchange(fabric), "an exchange that must be routed was counted");
  Counter(fabric, members, part, loads).count();
}

}  // namespace headway::network
