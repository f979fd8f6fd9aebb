// Bytes on the GPUs of a stage while it works through a step.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/training/check.h"
#include "sim/training/step/step_result.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::training {

/// A pass of a stage: what is done with one micro-batch in one chunk of its layers.
struct StagePass {
  workload::WorkKind kind = workload::WorkKind::forward;
  int micro_batch = 0, chunk = 0;
  auto operator<=>(const StagePass&) const = default;
};

/// What the fullest GPU of one stage holds: all kinds of memory, as `memory.stage_peak_bytes`
/// counts them. The fullest pass of a step holds that peak,
/// unless copies while matrices are updated (Muon) are more: they are in no pass.
class HeldMemory {
 public:
  struct Moment {
    MemoryByKind during;  ///< at the fullest moment of the pass
    MemoryByKind after;   ///< when it has ended
  };

  HeldMemory(std::map<StagePass, Moment> passes, MemoryByKind empty)
      : passes_(std::move(passes)), now_(empty) {}

  /// At the fullest moment of a pass. Passes are asked for in the order in which they run.
  MemoryByKind during(const StagePass& pass);
  /// Between passes: after the last one that was asked for; before the first, without activations.
  [[nodiscard]] const MemoryByKind& now() const { return now_; }

 private:
  std::map<StagePass, Moment> passes_;
  MemoryByKind now_;
};

/// One a stage.
std::vector<HeldMemory> held_memory(const CheckedScenario& checked);

}  // namespace headway::training
