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
  using core::Seconds;
  workload::FrameworkSpec framework;
  framework.host.launch = Seconds(5e-6);
  framework.host.layer = Seconds(1e-6);
  CalibrationSpec calibration;
  using E = workload::Elementwise;
  const auto expect = [&](E elementwise, double launch, double layer) {
    framework.elementwise = elementwise;
    EXPECT_EQ(host_launch(calibration, framework), Seconds(launch));
    EXPECT_EQ(host_layer(calibration, framework), Seconds(layer));
  };
  for (const E elementwise : {E::fused, E::compiled, E::eager}) {
    expect(elementwise, 5e-6, 1e-6);
  }
  calibration.eager_launch = Seconds(9e-6);
  calibration.compiled_layer = Seconds(1e-3);
  expect(E::eager, 9e-6, 1e-6);
  expect(E::compiled, 5e-6, 1e-3);
  expect(E::fused, 5e-6, 1e-6);
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
