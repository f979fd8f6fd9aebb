// From Scenario to CheckedScenario: the rules that hold across fields, all violations at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/error.h"
#include "sim/training/scenario.h"

namespace headway::training {

/// A scenario whose parts fit together; can only be made by `check`.
class CheckedScenario {
 public:
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  /// GPUs that train: nodes x GPUs per node.
  [[nodiscard]] std::int64_t gpus() const { return gpus_; }
  /// Data-parallel degree, with `auto` resolved.
  [[nodiscard]] int data_parallel() const { return data_parallel_; }
  /// Sites that train apart (local steps); 1: all data ranks meet in every step.
  [[nodiscard]] int islands() const {
    return scenario_.training.local_steps && scenario_.cluster.sites
               ? scenario_.cluster.sites->count
               : 1;
  }
  /// Data ranks that meet in every step.
  [[nodiscard]] int synchronous_data() const { return data_parallel_ / islands(); }
  /// Micro-batches each pipeline replica runs in a step.
  [[nodiscard]] int micro_batches() const { return micro_batches_; }
  /// GPUs of a whole NVLink domain; the scenario's `domain_gpus` is what the job fills of it
  /// (`filled_domain`).
  [[nodiscard]] int whole_domain() const { return whole_domain_; }
  /// Where the value of `path`, or of its nearest parent, was written; nothing if nobody knows.
  [[nodiscard]] std::optional<core::SourceMark> mark(std::string_view path) const {
    return core::find_mark(marks_, path);
  }
  [[nodiscard]] const core::SourceMarks& marks() const { return marks_; }
  /// Tokens of one step.
  [[nodiscard]] double tokens_per_step() const {
    return static_cast<double>(scenario_.training.global_batch) *
           scenario_.training.sequence_length;
  }

 private:
  friend CheckedScenario check(Scenario scenario, const core::SourceMarks& marks);
  CheckedScenario() = default;
  Scenario scenario_;
  core::SourceMarks marks_;
  std::int64_t gpus_ = 0;
  int data_parallel_ = 1;
  int micro_batches_ = 1;
  int whole_domain_ = 1;
};

/// The rules that hold whatever the layout: of cluster, model, recipe, run and calibration. A
/// search for a layout asks them first. What feeds a cluster is asked of each size
/// (`power_shortages`).
/// @param marks  where each value was written; may be empty
/// @throws Error with every violated rule
void check_apart_from_layout(const Scenario& scenario, const core::SourceMarks& marks = {});

/// Boards run at the limit that `cluster.power` leaves them (`limit_boards`) from here on.
/// @param marks  where each value was written; may be empty
/// @throws Error with every violated rule
CheckedScenario check(Scenario scenario, const core::SourceMarks& marks = {});

/// What a checkpoint keeps of a parameter [B]: the weight that is multiplied, the optimizer's state
/// (mean over the model's matrices) and the outer state of local steps.
double state_bytes_per_parameter(const Scenario& scenario);

/// A complaint that only a simulation could find, at the place of the field it is about.
/// @throws Error always
[[noreturn]] void refuse(const CheckedScenario& checked,
                         std::string_view path,
                         std::string message);

}  // namespace headway::training
