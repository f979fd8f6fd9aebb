// Why a step takes as long as it does: its largest contributions, each with its closed form and the
// numbers in it, and how the step answers to a change of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/core/progress/joint_progress.h"
#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::training {

/// One kind of kernel or transfer on the critical path.
struct Contribution {
  core::Activity activity = core::Activity::compute;
  std::string what;        ///< "mlp in, forward: matrix product"
  core::Seconds time;      ///< on the critical path; of kernels with what `launch` has of it
  std::int64_t count = 0;  ///< launches on the critical path; what is cut short counts whole
  std::string formula;     ///< of one launch, numbers filled in
  /// What the formula gives for one launch; kernels alone have it, `time` is `count` times that.
  std::optional<core::Seconds> once;
  std::string change;  ///< what would make it shorter
  double share = 0;    ///< of the step

  template <class V>
  void fields(V& v) const {
    v.part("activity", activity, "its cause in `step.breakdown_s`");
    v.part("what", what, "kind of kernel or transfer");
    v.figure("time_s", time, "s", "on the critical path", core::non_negative);
    v.figure("share", share, "1", "of the step", core::non_negative);
    v.figure("count", count, "", "launches on the critical path; what is cut short counts whole",
             core::at_least_one);
    v.part("formula", formula, "closed form of one launch, numbers filled in");
    v.figure("formula_s", once, "s",
             "what the formula gives for one launch of a kernel; null for what is no kernel",
             core::non_negative);
    v.part("change", change, "what would make it shorter");
  }
};

/// The step when one input is 10 % lower or higher.
struct Sensitivity {
  std::string input;          ///< "matrix units"
  std::string scaled_fields;  ///< the scenario's fields that are scaled
  std::optional<core::Seconds> lower,
      higher;           ///< step time; absent where a measured curve forbids the change
  double change = 0.1;  ///< of the input, either way
  /// Larger of the two changes, in seconds.
  [[nodiscard]] core::Seconds span(core::Seconds step) const;

  template <class V>
  void fields(V& v) const {
    v.part("input", input, "what is changed");
    v.part("fields", scaled_fields, "the scenario's fields that are scaled");
    v.figure("change", change, "1", "of the input, either way", core::positive);
    v.figure("lower_step_s", lower, "s",
             "step with the input lower by that; null where a measured curve forbids the change",
             core::positive);
    v.figure("higher_step_s", higher, "s", "step with the input higher by that", core::positive);
  }
};

struct Explanation {
  core::Seconds step;
  std::vector<Contribution> largest;       ///< longest first
  core::Seconds rest;                      ///< of the critical path: all others together
  std::vector<Sensitivity> sensitivities;  ///< widest first

  template <class V>
  void fields(V& v) const {
    v.part("contributions", largest, "the largest parts of the critical path, longest first");
    v.figure("rest_s", rest, "s", "of the critical path: all others together");
    v.part("sensitivities", sensitivities, "the step when one input changes, widest first");
  }
};

/// The `most` largest contributions; contributions and rest add up to the step.
/// @param count  told how much of all simulations is done; may be empty
Explanation explain_step(const CheckedScenario& checked,
                         std::size_t most = 10,
                         const core::Count& count = {});

/// Recomputes the step with each main input at `1 - change` and `1 + change`: matrix units, memory
/// bandwidth, attention kernels, NVLink, network bandwidth, network latency, kernel gaps, the CPU's
/// launches.
/// @param count  told how much of all simulations is done; may be empty
std::vector<Sensitivity> step_sensitivities(const CheckedScenario& checked,
                                            core::Seconds step,
                                            double change = 0.1,
                                            const core::Count& count = {});

}  // namespace headway::training
