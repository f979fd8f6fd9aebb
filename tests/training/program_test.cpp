#include "sim/training/step/program.h"

#include <gtest/gtest.h>

namespace headway::training {
namespace {

using core::Activity;
using network::StepCode;
using workload::Group;
using workload::Operation;
using workload::OperationKind;

gpu::GpuSpec plain_gpu() {
  gpu::GpuSpec gpu;
  gpu.name = "test";
  gpu.peak.bf16 = core::FlopsPerSecond(1e15);
  gpu.memory_bandwidth = core::BytesPerSecond(1e12);
  gpu.sustained.memory = 1;
  gpu.kernel_launch = core::Seconds(0);
  return gpu;
}

/// A memory-bound operation of `bytes`: at 1 TB/s, 1e6 B take 1 us = 1e6 ps.
Operation compute(double bytes) {
  Operation o;
  o.name = "copy";
  core::Kernel kernel;
  kernel.traffic = core::Bytes(bytes);
  o.kernels = {kernel};
  return o;
}

Operation collective(bool asynchronous, int ticket) {
  Operation o;
  o.kind = OperationKind::collective;
  o.activity = Activity::data;
  o.name = "reduce";
  o.group = Group::data;
  o.bytes = core::Bytes(100);
  o.asynchronous = asynchronous;
  o.ticket = ticket;
  return o;
}

StageProgram compile(const std::vector<Operation>& operations,
                     const std::vector<Group>& of_one = {},
                     double cpu_launch = 0,
                     double interference = 0) {
  workload::StepGraph graph;
  graph.blocks.push_back({"block", operations});
  graph.stages.push_back({{{0, workload::CallKind::forward, 0, 0, 1}}});
  const auto gpu = plain_gpu();
  std::vector<std::string> names{""};
  return compile_stage(
      {&graph,
       block_times(graph, {&gpu, gpu.sustained, {core::Seconds(cpu_launch), false}},
                   {[interference](const Operation&) { return core::Seconds(interference); }, {}}),
       of_one,
       {}},
      0, names);
}

std::vector<StepCode> codes(const StageProgram& program) {
  std::vector<StepCode> list;
  for (const auto& step : program.steps) {
    list.push_back(step.code);
  }
  return list;
}

TEST(CompileStage, ABlockingCollectiveIsWaitedForAtOnce) {
  EXPECT_EQ(codes(compile({collective(false, -1), compute(1e6)})),
            (std::vector<StepCode>{StepCode::arrive, StepCode::wait, StepCode::compute}));
}

TEST(CompileStage, AnAsynchronousCollectiveIsWaitedForWhereItIsNamed) {
  auto last = compute(2e6);
  last.waits = {0};
  EXPECT_EQ(codes(compile({collective(true, -1), compute(1e6), last})),
            (std::vector<StepCode>{StepCode::arrive, StepCode::compute, StepCode::wait,
                                   StepCode::compute}));
}

TEST(CompileStage, ATicketIsAwaitedByALaterOperationAndOtherwiseAtTheEnd) {
  auto last = compute(2e6);
  last.await = {7};
  EXPECT_EQ(codes(compile({collective(true, 7), collective(true, 8), compute(1e6), last})),
            (std::vector<StepCode>{StepCode::arrive, StepCode::arrive, StepCode::compute,
                                   StepCode::wait, StepCode::compute, StepCode::wait}));
}

TEST(CompileStage, AGroupOfOneRankHasNothingToTransfer) {
  EXPECT_EQ(codes(compile({collective(false, -1), compute(1e6)}, {Group::data})),
            (std::vector<StepCode>{StepCode::compute}));
}

TEST(CompileStage, KernelsTakeTheirRooflineTime) {
  EXPECT_EQ(compile({compute(1e6)}).steps[0].ticks, 1'000'000);  // 1e6 B / 1e12 B/s = 1 us
}

// Two kernels of 1 us each, 5 us of CPU to launch one: r = 5, the block takes 2 us x (1 +
// 5^8)^(1/8) = 10.0000 us, both kernels stretched alike.
TEST(CompileStage, ACpuSlowerThanTheGpuStretchesTheWholeBlock) {
  const auto program = compile({compute(1e6), compute(1e6)}, {}, 5e-6);
  EXPECT_NEAR(static_cast<double>(program.steps[0].ticks), 5'000'000, 10);
  EXPECT_EQ(program.steps[1].ticks, program.steps[0].ticks);
}

// A kernel of 1 us and a collective of 4 us that blocks; the CPU needs 1 us to launch, 6 for the
// collective and 3 for the layer: r = 2, the block takes 5 us x (1 + 2^8)^(1/8) = 10.00488 us, the
// kernel all of it but the collective's 4.
TEST(CompileStage, TheCpuIsHeldToWhatKernelsAndBlockingTransfersTakeTogether) {
  const auto gpu = plain_gpu();
  KernelTimes times{&gpu, gpu.sustained, {core::Seconds(1e-6), false}};
  times.launch.collective = core::Seconds(6e-6);
  times.launch.layer = core::Seconds(3e-6);
  const workload::Block block{"layer", {compute(1e6), collective(false, -1)}, 1};
  const TransferCosts transfers{{}, [](const Operation&) { return core::Seconds(4e-6); }};
  const auto list = operation_times(block, times, transfers);
  EXPECT_NEAR(static_cast<double>(list[0].ticks), 6'004'880, 10);
  EXPECT_EQ(list[0].ticks - list[0].launch, 1'000'000);
}

// A collective beside a kernel of 1 us takes 0.25 us of compute time: launched, paid for, awaited
// at the block's end.
TEST(CompileStage, ACollectiveBesideKernelsCostsThemTime) {
  const auto program = compile({collective(true, -1), compute(1e6)}, {}, 0, 0.25e-6);
  ASSERT_GE(program.steps.size(), 4U);
  EXPECT_EQ(program.steps[0].code, network::StepCode::arrive);
  EXPECT_EQ(program.steps[1].code, network::StepCode::compute);
  EXPECT_EQ(program.steps[1].activity, core::Activity::data);
  EXPECT_EQ(program.steps[1].ticks, 250'000);
  EXPECT_EQ(program.steps[2].code, network::StepCode::compute);
  EXPECT_EQ(program.steps[3].code, network::StepCode::wait);
}

Operation message(OperationKind kind, int peer, int channel) {
  Operation o;
  o.kind = kind;
  o.peer_stage = peer;
  o.channel = channel;
  return o;
}

// Stage 0 sends channels 0, 1 to stage 1, which takes them in that order; stage 1 answers 0, 1 and
// stage 0 takes 1, 0.
TEST(InOrderPairs, AreThoseWhereNoMessageOvertakesAnother) {
  workload::StepGraph graph;
  graph.blocks.push_back(
      {"first",
       {message(OperationKind::send, 1, 0), message(OperationKind::send, 1, 1),
        message(OperationKind::receive, 1, 1), message(OperationKind::receive, 1, 0)}});
  graph.blocks.push_back(
      {"second",
       {message(OperationKind::receive, 0, 0), message(OperationKind::receive, 0, 1),
        message(OperationKind::send, 0, 0), message(OperationKind::send, 0, 1)}});
  graph.stages.push_back({{{0, workload::CallKind::forward, 0, 0, 1}}});
  graph.stages.push_back({{{1, workload::CallKind::forward, 0, 0, 1}}});
  EXPECT_EQ(in_order_pairs(graph), (std::set<std::pair<int, int>>{{0, 1}}));
}

}  // namespace
}  // namespace headway::training
