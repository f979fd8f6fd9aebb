// Who notices what first, and how long that takes on average.
#include "sim/campaign/job/detection.h"

#include <gtest/gtest.h>

#include "sim/core/statistics.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using failures::Effect;

JobRecovery recovery() {
  JobRecovery r = JobRecovery::at_once();
  r.detection = Seconds(60);
  failures::DetectorsSpec d;
  d.process_exit = Seconds(5);
  d.watchdog = Seconds(600);
  d.heartbeat = Seconds(90);
  d.health_check = failures::HealthCheckSpec{Seconds(300), 0.5};
  d.straggler_monitor = failures::StragglerMonitorSpec{Seconds(120), 0.9, {}};
  r.detectors = d;
  return r;
}

failures::Hazard hazard(Effect effect) {
  failures::Hazard h;
  h.name = "fault";
  h.effect = effect;
  return h;
}

TEST(Detection, FallsToTheFirstThatSeesTheFault) {
  const DetectionDraws late{.phase = 0.9, .found = 0.9, .window = 0.5};
  EXPECT_EQ(first_detection(recovery(), hazard(Effect::stop), late)->detector,
            Detector::process_exit);
  EXPECT_EQ(first_detection(recovery(), hazard(Effect::hang), late)->detector, Detector::heartbeat);
  EXPECT_EQ(first_detection(recovery(), hazard(Effect::slow_gpu), late)->detector,
            Detector::straggler_monitor);
  const auto drive = first_detection(recovery(), hazard(Effect::slow_drive), late);
  EXPECT_EQ(drive->detector, Detector::health_check);
  EXPECT_DOUBLE_EQ(drive->after.si(), 0.9 * 300);
  // A health check that comes soon is quicker than a heartbeat.
  EXPECT_EQ(
      first_detection(recovery(), hazard(Effect::hang), {.phase = 0.1, .found = 0.9})->detector,
      Detector::health_check);
}

TEST(Detection, WithoutAWatchdogTakesUntilSomethingElseNotices) {
  JobRecovery r = recovery();
  r.detectors->heartbeat.reset();
  const DetectionDraws late{.phase = 0.9, .found = 1e-9, .window = 0.5};
  EXPECT_EQ(first_detection(r, hazard(Effect::hang), late)->detector, Detector::watchdog);
  r.detectors->watchdog.reset();
  EXPECT_GT(first_detection(r, hazard(Effect::hang), late)->after.si(), 600);
  r.detectors->health_check.reset();
  EXPECT_FALSE(first_detection(r, hazard(Effect::hang), late).has_value());
}

TEST(Detection, WithoutDetectorsIsTheRecoverysOneTime) {
  JobRecovery r = recovery();
  r.detectors.reset();
  failures::Hazard h = hazard(Effect::hang);
  h.detection = Seconds(7);
  EXPECT_DOUBLE_EQ(first_detection(r, h, {})->after.si(), 67);
}

TEST(MeanDetection, IsTheMeanOverTheDraws) {
  JobRecovery r = recovery();
  r.detectors->heartbeat =
      Seconds(700);  // two whole periods of the health check and a third of one
  r.detectors->watchdog.reset();
  const core::RandomStream stream(1, "draws");
  for (const double recall : {0.3, 0.8, 1.0}) {
    r.detectors->health_check->recall = recall;
    core::Moments times;
    for (std::uint64_t i = 0; i < 100000; ++i) {
      times.add(first_detection(r, hazard(Effect::hang),
                                {stream.uniform(i, 0), stream.uniform(i, 1), 0.5})
                    ->after.si());
    }
    const double exact = mean_detection(r, hazard(Effect::hang)).si();
    EXPECT_NEAR(times.mean(), exact, 4 * times.estimate().standard_error);
    EXPECT_LT(4 * times.estimate().standard_error, 0.01 * exact);
  }
  // Found by the first check for sure: half a period on average, whatever else there is.
  EXPECT_DOUBLE_EQ(mean_detection(r, hazard(Effect::hang)).si(), 150);
}

}  // namespace
}  // namespace headway::campaign
