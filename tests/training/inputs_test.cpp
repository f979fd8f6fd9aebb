#include "sim/training/explain/inputs.h"

#include <gtest/gtest.h>

#include "sim/failures/model.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Seconds;

const Input& input(const std::string& name) {
  for (const Input& one : step_inputs()) {
    if (one.name == name) {
      return one;
    }
  }
  ADD_FAILURE() << name;
  return memory_input();
}

TEST(Inputs, ScaleEveryKindOfNodeAndNothingElse) {
  Scenario s = eight_nodes();
  s.cluster.other_nodes.push_back({2, s.cluster.node, {}});
  s.cluster.other_nodes[0].node.scale_up.bandwidth *= 3;
  Scenario twice = scaled(s, input("NVLink"), 2);
  const auto rate = s.cluster.node.scale_up.bandwidth;
  EXPECT_EQ(twice.cluster.node.scale_up.bandwidth, 2 * rate);
  EXPECT_EQ(twice.cluster.other_nodes[0].node.scale_up.bandwidth, 6 * rate);
  twice.cluster.node.scale_up.bandwidth = rate;
  twice.cluster.other_nodes[0].node.scale_up.bandwidth = 3 * rate;
  EXPECT_EQ(twice, s);
}

// What was measured replaces the catalogue's figure, so it is what has to change.
TEST(Inputs, ScaleWhatWasMeasured) {
  Scenario s = eight_nodes();
  s.calibration.kernel_launch = Seconds(3e-6);
  EXPECT_EQ(*scaled(s, input("gaps between kernels"), 0.5).calibration.kernel_launch,
            Seconds(1.5e-6));
  s.calibration.eager_launch = Seconds(9e-6);
  EXPECT_EQ(*scaled(s, input("CPU time"), 2).calibration.eager_launch, Seconds(18e-6));
  s.calibration.host_bandwidth = core::BytesPerSecond(5e10);
  EXPECT_EQ(scaled(s, host_way_input(), 2).calibration.host_bandwidth->si(), 1e11);
  s.calibration.kernels = gpu::SustainedShares{};
  s.calibration.kernels->attention_forward = 0.6;
  const Scenario more = scaled(s, input("attention kernels"), 2);
  EXPECT_EQ(more.calibration.kernels->attention_forward, 1.0);  // a share is at most the peak
  EXPECT_EQ(more.cluster.node.gpu.sustained, s.cluster.node.gpu.sustained);
}

TEST(Inputs, ScaleHowOftenThingsFail) {
  Scenario s = eight_nodes();
  s.run.failures = failures::FailureSpec{};
  failures::HazardSpec timed;
  timed.name = "timed";
  timed.mtbf = Seconds(1e8);
  failures::HazardSpec counted;
  counted.name = "counted";
  counted.count = 148;
  s.run.failures->hazards = {timed, counted};
  s.run.failures->observed = failures::ExposureSpec{16384, 8, Seconds(54 * 86400.0)};
  s.run.failures->lemons = failures::LemonSpec{};
  const failures::Fleet fleet{64, 8};
  const auto once = failures::hazards_of(*s.run.failures, fleet);
  const auto thrice = failures::hazards_of(*scaled(s, failure_input(), 3).run.failures, fleet);
  ASSERT_EQ(once.size(), thrice.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_NEAR(thrice[i].rate / once[i].rate, 3, 1e-12) << once[i].name;
  }
  EXPECT_EQ(scaled(eight_nodes(), failure_input(), 3), eight_nodes());  // nothing fails
}

}  // namespace
}  // namespace headway::training
