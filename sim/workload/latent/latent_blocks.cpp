#include "sim/workload/latent/latent_blocks.h"

#include <algorithm>
#include <cmath>

#include "sim/workload/attention/attention_blocks.h"
#include "sim/workload/blocks/kernels.h"

namespace headway::workload {

namespace {

using core::Bytes;
using core::Flops;
using core::Kernel;

/// The indexer's matrices, whole on each tensor rank: keys and weights of heads on its own tokens.
struct IndexLinears {
  Linear queries, keys;
};
IndexLinears index_linears(const RankShape& shape) {
  const SparseShape& sparse = *shape.sparse;
  IndexLinears linears;
  linears.queries = {"index queries", shape.tokens, sparse.heads * sparse.dim, shape.query_rank,
                     shape.wide};
  linears.keys = {"index keys", shape.split_tokens, sparse.dim + sparse.heads, shape.hidden,
                  shape.wide};
  return linears;
}

/// Products of the indexer over `keys` keys of every query, `products` of them.
Kernel index_product(
    const char* name, const RankShape& shape, double keys, double products, double traffic) {
  const SparseShape& sparse = *shape.sparse;
  const auto tokens = static_cast<double>(shape.tokens);
  Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.name = name;
  kernel.precision = shape.wide;
  kernel.m = shape.sequence;
  kernel.n = std::max<std::int64_t>(8, std::llround(keys / 8) * 8);
  kernel.k = sparse.dim;
  kernel.batch = shape.micro_batch * sparse.heads;
  kernel.work =
      Flops(products * 2 * tokens * keys * static_cast<double>(sparse.heads * sparse.dim));
  kernel.traffic = Bytes(traffic);
  return kernel;
}

/// Elements of index queries of this rank's tokens and of keys of whole sequences.
double index_elements(const RankShape& shape) {
  return static_cast<double>(shape.tokens * (shape.sparse->heads + shape.context) *
                             shape.sparse->dim);
}

/// Index keys of whole sequences, or their gradients, over context ranks.
void exchange_index_keys(BlockWriter& writer,
                         const RankShape& shape,
                         core::CollectiveKind kind,
                         const char* name) {
  if (shape.context > 1) {
    writer.collective(kind, Group::context, core::Activity::context,
                      Bytes(gathered_index_keys(shape)), name);
  }
}

void write_indexer_forward(BlockWriter& writer, const BlockInput& input) {
  const RankShape& shape = input.shape;
  if (!shape.sparse || !shape.sparse->indexer) {
    return;
  }
  const SparseShape& sparse = *shape.sparse;
  const IndexLinears linears = index_linears(shape);
  writer.compute(forward_product(linears.queries));
  writer.compute(forward_product(linears.keys));
  tensor_region(writer, input).gather("gather index keys", sparse.dim + sparse.heads);
  exchange_index_keys(writer, shape, core::CollectiveKind::all_gather, "gather all index keys");
  const double scores = 4.0 * static_cast<double>(shape.tokens) * sparse.all_keys;
  writer.compute(index_product("index scores", shape, sparse.all_keys, 1,
                               shape.element * index_elements(shape) + scores));
  writer.compute(memory_kernel("index top-k",
                               scores + 4.0 * static_cast<double>(shape.tokens * sparse.top_k)));
}

/// Keys as attention takes them, on all tokens: with sparse attention the compressed ones.
std::int64_t shared_key_width(const RankShape& shape) {
  return shape.sparse ? shape.key_rank + shape.rope_dim : shape.rope_dim;
}

}  // namespace

double gathered_index_keys(const RankShape& shape) {
  return shape.element * static_cast<double>(shape.context * shape.tokens * shape.sparse->dim);
}

LatentLinears latent_linears(const RankShape& shape) {
  const std::int64_t no_rope = shape.no_rope_dim;
  const bool compressed = shape.query_rank > 0;
  LatentLinears linears;
  linears.query_down = {"query down", shape.split_tokens, shape.query_rank, shape.hidden,
                        shape.linear};
  linears.query_up = {"query up", shape.tokens, shape.heads * (no_rope + shape.rope_dim),
                      compressed ? shape.query_rank : shape.hidden, shape.linear};
  linears.key_value_down = {"key-value down", shape.split_tokens, shape.key_rank + shape.rope_dim,
                            shape.hidden, shape.linear};
  linears.key_value_up = {"key-value up", shape.tokens, shape.heads * (no_rope + shape.head_values),
                          shape.key_rank, shape.linear};
  linears.absorb = {"absorb queries", shape.tokens, shape.key_rank,
                    no_rope,          shape.linear, shape.heads};
  linears.expand = {"expand values", shape.tokens, shape.head_values,
                    shape.key_rank,  shape.linear, shape.heads};
  for (Linear* linear : {&linears.query_down, &linears.query_up, &linears.key_value_down,
                         &linears.key_value_up, &linears.absorb, &linears.expand}) {
    set_scaling(shape, *linear);
  }
  return linears;
}

Kernel latent_norms(const RankShape& shape) {
  return memory_kernel(
      "latent norms",
      2.0 * shape.element *
          static_cast<double>(shape.split_tokens * (shape.query_rank + shape.key_rank)));
}

void write_latent_up_forward(BlockWriter& writer, const BlockInput& input) {
  const LatentLinears linears = latent_linears(input.shape);
  TensorRegion region = tensor_region(writer, input);
  region.gather("gather shared keys", shared_key_width(input.shape));
  region.forward_columns(linears.query_up);
  if (input.shape.sparse) {
    writer.compute(forward_product(linears.absorb));
  } else {
    region.forward_columns(linears.key_value_up);
  }
  writer.compute(rotary(input.model, input.shape, input.training.framework, false));
}

void write_latent_input_forward(BlockWriter& writer, const BlockInput& input) {
  const LatentLinears linears = latent_linears(input.shape);
  if (input.shape.query_rank > 0) {
    writer.compute(forward_product(linears.query_down));
  }
  writer.compute(forward_product(linears.key_value_down));
  writer.compute(latent_norms(input.shape));
  write_latent_up_forward(writer, input);
  write_indexer_forward(writer, input);
}

void write_latent_input_backward(BlockWriter& writer,
                                 const BlockInput& input,
                                 const BackwardMode& mode) {
  TensorRegion region = tensor_region(writer, input);
  const LatentLinears linears = latent_linears(input.shape);
  if (input.shape.sparse) {
    write_product_backward(writer, linears.absorb, mode);
  } else {
    region.backward_columns(linears.key_value_up, mode);
  }
  region.backward_columns(linears.query_up, mode);
  if (mode.passes()) {
    region.reduce("reduce shared keys", shared_key_width(input.shape));
    Kernel norms = latent_norms(input.shape);
    norms.traffic *= 1.5;  // reads input and gradient, writes one gradient
    writer.compute(norms);
  }
  write_product_backward(writer, linears.key_value_down, mode);
  if (input.shape.query_rank > 0) {
    write_product_backward(writer, linears.query_down, mode);
  }
}

void write_latent_expand_forward(BlockWriter& writer, const BlockInput& input) {
  if (input.shape.sparse) {
    writer.compute(forward_product(latent_linears(input.shape).expand));
  }
}

void write_latent_expand_backward(BlockWriter& writer,
                                  const BlockInput& input,
                                  const BackwardMode& mode) {
  if (input.shape.sparse) {
    write_product_backward(writer, latent_linears(input.shape).expand, mode);
  }
}

void write_indexer_backward(BlockWriter& writer,
                            const BlockInput& input,
                            const BackwardMode& mode) {
  const RankShape& shape = input.shape;
  if (!shape.sparse || !shape.sparse->indexer) {
    return;
  }
  const SparseShape& sparse = *shape.sparse;
  const IndexLinears linears = index_linears(shape);
  if (mode.passes()) {
    Kernel target = flash_forward(shape, gathered_attention(shape));
    target.name = "index target";
    target.work *=
        static_cast<double>(shape.head_dim) / static_cast<double>(shape.head_dim + shape.value_dim);
    writer.compute(target);
    if (shape.tensor > 1) {  // each tensor rank has the probabilities of its own heads
      writer.collective(core::CollectiveKind::all_reduce, Group::tensor, core::Activity::tensor,
                        core::Bytes(4.0 * static_cast<double>(shape.tokens) * shape.mean_keys),
                        "reduce index target");
    }
    const double chosen = 8.0 * static_cast<double>(shape.tokens) * shape.mean_keys;
    writer.compute(index_product("index scores", shape, shape.mean_keys, 3,
                                 2 * shape.element * index_elements(shape) + chosen));
    exchange_index_keys(writer, shape, core::CollectiveKind::reduce_scatter,
                        "scatter index key gradients");
    tensor_region(writer, input).reduce("reduce index keys", sparse.dim + sparse.heads);
  }
  if (mode.weights()) {
    writer.compute(weight_gradient(linears.queries, mode.gradients));
    writer.compute(weight_gradient(linears.keys, mode.gradients));
  }
}

}  // namespace headway::workload
