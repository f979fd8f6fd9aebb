// What is asked of the network, by whom and on what machine: the words that the rooms of a
// collective share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/core/collective.h"
#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/fabric/fabric_shape.h"
#include "sim/network/spec.h"

namespace headway::network {

class Fabric;

enum class Algorithm : std::uint8_t {
  none,
  ring,
  tree,
  nvls,
  nvls_tree,
  collnet,
  pat,
  hierarchical,
  recursive,
  pairwise,
  direct
};
constexpr auto enum_words(Algorithm) {
  using E = core::EnumWord<Algorithm>;
  return std::array{E{Algorithm::none, "none"},
                    E{Algorithm::ring, "ring"},
                    E{Algorithm::tree, "tree"},
                    E{Algorithm::nvls, "nvls"},
                    E{Algorithm::nvls_tree, "nvls_tree"},
                    E{Algorithm::collnet, "collnet"},
                    E{Algorithm::pat, "pat"},
                    E{Algorithm::hierarchical, "hierarchical"},
                    E{Algorithm::recursive, "recursive"},
                    E{Algorithm::pairwise, "pairwise"},
                    E{Algorithm::direct, "direct"}};
}

enum class Protocol : std::uint8_t { none, ll, ll128, simple };
constexpr auto enum_words(Protocol) {
  using E = core::EnumWord<Protocol>;
  return std::array{E{Protocol::none, "none"}, E{Protocol::ll, "LL"}, E{Protocol::ll128, "LL128"},
                    E{Protocol::simple, "Simple"}};
}

/// Which row of NCCL's cost tables a GPU reads (training maps gpu::Architecture to it; CDNA 3 reads
/// hopper, 4 blackwell).
enum class NcclGeneration : std::uint8_t { volta, ampere, hopper, blackwell };

/// What the collective model knows of a machine, drawn from the specs.
struct NetworkParameters {
  NcclGeneration generation = NcclGeneration::hopper;
  ScaleUpKind scale_up_kind = ScaleUpKind::nvswitch;
  core::BytesPerSecond scale_up_bandwidth;  ///< one GPU into its domain, one direction, line rate
  core::Seconds scale_up_latency;
  int domain_gpus = 8;
  int gpus_per_node = 8;
  bool nvls = false;                   ///< the domain's switches reduce
  core::BytesPerSecond nic_bandwidth;  ///< payload of the NICs of one rail, one direction
  int gpus_per_rail = 1;               ///< GPUs that share these NICs
  core::Seconds network_latency;       ///< GPU memory to GPU memory over the longest path
  bool collnet = false;                ///< the fabric's switches reduce
  bool pxn = true;
  core::Seconds node_latency{0};     ///< FabricSpec::node_latency
  core::BytesPerSecond site_rate;    ///< payload of one site into the wide area, one direction
  core::BytesPerSecond sender_rate;  ///< of it, what the connections of one rail reach at most
  core::Seconds site_latency;        ///< site to site, one way
  bool site_flat = false;            ///< rings pass over sites as if they were one
  double site_sharers = 1;  ///< groups that send between sites at the same time, this one included
  double site_pack = 1;     ///< bytes of reduced values between sites / inside one
  /// Rate of the kernels that pack and unpack values for the way between sites; 0: there are none.
  core::BytesPerSecond site_pack_rate;
};

NetworkParameters make_parameters(const FabricInput& input, NcclGeneration generation);

/// How a group of ranks lies on the machine. Inside a domain they talk over NVLink.
struct GroupShape {
  int ranks = 1;
  int ranks_per_domain = 1;  ///< the most that any domain has
  int domains = 1;
  int ranks_per_node = 1;  ///< as curves are keyed
  int nodes = 1;
  int ranks_per_rail = 1;  ///< the most members that share the NICs of one rail
  int sites = 1;
  bool operator==(const GroupShape&) const = default;
};

/// The shape of a regular group: `ranks` ranks, `ranks_per_domain` in each NVLink domain, one rail
/// each where there are enough.
GroupShape regular_group(int ranks,
                         int ranks_per_domain,
                         const NetworkParameters& parameters,
                         int gpus_per_node);
/// The shape of these GPUs, by their places.
GroupShape group_shape(const Fabric& fabric, std::span<const core::GpuId> members);
/// The shape of so many parts that lie alike on one site, no two in one node or NVLink domain.
GroupShape repeated(GroupShape part, int times);

/// What is asked for.
struct CollectiveCall {
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  core::Bytes bytes;  ///< as nccl-tests counts: the whole array; send_receive: the message
  std::optional<Algorithm> algorithm;  ///< forces one
  std::optional<Protocol> protocol;
};

}  // namespace headway::network
