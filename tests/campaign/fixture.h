// The small job that the tests of trials share: every number chosen so that sums can be done by
// hand.
#pragma once

#include "sim/campaign/trial.h"

namespace headway::campaign {

inline constexpr core::Tick kSecond = 1'000'000;

/// 1,000 s of work, saves every 100 s that stall 10 s and are durable 30 s later; D = 5 + 6 s, 7 s
/// for a lost node; a restart of 15 + 20 + 5 s.
inline JobModel small_job() {
  using core::Seconds;
  JobModel model;
  model.gpus = 16;
  model.gpus_per_node = 8;
  model.end.work = Seconds(1000);
  model.step = Seconds(7);
  model.interval = Seconds(100);
  model.stall = Seconds(10);
  model.persist = Seconds(30);
  model.recovery = JobRecovery::at_once();
  model.recovery.detection = Seconds(5);
  model.recovery.diagnosis = Seconds(6);
  model.recovery.replacement = Seconds(7);
  model.recovery.container_start = Seconds(15);
  model.recovery.load = Seconds(20);
  model.recovery.warm_up = Seconds(5);
  model.recovery.repair = Seconds(1000);
  return model;
}

/// A fault that strikes once, at a known time.
inline failures::Hazard fault_at(const char* name, double seconds, std::int64_t nodes_lost = 1) {
  failures::Hazard hazard;
  hazard.name = name;
  hazard.rate = core::PerSecond(1e-3);
  hazard.nodes_lost = nodes_lost;
  hazard.recorded = {{core::Seconds(seconds), {}}};
  return hazard;
}

inline failures::Hazard slow_at(const char* name,
                                double seconds,
                                failures::Effect effect,
                                double keeps) {
  failures::Hazard hazard = fault_at(name, seconds);
  hazard.effect = effect;
  hazard.keeps = keeps;
  return hazard;
}

inline core::Tick ticks(double seconds) {
  return core::Clock::campaign().to_ticks(core::Seconds(seconds));
}

}  // namespace headway::campaign
