// Which layers each pipeline stage holds, and who its neighbours are.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/closed_form.h"
#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// One chunk of layers on one stage.
struct ChunkLayout {
  int stage = 0;
  int chunk = 0;
  int first_layer = 0;  ///< index in the model
  int layers = 0;
  bool embedding = false;  ///< the language model's first chunk
  bool head = false;       ///< the model's last chunk: final norm, logits, loss
  bool encoder = false;    ///< has an encoder of images: the first chunk, or one in front of it
  bool operator==(const ChunkLayout&) const = default;
};

/// A stage and a chunk on it.
struct StageChunk {
  int stage = 0;
  int chunk = 0;
  bool operator==(const StageChunk&) const = default;
};

/// Chunks a stage holds under `schedule`: `virtual_stages`, or two where the schedule is V-shaped
/// or bidirectional.
int chunks_per_stage(ScheduleKind schedule, int virtual_stages);

/// The chunk whose output a chunk takes, or nothing for the model's first.
std::optional<StageChunk> previous_chunk(ScheduleKind schedule,
                                         int stages,
                                         int chunks,
                                         StageChunk at);
/// The chunk that takes a chunk's output, or nothing for the model's last.
std::optional<StageChunk> next_chunk(ScheduleKind schedule, int stages, int chunks, StageChunk at);

/// The layers of all stages and chunks.
class StageLayout {
 public:
  /// @throws core::Error if the layers do not divide (the message proposes a layout)
  StageLayout(const ModelSpec& model, const ParallelismSpec& parallelism);

  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] int chunks() const { return chunks_; }
  [[nodiscard]] const ChunkLayout& at(int stage, int chunk) const {
    return table_[static_cast<std::size_t>(stage * chunks_ + chunk)];
  }
  /// Layers of all chunks of `stage`.
  [[nodiscard]] int layers(int stage) const;

 private:
  int stages_ = 1, chunks_ = 1;
  std::vector<ChunkLayout> table_;
};

/// Whether the experts' data ranks are others than the attention's: tensor x context is not
/// expert x expert tensor. A model without experts is taken as Megatron-LM does (core 0.14,
/// megatron/core/parallel_state.py, expert_decoder_rank_generator): experts of the tensor ranks.
bool has_other_data_ranks(const ModelSpec& model, const ParallelismSpec& layout);

/// Stages of a replica that hold each layer: two where the schedule is bidirectional, stage i and
/// its mirror p-1-i, else one.
int copies_of_layers(const ParallelismSpec& parallelism);

/// Whether embedding and head are on one stage: without a pipeline, or with one stage beside an
/// encoder's own, where the pipeline is folded into a V, or where micro-batches enter at both ends.
bool ends_share_stage(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Why the layers cannot be divided as asked, with a proposal; nothing if they can.
std::optional<Violation> layout_problem(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Layers of each stage, as ParallelismSpec::chunk_layers, where software divides them by the
/// weights that a token is multiplied with: a stage is full when it reaches its share of all, the
/// head being the end of the last. Every stage but the last has a layer; of layers of several kinds
/// the mean counts.
/// @param stages  at most layers + 1
/// Source: huggingface/nanotron, nanotron/models/base.py (build_model) and the models'
/// get_block_compute_costs, 2025.
std::vector<int> layers_by_cost(const ModelSpec& model, int stages);

/// ParallelismSpec::chunk_layers of any layout: what stands there, or what is left out there.
std::vector<int> layers_of_chunks(const ModelSpec& model, const ParallelismSpec& parallelism);

/// So many of the layers of each stage as ParallelismSpec::chunk_recompute, from the first chunk of
/// a stage on.
/// @param parallelism  with chunk_layers
std::vector<int> first_of_stages(const ParallelismSpec& parallelism, std::vector<int> layers);

/// Whether chunk_recompute has as many layers of every chunk, or all that it has.
bool recomputes_alike(const ParallelismSpec& parallelism);

/// ParallelismSpec::chunk_layers of stages with so many layers each, as even over the chunks of a
/// stage as can be. Not of schedules that hold every layer twice.
std::vector<int> chunks_of_stages(const ParallelismSpec& parallelism,
                                  const std::vector<int>& layers);

/// The inverse: layers of each stage of a layout that has a list of chunks.
std::vector<int> layers_of_stages(const ParallelismSpec& parallelism);

}  // namespace headway::workload
