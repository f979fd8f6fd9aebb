// The teacher's forward in a step graph: what a stage calls before the student's own.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_table.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Writes the blocks of a teacher's forward into the table of the student's, and calls them.
class TeacherPass {
 public:
  /// @param student         with a teacher that runs, in a schedule of one chunk a stage
  /// @param expert_domains  as of build_step_graph
  /// @param blocks          where equal blocks are one
  TeacherPass(const BlockInput& student,
              int expert_domains,
              DataRanks ranks,
              GraphDetail detail,
              BlockTable& blocks);
  TeacherPass(const TeacherPass&) = delete;
  TeacherPass& operator=(const TeacherPass&) = delete;

  /// The forward of a stage, for the micro-batch of `like`. Sharded weights arrive as a student's:
  /// those of the next bucket beside this one.
  /// @param await  of what was gathered; of sharded weights
  /// @param after  starts beside the last bucket: the student's first gather; -1: nothing
  void forward(Stage& stage, int index, const Call& like, int await, int after) const;

 private:
  /// Calls of one bucket of sharded weights, or of all.
  struct Part {
    int gather = -1;
    std::vector<std::pair<int, int>> blocks;  ///< with how often each runs in a row
  };

  template <class Write>
  int intern(const std::string& name, Write write);
  int layer(const LayerKind& kind);
  void add_run(const LayerRun& run, Part& part);
  std::vector<Part> parts_of(const ChunkLayout& chunk);

  ModelSpec model_;
  TrainingSpec training_;
  ParallelismSpec parallelism_;
  BlockInput input_;  ///< refers to the three above
  StageLayout layout_;
  DataRanks ranks_;
  GraphDetail detail_;
  bool sharded_;
  BlockTable& blocks_;
  std::map<LayerKind, int> layers_;
  std::vector<std::vector<Part>> stages_;  ///< of each stage
};

}  // namespace headway::workload
