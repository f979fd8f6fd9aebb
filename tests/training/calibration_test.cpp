// What was measured stands where the catalogue's or the framework's figure stood.
#include <gtest/gtest.h>

#include "sim/training/calibration_spec.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

TEST(Calibration, MeasuredInterferenceReplacesTheFrameworks) {
  auto s = eight_nodes();
  s.training.framework.data_interference = 0.3;
  const core::Seconds framework = simulate_step(check(s)).time;
  s.calibration.data_interference = 0.0;
  EXPECT_LT(simulate_step(check(s)).time, framework);
  s.calibration.data_interference = 0.3;
  EXPECT_EQ(simulate_step(check(s)).time, framework);
}

TEST(Calibration, LaunchesAreThoseOfTheSoftwareThatWasMeasured) {
  workload::FrameworkSpec framework;
  framework.host.launch = core::Seconds(5e-6);
  CalibrationSpec calibration;
  using E = workload::Elementwise;
  for (const E elementwise : {E::fused, E::compiled, E::eager}) {
    framework.elementwise = elementwise;
    EXPECT_EQ(host_launch(calibration, framework), core::Seconds(5e-6));
  }
  calibration.eager_launch = core::Seconds(9e-6);
  calibration.compiled_launch = core::Seconds(7e-6);
  EXPECT_EQ(host_launch(calibration, framework), core::Seconds(9e-6));
  framework.elementwise = E::compiled;
  EXPECT_EQ(host_launch(calibration, framework), core::Seconds(7e-6));
  framework.elementwise = E::fused;
  EXPECT_EQ(host_launch(calibration, framework), core::Seconds(5e-6));
}

TEST(Calibration, AMeasuredLaunchHoldsUpAStepThatTheCpuLimits) {
  auto s = eight_nodes();
  s.training.framework.elementwise = workload::Elementwise::eager;
  s.training.framework.host.launch = core::Seconds(1e-3);
  const core::Seconds framework = simulate_step(check(s)).time;
  s.calibration.eager_launch = core::Seconds(1e-6);
  EXPECT_LT(2 * simulate_step(check(s)).time, framework);
}

}  // namespace
}  // namespace headway::training
