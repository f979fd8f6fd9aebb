// What a node's links and a cluster's fabric are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"
#include "sim/network/packet_spec.h"

namespace headway::network {

enum class ScaleUpKind { nvswitch, mesh, pcie };
constexpr auto enum_words(ScaleUpKind) {
  using E = core::EnumWord<ScaleUpKind>;
  return std::array{E{ScaleUpKind::nvswitch, "nvswitch"}, E{ScaleUpKind::mesh, "mesh"},
                    E{ScaleUpKind::pcie, "pcie"}};
}

/// The fast network inside a node, or inside a rack of nodes (an NVLink domain).
struct ScaleUpSpec {
  ScaleUpKind kind = ScaleUpKind::nvswitch;
  core::BytesPerSecond bandwidth;
  core::Seconds latency{1e-6};
  int domain_gpus = 8;
  bool in_switch_reduction = false;
  template <class V>
  void fields(V& v) {
    v.required("kind", kind, "How the GPUs of the domain are joined.");
    v.required("bandwidth", bandwidth,
               "One GPU into the domain, one direction, line rate (450 GB/s for H100 NVLink).",
               core::link_rate);
    v.optional("latency", latency, "GPU to GPU inside the domain.", core::link_latency);
    v.optional("domain_gpus", domain_gpus,
               "GPUs that one domain joins; may span nodes (72 in an NVL72 rack).",
               core::from_one_to_64k);
    v.optional("in_switch_reduction", in_switch_reduction,
               "The switches can reduce (NVLink SHARP, used by NCCL's NVLS).");
  }
  bool operator==(const ScaleUpSpec&) const = default;
};

/// The network cards of a node.
struct NicSpec {
  int count = 8;
  core::BytesPerSecond bandwidth;
  core::Seconds latency{1e-6};
  template <class V>
  void fields(V& v) {
    v.required("count", count, "Cards for the compute fabric in one node.", core::from_one_to_64k);
    v.required("bandwidth", bandwidth, "One card, one direction.", core::link_rate);
    v.optional("latency", latency, "GPU memory to wire, one direction.", core::link_latency);
  }
  bool operator==(const NicSpec&) const = default;
};

enum class Topology { fat_tree, rail_optimized, rail_only, multi_plane, dragonfly };
constexpr auto enum_words(Topology) {
  using E = core::EnumWord<Topology>;
  return std::array{E{Topology::fat_tree, "fat_tree"},
                    E{Topology::rail_optimized, "rail_optimized"},
                    E{Topology::rail_only, "rail_only"}, E{Topology::multi_plane, "multi_plane"},
                    E{Topology::dragonfly, "dragonfly"}};
}

enum class Routing { adaptive, ecmp, destination_modulo };
constexpr auto enum_words(Routing) {
  using E = core::EnumWord<Routing>;
  return std::array{E{Routing::adaptive, "adaptive"}, E{Routing::ecmp, "ecmp"},
                    E{Routing::destination_modulo, "static"}};
}

/// A scale-out fabric: switches in tiers, each tier with its oversubscription.
struct FabricSpec {
  static constexpr const char* kCatalogue = "fabrics";
  std::string name;
  Topology topology = Topology::rail_optimized;
  int tiers = 2;
  core::BytesPerSecond link_bandwidth;
  core::Seconds link_latency{0.5e-6};
  int ports_per_leaf = 32;
  int leaves_per_pod = 0;
  double leaf_oversubscription = 1;
  double spine_oversubscription = 1;
  int planes = 1;
  Routing routing = Routing::adaptive;
  double efficiency = 0.9;
  core::Seconds node_latency{0};
  bool pxn = true;
  bool in_switch_reduction = false;
  core::Watts switch_power_per_port{25};
  std::optional<PacketSpec> packets;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("topology", topology, "How leaves, spines and cores are joined.");
    v.optional("tiers", tiers, "Switch tiers: 2 (leaf, spine) or 3 (leaf, spine, core).",
               core::Range{1, 3, false, false, "1, 2 or 3"});
    v.required("link_bandwidth", link_bandwidth, "One direction of one cable.", core::link_rate);
    v.optional("link_latency", link_latency, "One cable and the switch behind it.",
               core::link_latency);
    v.optional("ports_per_leaf", ports_per_leaf, "Host-facing ports of a leaf switch.",
               core::from_one_to_64k);
    v.optional("leaves_per_pod", leaves_per_pod,
               "Leaves in one pod of a 3-tier fabric; 0: all leaves in one.", core::up_to_64k);
    v.optional("leaf_oversubscription", leaf_oversubscription,
               "Host bandwidth / uplink bandwidth of a leaf.", core::load_ratio);
    v.optional("spine_oversubscription", spine_oversubscription,
               "Pod bandwidth / core bandwidth of a pod.", core::load_ratio);
    v.optional("planes", planes, "Independent copies of the fabric that share the NICs' ports.",
               core::from_one_to_64);
    v.optional("routing", routing,
               "adaptive: ideal spray; ecmp: hash per flow; static: destination modulo.");
    v.optional("efficiency", efficiency,
               "Share of the line rate that payload reaches (headers, pacing).", core::fraction);
    v.optional("node_latency", node_latency,
               "What a collective of large messages takes longer for each node it spans, beside "
               "the latencies of cards and links: chunks that a transport on the host's CPUs "
               "passes on, flows that meet on a cable.",
               core::launch_time);
    v.optional("pxn", pxn,
               "Traffic to another rail crosses NVLink first and leaves on the destination's rail "
               "(NCCL's PXN).");
    v.optional("in_switch_reduction", in_switch_reduction,
               "The fabric's switches can reduce (InfiniBand SHARP, used by NCCL's CollNet).");
    v.optional("switch_power_per_port", switch_power_per_port,
               "Power of a switch and its optics, per port.", core::part_power);
    v.optional("packets", packets,
               "Switches and cards packet by packet, for `collective --granularity packet` and "
               "`topo --stress`; steps and campaigns do not look at it.");
  }
  bool operator==(const FabricSpec&) const = default;
};

/// What carries bytes between sites, and what a lost packet does to it.
enum class WideAreaTransport { tcp_reno, tcp_cubic, rdma_go_back_n, rdma_selective_repeat };
constexpr auto enum_words(WideAreaTransport) {
  using T = WideAreaTransport;
  using E = core::EnumWord<T>;
  return std::array{E{T::tcp_reno, "tcp-reno"}, E{T::tcp_cubic, "tcp-cubic"},
                    E{T::rdma_go_back_n, "rdma-go-back-n"},
                    E{T::rdma_selective_repeat, "rdma-selective-repeat"}};
}

/// How a collective whose ranks are on several sites crosses between them.
enum class CrossSite { hierarchical, flat };
constexpr auto enum_words(CrossSite) {
  using E = core::EnumWord<CrossSite>;
  return std::array{E{CrossSite::hierarchical, "hierarchical"}, E{CrossSite::flat, "flat"}};
}

/// Sites that a cluster is spread over: each has an equal part of the nodes, a fabric of its own
/// and one way into the wide area, through which it reaches all others.
struct SitesSpec {
  int count = 2;
  core::BytesPerSecond bandwidth;
  core::Seconds latency;
  double loss = 0;
  WideAreaTransport transport = WideAreaTransport::rdma_selective_repeat;
  int connections = 16;
  core::Bytes window{4194304};
  core::Bytes packet{4096};
  CrossSite collective = CrossSite::hierarchical;
  double gradient_bits = 0;
  template <class V>
  void fields(V& v) {
    v.optional("count", count, "Sites; the nodes are divided evenly among them.",
               core::Range{2, 64, false, false, "from 2 to 64"});
    v.required("bandwidth", bandwidth,
               "One site into the wide area, one direction, line rate of all its circuits "
               "together.",
               core::link_rate);
    v.required("latency", latency, "Site to site, one way (about 5 us a km of fibre).",
               core::link_latency);
    v.optional("loss", loss, "Probability that a packet is lost on its way between sites.",
               core::Range{0, 0.5, false, false, "from 0 to 0.5"});
    v.optional("transport", transport,
               "What a lost packet costs: tcp-reno (Mathis's law), tcp-cubic (RFC 9438), "
               "rdma-go-back-n (all packets under way are sent again), rdma-selective-repeat (the "
               "lost one).");
    v.optional("connections", connections,
               "Connections, or queue pairs, that one network card spreads its bytes over (NCCL on "
               "machines of 8 GPUs: 16 channels).",
               core::from_one_to_64k);
    v.optional("window", window,
               "Bytes that one connection has under way at most (NCCL_BUFFSIZE: 4 MiB).",
               core::Range{1024, 1e12, false, false, "from 1 KiB to 1 TB"});
    v.optional("packet", packet, "Payload of a packet.",
               core::Range{512, 65'536, false, false, "from 512 to 65,536 B"});
    v.optional("collective", collective,
               "hierarchical: reduced inside each site, exchanged between ranks of one place, "
               "gathered inside; flat: one ring over all, as NCCL makes it.");
    v.optional("gradient_bits", gradient_bits,
               "Bits of a gradient's value between sites, packed and unpacked by kernels; 0: as it "
               "is reduced inside. Scales and sparse indices count as bits.",
               core::Range{0, 64, false, false, "from 0 to 64"});
  }
  bool operator==(const SitesSpec&) const = default;
};

/// One measured point of a collective.
struct CurvePoint {
  core::Bytes message;
  core::Seconds time;
  template <class V>
  void fields(V& v) {
    v.required("message", message, "Message size as nccl-tests defines it (whole array).",
               core::positive);
    v.required("time", time, "Time of one operation alone on the machine.", core::positive);
  }
  bool operator==(const CurvePoint&) const = default;
};

/// Hockney's line with a soft knee, fitted to a measured curve in log time:
///     T^q = alpha^q + (S / beta)^q,  q = saturation
struct CurveFit {
  core::Seconds alpha;
  core::BytesPerSecond beta;
  double saturation = 1;
  core::Seconds alpha_error;
  core::BytesPerSecond beta_error;
  double saturation_error = 0;
  double leave_one_out = 0;
  template <class V>
  void fields(V& v) {
    v.required("alpha", alpha, "Time of an empty message.", core::positive);
    v.required("beta", beta, "Message bytes a second of a message without end.", core::positive);
    v.optional("saturation", saturation,
               "Sharpness of the knee: 1 adds latency and transfer; more takes the larger; less "
               "fills slowly.",
               core::positive);
    v.optional("alpha_error", alpha_error, "Standard error of alpha.", core::non_negative);
    v.optional("beta_error", beta_error, "Standard error of beta.", core::non_negative);
    v.optional("saturation_error", saturation_error, "Standard error of saturation.",
               core::non_negative);
    v.optional("leave_one_out", leave_one_out,
               "Root mean square of (predicted / measured - 1) of points that the fit did not see.",
               core::non_negative);
  }
  bool operator==(const CurveFit&) const = default;
};

/// A measured curve of one collective in one kind of group; beats every model where it applies.
struct CollectiveCurve {
  core::CollectiveKind collective = core::CollectiveKind::all_reduce;
  int ranks = 8;
  int ranks_per_node = 8;
  std::vector<CurvePoint> points;
  std::optional<CurveFit> fit;
  double relative_error = 0;
  template <class V>
  void fields(V& v) {
    v.required("collective", collective, "Which collective.");
    v.required("ranks", ranks, "Ranks in the group.", core::at_least_one);
    v.required("ranks_per_node", ranks_per_node, "Of these in one node.", core::at_least_one);
    v.required("points", points, "Measured points, rising in size.");
    v.optional("fit", fit, "Line fitted to all samples; carries the curve beyond its ends.");
    v.optional("relative_error", relative_error,
               "Root mean square error of reading the curve between its points, leaving one out; "
               "0: not known.",
               core::non_negative);
  }
  bool operator==(const CollectiveCurve&) const = default;
};

}  // namespace headway::network
