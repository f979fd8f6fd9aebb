// Collective times, fabrics of 131,072 GPUs, routes and emitted flows: how many a second.
#include <benchmark/benchmark.h>
#include <vector>

#include "sim/network/collective/collective.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"

namespace {

using namespace headway;
using namespace headway::network;
using namespace headway::core::literals;

FabricInput cluster(int nodes) {
  FabricInput in;
  in.fabric.name = "benchmark";
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 256;
  in.fabric.link_bandwidth = 400_Gbps;
  in.nic.bandwidth = 400_Gbps;
  in.scale_up.bandwidth = 450_GBps;
  in.scale_up.in_switch_reduction = true;
  in.nodes = nodes;
  return in;
}

void collective_time_model(benchmark::State& state) {
  const auto machine = make_parameters(cluster(16), NcclGeneration::hopper);
  const auto group = regular_group(128, 8, machine, 8);
  double bytes = 1024;
  for (auto _ : state) {
    const auto t = collective_time({core::CollectiveKind::all_reduce, core::Bytes{bytes}, {}, {}},
                                   group, machine);
    if (t.total.si() <= 0) {
      state.SkipWithError("a collective took no time");
    }
    bytes = bytes > 1e9 ? 1024 : bytes * 1.5;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(collective_time_model);

void build_fabric_131072(benchmark::State& state) {
  for (auto _ : state) {
    const Fabric fabric(cluster(16384));
    if (fabric.shape().gpus != 131072) {
      state.SkipWithError("wrong number of GPUs");
    }
    state.counters["links"] = static_cast<double>(fabric.link_count());
  }
}
BENCHMARK(build_fabric_131072)->Unit(benchmark::kMillisecond);

void routes(benchmark::State& state) {
  const Fabric fabric(cluster(16384));
  std::uint32_t from = 1;
  for (auto _ : state) {
    from = (from * 1664525U + 1013904223U) & 131071U;
    const auto r = route(fabric, core::GpuId(from), core::GpuId(131071U - from));
    if (r.hops.size() < 2) {
      state.SkipWithError("no route");
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(routes);

void emit_rail_ring_1024(benchmark::State& state) {
  const Fabric fabric(cluster(1024));
  const auto machine = make_parameters(fabric.input(), NcclGeneration::hopper);
  std::vector<core::GpuId> rail;
  for (int node = 0; node < 1024; ++node) {
    rail.emplace_back(node * 8 + 3);
  }
  const CollectiveCall call{core::CollectiveKind::reduce_scatter, 256_MiB, {}, {}};
  const auto alone = collective_time(call, group_shape(fabric, rail), machine);
  for (auto _ : state) {
    const auto transfer = emit_collective(fabric, call, rail, alone);
    if (transfer.uses.size() !=
        2048) {  // each member's NIC, both ways; non-blocking pools left out
      state.SkipWithError("wrong number of links");
    }
  }
  state.SetItemsProcessed(state.iterations() * 1024);
}
BENCHMARK(emit_rail_ring_1024)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
