#include "sim/workload/native/native_sparse.h"

#include <algorithm>

#include "sim/workload/attention/attention_heads.h"

namespace headway::workload {

namespace {

double square(int width) { return static_cast<double>(width) * width; }

/// Keys of all blocks over all queries of a sequence.
double compressed_pairs(const NativeSparseSpec& spec, double sequence, double blocks) {
  return blocks * (sequence - spec.compressed_block + 1) - spec.stride * blocks * (blocks - 1) / 2;
}

}  // namespace

NativeShape native_shape(const NativeSparseSpec& spec, int sequence_length) {
  const double s = sequence_length;
  NativeShape shape;
  shape.compressed_block = spec.compressed_block;
  shape.selected_block = std::min(spec.selected_block, sequence_length);
  shape.selected_blocks = spec.selected_blocks;
  shape.window = std::min(spec.window, sequence_length);
  shape.blocks = sequence_length < spec.compressed_block
                     ? 0
                     : (sequence_length - spec.compressed_block) / spec.stride + 1;
  const auto block = static_cast<double>(shape.selected_block);
  shape.choices = s / block;
  shape.keys.compressed = compressed_pairs(spec, s, static_cast<double>(shape.blocks)) / s;
  const double chosen = std::min(spec.selected_blocks * block, s);
  shape.keys.selected = chosen * (1 - (chosen - block) / (2 * s));
  const double window = std::min(static_cast<double>(spec.window), s);
  shape.keys.window = window * (1 - window / (2 * s));
  return shape;
}

int native_value_dim(const NativeSparseSpec& spec, int head_dim) {
  return value_width(spec.value_dim, head_dim);
}

double compression_weights(const NativeSparseSpec& spec, int head_dim) {
  const double squares = square(head_dim) + square(native_value_dim(spec, head_dim));
  return (spec.compressed_block + 1.0) * squares;
}

double compression_parameters(const NativeSparseSpec& spec, int head_dim) {
  const double widths = static_cast<double>(head_dim) + native_value_dim(spec, head_dim);
  return compression_weights(spec, head_dim) + spec.compressed_block * widths;
}

double compression_flops(const NativeSparseSpec& spec, int head_dim, int sequence_length) {
  const auto blocks = static_cast<double>(native_shape(spec, sequence_length).blocks);
  return 2 * blocks / sequence_length * compression_weights(spec, head_dim);
}

std::int64_t native_columns(std::int64_t heads,
                            std::int64_t key_value_heads,
                            std::int64_t head_dim,
                            std::int64_t value_dim) {
  return heads * head_dim + kNativeBranches * (key_value_heads * (head_dim + value_dim) + heads);
}

}  // namespace headway::workload
