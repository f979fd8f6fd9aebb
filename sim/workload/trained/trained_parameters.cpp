#include "sim/workload/trained/trained_parameters.h"

#include <algorithm>

#include "sim/workload/closed_form.h"
#include "sim/workload/constants.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/trained/adapter_shape.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

namespace {

bool in_nf4(const ModelSpec& model) {
  return model.adapters && model.adapters->base == BaseWeights::nf4;
}

HeldParameters whole(const RankParameters& all, bool trained) {
  return {all, trained ? all : RankParameters{}};
}

}  // namespace

HeldParameters held_by_layer(const ModelSpec& model,
                             const ParallelismSpec& parallelism,
                             const LayerKind& kind) {
  RankParameters own = layer_parameters_per_rank(model, parallelism, kind);
  if (kind.learning == Learning::weights) {
    return whole(own, true);
  }
  if (in_nf4(model)) {  // also of layers without adapters: norms and routers stay wide
    const double wide = replicated_parameters(model, kind);
    const double elements = kNf4Bytes / 2;  // of 16 bits
    own = {wide + elements * (own.shared - wide), elements * own.experts};
  }
  HeldParameters held = whole(own, false);
  const RankParameters adapters = adapter_parameters_per_rank(model, parallelism, kind);
  held += {adapters, adapters};
  return held;
}

HeldParameters held_by_embedding(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return whole({embedding_parameters_per_rank(model, parallelism), 0}, embedding_trained(model));
}

HeldParameters held_by_head(const ModelSpec& model, const ParallelismSpec& parallelism) {
  RankParameters all = prediction_parameters_per_rank(model, parallelism);
  all.shared += head_parameters_per_rank(model, parallelism);
  return whole(all, head_trained(model));
}

HeldParameters held_by_stage(const ModelSpec& model,
                             const ParallelismSpec& parallelism,
                             const StageLayout& layout,
                             int stage) {
  HeldParameters sum;
  for (int c = 0; c < layout.chunks(); ++c) {
    const ChunkLayout& chunk = layout.at(stage, c);
    for (const LayerRun& run : layer_runs(model, parallelism, chunk.first_layer, chunk.layers)) {
      sum += static_cast<double>(run.layers) * held_by_layer(model, parallelism, run.kind);
    }
    if (chunk.embedding) {
      sum += held_by_embedding(model, parallelism);
    }
    if (chunk.encoder) {
      sum += held_by_encoder(model, parallelism);
    }
    if (chunk.head) {
      sum += held_by_head(model, parallelism);
    }
  }
  return sum;
}

double trained_parameters(const ModelSpec& model) {
  const ParameterCount count = count_parameters(model);
  const double encoder = held_by_encoder(model, {}).trained.total();
  if (all_trained(model)) {
    return count.total() - count.vision + encoder + count.prediction;
  }
  double sum = encoder;
  for (const LayerRun& run : layer_runs(model, {}, 0, model.layers)) {
    if (run.kind.learning == Learning::weights) {
      sum += run.layers * layer_parameters(model, run.kind).total();
    }
    sum += run.layers * adapter_parameters_per_rank(model, {}, run.kind).total();
  }
  sum += embedding_trained(model) ? count.embedding : 0.0;
  return sum + (head_trained(model) ? count.head + count.final_norm : 0.0);
}

double widened_matrix(const ModelSpec& model) {
  if (!in_nf4(model)) {
    return 0;
  }
  const double attended =
      static_cast<double>(model.heads) * std::max(model.head_dim, model.value_dim);
  const double expert =
      model.moe ? static_cast<double>(model.moe->ffn) * routed_width(model) / model.hidden : 0.0;
  return 2.0 * model.hidden * std::max({attended, static_cast<double>(model.ffn), expert});
}

std::vector<core::ModelConstant> trained_constants() {
  return {{"workload.nf4_bytes", kNf4Bytes, "B", 0,
           "4 bits and doubly quantized scales: Dettmers et al., QLoRA, arXiv 2305.14314"},
          {"workload.dequantise_bytes", kDequantiseBytes, "B", 0,
           "passes counted in bitsandbytes, functional.py, dequantize_4bit, 2025"}};
}

}  // namespace headway::workload
