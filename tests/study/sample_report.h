// A fabricated result with round figures, so that every printed number can be checked by eye.
#pragma once

#include "sim/study/run_report.h"
#include "sim/study/words.h"

namespace headway::study {

/// 16 GPUs, a step of 4 s of which 3 s are compute; 2 trials of a run; no cost.
inline RunReport sample_report() {
  using core::Activity;
  using core::Bytes;
  using core::Seconds;
  RunReport report;
  report.version = "0.1.0";
  report.scenario.name = "Sample";
  report.scenario.model.name = "toy";
  report.scenario.training.sequence_length = 2048;
  report.scenario.training.global_batch = 64;
  report.scenario.cluster.nodes = 2;
  report.scenario.cluster.node.name = "box";
  report.scenario.cluster.fabric.name = "rails";
  report.scenario.cluster.storage.emplace();
  report.scenario.cluster.storage->name = "disk";
  report.digest = "00000000000000aa";
  report.layout = {16, 2, 8};
  report.asked = asked_in_words(report.scenario, report.layout);
  report.model = {"toy", 2e9, 2e9, 2e9, 0, {}, 0, 131072};
  auto& step = report.step;
  step.time = Seconds(4);
  step.interval_low = Seconds(3.5);
  step.interval_high = Seconds(4.5);
  step.tokens_per_s = 32768;
  step.tokens_per_s_per_gpu = 2048;
  step.mfu = 0.42;
  step.mfu_causal = 0.4;
  step.hfu = 0.44;
  step.model_flops_per_gpu = core::FlopsPerSecond(415e12);
  step.breakdown[Activity::compute] = Seconds(3);
  step.kernels = {Seconds(3)};
  step.breakdown[Activity::pipeline_bubble] = Seconds(0.75);
  step.breakdown[Activity::data] = Seconds(0.25);
  step.critical_path[Activity::compute] = Seconds(3.5);
  step.critical_path[Activity::data] = Seconds(0.5);
  step.links = {{"nic", 0.2, 0.4}};
  step.event_digest = 0xabcdef;
  step.result_digest = 0x123456;
  const double gib = 1073741824.0;
  step.memory = {true,
                 Bytes(60 * gib),
                 Bytes(80 * gib),
                 0,
                 Bytes(56 * gib),
                 Bytes(58 * gib),
                 {Bytes(10 * gib), Bytes(10 * gib), Bytes(5 * gib), Bytes(30 * gib), Bytes(1 * gib),
                  Bytes(2 * gib), Bytes(2 * gib)},
                 {Bytes(60 * gib)},
                 {Bytes(56 * gib)},
                 {Bytes(58 * gib)},
                 Bytes(0),
                 Bytes(2000 * gib)};
  report.limit = "The step is limited by the pipeline bubble.";
  report.assumptions = {{"run.recovery.detection", "60 s", "not published"}};
  report.timing.threads = 2;
  return report;
}

/// The same with a campaign of two trials.
inline RunReport sample_report_with_campaign() {
  RunReport report = sample_report();
  campaign::CampaignResult c;
  c.trials = 2;
  c.wall_days = {9, 10, 11, 10, 0.1};
  c.ettr = {0.85, 0.9, 0.95, 0.9, 0.01};
  c.goodput = {0.8, 0.88, 0.9, 0.875, 0.01};
  c.interruptions = {1, 2, 3, 2, 0.1};
  c.ledger[campaign::Account::useful] = 9 * 3600;
  c.ledger[campaign::Account::lost] = 3600;
  c.steps = {1000, 1000, 1000, 1000, 0};
  c.checkpoint_interval = core::Seconds(1800);
  c.checkpoint_stall = core::Seconds(2);
  c.mean_time_between_interruptions = core::Seconds(432000);
  c.by_hazard = {{"gpu", 2}};
  report.campaign = c;
  return report;
}

}  // namespace headway::study
