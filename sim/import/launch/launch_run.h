// What files of training frameworks and scenarios both know: the model, the recipe, the layout.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "sim/workload/spec.h"

namespace headway::import {

/// Saves of checkpoints to storage.
struct LaunchSaves {
  std::int64_t every = 1;     ///< steps
  bool asynchronous = false;  ///< training waits for the snapshot alone
  bool weights_only = false;  ///< without the optimizer's state
  bool operator==(const LaunchSaves&) const = default;
};

/// A run as a file that starts it describes it: values of floor 1, the number of GPUs and steps.
struct LaunchRun {
  workload::ModelSpec model;
  std::string model_entry;  ///< catalogue entry that the file names by a name of its own, or empty
  workload::TrainingSpec training;
  workload::ParallelismSpec parallelism;
  std::int64_t gpus = 0;  ///< that train; 0: unknown
  int gpus_per_node = 0;  ///< 0: unknown
  /// Whether some GPUs are older than Blackwell, which Megatron-LM starts otherwise. Only written.
  bool before_blackwell = true;
  std::optional<std::int64_t> steps;
  std::optional<LaunchSaves> saves;  ///< nothing: none by steps
  bool operator==(const LaunchRun&) const = default;
};

/// The run with one way of writing for everything that means the same: without what has no meaning
/// (a context kind without context ranks), with defaults where a value equals them, `data` as a
/// number where the GPUs are known.
LaunchRun normalised(LaunchRun run);

/// The product of degrees, none below zero; at most 1e15, which is more than any cluster has.
std::int64_t ranks_product(std::initializer_list<std::int64_t> degrees);

/// Layers of a stage that is neither the first nor the last; 0 if they do not divide.
int middle_layers(const LaunchRun& run);

}  // namespace headway::import
