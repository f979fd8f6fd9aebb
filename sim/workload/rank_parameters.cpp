#include "sim/workload/rank_parameters.h"

#include <algorithm>
#include <cmath>

#include "sim/workload/build.h"

namespace headway::workload {

namespace {

double norm_parameters(const ModelSpec& model) { return (model.biases ? 2.0 : 1.0) * model.hidden; }

double table_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const int rows = (model.vocabulary + parallelism.tensor - 1) / parallelism.tensor;
  return static_cast<double>(rows) * model.hidden;
}

}  // namespace

double layer_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const int t = parallelism.tensor;
  const double h = model.hidden;
  const double query_width = static_cast<double>(model.heads) / t * model.head_dim;
  // Key and value heads fewer than ranks are copied, not split.
  const double key_width =
      std::max(1.0, static_cast<double>(model.key_value_heads) / t) * model.head_dim;
  const double ffn = static_cast<double>(model.ffn) / t;
  const double columns = query_width + 2.0 * key_width + (model.gated_mlp ? 2.0 : 1.0) * ffn;
  const double rows = query_width + ffn;
  const double biases = model.biases ? columns + 2.0 * h : 0.0;
  return h * (columns + rows) + biases + 2.0 * norm_parameters(model);
}

double embedding_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return table_per_rank(model, parallelism) +
         static_cast<double>(model.learned_positions) * model.hidden;
}

double head_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const bool shared = model.tied_embeddings && ends_share_stage(parallelism);
  return norm_parameters(model) + (shared ? 0.0 : table_per_rank(model, parallelism));
}

double chunk_parameters_per_rank(const ModelSpec& model,
                                 const ParallelismSpec& parallelism,
                                 const ChunkLayout& chunk) {
  double sum = chunk.layers * layer_parameters_per_rank(model, parallelism);
  if (chunk.embedding) {
    sum += embedding_parameters_per_rank(model, parallelism);
  }
  if (chunk.head) {
    sum += head_parameters_per_rank(model, parallelism);
  }
  return sum;
}

bool shards_gradients(Sharding sharding) {
  return sharding == Sharding::zero2 || sharding == Sharding::zero3;
}

std::vector<Bucket> chunk_buckets(const ModelSpec& model,
                                  const ParallelismSpec& parallelism,
                                  const ChunkLayout& chunk,
                                  int data_parallel) {
  constexpr double kSmallest = 40e6;
  constexpr double kPerReplica = 1e6;
  const double size = std::max(kSmallest, kPerReplica * data_parallel);
  const double layer = layer_parameters_per_rank(model, parallelism);
  const bool single = parallelism.sharding == Sharding::zero3;
  const int layers_each = single ? 1 : static_cast<int>(std::ceil(size / layer));
  std::vector<Bucket> buckets;
  if (chunk.head) {
    buckets.push_back({0, true, false, head_parameters_per_rank(model, parallelism)});
  }
  for (int left = chunk.layers; left > 0; left -= layers_each) {
    const int layers = std::min(left, layers_each);
    buckets.push_back({layers, false, false, layers * layer});
  }
  if (chunk.embedding) {
    buckets.push_back({0, false, true, embedding_parameters_per_rank(model, parallelism)});
  }
  return buckets;
}

double parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism, int stage) {
  const StageLayout layout(model, parallelism);
  double sum = 0;
  for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
    sum += chunk_parameters_per_rank(model, parallelism, layout.at(stage, chunk));
  }
  return sum;
}

}  // namespace headway::workload
