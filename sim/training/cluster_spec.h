// What a cluster is: nodes of GPUs, the fabric between them, storage and spares.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/gpu/spec.h"
#include "sim/network/spec.h"
#include "sim/price/spec.h"
#include "sim/storage/spec.h"
#include "sim/training/occupancy/occupancy_spec.h"
#include "sim/training/power/power_spec.h"

namespace headway::training {

/// One server.
struct NodeSpec {
  static constexpr const char* kCatalogue = "nodes";
  std::string name;
  gpu::GpuSpec gpu;
  int gpus = 8;
  network::ScaleUpSpec scale_up;
  network::NicSpec nic;
  core::Bytes host_memory{2e12};
  core::BytesPerSecond host_memory_bandwidth{400e9};
  core::Watts host_power{2000};
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("gpu", gpu, "The GPU.");
    v.required("gpus", gpus, "GPUs in the node.", core::from_one_to_64k);
    v.required("scale_up", scale_up, "The network inside the node or rack.");
    v.required("nic", nic, "Network cards.");
    v.optional("host_memory", host_memory, "Memory of the host.", core::memory_size);
    v.optional("host_memory_bandwidth", host_memory_bandwidth,
               "Of all memory channels of the host; an offloaded optimizer updates there.",
               core::memory_rate);
    v.optional("host_power", host_power, "Power of the node beside its GPUs (CPUs, fans, NICs).",
               core::part_power);
  }
  bool operator==(const NodeSpec&) const = default;
};

/// Nodes of another kind in the same job (`sim/training/unequal`).
struct OtherNodesSpec {
  int nodes = 1;
  NodeSpec node;
  std::optional<core::DollarsPerSecond> gpu_hour;
  template <class V>
  void fields(V& v) {
    v.required("nodes", nodes, "How many of the cluster's nodes are of this kind.",
               core::from_one_to_16m);
    v.required("node", node, "The server, of as many GPUs and cards as `cluster.node`.");
    v.optional("gpu_hour", gpu_hour,
               "One of its GPUs, as `1.20 USD/h`; absent: as `run.prices.gpu_hour`.",
               price::hour_range);
  }
  bool operator==(const OtherNodesSpec&) const = default;
};

enum class Placement { packed, rack, random, fragmented };
constexpr auto enum_words(Placement) {
  using E = core::EnumWord<Placement>;
  return std::array{E{Placement::packed, "packed"}, E{Placement::rack, "rack"},
                    E{Placement::random, "random"}, E{Placement::fragmented, "fragmented"}};
}

/// The machine a job runs on.
struct ClusterSpec {
  static constexpr const char* kCatalogue = "clusters";
  int nodes = 1;
  NodeSpec node;
  std::vector<OtherNodesSpec> other_nodes;
  network::FabricSpec fabric;
  std::optional<storage::StorageSpec> storage;
  int spares = 0;
  Placement placement = Placement::packed;
  std::optional<network::SitesSpec> sites;
  std::optional<OccupancySpec> occupancy;
  std::optional<PowerSpec> power;
  template <class V>
  void fields(V& v) {
    v.required("nodes", nodes, "Nodes the job uses, spares not counted.", core::from_one_to_16m);
    v.required("node", node, "The server.");
    v.optional("other_nodes", other_nodes,
               "Kinds of nodes that the job's last nodes are of, in this order, and how many of "
               "each; empty: all are `node`.");
    v.required("fabric", fabric, "The network between nodes.");
    v.optional("storage", storage,
               "Where checkpoints go and data is read from; only one step of a job needs none.");
    v.optional("spares", spares, "Healthy nodes kept ready and paid for.", core::up_to_64k);
    v.optional("placement", placement, "How ranks are put on nodes.");
    v.optional("sites", sites, "Sites that the nodes are spread over; absent: one.");
    v.optional("occupancy", occupancy,
               "The fabric has more nodes than the job, and others are on it; absent: the job has "
               "a fabric of its own.");
    v.optional("power", power,
               "What feeds racks and building; absent: enough for every board at its limit.");
  }
  bool operator==(const ClusterSpec&) const = default;
};

/// Whether saves and loads share the network of training.
inline bool on_compute_fabric(const ClusterSpec& cluster) {
  return cluster.storage && cluster.storage->path == storage::StoragePath::shared;
}

}  // namespace headway::training
