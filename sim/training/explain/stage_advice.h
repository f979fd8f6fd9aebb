// Layers that should be on other stages, and what moving them brings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/progress/joint_progress.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// A layout whose stages are more equal, simulated.
struct StageAdvice {
  int stage = 0;                  ///< the one with the most work
  double excess = 0;              ///< its work / mean of all stages - 1
  std::vector<int> chunk_layers;  ///< layers of every chunk, as parallelism.chunk_layers takes them
  core::Seconds before, after;    ///< step times
  std::string sentence;           ///< the same in words

  template <class V>
  void fields(V& v) const {
    v.figure("stage", stage, "", "pipeline stage with the most work, from 0", core::non_negative);
    v.figure("excess", excess, "1", "its work W_i / mean of all stages - 1", core::non_negative);
    v.part("chunk_layers", chunk_layers,
           "layers of every chunk that make stages more equal, as `parallelism.chunk_layers` takes "
           "them");
    v.figure("step_time_s", after, "s", "`step.time_s` with them, simulated", core::positive);
    v.part("sentence", sentence, "the same in words");
  }
};

/// Moves layers from the stage with the most work to that with the least, one by one, while the
/// larger of the two gets smaller; a layer is taken to be as much work as one of the stage with the
/// least a layer. Simulates what comes out. Nothing where `stage_imbalance` is below 1 % of the
/// step, where chunks of both ends share a stage (V-shaped, bidirectional), where no layer can
/// move, where the new layout breaks a rule or does not fit, or brings less than half a percent.
/// @param step   of `checked`
/// @param count  told how much of the simulation is done; may be empty
std::optional<StageAdvice> stage_advice(const CheckedScenario& checked,
                                        const StepResult& step,
                                        const core::Count& count = {});

/// "Stage 15, the last, has 18.2 % more work than the mean of the stages: with
/// parallelism.chunk_layers: [8, 8, 7] a step takes 5.92 s instead of 6.36 s (-6.9 %)." Where
/// stages have one chunk and all but the ends are equal, first_stage_layers and last_stage_layers
/// say it.
std::string sentence_of(const StageAdvice& advice, const workload::ParallelismSpec& layout);

}  // namespace headway::training
