// Blocks of an encoder: patches, layers, projectors, each forward and backward.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/step_graph.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

/// What the blocks of an encoder are made from.
class EncoderBlocks {
 public:
  /// @param language  of the model that has the encoder
  explicit EncoderBlocks(const BlockInput& language);
  EncoderBlocks(const EncoderBlocks&) = delete;
  EncoderBlocks& operator=(const EncoderBlocks&) = delete;

  /// One part's forward. Patches: a product with the pixels, and learned positions. A layer: as a
  /// decoder's, every patch with all of its image or window. A projector: norm, one or two
  /// products, and its tokens' place among those of text.
  [[nodiscard]] Block forward(const EncoderRun& run) const;
  /// One part's backward, whole. Patches have weight gradients alone, as has a projector's first
  /// product on layers that are not trained.
  [[nodiscard]] Block backward(const EncoderRun& run) const;

 private:
  void write_patches(BlockWriter& writer, bool backward) const;
  void write_projector_forward(BlockWriter& writer) const;
  void write_projector_backward(BlockWriter& writer) const;
  [[nodiscard]] Linear product(const char* name,
                               const RankShape& shape,
                               std::int64_t outputs,
                               std::int64_t inputs) const;
  [[nodiscard]] GradientTraffic gradients() const;

  const ModelSpec& language_;
  ModelSpec model_;
  TrainingSpec training_;
  ParallelismSpec parallelism_;
  BlockInput input_;  ///< refers to the three above
  EncoderShape shape_;
  EncoderWidths widths_;
  bool inserts_;  ///< its last part writes tokens over their places
};

/// The name of a part's blocks: "encoder patches", ...
std::string part_name(const EncoderRun& run);

}  // namespace headway::workload
