// What is known about one training step, healthy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/core/units.h"

namespace headway::training {

/// One assumption the prediction rests on; printed with every result.
struct Assumption {
  std::string key;  ///< dotted path of the field, or a name
  std::string value;
  std::string why;
  bool operator==(const Assumption&) const = default;
};

/// Bytes on the fullest GPU of the fullest stage, at the peak of the step.
struct MemoryByKind {
  core::Bytes weights, gradients, optimizer, activations, logits, buffers, slack;
  [[nodiscard]] core::Bytes total() const {
    return weights + gradients + optimizer + activations + logits + buffers + slack;
  }
  bool operator==(const MemoryByKind&) const = default;
};

struct MemoryResult {
  bool fits = false;
  core::Bytes peak, capacity;
  int peak_stage = 0;
  MemoryByKind by_kind;                  ///< of the peak stage
  std::vector<core::Bytes> stage_peak;   ///< one a stage
  core::Bytes host_peak, host_capacity;  ///< of one node: what is offloaded, and its memory
};

/// How busy one tier of links was.
struct LinkUse {
  std::string tier;    ///< "nvlink" ("mesh", "pcie"), "nic", "leaf-spine", "spine-core"
  double mean = 0;     ///< bytes carried / (capacity x step), over the tier
  double busiest = 0;  ///< the same for its busiest link
};

struct StepResult {
  core::Seconds time;
  core::Seconds interval_low, interval_high;  ///< 90 % prediction interval of the mean step
  double tokens_per_s = 0, tokens_per_s_per_gpu = 0;
  double mfu = 0, mfu_causal = 0, hfu = 0;
  core::FlopsPerSecond model_flops_per_gpu;     ///< the same convention as mfu
  core::FlopsPerSecond hardware_flops_per_gpu;  ///< the same convention as hfu
  core::ByActivity<core::Seconds> breakdown;    ///< mean over ranks; adds up to time
  core::ByActivity<core::Seconds>
      critical_path;  ///< the same keys less the waits for other stages; adds up to time
  std::vector<core::Seconds> stage_work;  ///< one a stage: its own work, break_down has it
  std::vector<LinkUse> links;
  std::uint64_t event_digest = 0, result_digest = 0, events = 0;
  std::int64_t rank_classes = 0, ranks = 0;
  MemoryResult memory;
  std::vector<Assumption> assumptions;
  std::vector<std::string> warnings;
};

}  // namespace headway::training
