// How long work takes of which a trace does not say it.
#include "sim/study/replay/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/gpu/spec.h"

#include "tests/import/chakra_nodes.h"

namespace headway::study {
namespace {

using import::ChakraJob;
using import::ChakraNode;
using import::compute;
using import::trace_of;

/// 100 TFLOP/s, of which products get half, and 1 TB/s, of which a quarter.
gpu::GpuSpec plain_gpu() {
  gpu::GpuSpec gpu;
  gpu.peak.bf16 = core::FlopsPerSecond(1e14);
  gpu.sustained.gemm_16bit = 0.5;
  gpu.memory_bandwidth = core::BytesPerSecond(1e12);
  gpu.sustained.memory = 0.25;
  return gpu;
}

ChakraJob job_of(const std::vector<ChakraNode>& nodes) {
  return import::join_traces({trace_of(0, nodes)}, {});
}

ChakraNode work(std::int64_t operations, std::int64_t bytes) {
  ChakraNode node = compute(0, 0);
  node.operations = operations;
  node.tensor_bytes = bytes;
  return node;
}

// max(FLOPs / (10^14 x 0.5), bytes / (10^12 x 0.25)).
TEST(Roofline, TheSlowerOfProductsAndMemoryCounts) {
  auto job = job_of({work(1'000'000'000'000, 1'000'000)});
  EXPECT_THAT(time_by_roofline(job, plain_gpu()).value(),
              testing::StartsWith("1 of 1 nodes have num_ops and no duration"));
  EXPECT_EQ(job.traces[0].nodes[0].picoseconds(), 20'000'000'000);
  job = job_of({work(1, 1'000'000'000)});
  (void)time_by_roofline(job, plain_gpu());
  EXPECT_EQ(job.traces[0].nodes[0].picoseconds(), 4'000'000'000);
}

TEST(Roofline, ADurationGoesBeforeAndNothingIsSaid) {
  ChakraNode node = work(1'000'000'000'000, 1'000'000);
  node.duration_us = 7;
  auto job = job_of({node});
  EXPECT_FALSE(time_by_roofline(job, plain_gpu()));
  EXPECT_EQ(job.traces[0].nodes[0].picoseconds(), 7'000'000);
}

}  // namespace
}  // namespace headway::study
