// Oracle O8 of the field notes: the slowest of many GPUs decides, in the simulated step.
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "sim/campaign/closed_form.h"
#include "sim/core/random.h"
#include "sim/training/degraded/degraded_step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

constexpr std::uint32_t kGpus = 64;
constexpr double kSlow = 0.005;  // chance that a GPU is slow
constexpr double kFactor = 1.1;

/// `count` different GPUs, slow by `kFactor`.
std::vector<Degradation> slow_gpus(std::uint32_t count, const core::RandomStream& stream) {
  std::vector<std::uint32_t> ranks(kGpus);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<Degradation> slow;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::swap(ranks[i], ranks[i + stream.index(i, 0, kGpus - i)]);
    slow.push_back({Degradation::Kind::gpu, 1 / kFactor, core::Rank(ranks[i])});
  }
  return slow;
}

TEST(StragglerOracle, TheSlowestOfManyDecidesTheSimulatedStep) {
  // Pure data parallelism: every GPU waits for all gradients. What the slowness of all GPUs adds to
  // the step gives the share of it that no transfer hides; the mean step with each GPU slow by
  // chance then follows from the closed form, and from simulated steps weighted by the exact chance
  // of 0 to 6 slow GPUs, ten random choices of places each (more: 1e-8).
  Scenario scenario = eight_nodes();
  scenario.parallelism.tensor = 1;
  scenario.parallelism.pipeline = 1;
  scenario.training.global_batch = kGpus;
  const auto checked = check(scenario);
  const PreparedStep healthy = prepare_step(checked);
  std::vector<core::Rank> everywhere;
  for (std::uint32_t rank = 0; rank < kGpus; ++rank) {
    everywhere.emplace_back(rank);
  }
  const DegradedSteps steps(healthy, everywhere);
  const double base = steps.time({}).si();
  const double all = steps.time({{Degradation::Kind::all_gpus, 1 / kFactor, core::Rank(0)}}).si();
  const double exposed = (all / base - 1) / (kFactor - 1);
  EXPECT_GT(exposed, 0.5);
  EXPECT_LE(exposed, 1 + 1e-9);
  double mean = 0;
  double chance = std::pow(1 - kSlow, kGpus);
  for (std::uint32_t count = 0; count <= 6; ++count) {
    double sum = 0;
    for (std::uint32_t draw = 0; draw < 10; ++draw) {
      sum += steps.time(slow_gpus(count, core::RandomStream(8, "places", 10 * count + draw))).si();
    }
    mean += chance * sum / 10;
    chance *= kSlow / (1 - kSlow) * (kGpus - count) / (count + 1);
  }
  const double exact = campaign::straggler_step(kSlow, kFactor, kGpus, exposed);
  EXPECT_NEAR((mean / base - 1) / (exact - 1), 1, 0.01);  // of the excess, not of the step
}

}  // namespace
}  // namespace headway::training
