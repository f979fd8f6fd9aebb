// The networks of a cluster as a flat table of links, numbered by arithmetic on coordinates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/checked.h"
#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/fabric/fabric_shape.h"
#include "sim/network/fabric/link_table.h"

namespace headway::network {

enum class Tier : std::uint8_t {
  scale_up,
  host,
  nic,
  leaf_spine,
  spine_core,
  local,
  global,
  storage,
  site
};
constexpr auto enum_words(Tier) {
  using E = core::EnumWord<Tier>;
  return std::array{E{Tier::scale_up, "nvlink"},
                    E{Tier::host, "gpu-nic"},
                    E{Tier::nic, "nic"},
                    E{Tier::leaf_spine, "leaf-spine"},
                    E{Tier::spine_core, "spine-core"},
                    E{Tier::local, "local"},
                    E{Tier::global, "global"},
                    E{Tier::storage, "storage"},
                    E{Tier::site, "wide-area"}};
}

/// What reports call a tier: the scale-up network by its links ("nvlink" through switches, "mesh"
/// for direct cables, "pcie"), the others by their word.
std::string_view tier_name(Tier tier, ScaleUpKind scale_up);

enum class LinkState : std::uint8_t { up, degraded, down };

/// One direction of a cable, or of a pool of parallel cables that adaptive routing fills evenly.
struct Link {
  core::BytesPerSecond nominal;   ///< payload rate when healthy
  core::BytesPerSecond capacity;  ///< payload rate now
  core::Seconds latency;
  std::uint32_t cables = 1;
  Tier tier = Tier::nic;
  LinkState state = LinkState::up;
  bool never_binds =
      false;  ///< carries at least what its feeders can send, and all users pass a feeder
  bool operator==(const Link&) const = default;
};

/// What a link is part of, the inverse of the numbering below.
struct LinkOwner {
  Tier tier = Tier::nic;
  /// scale_up, host: GPU; nic: port, (node x rails + rail) x planes + plane; leaf_spine, local:
  /// leaf; spine_core: pod over all trees; global: place in the table of pairs; storage: server;
  /// site: site
  std::uint32_t index = 0;
};

/// Links of a fabric, by arithmetic: what it takes of memory is this times sizeof(Link), and as
/// much again where flows are put on it.
core::Checked count_links(const FabricInput& input, const FabricShape& shape);

/// Where a GPU sits.
struct GpuPlace {
  std::uint32_t node = 0, local = 0, domain = 0, rail = 0;
};

/// The networks of one cluster: immutable but for the state of its links. Cheap to copy for a
/// degraded variant.
class Fabric {
 public:
  /// @throws core::Error as `make_shape` does
  explicit Fabric(FabricInput input);

  [[nodiscard]] const FabricInput& input() const { return input_; }
  [[nodiscard]] const FabricShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t link_count() const { return links_; }
  [[nodiscard]] const Link& link(core::LinkId id) const {
    const std::uint32_t kind = kind_of_.at(id);
    return kinds_[kind != LinkTable::kNone ? kind : kind_of_tier(id)];
  }
  [[nodiscard]] GpuPlace place(core::GpuId gpu) const;
  /// Parallel cables are one pooled link (adaptive routing).
  [[nodiscard]] bool pooled() const { return pooled_; }

  // Numbering of links. `up` is away from the GPU.
  [[nodiscard]] core::LinkId scale_up_link(std::uint32_t gpu, bool up) const;
  /// Mesh only: the cable from one GPU of a domain to another.
  [[nodiscard]] core::LinkId mesh_link(std::uint32_t from_gpu, std::uint32_t to_gpu) const;
  [[nodiscard]] core::LinkId host_link(std::uint32_t gpu, bool up) const;
  [[nodiscard]] core::LinkId nic_link(std::uint32_t node,
                                      std::uint32_t rail,
                                      std::uint32_t plane,
                                      bool up) const;
  /// @param cable  0 to uplinks - 1; any value names the pool where cables are pooled
  [[nodiscard]] core::LinkId leaf_link(std::uint32_t leaf, std::uint32_t cable, bool up) const;
  /// @param pod  pod number over all trees
  [[nodiscard]] core::LinkId spine_link(std::uint32_t pod,
                                        std::uint32_t spine,
                                        std::uint32_t cable,
                                        bool up) const;
  /// Dragonfly: one leaf's cables inside its group (up: leaving the leaf). Pooled.
  [[nodiscard]] core::LinkId local_link(std::uint32_t leaf, bool up) const;
  /// Dragonfly: all cables from one group to another of the same tree. Pooled.
  [[nodiscard]] core::LinkId global_link(std::uint32_t from_pod, std::uint32_t to_pod) const;

  [[nodiscard]] LinkOwner owner(core::LinkId link) const;

  /// A storage server; `up` leaves the server (reading).
  [[nodiscard]] core::LinkId storage_link(std::uint32_t target, bool up) const;
  /// The leaf (over all trees) that a storage server is plugged into in one tree.
  [[nodiscard]] std::uint32_t storage_leaf(std::uint32_t target, std::uint32_t tree) const;

  /// A site's way into the wide area; `up` leaves the site.
  [[nodiscard]] core::LinkId site_link(std::uint32_t site, bool up) const;
  [[nodiscard]] std::uint32_t site_of(std::uint32_t node) const {
    return node / shape_.nodes_per_site;
  }

  /// The GPU of a node that sits on a rail (the first, if several do).
  [[nodiscard]] std::uint32_t gpu_on_rail(std::uint32_t node, std::uint32_t rail) const {
    return node * shape_.gpus_per_node +
           (rail * shape_.gpus_per_node + shape_.rails - 1) / shape_.rails;
  }
  /// The leaf (over all trees) that a rail port is plugged into, and the pod of a leaf (over all
  /// trees).
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t node,
                                      std::uint32_t rail,
                                      std::uint32_t plane) const;
  [[nodiscard]] std::uint32_t pod_of(std::uint32_t leaf) const;
  /// Leaves of a pod (the last of a tree may have fewer), and the leaf (over all trees) at place
  /// `within` of them, taken in turn.
  [[nodiscard]] std::uint32_t leaves_in(std::uint32_t pod) const;
  [[nodiscard]] std::uint32_t leaf_in(std::uint32_t pod, std::uint32_t within) const;
  /// Dragonfly: the leaf of `pod` that holds its k-th cable to `other`. Global cables are dealt to
  /// the leaves of a group in turn.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t pod,
                                      std::uint32_t other,
                                      std::uint32_t k) const;
  /// Spine of a pod (0 to spines_per_pod - 1) behind a leaf's uplink.
  [[nodiscard]] std::uint32_t spine_of(std::uint32_t cable) const {
    return cable % shape_.spines_per_pod;
  }

  /// Degrades or fails cables of one link; capacity = nominal x (1 - cables hit / cables x (1 -
  /// factor)).
  /// @param factor  share of its rate a hit cable keeps: 0 is down, 1 repairs
  /// @param cables  how many cables of a pool are hit; at most its cables
  void degrade(core::LinkId link, double factor, std::uint32_t cables = 1);

  /// Links that carry nothing.
  [[nodiscard]] std::size_t links_down() const { return links_down_; }
  /// Links that carry less than when healthy, these included.
  [[nodiscard]] std::size_t links_hit() const { return links_hit_; }

  /// Words for messages: "node 3 rail 2 -> leaf".
  [[nodiscard]] std::string describe(core::LinkId link) const;

 private:
  void number_links();
  void build_links();
  void mark_never_binding();
  void set(core::LinkId id, const Link& link) { kind_of_[id] = kind(link); }
  /// Links of a tier are built as one kind, these before all others.
  [[nodiscard]] std::uint32_t kind_of_tier(core::LinkId id) const {
    std::uint32_t tier = 0;
    while (id.index() >= tier_ends_[tier]) {
      ++tier;
    }
    return tier;
  }
  /// The place of this link among the kinds, added if it is new.
  std::uint32_t kind(const Link& link);
  /// What the storage servers of a leaf send into it (up) or take out of it.
  [[nodiscard]] core::BytesPerSecond attached_storage(std::uint32_t leaf, bool up) const;

  FabricInput input_;
  FabricShape shape_;
  bool pooled_ = true;
  std::uint32_t first_host_ = 0, first_nic_ = 0, first_leaf_ = 0, first_spine_ = 0,
                first_local_ = 0, first_global_ = 0, first_storage_ = 0, first_site_ = 0;
  std::uint32_t links_per_leaf_ = 0, links_per_spine_ = 0, links_per_pod_ = 0;
  std::size_t links_ = 0;
  std::vector<std::uint32_t> tier_ends_;  ///< the first link of each tier's next
  std::vector<Link> kinds_;               ///< the different links: few, of the millions
  LinkTable kind_of_;                     ///< of those that are not as their tier was built
  std::size_t links_down_ = 0, links_hit_ = 0;
};

}  // namespace headway::network
