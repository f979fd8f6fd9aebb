// Whether the layouts of a shape fit into memory: what their choices of passes and of states take,
// each worked out once.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/space.h"
#include "sim/training/step/memory.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

class Fit {
 public:
  Fit(const training::Scenario& scenario, const Shape& shape);

  /// What follows is of layouts with so many micro-batches.
  void set_micro_batches(int micro_batches);
  /// And with these passes.
  void set_passes(const ParallelismSpec& layout);
  /// The largest peak of a stage with state choice `state`, and nothing if it fits with room for
  /// the allocator. Where the host's memory does not hold what is offloaded, infinite.
  [[nodiscard]] std::optional<core::Bytes> excess(const ParallelismSpec& layout, std::size_t state);

 private:
  const std::vector<workload::StageMemory>& states(const ParallelismSpec& layout,
                                                   std::size_t state);

  const training::Scenario& scenario_;
  const Shape& shape_;
  core::Bytes capacity_;
  core::Bytes host_of_rank_;
  int micro_batches_ = 0;
  std::vector<workload::StageSchedule> schedule_;
  std::vector<workload::StageMemory> activations_;
  std::vector<std::vector<workload::StageMemory>> states_;  ///< by choice; empty: not asked yet
};

}  // namespace headway::plan
