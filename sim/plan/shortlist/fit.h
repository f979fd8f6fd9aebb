// Whether layouts fit into memory: of a shape, what their choices of passes and of states take,
// each worked out once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/core/fields.h"
#include "sim/plan/space.h"
#include "sim/training/memory.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

/// Which memory a layout has too little of.
enum class Memory : std::uint8_t {
  gpu,
  headroom,  ///< of the GPU, which holds the layout but keeps less free than is asked for
  host
};
constexpr auto enum_words(Memory) {
  using E = core::EnumWord<Memory>;
  return std::array{E{Memory::gpu, "memory"}, E{Memory::headroom, "headroom"},
                    E{Memory::host, "host memory"}};
}

/// What a rank takes of a memory, and what there is.
struct Lack {
  Memory memory = Memory::gpu;
  core::Bytes needs, has;
  int kind = 0;  ///< of its node

  /// Relative to what there is.
  [[nodiscard]] double beyond() const { return (needs - has) / has; }
};

/// What the fullest ranks take and what they have: of their GPU, and of the host for each GPU.
struct Fullest {
  core::Bytes peak, gpu, host, host_of_rank;
  int kind = 0;  ///< of the node whose GPU it is
};

/// What a layout lacks; nothing where it fits, leaves the allocator room and keeps `headroom`, a
/// share of the GPU's memory, free.
std::optional<Lack> lack(const Fullest& fullest, double headroom);

class Fit {
 public:
  Fit(const training::Scenario& scenario, const Shape& shape, double headroom);

  /// What follows is of layouts with so many micro-batches.
  void set_micro_batches(int micro_batches);
  /// And with these passes.
  void set_passes(const ParallelismSpec& layout);
  /// What the layout with state choice `state` lacks.
  [[nodiscard]] std::optional<Lack> lack(const ParallelismSpec& layout, std::size_t state);
  /// The layout with as few layers of each stage recomputing as let it fit: fully, or by the parts
  /// that it names. A stage's memory falls with each of them and no other stage's does, so the
  /// fewest of each stage are the least time of all; exact where a stage has one chunk and its
  /// layers are alike, else from the first chunk and layer on. Nothing where even all of them do
  /// not do, or the schedule holds every layer twice. Where the software recomputes as many layers
  /// of every chunk, the fewest that let the fullest stage fit; nothing where it cannot be told any
  /// number.
  [[nodiscard]] std::optional<ParallelismSpec> fewest_recomputed(const ParallelismSpec& layout,
                                                                 std::size_t state);

 private:
  const std::vector<workload::StageStates>& states(const ParallelismSpec& layout,
                                                   std::size_t state);
  [[nodiscard]] core::Bytes peak(const ParallelismSpec& layout,
                                 const workload::StageActivations& activations,
                                 const workload::StageStates& states) const;
  const std::vector<training::StageRoom>& rooms(const ParallelismSpec& layout);
  using Stages = std::vector<workload::StageActivations>;
  const Stages& recomputing(const ParallelismSpec& layout, int layers);
  /// @param most  layers of the stage
  std::optional<int> fewest(const ParallelismSpec& layout,
                            std::size_t state,
                            std::size_t stage,
                            int most);
  std::optional<ParallelismSpec> fewest_alike(const ParallelismSpec& layout, std::size_t state);
  [[nodiscard]] bool recomputes_alike() const;
  [[nodiscard]] ParallelismSpec with_recomputed(ParallelismSpec layout,
                                                std::vector<int> layers) const;

  const training::Scenario& scenario_;
  const Shape& shape_;
  double headroom_;
  int data_;  ///< data ranks that meet in every step
  int micro_batches_ = 0;
  std::vector<workload::StageSchedule> schedule_;
  std::vector<workload::StageActivations> activations_;
  std::map<int, Stages> recomputing_;  ///< of these passes, by layers of each stage that recompute
  std::vector<std::vector<workload::StageStates>> states_;  ///< by choice; empty: not asked yet
  std::array<std::vector<training::StageRoom>, 2> rooms_;   ///< by order of the ranks; the same
};

}  // namespace headway::plan
