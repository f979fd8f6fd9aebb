// An encoder in a step graph: what the first stage calls before its embedding, and after its
// backward.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/workload/blocks/block_table.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/step_graph.h"
#include "sim/workload/vision/encoder_blocks.h"

namespace headway::workload {

/// Writes the blocks of an encoder into the table of the language model's, and calls them.
class EncoderPass {
 public:
  /// @param language  of a model with an encoder
  EncoderPass(const BlockInput& language, GraphDetail detail, BlockTable& blocks);

  /// All parts, in the order of the forward.
  [[nodiscard]] const std::vector<EncoderRun>& parts() const { return parts_; }

  /// The forward of some parts in the order of the forward, for the micro-batch of `like`.
  void forward(Stage& stage, const std::vector<EncoderRun>& parts, const Call& like) const;
  /// Their backward, the last first; of those that are trained.
  void backward(Stage& stage, const std::vector<EncoderRun>& parts, const Call& like) const;

 private:
  using Key = std::pair<EncoderPart, LayerKind>;
  struct Blocks {
    int forward = -1, backward = -1;
  };

  const ModelSpec& model_;
  std::vector<EncoderRun> parts_;
  std::map<Key, Blocks> blocks_;
};

}  // namespace headway::workload
