// The packet network: rings, all-to-alls and permutations, every packet a hop an event.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"
#include "sim/network/packet/packet_collective.h"
#include "sim/network/packet/packet_fabric.h"

namespace {

using namespace headway;
using namespace headway::network;
using namespace headway::core::literals;

/// One GPU and one card of 400 Gbps a node, 32 a leaf, as many cables up as down.
FabricInput tree(int nodes, int tiers, Transport transport, PathChoice choice) {
  FabricInput in;
  in.fabric.name = "benchmark";
  in.fabric.topology = Topology::fat_tree;
  in.fabric.tiers = tiers;
  in.fabric.link_bandwidth = 50_GBps;
  in.fabric.link_latency = 1_us;
  in.fabric.ports_per_leaf = 32;
  in.fabric.leaves_per_pod = tiers == 3 ? 32 : 0;
  in.fabric.efficiency = 1;
  in.fabric.packets = PacketSpec{};
  in.fabric.packets->transport = transport;
  in.fabric.packets->path_choice = choice;
  in.scale_up.bandwidth = 450_GBps;
  in.scale_up.domain_gpus = 1;
  in.nic.count = 1;
  in.nic.bandwidth = 50_GBps;
  in.nic.latency = core::Seconds{0};
  in.nodes = nodes;
  in.gpus_per_node = 1;
  return in;
}

void count(benchmark::State& state, const PacketResult& result) {
  state.counters["packet_hops"] = static_cast<double>(result.counts.hops);
  state.counters["events"] = static_cast<double>(result.events);
  state.counters["hops_per_s"] = benchmark::Counter(static_cast<double>(result.counts.hops),
                                                    benchmark::Counter::kIsIterationInvariantRate);
  state.counters["simulated_us"] = static_cast<double>(result.end) * 1e-6;
}

/// @param least_us  no network carries it faster
void check(benchmark::State& state, const PacketResult& result, double least_us, double most_us) {
  const double us = static_cast<double>(result.end) * 1e-6;
  if (us < least_us || us > most_us) {
    state.SkipWithError("a time outside its bounds");
  }
  count(state, result);
}

bool small() { return std::getenv("HEADWAY_BENCHMARK_SMALL") != nullptr; }

/// All-reduce of 8 MiB over 128 hosts by a ring. Arguments: threads, transport.
void packet_ring(benchmark::State& state) {
  const auto in = tree(128, 2, static_cast<Transport>(state.range(1)), PathChoice::flow);
  const Fabric fabric(in);
  const auto spec = packet_spec(in.fabric);
  const PacketFabric cables(fabric, spec);
  std::vector<core::GpuId> members;
  for (std::uint32_t g = 0; g < 128; ++g) {
    members.emplace_back(g);
  }
  const CollectiveCall call{core::CollectiveKind::all_reduce, 8_MiB, Algorithm::ring, {}};
  PacketOptions options;
  options.spec = spec;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const auto result = run_packet_collective(fabric, cables, call, members, {}, options);
    // 254 messages of 64 KiB at 50 GB/s are 333 us; each waits for two latencies, 508 us.
    check(state, result, 830, 1200);
  }
}
BENCHMARK(packet_ring)
    ->ArgNames({"threads", "transport"})
    ->Args({1, static_cast<int>(Transport::credits)})
    ->Args({2, static_cast<int>(Transport::credits)})
    ->Args({1, static_cast<int>(Transport::dcqcn)})
    ->Args({1, static_cast<int>(Transport::swift)})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

PacketResult run_flows(const PacketFabric& cables,
                       const Fabric& fabric,
                       const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs,
                       std::int64_t bytes,
                       const PacketOptions& options) {
  PacketTraffic traffic;
  for (const auto& [from, to] : pairs) {
    traffic.add_flow(cables.network(),
                     cables.legs(route(fabric, core::GpuId(from), core::GpuId(to))), bytes, 4096,
                     1);
  }
  return run_packets(cables.network(), traffic, options);
}

/// Each of 256 hosts sends 1 MiB in all, an equal part to each other. Argument: threads.
void packet_all_to_all(benchmark::State& state) {
  const std::uint32_t hosts = small() ? 64 : 256;
  const auto in = tree(static_cast<int>(hosts), 2, Transport::swift, PathChoice::packet);
  const Fabric fabric(in);
  PacketOptions options;
  options.spec = packet_spec(in.fabric);
  options.threads = static_cast<int>(state.range(0));
  const PacketFabric cables(fabric, options.spec);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t k = 1; k < hosts; ++k) {
    for (std::uint32_t from = 0; from < hosts; ++from) {
      pairs.emplace_back(from, (from + k) % hosts);
    }
  }
  for (auto _ : state) {
    const auto result = run_flows(cables, fabric, pairs, 1048576 / hosts, options);
    check(state, result, 1048576.0 * (hosts - 1) / hosts / 50e3, 200);
  }
}
BENCHMARK(packet_all_to_all)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// Each of 4,096 hosts of a 3-tier tree sends 1 MiB to another one. Argument: threads.
void packet_permutation(benchmark::State& state) {
  const std::uint32_t hosts = small() ? 256 : 4096;
  const auto in =
      tree(static_cast<int>(hosts), small() ? 2 : 3, Transport::credits, PathChoice::queue);
  const Fabric fabric(in);
  PacketOptions options;
  options.spec = packet_spec(in.fabric);
  options.threads = static_cast<int>(state.range(0));
  const PacketFabric cables(fabric, options.spec);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t from = 0; from < hosts; ++from) {
    // A multiplier without common factors: a permutation that leaves nobody at home but 0.
    const std::uint32_t to = (from * 1663 + 7) % hosts;
    if (to != from) {
      pairs.emplace_back(from, to);
    }
  }
  for (auto _ : state) {
    const auto result = run_flows(cables, fabric, pairs, 1048576, options);
    check(state, result, 1048576.0 / 50e3, 60);
  }
}
BENCHMARK(packet_permutation)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
