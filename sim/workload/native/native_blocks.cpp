#include "sim/workload/native/native_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/workload/blocks/kernels.h"

namespace headway::workload {

namespace {

using core::Bytes;
using core::Flops;
using core::Kernel;

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// Products are of whole groups of eight rows.
std::int64_t whole_rows(double rows) {
  return std::max<std::int64_t>(8, static_cast<std::int64_t>(std::ceil(rows / 8)) * 8);
}

/// Elements of a token's key and value, of all heads of keys.
double pair_elements(const RankShape& shape) {
  return as_double(shape.key_value_heads * (shape.head_dim + shape.value_dim));
}

/// Elements of all compressed keys and values.
double compressed_elements(const RankShape& shape) {
  return as_double(shape.micro_batch * shape.native->blocks) * pair_elements(shape);
}

/// Elements of keys or values of whole sequences, `width` wide, of one head of keys and all
/// branches.
double head_elements(const RankShape& shape, std::int64_t width) {
  return as_double(shape.context * shape.tokens * shape.key_sets * width);
}

/// For each head of keys its keys, then its values.
void exchange_heads(BlockWriter& writer,
                    const RankShape& shape,
                    core::CollectiveKind kind,
                    double element,
                    const char* keys,
                    const char* values) {
  const auto exchange = [&](const char* name, std::int64_t width) {
    writer.collective(kind, Group::context, core::Activity::context,
                      Bytes(element * head_elements(shape, width)), name);
  };
  for (std::int64_t head = 0; head < shape.key_value_heads; ++head) {
    exchange(keys, shape.head_dim);
    exchange(values, shape.value_dim);
  }
}

/// The matrices that make one key or value `width` wide of a block.
std::array<Linear, 2> compression(const char* name, const RankShape& shape, std::int64_t width) {
  const std::int64_t rows = whole_rows(as_double(shape.micro_batch * shape.native->blocks));
  const std::int64_t heads = shape.key_value_heads;
  return {Linear{name, rows, width, shape.native->compressed_block * width, shape.wide, heads},
          Linear{name, rows, width, width, shape.wide, heads}};
}

std::array<Linear, 4> compression_linears(const RankShape& shape) {
  const auto keys = compression("compress keys", shape, shape.head_dim);
  const auto values = compression("compress values", shape, shape.value_dim);
  return {keys[0], keys[1], values[0], values[1]};
}

Kernel compression_activation(const RankShape& shape, double arrays) {
  return memory_kernel("compress activation", arrays * shape.element * compressed_elements(shape));
}

/// Attention of this rank's queries to `keys` of `key_sequence` keys, in the mean.
AttentionShape branch(const RankShape& shape, std::int64_t key_sequence, double keys) {
  return {shape.sequence, key_sequence, shape.heads, shape.key_value_heads, true, keys};
}
AttentionShape compressed_branch(const RankShape& shape) {
  return branch(shape, shape.native->blocks, shape.native->keys.compressed);
}
AttentionShape selected_branch(const RankShape& shape) {
  return branch(shape, shape.context * shape.sequence, shape.native->keys.selected);
}
/// Of a context rank's two chunks each begins with a window of the keys before it.
AttentionShape window_branch(const RankShape& shape) {
  const std::int64_t before = shape.context == 1 ? 0 : 2 * shape.native->window;
  return branch(shape, std::min(shape.context * shape.sequence, shape.sequence + before),
                shape.native->keys.window);
}

Kernel named(const char* name, Kernel kernel) {
  kernel.name = name;
  return kernel;
}

/// Bytes of the keys and values that queries fetch block by block.
double fetched_keys(const RankShape& shape) {
  return shape.element * as_double(shape.tokens) * shape.native->keys.selected *
         pair_elements(shape);
}

/// Bytes of queries, output gradients and two statistics that blocks of keys fetch.
double fetched_queries(const RankShape& shape) {
  const double row = shape.element * as_double(shape.head_dim + shape.value_dim) + 8;
  const double blocks = shape.native->keys.selected / as_double(shape.native->selected_block);
  return row * as_double(shape.tokens * shape.heads) * blocks;
}

/// Scores of the blocks before each query: half of those of a sequence.
double block_scores(const RankShape& shape) {
  return 4 * as_double(shape.tokens * shape.key_value_heads) * shape.native->choices / 2;
}

Kernel scores_kernel(const RankShape& shape) {
  const double keys = shape.native->keys.compressed;
  Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.name = "block scores";
  kernel.precision = shape.wide;
  kernel.m = shape.sequence;
  kernel.n = whole_rows(keys);
  kernel.k = shape.head_dim;
  kernel.batch = shape.micro_batch * shape.heads;
  kernel.work = Flops(2 * as_double(shape.tokens * shape.heads * shape.head_dim) * keys);
  const double compressed =
      as_double(shape.micro_batch * shape.native->blocks * shape.key_value_heads * shape.head_dim);
  kernel.traffic =
      Bytes(shape.element * (shape.query_elements() + compressed) + block_scores(shape));
  return kernel;
}

Kernel choice_kernel(const RankShape& shape) {
  const std::int64_t numbers = shape.tokens * shape.key_value_heads * shape.native->selected_blocks;
  return memory_kernel("block choice", block_scores(shape) + 4 * as_double(numbers));
}

/// @param arrays  as wide as the output; @param gates  a head's three numbers
Kernel gates_kernel(const RankShape& shape, double arrays, double gates) {
  return memory_kernel("branch gates", shape.element * (arrays * shape.output_elements() +
                                                        gates * kNativeBranches *
                                                            as_double(shape.tokens * shape.heads)));
}

}  // namespace

void write_native_gather(BlockWriter& writer, const BlockInput& input) {
  const RankShape& shape = input.shape;
  if (shape.native && shape.context > 1) {
    exchange_heads(writer, shape, core::CollectiveKind::all_gather, shape.element, "gather keys",
                   "gather values");
  }
}

void write_compression_forward(BlockWriter& writer, const BlockInput& input) {
  const RankShape& shape = input.shape;
  if (!shape.native) {
    return;
  }
  write_native_gather(writer, input);
  const auto linears = compression_linears(shape);
  writer.compute(forward_product(linears[0]));
  writer.compute(forward_product(linears[2]));
  writer.compute(compression_activation(shape, 2));
  writer.compute(forward_product(linears[1]));
  writer.compute(forward_product(linears[3]));
}

void write_compression_backward(BlockWriter& writer,
                                const BlockInput& input,
                                const BackwardMode& mode) {
  const RankShape& shape = input.shape;
  if (!shape.native) {
    return;
  }
  const auto linears = compression_linears(shape);
  if (mode.passes()) {
    writer.compute(input_gradient(linears[1]));
    writer.compute(input_gradient(linears[3]));
    writer.compute(compression_activation(shape, 3));
    writer.compute(input_gradient(linears[0]));
    writer.compute(input_gradient(linears[2]));
    const double blocks = as_double(shape.native->compressed_block) * compressed_elements(shape);
    const double tokens = as_double(shape.context * shape.tokens) * pair_elements(shape);
    writer.compute(memory_kernel("add blocks", shape.element * (blocks + tokens)));
    if (shape.context > 1) {
      exchange_heads(writer, shape, core::CollectiveKind::reduce_scatter, 4.0,
                     "scatter key gradients", "scatter value gradients");
    }
  }
  if (mode.weights()) {
    for (const Linear& linear : linears) {
      writer.compute(weight_gradient(linear, mode.gradients));
    }
  }
}

std::vector<Kernel> native_attention_forward(const RankShape& shape) {
  Kernel chosen = named("chosen blocks", flash_forward(shape, selected_branch(shape)));
  chosen.gathered = Bytes(fetched_keys(shape));
  return {named("compressed blocks", flash_forward(shape, compressed_branch(shape))),
          scores_kernel(shape),
          choice_kernel(shape),
          chosen,
          named("window", flash_forward(shape, window_branch(shape))),
          gates_kernel(shape, kNativeBranches + 1, 1)};
}

std::vector<Kernel> native_attention_backward(const RankShape& shape) {
  Kernel chosen = named("chosen blocks", flash_backward(shape, selected_branch(shape)));
  chosen.gathered = Bytes(fetched_keys(shape) + fetched_queries(shape));
  return {gates_kernel(shape, 2 * kNativeBranches + 1, 2),
          named("window", flash_backward(shape, window_branch(shape))), chosen,
          named("compressed blocks", flash_backward(shape, compressed_branch(shape)))};
}

double native_buffers(const RankShape& shape) {
  return (shape.element + 4.0) *
         (head_elements(shape, shape.head_dim) + head_elements(shape, shape.value_dim));
}

double kept_by_native(const RankShape& shape, bool core_again) {
  if (!shape.native) {
    return 0;
  }
  const double rows = as_double(shape.tokens * shape.heads);
  // Compressed keys and values, and the input and the output of the activation before them.
  double bytes = shape.element * (3 * compressed_elements(shape) + kNativeBranches * rows);
  if (!core_again) {
    // One branch's statistics are counted as plain attention's.
    bytes += kNativeBranches * shape.element * shape.output_elements() +
             4 * (kNativeBranches - 1) * rows +
             4 * as_double(shape.tokens * shape.key_value_heads * shape.native->selected_blocks);
  }
  return bytes;
}

double native_gradients(const RankShape& shape) {
  if (!shape.native) {
    return 0;
  }
  return shape.element * (kNativeBranches * shape.output_elements() + compressed_elements(shape)) +
         2 * block_scores(shape);
}

}  // namespace headway::workload
