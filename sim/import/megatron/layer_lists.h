// Small languages in which Megatron's arguments list layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// Which layers have experts: 1 or 0 a layer, written as Python writes lists: "[0]*3+[1]*58",
/// "([0]+[1])*12", "[1,1,0]". Nothing if it is none, or longer than 10,000.
std::optional<std::vector<int>> read_layer_pattern(std::string_view text);

/// What every chunk of a pipeline holds.
struct ChunkContent {
  int layers = 0;
  int prediction_layers = 0;
  bool embedding = false;
  bool loss = false;
};

/// The chunks, in the order in which a micro-batch meets them, of a text such as
/// "Et*3|(tt|)*30tL": E the embedding, t a layer, m a prediction layer, L the loss. Nothing if it
/// is none, or has more than 10,000 chunks or layers.
std::optional<std::vector<ChunkContent>> read_pipeline_layout(std::string_view text);

/// The text of such a layout.
std::string pipeline_layout(const std::vector<int>& chunk_layers, int prediction_layers);

}  // namespace headway::import
