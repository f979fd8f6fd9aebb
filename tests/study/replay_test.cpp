// Replays whose times are known in closed form.
#include "sim/study/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/study/collective.h"
#include "sim/training/step/step_inputs.h"

#include "tests/import/chakra_nodes.h"
#include "tests/study/replayed.h"

namespace headway::study {
namespace {

using import::ChakraCollective;
using import::ChakraNode;
using import::collective;
using import::compute;
using import::receive;
using import::send;
using import::trace_of;

constexpr std::int64_t kMiB = 1 << 20;

Machine nodes_of_eight(int nodes) {
  return load_machine("dgx-h100", {.nodes = nodes, .node = {}, .fabric = "rail-optimized-ndr"},
                      kCatalogue);
}

/// The same nodes on as many ranks as there are lists.
double seconds(const std::vector<std::vector<ChakraNode>>& ranks,
               const Machine& machine,
               const import::ChakraGroups& groups = {}) {
  std::vector<import::ChakraTrace> traces;
  for (const auto& nodes : ranks) {
    traces.push_back(trace_of(static_cast<std::int64_t>(traces.size()), nodes));
  }
  return replay(import::join_traces(std::move(traces), groups), machine).time->si();
}

/// Alone on the fabric: what `headway collective` says.
double alone(core::CollectiveKind kind, int gpus, std::uint64_t bytes, const Machine& machine) {
  CollectiveRequest request{kind, gpus, {bytes}, "float"};
  return predict_collective(machine, request).rows.front().time->total.si();
}

std::vector<std::vector<ChakraNode>> alike(int ranks, const std::vector<ChakraNode>& nodes) {
  return std::vector<std::vector<ChakraNode>>(static_cast<std::size_t>(ranks), nodes);
}

TEST(Replay, ACollectiveAloneTakesWhatHeadwayCollectiveSays) {
  const Machine machine = nodes_of_eight(2);
  const auto time = [&](ChakraCollective kind, std::int64_t input) {
    return seconds(alike(16, {collective(0, kind, input)}), machine);
  };
  using core::CollectiveKind;
  EXPECT_NEAR(time(kAllReduce, 64 * kMiB),
              alone(CollectiveKind::all_reduce, 16, 64 * kMiB, machine), kTick);
  EXPECT_NEAR(time(ChakraCollective::reduce_scatter, 64 * kMiB),
              alone(CollectiveKind::reduce_scatter, 16, 64 * kMiB, machine), kTick);
  EXPECT_NEAR(time(ChakraCollective::all_to_all, 64 * kMiB),
              alone(CollectiveKind::all_to_all, 16, 64 * kMiB, machine), kTick);
  // Chakra counts what one rank puts in, nccl-tests what comes out.
  EXPECT_NEAR(time(ChakraCollective::all_gather, 4 * kMiB),
              alone(CollectiveKind::all_gather, 16, 64 * kMiB, machine), kTick);
}

TEST(Replay, WhatDependsAddsUpAndWhatDoesNotRunsBeside) {
  const Machine machine = nodes_of_eight(2);
  const double reduce = alone(core::CollectiveKind::all_reduce, 16, 64 * kMiB, machine);
  ASSERT_GT(reduce, 300e-6);
  ASSERT_LT(reduce, 3000e-6);
  EXPECT_NEAR(seconds(alike(16, {compute(0, 100), collective(1, kAllReduce, 64 * kMiB, {0}),
                                 compute(2, 50, {1})}),
                      machine),
              150e-6 + reduce, 2 * kTick);
  EXPECT_NEAR(seconds(alike(16, {compute(0, 100), collective(1, kAllReduce, 64 * kMiB, {0}),
                                 compute(2, 200, {0})}),
                      machine),
              100e-6 + reduce, 2 * kTick);
  EXPECT_NEAR(seconds(alike(16, {compute(0, 100), collective(1, kAllReduce, 64 * kMiB, {0}),
                                 compute(2, 3000, {0})}),
                      machine),
              3100e-6, 2 * kTick);
}

TEST(Replay, ACollectiveBeginsWithItsLastRank) {
  const Machine machine = nodes_of_eight(2);
  auto ranks = alike(16, {compute(0, 100), collective(1, kAllReduce, 64 * kMiB, {0})});
  ranks[5][0].duration_us = 700;
  EXPECT_NEAR(seconds(ranks, machine),
              700e-6 + alone(core::CollectiveKind::all_reduce, 16, 64 * kMiB, machine), 2 * kTick);
}

TEST(Replay, CollectivesOfAGroupFollowOneAnother) {
  const Machine machine = nodes_of_eight(1);
  const double one = alone(core::CollectiveKind::all_reduce, 8, 64 * kMiB, machine);
  EXPECT_NEAR(seconds(alike(8, {collective(0, kAllReduce, 64 * kMiB),
                                collective(1, kAllReduce, 64 * kMiB)}),
                      machine),
              2 * one, 2 * kTick);
  const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_NEAR(seconds(alike(8, {collective(0, kAllReduce, 64 * kMiB, {}, "1"),
                                collective(1, kAllReduce, 64 * kMiB, {}, "2")}),
                      machine, {{"1", all}, {"2", all}}),
              one, 2 * kTick)
      << "other groups do not wait; inside a domain each is timed alone";
}

TEST(Replay, StreamsOfAGpuRunBesideEachOther) {
  const Machine machine = nodes_of_eight(1);
  std::vector<ChakraNode> nodes{compute(0, 100), compute(1, 300)};
  EXPECT_NEAR(seconds({nodes}, machine), 400e-6, kTick);
  nodes[1].stream = 7;
  EXPECT_NEAR(seconds({nodes}, machine), 300e-6, kTick);
  nodes[1].after = {0};
  EXPECT_NEAR(seconds({nodes}, machine), 400e-6, kTick);
}

// Two messages leave one card at once. Alone a message of S bytes takes alpha + S / r; both get
// half of the card's payload rate c: alpha + 2 S / c.
TEST(Replay, MessagesShareACard) {
  const Machine machine = nodes_of_eight(2);
  constexpr std::int64_t kBytes = 256 * kMiB;
  std::vector<std::vector<ChakraNode>> ranks(9, {compute(0, 0)});
  ranks[0] = {send(0, 8, kBytes), send(1, 8, kBytes)};
  ranks[8] = {receive(0, 0, kBytes), receive(1, 0, kBytes)};
  const auto parameters = network::make_parameters(training::build_fabric(machine.cluster).input(),
                                                   network::NcclGeneration::hopper);
  const network::CollectiveTime one =
      network::collective_time({core::CollectiveKind::send_receive, core::Bytes(kBytes), {}, {}},
                               network::regular_group(2, 1, parameters, 8), parameters);
  EXPECT_NEAR(seconds(ranks, machine), 2 * one.total.si(), 2 * kTick) << "of one tag: in order";
  ranks[0][1].tag = ranks[8][1].tag = 1;
  EXPECT_NEAR(seconds(ranks, machine),
              one.alpha.si() + (2.0 * kBytes / parameters.nic_bandwidth.si()), 1e-9);
}

// Forward passes of t on p stages with m micro-batches, each handed on in time h beside the next
// pass: stage s ends micro-batch i (from 0) at (s + i + 1) t + s h.
TEST(Replay, APipelineFillsAndRuns) {
  const Machine machine = nodes_of_eight(4);
  constexpr int kStages = 4;
  constexpr int kMicroBatches = 6;
  constexpr std::uint64_t kPass = 2000;
  std::vector<std::vector<ChakraNode>> ranks(8 * (kStages - 1) + 1);
  for (int stage = 0; stage < kStages; ++stage) {
    auto& nodes = ranks[static_cast<std::size_t>(8 * stage)];
    for (std::uint64_t i = 0; i < kMicroBatches; ++i) {
      std::vector<std::uint64_t> after;
      if (stage > 0) {
        nodes.push_back(receive(3 * i, 8 * (stage - 1), kMiB));
        after.push_back(3 * i);
      }
      nodes.push_back(compute((3 * i) + 1, kPass, after));
      if (stage + 1 < kStages) {
        nodes.push_back(send((3 * i) + 2, 8 * (stage + 1), kMiB, {(3 * i) + 1}));
      }
    }
  }
  std::vector<std::vector<ChakraNode>> hop(9);
  hop[0] = {send(0, 8, kMiB)};
  hop[8] = {receive(0, 0, kMiB)};
  for (auto* each : {&ranks, &hop}) {
    for (auto& nodes : *each) {
      if (nodes.empty()) {
        nodes.push_back(compute(0, 0));
      }
    }
  }
  EXPECT_NEAR(seconds(ranks, machine),
              (kStages + kMicroBatches - 1) * kPass * 1e-6 + (kStages - 1) * seconds(hop, machine),
              10 * kTick);
}

TEST(Replay, MoreThanTheClockCountsIsRefused) {
  constexpr std::uint64_t kSeventyDays = 70ULL * 86400 * 1'000'000;
  EXPECT_THROW(seconds({{compute(0, kSeventyDays), compute(1, kSeventyDays)}}, nodes_of_eight(1)),
               core::Infeasible);
  EXPECT_THROW(seconds(alike(2, {collective(0, kAllReduce, INT64_MAX)}), nodes_of_eight(1)),
               core::Infeasible);
}

TEST(Replay, TheMachineIsLargeEnoughAndItsOwn) {
  const auto job =
      import::join_traces(import::alike(trace_of(0, {collective(0, kAllReduce, kMiB)}), 9), {});
  try {
    (void)replay(job, nodes_of_eight(1));
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_STREQ(error.what(),
                 "there are traces of 9 ranks, and the machine '1 x DGX H100' has 8 GPUs; ask for "
                 "more nodes (--set, --nodes)\n");
  }
}

// Of a GPU the stream that computes most; threads of the CPU only where no GPU does.
TEST(Replay, WhatARankComputesIsThatOfItsBusiestStream) {
  ChakraNode longest = compute(1, 200);
  longest.stream = 8;
  ChakraNode host = compute(2, 900);
  host.on_cpu = true;
  const auto computed = [](const std::vector<ChakraNode>& nodes) {
    return describe_traces(import::join_traces({trace_of(0, nodes)}, {})).rows[0].computation.si();
  };
  EXPECT_NEAR(computed({compute(0, 100), longest, host}), 200e-6, kTick);
  EXPECT_NEAR(computed({compute(0, 100), longest, compute(3, 150)}), 250e-6, kTick);
  EXPECT_NEAR(computed({host}), 900e-6, kTick);
}

// Traces are checked without a machine, however many ranks there are.
TEST(Replay, AnyNumberOfRanksIsChecked) {
  const ReplayReport report = describe_traces(import::join_traces(
      import::alike(trace_of(0, {compute(0, 100), collective(1, kAllReduce, kMiB, {0})}), 64), {}));
  EXPECT_EQ(report.ranks, 64);
}

TEST(Replay, TellsWhatIsInTraces) {
  const ReplayReport report = describe_traces(import::join_traces(
      import::alike(trace_of(0, {compute(0, 100), collective(1, kAllReduce, kMiB, {0}),
                                 collective(2, kAllReduce, kMiB, {1})}),
                    4),
      {}));
  EXPECT_EQ(report.ranks, 4);
  EXPECT_EQ(report.nodes, 12);
  EXPECT_FALSE(report.time);
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].count, 4);
  EXPECT_NEAR(report.rows[0].computation.si(), 100e-6, kTick);
  ASSERT_EQ(report.collectives.size(), 1U);
  EXPECT_EQ(report.collectives[0].calls, 2);
  EXPECT_FALSE(report.collectives[0].alone);
}

}  // namespace
}  // namespace headway::study
