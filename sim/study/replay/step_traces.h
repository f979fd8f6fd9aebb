// A predicted step as execution traces of Chakra, one a rank, for other simulators and tools.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/import/chakra/chakra.h"
#include "sim/training/check.h"
#include "sim/training/step/lower.h"

namespace headway::study {

/// Who takes part in a transfer of a step.
struct TransferEnds {
  std::vector<std::int64_t> arriving;  ///< ranks that call it; of a message the sender
  std::int64_t receiver = -1;          ///< of a message
};

/// The step of a scenario, of which each rank's trace is made when it is asked for.
class StepTraces {
 public:
  /// @throws core::Error for a cluster on several sites, or one that other jobs use
  explicit StepTraces(const training::CheckedScenario& checked);

  /// Ranks are numbered as their GPUs stand in the cluster, so that rank r of a replay runs where
  /// it ran in the step; where a job leaves GPUs free, those behind move up.
  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(actors_.size()); }
  /// Nodes that the traces of these ranks have together, or a few more.
  [[nodiscard]] std::int64_t nodes(const std::vector<std::int64_t>& ranks) const;

  /// Kernels of one operation are one node, on stream 0, with their FLOPs and bytes; each transfer
  /// is a node on a stream of its own, and waits for what the rank had computed when it launched
  /// it. Groups of ranks are numbered from 1; each kind and size of collective has its own, as they
  /// may overlap.
  [[nodiscard]] import::ChakraTrace trace(std::int64_t rank) const;

  /// All groups that have a name.
  [[nodiscard]] import::ChakraGroups groups() const;

 private:
  workload::StepGraph graph_;
  training::LoweredStep lowered_;
  std::vector<std::uint32_t> actors_;  ///< per rank of a trace
  std::vector<TransferEnds> ends_;     ///< per group
};

}  // namespace headway::study
