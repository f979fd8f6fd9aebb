// Steps that are exported as traces and read back.
#include "sim/study/replay/step_traces.h"

#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/study/replay/replay.h"
#include "sim/training/step/step.h"

#include "tests/study/replayed.h"

namespace headway::study {
namespace {

/// Exported, written, read and replayed, a step takes the same ticks: durations are kept to the
/// picosecond, and every group of every transfer is one of the trace.
class RoundTrip : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(RoundTrip, KeepsTheStepToTheTick) {
  config::LoadOptions options = kCatalogue;
  options.set = {"cluster.nodes=2", "parallelism.data=auto", "training.global_batch=32"};
  options.set.insert(options.set.end(), GetParam().begin(), GetParam().end());
  const auto loaded = config::load_scenario(
      HEADWAY_SOURCE_DIR "/configs/scenarios/small-llama-8b-64-h100.yaml", options);
  const auto checked = training::check(loaded.scenario, loaded.marks);
  const StepTraces step(checked);
  std::vector<import::ChakraTrace> traces;
  for (std::int64_t rank = 0; rank < step.ranks(); ++rank) {
    const std::string file = "step." + std::to_string(rank) + ".et";
    traces.push_back(import::read_chakra(import::write_chakra(step.trace(rank)), file));
  }
  const Machine machine{"m", loaded.scenario.cluster, loaded.scenario.calibration.collectives, {}};
  const auto report = replay(import::join_traces(std::move(traces), {}), machine);
  EXPECT_EQ(report.time, training::simulate_step(checked).time);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    RoundTrip,
    testing::Values(std::vector<std::string>{"parallelism.tensor=2"},
                    std::vector<std::string>{"parallelism.tensor=2", "parallelism.pipeline=4",
                                             "parallelism.micro_batch=1"},
                    std::vector<std::string>{"parallelism.tensor=8", "parallelism.sharding=zero3"},
                    std::vector<std::string>{"parallelism.tensor=2", "parallelism.context=2"},
                    std::vector<std::string>{"cluster.placement=random", "parallelism.tensor=4"}));

TEST(StepTraces, WholeMicrosecondsOfARankAreRightTogether) {
  config::LoadOptions options = kCatalogue;
  options.set = {"cluster.nodes=1", "parallelism.data=auto", "training.global_batch=8"};
  const auto loaded = config::load_scenario(
      HEADWAY_SOURCE_DIR "/configs/scenarios/small-llama-8b-64-h100.yaml", options);
  const StepTraces step(training::check(loaded.scenario, loaded.marks));
  double whole = 0;
  double exact = 0;
  for (const import::ChakraNode& node : step.trace(3).nodes) {
    if (node.kind == import::ChakraKind::computation) {
      whole += static_cast<double>(node.duration_us) * 1e-6;
      exact += static_cast<double>(node.picoseconds()) * 1e-12;
    }
  }
  EXPECT_GT(exact, 0.01);
  EXPECT_NEAR(whole, exact, 0.5e-6 + kTick);
}

}  // namespace
}  // namespace headway::study
