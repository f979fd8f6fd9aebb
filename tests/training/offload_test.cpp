// An optimizer that lives on the host: bytes that leave the GPU, seconds that the copies and the CPUs take.
#include <gtest/gtest.h>

#include "sim/training/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

Scenario offloaded() {
  Scenario s = eight_nodes();
  s.parallelism.offload = workload::Offload::optimizer;
  return s;
}

// 12 B a parameter leave the GPU, no more and no less, and are found on the host, once for each of its 8 GPUs.
TEST(Offload, MovesMasterWeightsAndMomentsToTheHost) {
  const auto kept = predict_memory(check(eight_nodes()));
  const auto moved = predict_memory(check(offloaded()));
  EXPECT_GT(kept.by_kind.optimizer.si(), 0);
  EXPECT_EQ(moved.by_kind.optimizer.si(), 0);
  EXPECT_EQ(kept.host_peak.si(), 0);
  EXPECT_LT(moved.peak, kept.peak);
  EXPECT_GE(moved.host_peak.si(), 8 * kept.by_kind.optimizer.si());  // the peak stage is not the largest on the host
}

// Per updated parameter: 4 B of gradient at the host link, 4 + 26 B in host memory (of which a GPU has an eighth of
// 80 %), 2 B back; instead of 30 B in GPU memory. The step grows by just that: every stage updates after the last
// backward, and the stage with the most parameters ends last.
TEST(Offload, CostsTheCopiesAndTheUpdateOnTheHost) {
  const auto on_gpu = eight_nodes();
  const core::Seconds kept = simulate_step(check(on_gpu)).time;
  const core::Seconds moved = simulate_step(check(offloaded())).time;
  const double parameters = predict_memory(check(offloaded())).host_peak.si() / 8 / 12;
  const auto& node = on_gpu.cluster.node;
  const double host = parameters * (4 + 2) / node.gpu.host_bandwidth.si() +
                      parameters * 30 / (node.host_memory_bandwidth.si() * 0.8 / 8);
  const double gpu = parameters * 30 / (node.gpu.memory_bandwidth.si() * node.gpu.sustained.memory);
  EXPECT_NEAR((moved - kept).si() / (host - gpu), 1, 0.01);
}

TEST(Offload, AHostWithoutTheMemoryDoesNotFit) {
  auto s = offloaded();
  s.cluster.node.host_memory = core::Bytes(1e9);
  const auto memory = predict_memory(check(s));
  EXPECT_LE(memory.peak, memory.capacity);
  EXPECT_FALSE(memory.fits);
}

TEST(Offload, MeasuredInterferenceReplacesTheFrameworks) {
  auto s = eight_nodes();
  s.training.framework.data_interference = 0.3;
  const core::Seconds framework = simulate_step(check(s)).time;
  s.calibration.data_interference = 0.0;
  EXPECT_LT(simulate_step(check(s)).time, framework);
  s.calibration.data_interference = 0.3;
  EXPECT_EQ(simulate_step(check(s)).time, framework);
}

}  // namespace
}  // namespace headway::training
