// Which parallel layouts a cluster allows, and why the others are left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/training/check.h"

namespace headway::plan {

/// Layouts left out for one reason.
struct Rejection {
  /// "tensor", "pipeline", "batch", "schedule", "memory", "slower", "rule", "gpus", "deadline",
  /// "budget", "too large" (for the simulator)
  std::string kind;
  std::string reason;  ///< one sentence
  std::int64_t count = 0;

  bool operator==(const Rejection&) const = default;

  template <class V>
  void fields(V& v) const {
    v.part("class", kind, "what kind of rule, limit or bound they fail on");
    v.part("reason", reason, "one sentence");
    v.figure("count", count, "", "layouts left out for the same `reason`", core::at_least_one);
  }
};

/// Collects rejections; equal reasons are counted together, in the order of their first appearance.
class Rejections {
 public:
  void add(const std::string& kind, const std::string& reason, std::int64_t count = 1);
  [[nodiscard]] const std::vector<Rejection>& list() const { return list_; }
  /// Layouts left out for reasons of this kind.
  [[nodiscard]] std::int64_t count(const std::string& kind) const;

 private:
  std::vector<Rejection> list_;
};

struct Candidates {
  std::vector<training::CheckedScenario> layouts;  ///< every rule holds; memory is not looked at
  Rejections rejected;
  std::int64_t enumerated = 0;
};

/// Largest micro-batch and most model chunks a stage that are tried.
inline constexpr int kLargestMicroBatch = 8;
inline constexpr int kMostChunks = 8;
/// Most layers that a step runs through (micro-batches x layers) and most GPUs that a search
/// simulates: some seconds a layout. Source: measured, tens of microseconds a layer and 10 a GPU.
inline constexpr std::int64_t kMostLayers = std::int64_t{1} << 18U;
inline constexpr std::int64_t kMostGpus = std::int64_t{1} << 20U;

/// All layouts of tensor, pipeline, virtual, data and micro-batch that use every GPU. All
/// else stays as the scenario has it (`searched`); 1f1b and interleaved replace one another, any
/// other schedule stays. Where the layers do not divide, the first and the
/// last chunk take fewer, both the same.
Candidates enumerate(const training::Scenario& scenario);

}  // namespace headway::plan
