// A step without events: what a form shows while somebody types, before the simulation has ended.
#pragma once

#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/study/run_report.h"

namespace headway::study {

/// The figures of `headway run` that need no events. Transfers of different groups do not wait for
/// one another, and there are no failures, so the step is a lower estimate of the simulated one;
/// how far it is off: docs/models/workload.md, part "analytic tier".
struct Estimate {
  std::string version;
  ScenarioLabel scenario;
  std::vector<std::string> asked;
  ModelSize model;
  Layout layout;
  core::Seconds pipeline, reduction, update, imbalance;  ///< parts of `step.time`; add up to it
  training::StepResult step;                             ///< time, rates and memory only
  std::optional<core::Seconds> work;                     ///< of the run, were nothing to fail

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.part("scenario", scenario);
    v.part("asked", asked, "model, cluster and layout in sentences");
    v.part("model", model, "What is trained.");
    v.figure("time_s", step.time, "s", "wall time of one optimizer step, healthy cluster",
             core::positive);
    v.figure("pipeline_s", pipeline, "s", "of it, from the first forward to the last backward",
             core::non_negative);
    v.figure("reduction_s", reduction, "s",
             "of it, reductions of gradients that the last backward does not hide",
             core::non_negative);
    v.figure("update_s", update, "s",
             "of it, norm of the gradients, optimizer, gathers behind it, fixed overhead",
             core::non_negative);
    v.figure("imbalance_s", imbalance, "s",
             "of it, waits for the data rank whose documents or images have the most work",
             core::non_negative);
    v.figure("tokens_per_s", step.tokens_per_s, "1/s", "`global batch x sequence length / time`",
             core::non_negative);
    v.figure("tokens_per_s_per_gpu", step.tokens_per_s_per_gpu, "1/s",
             "the same / GPUs of the job, spares not counted", core::non_negative);
    v.figure("mfu", step.mfu, "1", "as `step.mfu` of `headway run`, of this time",
             core::non_negative);
    v.figure("model_tflops_per_gpu", step.model_flops_per_gpu.si() / 1e12, "10^12/s",
             "model FLOPs per second per GPU, convention of `mfu`", core::non_negative);
    v.part("memory", step.memory, "Of the fullest GPU; the same as that of `headway run`.");
    v.figure("work_s", work, "s",
             "wall clock of `run.until` were nothing to fail and no checkpoint taken; null without",
             core::positive);
  }
};

/// Checks the scenario and times its step by the analytic tier.
/// @throws core::Error if the scenario breaks a rule
Estimate estimate(const config::LoadedScenario& loaded);

}  // namespace headway::study
