// The receiver's transport beside the figures of NDP, whose grants and trimming EQDS has: Handley
// et al., "Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance",
// SIGCOMM 2017.
//
// Figures 14, 16, 20a and 21 by the numbers that their authors publish with their simulator
// (Broadcom/csg-htsim 841d9e7, sim/EXAMPLES: a table for figure 21, else read off the curves of the
// PDF files, which are vectors): ports of 10 Gb/s, 1 us a cable, stored and forwarded, queues of 8
// packets, 9,000 bytes a packet and 64 of head, so 9.929 Gb/s of payload.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"
#include "sim/network/packet/packet_fabric.h"

#include "tests/network/packet/drawn_network.h"
#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

constexpr std::int64_t kNdpPayload = 9000;
constexpr double kGoodput = 1.25e9 * 9000 / 9064;  ///< [B/s]

PacketOptions as_published(PathChoice choice) {
  auto options = packet_options(Transport::receiver, choice);
  options.spec.switching = Switching::store_and_forward;
  options.spec.payload = core::Bytes(kNdpPayload);
  options.spec.timeout = core::Seconds{1};
  return options;
}

/// The fat tree of k = 12: 432 hosts, 6 at each edge switch, pods of 6 edge switches.
class NdpNetwork {
 public:
  NdpNetwork() : fabric_(input()), cables_(fabric_, packet_spec(fabric_.input().fabric)) {}

  void send(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    traffic_.add_flow(cables_.network(),
                      cables_.legs(route(fabric_, core::GpuId(from), core::GpuId(to))), bytes,
                      kNdpPayload, 1);
  }
  [[nodiscard]] PacketResult run(const PacketOptions& options) const {
    return run_packets(cables_.network(), traffic_, options);
  }

 private:
  static FabricInput input() {
    FabricInput in;
    in.fabric.name = "k = 12";
    in.fabric.topology = Topology::fat_tree;
    in.fabric.tiers = 3;
    in.fabric.link_bandwidth = core::BytesPerSecond(kGoodput);
    in.fabric.link_latency = 1_us;
    in.fabric.ports_per_leaf = 6;
    in.fabric.leaves_per_pod = 6;
    in.fabric.efficiency = 1;
    in.fabric.packets = as_published(PathChoice::packet).spec;
    in.scale_up.bandwidth = 450_GBps;
    in.scale_up.domain_gpus = 1;
    in.nic.count = 1;
    in.nic.bandwidth = core::BytesPerSecond(kGoodput);
    in.nic.latency = core::Seconds{0};
    in.nodes = 432;
    in.gpus_per_node = 1;
    return in;
  }

  Fabric fabric_;
  PacketFabric cables_;
  PacketTraffic traffic_;
};

// Figure 16: the last of n answers of 450 kB.
TEST(PublishedNdp, AnIncastEndsWhenItsReceiverHasHadItAll) {
  for (const auto& [senders, milliseconds] :
       {std::pair{31U, 11.33}, {191U, 69.49}, {431U, 156.59}}) {
    NdpNetwork net;
    for (std::uint32_t k = 1; k <= senders; ++k) {
      net.send(k, 0, 450'000);
    }
    const PacketResult result = net.run(as_published(PathChoice::packet));
    EXPECT_NEAR(static_cast<double>(result.end) * 1e-9 / milliseconds, 1, 0.01) << senders;
    EXPECT_EQ(result.counts.drops + result.counts.timeouts, 0U);
  }
}

// Figure 20a: 270 kB each; how much later the last is than the least time, which their plot takes
// as n x 271,920 bytes at 10 Gb/s and 42.256 us. Theirs with windows of 10 packets, ours have 9:
// heads of what was trimmed take the receiver's cable in the first round trip, and no more.
TEST(PublishedNdp, AnIncastCostsItsHeads) {
  for (const auto& [senders, percent] : {std::pair{50U, 0.291}, {94U, 0.263}, {371U, 0.243}}) {
    NdpNetwork net;
    for (std::uint32_t k = 0; k < senders; ++k) {
      net.send(36 + k, 0, 270'000);  // of other pods, as their least time has it
    }
    const PacketResult result = net.run(as_published(PathChoice::packet));
    const double least = senders * 271'920.0 * 8 / 1e10 + 42.256e-6;
    const double ours = 100 * (static_cast<double>(result.end) * 1e-12 / least - 1);
    EXPECT_NEAR(ours, percent, 0.2) << senders;
  }
}

// Figure 14: each host sends to one and receives from one. Their windows are 23 packets (smaller
// ones do not fill the network: run with 9, their simulator's mean is 6.96 Gb/s), ours 9, the
// product of bandwidth and delay of an idle way; grants take no room here.
TEST(PublishedNdp, APermutationFillsAFatTree) {
  NdpNetwork net;
  for (std::uint32_t h = 0; h < 432; ++h) {
    net.send(h, (h * 137 + 61) % 432, 4'500'000);
  }
  const PacketResult result = net.run(as_published(PathChoice::packet));
  std::vector<double> rates;
  for (const core::Tick end : result.flow_end) {
    rates.push_back(4'500'000 * 8e-9 / (static_cast<double>(end) * 1e-12));
  }
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / 432;
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  EXPECT_NEAR(mean / 9.25, 1, 0.1);
  EXPECT_NEAR(*least / 8.90, 1, 0.15);
  EXPECT_NEAR(*most / 9.82, 1, 0.1);
}

// Figure 21: A sends to B, C, D and E, F to E. A's cable and E's are both full: what A's others
// leave of it goes to E as a fourth, and F has the rest of E's.
TEST(PublishedNdp, ASenderAndAReceiverAreFullAtOnce) {
  DrawnNetwork net;
  const std::uint32_t box = net.switch_box();
  std::vector<std::uint32_t> hosts;
  for (int h = 0; h < 6; ++h) {
    hosts.push_back(net.host_at(box));
  }
  net.lay(Guard::none, core::BytesPerSecond(kGoodput), 1_us, 1'000'000'000, kNdpPayload);
  const double published[] = {2.50992, 2.51352, 2.50056, 2.37672,
                              7.55208};  // AB AC AD AE FE [Gb/s]
  std::vector<std::int64_t> bytes;
  for (std::size_t f = 0; f < 5; ++f) {  // messages that end together, at those rates
    bytes.push_back(std::llround(published[f] * 1e9 / 8 * 0.02 / kNdpPayload) * kNdpPayload);
    net.send(hosts[f < 4 ? 0 : 5], hosts[f < 4 ? f + 1 : 4], bytes.back());
  }
  const PacketResult result = net.run(as_published(PathChoice::packet));
  for (std::size_t f = 0; f < 5; ++f) {
    const double rate =
        static_cast<double>(bytes[f]) * 8e-9 / (static_cast<double>(result.flow_end[f]) * 1e-12);
    EXPECT_NEAR(rate / published[f], 1, 0.05) << f;
  }
}

}  // namespace
}  // namespace headway::network
