// A machine's network packet by packet, and what a run of packets comes to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/core/result_fields.h"
#include "sim/network/collective/collective.h"
#include "sim/network/packet/packet_collective.h"
#include "sim/network/packet/packet_fabric.h"
#include "sim/network/packet/packet_run.h"
#include "sim/network/stepped/stepped.h"
#include "sim/training/cluster_spec.h"

namespace headway::study {

/// What happened to the packets of one run.
struct PacketFigures {
  network::PacketCounts counts;
  std::string deepest_at;                ///< the cable before which the longest queue stood
  core::Seconds median_flow, slow_flow;  ///< quantiles over flows of their last byte
  std::uint64_t digest = 0;

  template <class V>
  void fields(V& v) const {
    counts.fields(v);
    v.part("deepest_queue_at", deepest_at, "that cable");
    v.figure("flow_p50_s", median_flow, "s", "when half of the flows had their last byte",
             core::non_negative);
    v.figure("flow_p99_s", slow_flow, "s", "when 99 % of the flows had theirs", core::non_negative);
    v.part("event_digest", core::Hexadecimal{digest}, "of all packets: the same on any threads");
  }
};

/// Marks are counted where senders read them, under dcqcn and dctcp.
PacketFigures packet_figures(const network::PacketResult& result,
                             const network::PacketNetwork& network,
                             network::Transport transport);

/// A cluster's network for packets, with the transport that was asked for.
class PacketNetworkOf {
 public:
  /// @param fabric     of the cluster, healthy or not; outlives this
  /// @param transport  in place of the fabric's own
  /// @throws core::Error if its cables are more than packets can name
  PacketNetworkOf(const training::ClusterSpec& cluster,
                  const network::Fabric& fabric,
                  std::optional<network::Transport> transport);

  struct Run {
    network::CollectiveTime time;
    PacketFigures figures;
  };
  /// A collective alone.
  /// @throws core::Error for more packets than can be simulated in minutes, and as
  ///         `network::run_packet_collective`
  [[nodiscard]] Run run(const network::CollectiveCall& call,
                        std::span<const core::GpuId> members,
                        const network::SteppedOptions& stepped) const;

  [[nodiscard]] const network::PacketFabric& cables() const { return cables_; }
  [[nodiscard]] const network::PacketOptions& options() const { return options_; }
  /// The transport and the paths, and whether the fabric's file says them.
  [[nodiscard]] std::string words() const;

 private:
  [[nodiscard]] std::string buffer_words() const;

  const network::Fabric& fabric_;
  network::PacketOptions options_;
  bool stated_;
  network::PacketFabric cables_;
};

}  // namespace headway::study
