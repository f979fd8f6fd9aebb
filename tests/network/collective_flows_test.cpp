#include "sim/network/collective/collective_flows.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/network/fabric/route.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;
using core::GpuId;

std::vector<GpuId> gpus(int first, int count, int stride) {
  std::vector<GpuId> list;
  for (int i = 0; i < count; ++i) {
    list.emplace_back(first + i * stride);
  }
  return list;
}

struct Emitted {
  CollectiveTime alone;
  Transfer transfer;
};

Emitted emit(const Fabric& fabric, const CollectiveCall& call, const std::vector<GpuId>& members) {
  const auto machine = make_parameters(fabric.input(), NcclGeneration::hopper);
  const auto alone = collective_time(call, group_shape(fabric, members), machine);
  return {alone, emit_collective(fabric, call, members, alone)};
}

/// Actors that arrive at `groups` at time zero and wait for them; one actor a group.
RunResult run_alone(const Fabric& fabric, const std::vector<Transfer>& transfers) {
  Problem problem;
  LinkNumbers numbers(fabric);
  problem.programs.push_back({{StepCode::arrive}, {StepCode::wait}});
  for (const auto& transfer : transfers) {
    Actor actor;
    actor.groups = {append(transfer, 1, core::Activity::data, 0, numbers, problem)};
    problem.actors.push_back(actor);
  }
  return run(problem, {});
}

/// Bytes of the whole transfer on one link.
double bytes_on(const Transfer& t, core::LinkId link) {
  for (const auto& use : t.uses) {
    if (use.link == link.index()) {
      return t.flows[0].size.si() * use.coefficient / kCoefficientUnit;
    }
  }
  return 0;
}

TEST(CollectiveFlows, ACollectiveAloneTakesExactlyItsTime) {
  const Fabric fabric(dgx_h100(8));
  const auto clock = core::Clock::step();
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::broadcast, CollectiveKind::all_to_all}) {
    for (const double bytes : {4096.0, 3e6, 1e9}) {
      for (const auto& members : {gpus(0, 8, 1), gpus(3, 8, 8), gpus(0, 64, 1), gpus(8, 4, 2)}) {
        const auto e = emit(fabric, {kind, core::Bytes{bytes}, {}, {}}, members);
        const auto result = run_alone(fabric, {e.transfer});
        EXPECT_LE(std::abs(result.end - clock.to_ticks(e.alone.total)), 1)
            << core::to_word(kind) << ' ' << bytes << " over " << members.size();
      }
    }
  }
}

TEST(CollectiveFlows, DataParallelRingsOnTheirOwnRailsDoNotMeet) {
  const Fabric fabric(dgx_h100(8));
  std::vector<Transfer> rails;
  core::Seconds alone;
  for (int rail = 0; rail < 8; ++rail) {
    const auto e =
        emit(fabric, {CollectiveKind::reduce_scatter, 256_MiB, {}, {}}, gpus(rail, 8, 8));
    alone = e.alone.total;
    rails.push_back(e.transfer);
  }
  EXPECT_LE(std::abs(run_alone(fabric, rails).end - core::Clock::step().to_ticks(alone)), 1);
}

TEST(CollectiveFlows, TwoRingsOnOneRailShareItsNics) {
  const Fabric fabric(dgx_h100(8));
  const auto e =
      emit(fabric, {CollectiveKind::all_gather, 256_MiB, Algorithm::ring, Protocol::simple},
           gpus(3, 8, 8));
  // Each NIC carries twice 7/8 of 256 MiB at 50 GB/s after the latency.
  const double shared =
      static_cast<double>(e.transfer.delay) / 1e12 + 2 * 7.0 / 8 * 268435456 / 50e9;
  EXPECT_NEAR(static_cast<double>(run_alone(fabric, {e.transfer, e.transfer}).end) / 1e12, shared,
              1e-9);
}

TEST(CollectiveFlows, ADegradedNicStretchesTheRing) {
  Fabric fabric(dgx_h100(8));
  fabric.degrade(fabric.nic_link(5, 3, 0, true), 0.25);
  const auto e =
      emit(fabric, {CollectiveKind::all_gather, 256_MiB, Algorithm::ring, Protocol::simple},
           gpus(3, 8, 8));
  const double slow = static_cast<double>(e.transfer.delay) / 1e12 + 7.0 / 8 * 268435456 / 12.5e9;
  EXPECT_NEAR(static_cast<double>(run_alone(fabric, {e.transfer}).end) / 1e12, slow, 1e-9);
}

TEST(CollectiveFlows, RingPutsItsBytesOnNvlinkAndNics) {
  const Fabric fabric(dgx_h100(4));
  const auto e =
      emit(fabric, {CollectiveKind::all_gather, 64_MiB, Algorithm::ring, Protocol::simple},
           gpus(0, 32, 1));
  const double edge = 31.0 / 32 * 67108864;
  const double tolerance = edge / kCoefficientUnit;
  EXPECT_NEAR(bytes_on(e.transfer, fabric.scale_up_link(9, true)), edge * 7 / 8, tolerance);
  EXPECT_NEAR(bytes_on(e.transfer, fabric.nic_link(2, 5, 0, true)), edge / 8, tolerance);
  EXPECT_NEAR(bytes_on(e.transfer, fabric.nic_link(3, 5, 0, false)), edge / 8, tolerance);
}

TEST(CollectiveFlows, SharpSendsEachNodesBytesOnce) {
  auto in = dgx_h100(4);
  in.fabric.in_switch_reduction = true;
  const Fabric fabric(in);
  const auto e =
      emit(fabric, {CollectiveKind::all_reduce, 64_MiB, Algorithm::collnet, {}}, gpus(0, 32, 1));
  const double nic = bytes_on(e.transfer, fabric.nic_link(1, 1, 0, true));
  EXPECT_NEAR(nic, 67108864.0 / 8, 67108864.0 / kCoefficientUnit);
  const auto ring =
      emit(fabric, {CollectiveKind::all_reduce, 64_MiB, Algorithm::ring, {}}, gpus(0, 32, 1));
  EXPECT_NEAR(bytes_on(ring.transfer, fabric.nic_link(1, 1, 0, true)) / nic, 2 * 31.0 / 32, 0.01);
}

TEST(CollectiveFlows, TreesLoadTheBusiestNodeTwice) {
  const Fabric fabric(dgx_h100(8));
  const auto e =
      emit(fabric, {CollectiveKind::all_reduce, 64_MiB, Algorithm::tree, {}}, gpus(0, 64, 1));
  double most = 0;
  double total = 0;
  for (std::uint32_t node = 0; node < 8; ++node) {
    most = std::max(most, bytes_on(e.transfer, fabric.nic_link(node, 0, 0, true)));
    total += bytes_on(e.transfer, fabric.nic_link(node, 0, 0, true));
  }
  EXPECT_NEAR(most, 2 * 67108864.0 / 8, 4 * 67108864.0 / kCoefficientUnit);
  // 7 edges in each of two trees, half the bytes up and half down.
  EXPECT_NEAR(total, 14 * 67108864.0 / 8, 20 * 67108864.0 / kCoefficientUnit);
}

TEST(CollectiveFlows, AllToAllAcrossRailsCrossesNvlinkFirst) {
  const Fabric fabric(dgx_h100(2));
  const auto e = emit(fabric, {CollectiveKind::all_to_all, 16_MiB, {}, {}}, gpus(0, 16, 1));
  // PXN: of 8 parts to the other node, one leaves on the own rail; each NIC still carries 8 parts.
  EXPECT_NEAR(bytes_on(e.transfer, fabric.nic_link(0, 4, 0, true)), 8.0 / 16 * 16777216,
              16777216.0 / kCoefficientUnit);
  // NVLink out: 7 parts to the node, 7 to the other rails of the node.
  EXPECT_NEAR(bytes_on(e.transfer, fabric.scale_up_link(4, true)), 14.0 / 16 * 16777216,
              16777216.0 / kCoefficientUnit);
}

TEST(CollectiveFlows, AStageSendsOverItsRail) {
  const Fabric fabric(dgx_h100(2));
  const auto machine = make_parameters(fabric.input(), NcclGeneration::hopper);
  const CollectiveCall call{CollectiveKind::send_receive, 32_MiB, {}, {}};
  const std::vector pair{GpuId(2), GpuId(10)};
  const auto alone = collective_time(call, group_shape(fabric, pair), machine);
  const auto transfer = emit_send(fabric, call.bytes, pair[0], pair[1], alone);
  EXPECT_NEAR(bytes_on(transfer, fabric.nic_link(0, 2, 0, true)), 33554432, 1);
  EXPECT_LE(std::abs(run_alone(fabric, {transfer}).end - core::Clock::step().to_ticks(alone.total)),
            1);
}

TEST(CollectiveFlows, LinksThatNeverBindAreLeftOut) {
  const Fabric fabric(dgx_h100(16));
  const auto e = emit(fabric, {CollectiveKind::all_gather, 64_MiB, {}, {}}, gpus(0, 16, 8));
  for (const auto& use : e.transfer.uses) {
    EXPECT_EQ(fabric.link(core::LinkId(use.link)).tier, Tier::nic);
  }
}

TEST(CollectiveFlows, AnImpossibleMeasurementIsRefusedWithBothNumbers) {
  const Fabric fabric(dgx_h100(8));
  CollectiveTime alone;
  alone.total = core::Seconds{1e-3};
  alone.algorithm = Algorithm::ring;
  alone.source = TimeSource::measured_curve;
  alone.nic_bytes = 100_MiB;  // 104.9 GB/s over a NIC of 50
  try {
    emit_collective(fabric, {CollectiveKind::all_gather, 100_MiB, {}, {}}, gpus(3, 8, 8), alone);
    FAIL() << "accepted";
  } catch (const core::Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(
                              "needs 104.9 GB/s on node 0 rail 3 -> leaf, which carries 50 GB/s"));
  }
}

TEST(CollectiveFlows, ATimedTransferHasNoFlows) {
  const Fabric fabric(dgx_h100(1));
  const auto machine = make_parameters(fabric.input(), NcclGeneration::hopper);
  const auto members = gpus(0, 8, 1);
  const CollectiveCall call{CollectiveKind::all_reduce, 64_MiB, {}, {}};
  const auto alone = collective_time(call, group_shape(fabric, members), machine);
  EmitOptions options;
  options.timed = true;
  const auto transfer = emit_collective(fabric, call, members, alone, options);
  EXPECT_TRUE(transfer.flows.empty());
  EXPECT_EQ(transfer.delay, core::Clock::step().to_ticks(alone.total));
}

}  // namespace
}  // namespace headway::network
