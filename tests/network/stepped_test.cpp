// Every collective and algorithm message by message, against closed forms, against its lockstep
// flow, and byte for byte.
#include "sim/network/stepped/stepped.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>

#include "sim/core/error.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/route.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;
using core::GpuId;

constexpr Hop kLeafHop{core::Seconds{2e-6},
                       core::BytesPerSecond{50e9}};  // flat tree, inside a leaf

RunResult run_stepped(const Fabric& fabric,
                      const CollectiveCall& call,
                      int ranks,
                      const SteppedOptions& options = {},
                      bool fold = true) {
  const auto stepped = step_collective(fabric, call, first_gpus(ranks), options);
  RunOptions how;
  how.fold = fold;
  return run(stepped.problem, how);
}

/// Time on a flat tree of one leaf [s].
double flat_time(CollectiveKind kind,
                 Algorithm algorithm,
                 core::Bytes bytes,
                 int ranks,
                 const SteppedOptions& options = {}) {
  auto in = flat_tree(32);
  in.fabric.in_switch_reduction = true;
  const Fabric fabric(in);
  const auto result = run_stepped(fabric, {kind, bytes, algorithm, {}}, ranks, options);
  return static_cast<double>(result.end) * 1e-12;
}

/// Bytes by fabric link.
using LinkBytes = std::map<std::uint32_t, double>;

LinkBytes stepped_bytes(const Fabric& fabric, const CollectiveCall& call, int ranks) {
  const auto stepped = step_collective(fabric, call, first_gpus(ranks));
  const auto result = run(stepped.problem, {});
  LinkBytes bytes;
  for (std::size_t l = 0; l < result.link_bytes.size(); ++l) {
    if (result.link_bytes[l] > 0) {
      bytes[stepped.links[l].index()] = result.link_bytes[l];
    }
  }
  return bytes;
}

LinkBytes fluid_bytes(const Fabric& fabric, const CollectiveCall& call, int ranks) {
  const auto members = first_gpus(ranks);
  const auto machine = make_parameters(fabric.input(), NcclGeneration::hopper);
  const auto alone = collective_time(call, group_shape(fabric, members), machine);
  const auto transfer = emit_collective(fabric, call, members, alone);
  LinkBytes bytes;
  for (const auto& use : transfer.uses) {
    bytes[use.link] = transfer.flows[0].size.si() * use.coefficient / kCoefficientUnit;
  }
  return bytes;
}

constexpr core::Bytes kMessage{67108864};
constexpr double kTick = 1e-12;

TEST(SteppedRing, HasTheTimesOfTheReferenceTree) {
  // 2 (N - 1) steps of 64 MiB / N at 50 GB/s; blocking at the pace of the 4 us hop, pipelined with
  // the latencies once along the chain (tests/network/flow/exactness_test.cpp has the algebra).
  SteppedOptions blocking;
  blocking.dependency = Dependency::blocking;
  const CollectiveCall call{CollectiveKind::all_reduce, kMessage, Algorithm::ring, {}};
  for (const auto& [n, waits, flows] :
       {std::tuple{64, 3'146'411'520, 2'902'411'520}, {256, 4'713'868'800, 3'725'868'800}}) {
    const Fabric fabric(flat_tree(n));
    EXPECT_EQ(run_stepped(fabric, call, n, blocking).end, waits);
    EXPECT_EQ(run_stepped(fabric, call, n).end, flows);
  }
}

TEST(SteppedRing, TakesAlphaAndBytesOfEachStep) {
  for (const int n : {2, 3, 8, 32}) {
    EXPECT_NEAR(flat_time(CollectiveKind::all_reduce, Algorithm::ring, kMessage, n),
                ring_all_reduce(kMessage, n, kLeafHop).si(), n * kTick);
    EXPECT_NEAR(flat_time(CollectiveKind::all_gather, Algorithm::ring, kMessage, n),
                ring_all_gather(kMessage, n, kLeafHop).si(), n * kTick);
    EXPECT_NEAR(flat_time(CollectiveKind::reduce_scatter, Algorithm::ring, kMessage, n),
                ring_reduce_scatter(kMessage, n, kLeafHop).si(), n * kTick);
  }
}

// A ring of four nodes of eight: 31 of its 32 hops, all but one inside a node, one after the other.
// Over the fabric a hop takes several of those inside, and as many messages are on their way there.
TEST(SteppedRing, OfUnequalHopsTakesTheirSum) {
  const Fabric fabric(dgx_h100(4));
  const double inside = route(fabric, GpuId(0), GpuId(1)).latency.si();
  const double between = route(fabric, GpuId(0), GpuId(8)).latency.si();
  ASSERT_GT(between, 2 * inside);
  const auto result =
      run_stepped(fabric, {CollectiveKind::all_gather, core::Bytes(256), Algorithm::ring, {}}, 32);
  const double sum = 27 * inside + 4 * between;
  EXPECT_NEAR(static_cast<double>(result.end) * 1e-12, sum, 0.01 * sum);
}

TEST(SteppedRing, UsesEveryNicOfANode) {
  // Eight rings of S / 8, each over a rail of its own: (n - 1) / n S / 8 through each NIC at 50
  // GB/s, and the latencies of 63 hops along the chain, 8 of them of 4 us and more.
  const double wire = 63.0 / 64 * 67108864 * 16 / 8 / 50e9;
  for (const auto topology : {Topology::fat_tree, Topology::rail_optimized, Topology::rail_only}) {
    for (const bool pxn : {true, false}) {
      auto in = dgx_h100(8);
      in.fabric.topology = topology;
      in.fabric.pxn = pxn;
      const CollectiveCall call{CollectiveKind::all_gather, kMessage * 16, Algorithm::ring, {}};
      const double time = static_cast<double>(run_stepped(Fabric(in), call, 64).end) * kTick;
      EXPECT_GT(time, wire) << core::to_word(topology);
      EXPECT_LT(time, wire * 1.02 + 63 * 6e-6) << core::to_word(topology);
    }
  }
}

TEST(SteppedRing, UsesEveryCableOfAMesh) {
  // One node: in each of 7 rounds S / 8 goes out over 7 cables of rate / 7.
  auto in = dgx_h100(1);
  in.scale_up.kind = ScaleUpKind::mesh;
  const CollectiveCall call{CollectiveKind::all_gather, kMessage, Algorithm::ring, {}};
  EXPECT_NEAR(static_cast<double>(run_stepped(Fabric(in), call, 8).end) * kTick,
              7 * 1e-6 + 7.0 / 8 * 67108864 / 450e9, 1e-9);
  // Two nodes, cables of 450 / 7 GB/s: each carries one ring's 15/16 of S / 8, as each NIC of 50
  // does; so the NICs are what takes longest.
  in.nodes = 2;
  const double time = static_cast<double>(run_stepped(Fabric(in), call, 16).end) * kTick;
  EXPECT_NEAR(time, 15.0 / 16 * 67108864 / 8 / 50e9, 15 * 6e-6);
}

TEST(SteppedRecursive, TakesLogarithmicallyManySteps) {
  for (const int n : {2, 8, 32}) {
    EXPECT_NEAR(flat_time(CollectiveKind::all_gather, Algorithm::recursive, kMessage, n),
                recursive_doubling_all_gather(kMessage, n, kLeafHop).si(), 10 * kTick);
    EXPECT_NEAR(flat_time(CollectiveKind::reduce_scatter, Algorithm::recursive, kMessage, n),
                recursive_halving_reduce_scatter(kMessage, n, kLeafHop).si(), 10 * kTick);
    EXPECT_NEAR(flat_time(CollectiveKind::all_reduce, Algorithm::recursive, kMessage, n),
                halving_doubling_all_reduce(kMessage, n, kLeafHop).si(), 20 * kTick);
  }
}

TEST(SteppedPat, PassesEachBlockOnceWithAnyNumberOfRanks) {
  for (const int n : {2, 5, 13, 16, 31}) {
    EXPECT_NEAR(flat_time(CollectiveKind::all_gather, Algorithm::pat, kMessage, n),
                pat_all_gather(kMessage, n, kLeafHop).si(), 10 * kTick);
    EXPECT_NEAR(flat_time(CollectiveKind::reduce_scatter, Algorithm::pat, kMessage, n),
                pat_all_gather(kMessage, n, kLeafHop).si(), 10 * kTick);
  }
}

TEST(SteppedBroadcast, FillsTheChainThenFlows) {
  // n - 1 hops of latency, and (pieces + n - 2) pieces in a row at the last receiver.
  for (const int n : {2, 5, 32}) {
    for (const int pieces : {1, 16, 50}) {
      SteppedOptions options;
      options.chunks = pieces;
      const double piece = 67108864.0 / 50e9 / pieces;
      EXPECT_NEAR(flat_time(CollectiveKind::broadcast, Algorithm::ring, kMessage, n, options),
                  (n - 1) * 2e-6 + (pieces + n - 2) * piece, (n + pieces) * kTick);
    }
  }
}

TEST(SteppedTree, ComesDownToTheFluidTreeAsPiecesShrink) {
  // Fluid: 2 S / B at the busiest NIC. In pieces, filling the tree adds at most 2 ceil(log2 n) + 2
  // pieces and latencies; with 4 times the pieces, less.
  const double fluid = 2 * 67108864.0 / 50e9;
  const int n = 16;
  double before = 1;
  for (const int pieces : {8, 32, 128}) {
    SteppedOptions options;
    options.chunks = pieces;
    const double time =
        flat_time(CollectiveKind::all_reduce, Algorithm::tree, kMessage, n, options);
    EXPECT_GT(time, fluid * (n - 1) / n);
    EXPECT_LT(time, fluid * (1 + 10.0 / pieces) + 10 * 2e-6);
    EXPECT_LT(time, before);
    before = time;
  }
}

TEST(SteppedNvls, SendsEachByteUpOnceAndItsSliceTwice) {
  // Up: S of all slices to be reduced and S / n of the own result; the last piece comes down again.
  const Fabric fabric(dgx_h100(1));
  const auto result =
      run_stepped(fabric, {CollectiveKind::all_reduce, kMessage, Algorithm::nvls, {}}, 8);
  const double wire = 67108864.0 * (1 + 1.0 / 8) / 450e9;
  const double time = static_cast<double>(result.end) * 1e-12;
  const double latency = route(fabric, GpuId(0), GpuId(1)).latency.si();
  EXPECT_GT(time, wire);
  EXPECT_LT(time, wire * (1 + 3.0 / 64) + 3 * latency);
}

TEST(SteppedNvlsTree, ComesDownToTheFluidTreeAsPiecesShrink) {
  // An eighth of S on each rail, up and down two trees: 2 S / 8 at the busiest NIC of more than two
  // nodes; S / 8 each way with two. Folded and whole are one.
  for (const int nodes : {2, 4, 6}) {
    const Fabric fabric(dgx_h100(nodes));
    const double fluid = (nodes > 2 ? 2 : 1) * 67108864.0 / 8 / 50e9;
    double before = 1;
    for (const int pieces : {8, 32, 64}) {
      SteppedOptions options;
      options.chunks = pieces;
      const CollectiveCall call{CollectiveKind::all_reduce, kMessage, Algorithm::nvls_tree, {}};
      const auto folded = run_stepped(fabric, call, 8 * nodes, options);
      const auto whole = run_stepped(fabric, call, 8 * nodes, options, false);
      EXPECT_EQ(folded.end, whole.end);
      EXPECT_EQ(folded.result_digest, whole.result_digest);
      const double time = static_cast<double>(folded.end) * 1e-12;
      EXPECT_GT(time, fluid * 0.9) << nodes;
      EXPECT_LT(time, fluid * (1 + 12.0 / pieces) + 40e-6) << nodes;
      EXPECT_LT(time, before) << nodes;
      before = time;
    }
  }
}

TEST(SteppedBroadcast, ATreeSendsTwiceButReachesAllInLogarithmicTime) {
  // Binary: a rank passes each piece to two others, so the busiest NIC sends 2 S; the deepest of 16
  // ranks is 4 hops down, so small messages are faster than along the chain.
  SteppedOptions options;
  options.chunks = 64;
  const double wire = 2 * 67108864.0 / 50e9;
  const double time = flat_time(CollectiveKind::broadcast, Algorithm::tree, kMessage, 16, options);
  EXPECT_GT(time, wire * 0.9);
  EXPECT_LT(time, wire * (1 + 8.0 / 64) + 5 * 2e-6);
  const double small = flat_time(CollectiveKind::broadcast, Algorithm::tree, 8_KiB, 16);
  EXPECT_LT(small, flat_time(CollectiveKind::broadcast, Algorithm::ring, 8_KiB, 16) / 2);
}

TEST(SteppedSharp, CrossesTheNetworkOnce) {
  for (const int n : {2, 16}) {
    EXPECT_NEAR(flat_time(CollectiveKind::all_reduce, Algorithm::collnet, kMessage, n),
                2e-6 + 67108864.0 / 50e9, 3 * kTick);
  }
}

TEST(SteppedHierarchical, AddsTheTimesOfItsThreePhases) {
  const Fabric fabric(dgx_h100(4));
  const Hop inside{route(fabric, GpuId(0), GpuId(1)).latency, core::BytesPerSecond{450e9}};
  const Hop between{route(fabric, GpuId(0), GpuId(8)).latency, core::BytesPerSecond{50e9}};
  const auto time = [&](CollectiveKind kind) {
    const auto end = run_stepped(fabric, {kind, kMessage, Algorithm::hierarchical, {}}, 32).end;
    return static_cast<double>(end) * 1e-12;
  };
  EXPECT_NEAR(time(CollectiveKind::all_reduce),
              hierarchical_all_reduce(kMessage, 32, 8, inside, between).si(), 40 * kTick);
  const double gather =
      ring_all_gather(kMessage / 8, 4, between).si() + ring_all_gather(kMessage, 8, inside).si();
  EXPECT_NEAR(time(CollectiveKind::all_gather), gather, 40 * kTick);
  EXPECT_NEAR(time(CollectiveKind::reduce_scatter), gather, 40 * kTick);
}

TEST(SteppedAllToAll, TakesItsRounds) {
  for (const int n : {2, 7, 32}) {
    EXPECT_NEAR(flat_time(CollectiveKind::all_to_all, Algorithm::pairwise, kMessage, n),
                pairwise_all_to_all(kMessage, n, kLeafHop).si(), n * kTick);
    // At once: one latency, then the NICs are full to the end.
    EXPECT_NEAR(flat_time(CollectiveKind::all_to_all, Algorithm::direct, kMessage, n),
                2e-6 + (n - 1.0) / n * 67108864 / 50e9, n * kTick);
  }
}

TEST(SteppedAllToAll, OverRailsHasTwoStages) {
  // 4 nodes of 8: 7 messages of S / 8 over NVLink, then 3 of S / 4 over each rail.
  const Fabric fabric(dgx_h100(4));
  const Hop inside{route(fabric, GpuId(0), GpuId(1)).latency, core::BytesPerSecond{450e9}};
  const Hop between{route(fabric, GpuId(0), GpuId(8)).latency, core::BytesPerSecond{50e9}};
  const auto end =
      run_stepped(fabric, {CollectiveKind::all_to_all, kMessage, Algorithm::hierarchical, {}}, 32)
          .end;
  EXPECT_NEAR(static_cast<double>(end) * 1e-12,
              pairwise_all_to_all(kMessage, 8, inside).si() +
                  pairwise_all_to_all(kMessage, 4, between).si(),
              20 * kTick);
}

TEST(SteppedAllToAll, MovesWhatEachPairWasGiven) {
  // Rank i sends i x 1 MB to its successor and nothing else: the last one takes longest.
  const Fabric fabric(flat_tree(32));
  const std::size_t n = 5;
  std::vector<core::Bytes> pairs(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    pairs[i * n + (i + 1) % n] = core::Bytes{1e6 * static_cast<double>(i)};
  }
  SteppedOptions options;
  options.pair_bytes = pairs;
  for (const auto algorithm : {Algorithm::pairwise, Algorithm::direct}) {
    const auto result =
        run_stepped(fabric, {CollectiveKind::all_to_all, 1_MiB, algorithm, {}}, 5, options);
    EXPECT_NEAR(static_cast<double>(result.end) * 1e-12, 2e-6 + 4e6 / 50e9, 2 * kTick);
    EXPECT_NEAR(std::accumulate(result.link_bytes.begin(), result.link_bytes.end(), 0.0),
                2 * (0 + 1 + 2 + 3 + 4) * 1e6, 1);
  }
}

// One lockstep flow that is given the closed form's time is as fast as all its messages: where the
// steady state is all there is, fluid and stepped are the same.
TEST(Granularity, FluidEqualsSteppedWhereTheSteadyStateIsAll) {
  const Fabric fabric(flat_tree(32));
  const auto members = first_gpus(16);
  const auto expect_equal = [&](CollectiveKind kind, Algorithm algorithm, core::Seconds alpha,
                                core::Seconds total) {
    const CollectiveCall call{kind, kMessage, algorithm, {}};
    CollectiveTime alone;
    alone.total = total;
    alone.alpha = alpha;
    alone.algorithm = algorithm;
    alone.nic_bytes = kMessage * bus_factor(kind, 16);
    const auto transfer = emit_collective(fabric, call, members, alone);
    Problem problem;
    LinkNumbers numbers(fabric);
    problem.programs.push_back({{StepCode::arrive}, {StepCode::wait}});
    Actor actor;
    actor.groups = {append(transfer, 1, core::Activity::data, 0, numbers, problem)};
    problem.actors.push_back(actor);
    EXPECT_NEAR(static_cast<double>(run(problem, {}).end),
                static_cast<double>(run_stepped(fabric, call, 16).end), 20)
        << core::to_word(kind) << ' ' << core::to_word(algorithm);
  };
  using K = CollectiveKind;
  expect_equal(K::all_reduce, Algorithm::ring, kLeafHop.alpha * 30.0,
               ring_all_reduce(kMessage, 16, kLeafHop));
  expect_equal(K::all_gather, Algorithm::ring, kLeafHop.alpha * 15.0,
               ring_all_gather(kMessage, 16, kLeafHop));
  expect_equal(K::reduce_scatter, Algorithm::recursive, kLeafHop.alpha * 4.0,
               recursive_halving_reduce_scatter(kMessage, 16, kLeafHop));
  expect_equal(K::all_reduce, Algorithm::recursive, kLeafHop.alpha * 8.0,
               halving_doubling_all_reduce(kMessage, 16, kLeafHop));
  expect_equal(K::all_gather, Algorithm::pat, kLeafHop.alpha * 4.0,
               pat_all_gather(kMessage, 16, kLeafHop));
  expect_equal(K::all_to_all, Algorithm::pairwise, kLeafHop.alpha * 15.0,
               pairwise_all_to_all(kMessage, 16, kLeafHop));
}

struct Case {
  CollectiveKind kind;
  Algorithm algorithm;
};

const std::vector<Case>& all_cases() {
  using K = CollectiveKind;
  using A = Algorithm;
  static const std::vector<Case> cases{
      {K::all_reduce, A::ring},         {K::all_reduce, A::tree},
      {K::all_reduce, A::recursive},    {K::all_reduce, A::collnet},
      {K::all_reduce, A::hierarchical}, {K::all_gather, A::ring},
      {K::all_gather, A::recursive},    {K::all_gather, A::pat},
      {K::all_gather, A::hierarchical}, {K::all_gather, A::direct},
      {K::reduce_scatter, A::ring},     {K::reduce_scatter, A::recursive},
      {K::reduce_scatter, A::pat},      {K::reduce_scatter, A::hierarchical},
      {K::reduce_scatter, A::direct},   {K::broadcast, A::ring},
      {K::all_to_all, A::pairwise},     {K::all_to_all, A::hierarchical},
      {K::all_to_all, A::direct}};
  return cases;
}

std::string name_of(const Case& c) {
  return std::string(core::to_word(c.kind)) + ' ' + std::string(core::to_word(c.algorithm));
}

// The rails of a machine carry the same bytes link by link, whichever way the call is simulated.
TEST(Granularity, FluidAndSteppedPutTheSameBytesOnTheNics) {
  auto in = dgx_h100(4);
  in.fabric.in_switch_reduction = true;
  const Fabric fabric(in);
  using K = CollectiveKind;
  using A = Algorithm;
  for (const Case& c : {Case{K::all_reduce, A::ring}, Case{K::all_gather, A::ring},
                        Case{K::reduce_scatter, A::ring}, Case{K::all_reduce, A::tree},
                        Case{K::all_reduce, A::nvls_tree}, Case{K::all_reduce, A::collnet},
                        Case{K::all_reduce, A::hierarchical}, Case{K::all_to_all, A::pairwise},
                        Case{K::all_to_all, A::hierarchical}, Case{K::all_gather, A::hierarchical},
                        Case{K::reduce_scatter, A::hierarchical}, Case{K::all_reduce, A::recursive},
                        Case{K::all_gather, A::recursive}, Case{K::reduce_scatter, A::recursive}}) {
    const CollectiveCall call{c.kind, kMessage, c.algorithm, {}};
    const LinkBytes fluid = fluid_bytes(fabric, call, 32);
    const LinkBytes stepped = stepped_bytes(fabric, call, 32);
    for (const auto& [link, bytes] : fluid) {
      // A ring enters its domains anywhere: one of its 31 edges more or less is inside.
      if (c.algorithm == A::ring && fabric.link(core::LinkId(link)).tier != Tier::nic) {
        continue;
      }
      const auto other = stepped.find(link);
      EXPECT_NEAR(other == stepped.end() ? 0 : other->second, bytes,
                  3 * 67108864.0 / kCoefficientUnit)
          << name_of(c) << ": " << fabric.describe(core::LinkId(link));
    }
  }
}

// A broadcast's rings end before the root, so that some NICs of its domain and the last carry less.
TEST(Granularity, ABroadcastLoadsNoNicMoreThanItsPartOfTheArray) {
  const Fabric fabric(dgx_h100(4));
  const CollectiveCall call{CollectiveKind::broadcast, kMessage, Algorithm::ring, {}};
  const LinkBytes fluid = fluid_bytes(fabric, call, 32);
  double most = 0, most_fluid = 0, sum = 0;
  for (const auto& [link, bytes] : stepped_bytes(fabric, call, 32)) {
    const bool nic = fabric.link(core::LinkId(link)).tier == Tier::nic;
    most = std::max(most, nic ? bytes : 0);
    sum += nic ? bytes : 0;
  }
  for (const auto& [link, bytes] : fluid) {
    most_fluid =
        std::max(most_fluid, fabric.link(core::LinkId(link)).tier == Tier::nic ? bytes : 0.0);
  }
  EXPECT_NEAR(most, 67108864.0 / 8, 1);
  EXPECT_NEAR(most_fluid, 67108864.0 / 8, 67108864.0 / kCoefficientUnit);
  // 7 of 8 rings come round to the root's domain: 3 + 7/8 crossings, each out of a NIC and into
  // one.
  EXPECT_NEAR(sum, 2 * (3 + 7.0 / 8) * 67108864, 10);
}

// What leaves all ranks is what the algorithm must move: (n - 1) S for a gather, a scatter or an
// exchange (n-th parts to n - 1 ranks each), twice that to reduce and gather, and every byte that
// leaves arrives.
TEST(Granularity, SteppedMovesEachByteOnceOnAFlatTree) {
  const Fabric fabric(flat_tree(32));
  const double once = 15 * 67108864.0;
  for (const Case& c : all_cases()) {
    if (c.algorithm == Algorithm::collnet) {
      continue;  // its switches reduce: SteppedSharp
    }
    const bool twice = c.kind == CollectiveKind::all_reduce;
    double out = 0;
    double in = 0;
    for (const auto& [link, bytes] :
         stepped_bytes(fabric, {c.kind, kMessage, c.algorithm, {}}, 16)) {
      for (std::uint32_t node = 0; node < 32; ++node) {
        out += fabric.nic_link(node, 0, 0, true).index() == link ? bytes : 0;
        in += fabric.nic_link(node, 0, 0, false).index() == link ? bytes : 0;
      }
    }
    EXPECT_NEAR(out, twice ? 2 * once : once, 100) << name_of(c);
    EXPECT_NEAR(in, out, 100) << name_of(c);
  }
}

// A degraded NIC unfolds what it touches and changes no tick of it.
TEST(Granularity, SteppedFoldsToTheSameTicks) {
  auto in = dgx_h100(4);
  in.fabric.in_switch_reduction = true;
  Fabric sick(in);
  sick.degrade(sick.nic_link(2, 3, 0, true), 0.3);
  for (const Case& c : all_cases()) {
    for (const Dependency dependency : {Dependency::pipelined, Dependency::blocking}) {
      SteppedOptions options;
      options.dependency = dependency;
      options.chunks = 12;
      const CollectiveCall call{c.kind, 3_MiB, c.algorithm, {}};
      for (const Fabric& fabric : {Fabric(in), sick}) {
        const RunResult folded = run_stepped(fabric, call, 32, options);
        const RunResult whole = run_stepped(fabric, call, 32, options, false);
        EXPECT_EQ(folded.end, whole.end) << name_of(c);
        EXPECT_EQ(folded.result_digest, whole.result_digest) << name_of(c);
      }
    }
  }
}

TEST(Stepped, ARingFoldsToOneRankOfEachKind) {
  const Fabric fabric(dgx_h100(4));
  const auto result =
      run_stepped(fabric, {CollectiveKind::all_reduce, kMessage, Algorithm::hierarchical, {}}, 32);
  EXPECT_EQ(result.classes, 1U);
}

std::string refusal(const Fabric& fabric, CollectiveKind kind, Algorithm algorithm, int ranks) {
  try {
    step_collective(fabric, {kind, 1_MiB, algorithm, {}}, first_gpus(ranks));
  } catch (const core::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Stepped, RefusesByNameWhatAnAlgorithmCannotDo) {
  const Fabric fabric(dgx_h100(2));
  using K = CollectiveKind;
  using A = Algorithm;
  using testing::HasSubstr;
  EXPECT_THAT(refusal(fabric, K::all_reduce, A::recursive, 12), HasSubstr("power of two"));
  EXPECT_THAT(refusal(fabric, K::all_reduce, A::hierarchical, 12), HasSubstr("same number"));
  EXPECT_THAT(refusal(fabric, K::all_reduce, A::nvls, 16), HasSubstr("one NVLink domain"));
  EXPECT_THAT(refusal(fabric, K::all_reduce, A::collnet, 16), HasSubstr("switches that reduce"));
  EXPECT_THAT(refusal(fabric, K::all_reduce, A::pat, 16), HasSubstr("all_reduce cannot"));
  EXPECT_THAT(refusal(fabric, K::broadcast, A::pat, 16), HasSubstr("no chain and no tree"));
  EXPECT_THAT(refusal(fabric, K::all_reduce, A::nvls_tree, 8), HasSubstr("several NVLink domains"));
  EXPECT_THAT(refusal(fabric, K::all_gather, A::nvls_tree, 16), HasSubstr("all_gather cannot"));
  EXPECT_THAT(refusal(fabric, K::all_to_all, A::ring, 16), HasSubstr("exchange of pairs"));
  EXPECT_THAT(refusal(Fabric(flat_tree(4096)), K::all_to_all, A::pairwise, 4096),
              HasSubstr("has 1.7e+07 messages, and each is simulated by itself, at most 1e+07"));
}

}  // namespace
}  // namespace headway::network
