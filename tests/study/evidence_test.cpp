// Figures that logs of all kinds are turned into.
#include "sim/study/diagnose/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/gpu/kernel_time.h"

#include "tests/import/profiler_trace.h"
#include "tests/study/planted.h"

namespace headway::study {
namespace {

using testing::HasSubstr;

training::CheckedScenario job() {
  const auto loaded = config::load_scenario_text(planted_scenario(), "planted.yaml",
                                                 {{HEADWAY_SOURCE_DIR "/configs"}, {}});
  return training::check(loaded.scenario, loaded.marks);
}

const Observation& of(const Evidence& evidence, Feature feature) {
  for (const Observation& observation : evidence.observations) {
    if (observation.feature == feature) {
      return observation;
    }
  }
  throw core::Error("no such observation");
}

TEST(Evidence, TokensAndSamplesASecondAreStepTimes) {
  // 256 sequences of 8,192 tokens on 128 GPUs: at 8,192 tokens/s and GPU a step takes 2 s.
  const auto tokens = read_evidence(
      job(), {{"a.log", "step: 1 loss: 2 memory: 40.00GiB(50%) tps: 8,192 mfu: 1%\n"}});
  EXPECT_NEAR(of(tokens, Feature::step_time).measured, 2, 1e-12);
  EXPECT_NEAR(of(tokens, Feature::memory).measured, 40 * 1073741824.0, 1);
  // 64 sequences a second: 4 s.
  const auto samples = read_evidence(
      job(), {{"b.log", "global_step=3, RunningAvgSamplesPerSec=9, CurrSamplesPerSec=64.0\n"}});
  EXPECT_NEAR(of(samples, Feature::step_time).measured, 4, 1e-12);
  EXPECT_THAT(samples.remarks.front(), HasSubstr("too few to tell how they scatter"));
}

TEST(Evidence, ProductsOfATraceStandBesideTheirPrediction) {
  const auto evidence = read_evidence(job(), {{"trace.json", import::profiler_trace(3, 4)}});
  core::Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.m = 4096;
  kernel.n = 3072;
  kernel.k = 1024;
  kernel.work = core::Flops(2.0 * 4096 * 3072 * 1024);
  const auto checked = job();
  const auto& gpu = checked.scenario().cluster.node.gpu;
  const double predicted = gpu::kernel_time(gpu, gpu.sustained, kernel, {}).si();
  // Layers take 40, 41, 42 and 43 us.
  EXPECT_NEAR(of(evidence, Feature::products).measured, 41.5e-6 / predicted, 1e-9);
}

TEST(Evidence, MonitorsTellTheSlowestGpuAndWhereItStands) {
  const auto evidence = read_evidence(
      job(), {{"logs/n07.txt", "# gpu pwr pclk\n0 650 1700\n1 640 1700\n2 500 1190\n"}});
  EXPECT_NEAR(of(evidence, Feature::clock_ratio).measured, 0.7, 1e-12);
  EXPECT_EQ(of(evidence, Feature::power).measured, 640);
  EXPECT_EQ(evidence.slowest_gpu, "n07 GPU 2");
  EXPECT_THAT(evidence.nodes, testing::ElementsAre("n07"));
}

TEST(Evidence, SmallMessagesAreLeftOutAndSaidSo) {
  const std::string log =
      "# Collective test starting: all_reduce_perf\n"
      "# Rank 0 Group 0 Pid 1 on n0 device 0 [0x00] NVIDIA H100\n"
      "# Rank 1 Group 0 Pid 2 on n0 device 1 [0x00] NVIDIA H100\n"
      "1048576 262144 float sum -1 17.99 58.29 58.29 0 17.8 58.9 58.9 0\n";
  const auto evidence = read_evidence(job(), {{"small.log", log}});
  EXPECT_TRUE(evidence.observations.empty());
  EXPECT_THAT(evidence.remarks.front(), HasSubstr("small.log: no message of 64 MiB or more"));
}

}  // namespace
}  // namespace headway::study
