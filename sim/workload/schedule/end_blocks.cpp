#include "sim/workload/schedule/end_blocks.h"

#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/muon/muon.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/preconditioner/preconditioner.h"
#include "sim/workload/trained/trained_layers.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

Block end_block(const BlockInput& input,
                const StageLayout& layout,
                const DataRanks& ranks,
                int stage) {
  OptimizerInput optimizer;
  optimizer.parameters = held_by_stage(input.model, input.parallelism, layout, stage).trained;
  optimizer.ranks = ranks;
  LayerRuns layers;
  bool first = false;
  bool last = false;
  bool sees = false;
  for (int c = 0; c < layout.chunks(); ++c) {
    const ChunkLayout& chunk = layout.at(stage, c);
    for (const LayerRun& run :
         layer_runs(input.model, input.parallelism, chunk.first_layer, chunk.layers)) {
      const bool trained = run.kind.learning == Learning::weights;
      optimizer.replicated +=
          trained ? run.layers * replicated_parameters(input.model, run.kind) : 0.0;
      layers.push_back(run);
    }
    first = first || chunk.embedding;
    sees = sees || chunk.encoder;
    last = last || chunk.head;
  }
  optimizer.gathered = gathered_bytes(input, optimizer.parameters, layers);
  optimizer.replicated += sees ? averaged_parameters(input.model, input.parallelism) : 0.0;
  // A prediction module beside the head reads a copy of the token table.
  const bool copies = (input.model.tied_embeddings || input.model.multi_token_prediction > 0) &&
                      embedding_trained(input.model);
  optimizer.embedding = first != last && copies;
  if (last) {
    optimizer.replicated +=
        input.model.multi_token_prediction *
        replicated_parameters(input.model, prediction_kind(input.model, input.parallelism));
  }
  const OptimizerState state = input.training.optimizer_state;
  if (owns_matrices(state)) {
    const auto matrices = stage_matrices(input.model, input.parallelism, layout, stage);
    optimizer.matrix_share = matrix_share(matrices, optimizer.parameters.total());
    if (preconditions(state)) {
      optimizer.products = preconditioner_kernels(
          input.training, busiest_blocks(matrices, input.training, input.parallelism, ranks));
    } else {
      optimizer.orthogonal = busiest_share(muon_matrices(matrices, muon_mode(input.training)),
                                           input.parallelism, ranks);
    }
  }
  if (input.training.framework.host.piece > core::Seconds(0)) {
    optimizer.weights = stage_weights(input.model, input.parallelism, layout, stage);
  }
  return finish_step(input, optimizer);
}

std::vector<Block> end_blocks(const ModelSpec& model,
                              const TrainingSpec& training,
                              const ParallelismSpec& parallelism,
                              int data_parallel) {
  const TrainingSpec resolved = in_its_format(training);
  const BlockInput input = block_input(model, resolved, parallelism, 1);
  const StageLayout layout(model, parallelism);
  const DataRanks ranks = data_ranks(parallelism, data_parallel);
  std::vector<Block> blocks;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    blocks.push_back(end_block(input, layout, ranks, stage));
  }
  return blocks;
}

}  // namespace headway::workload
