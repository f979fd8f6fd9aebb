// Parameters one rank holds, by place, and the buckets in which their gradients are reduced.
#pragma once

#include <vector>

#include "sim/workload/layout.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Parameters of one decoder layer on one rank: matrices split over the tensor group, norms and row
/// biases whole.
double layer_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism);
/// Token table (split) and learned positions (whole).
double embedding_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism);
/// Final norm and output matrix; the latter is not counted again where it is the embedding of the
/// same rank.
double head_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism);
/// All parameters of a chunk on one rank.
double chunk_parameters_per_rank(const ModelSpec& model,
                                 const ParallelismSpec& parallelism,
                                 const ChunkLayout& chunk);

/// Gradients that are reduced together: head, embedding, or some layers in a row.
struct Bucket {
  int layers = 0;
  bool head = false;
  bool embedding = false;
  double parameters = 0;  ///< of one rank
  bool operator==(const Bucket&) const = default;
};

/// Whether each data-parallel rank keeps only its share of the gradients (ZeRO-2, ZeRO-3).
bool shards_gradients(Sharding sharding);

/// Buckets of a chunk in the order in which backward fills them: head, last layers, ..., first
/// layers, embedding. A bucket holds at least max(40e6, 1e6 x data_parallel) parameters where the
/// chunk has them. Source: Megatron-Core DistributedDataParallelConfig, default bucket size.
/// With ZeRO-3 every layer is a bucket.
std::vector<Bucket> chunk_buckets(const ModelSpec& model,
                                  const ParallelismSpec& parallelism,
                                  const ChunkLayout& chunk,
                                  int data_parallel);

}  // namespace headway::workload
