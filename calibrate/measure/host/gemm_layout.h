// The three products of a linear layer as column-major matrix products, which is how cuBLAS counts.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/kernel.h"
#include "sim/core/precision.h"

#include "calibrate/measure/host/number_formats.h"

namespace headway::measure {

/// A linear layer's size: y[m, n] = x[m, k] w[n, k]^T, all row-major: m tokens, n outputs, k
/// inputs.
struct LinearShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool operator==(const LinearShape&) const = default;
};

/// D[rows, columns] = op(A)[rows, inner] op(B)[inner, columns], column-major without padding.
struct GemmLayout {
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool transpose_a = false, transpose_b = false;
  bool operator==(const GemmLayout&) const = default;

  /// Place of op(A)(row, i) in A.
  [[nodiscard]] std::int64_t a_index(std::int64_t row, std::int64_t i) const {
    return transpose_a ? i + row * inner : row + i * rows;
  }
  /// Place of op(B)(i, column) in B.
  [[nodiscard]] std::int64_t b_index(std::int64_t i, std::int64_t column) const {
    return transpose_b ? column + i * columns : i + column * inner;
  }
  [[nodiscard]] std::int64_t d_index(std::int64_t row, std::int64_t column) const {
    return row + column * rows;
  }
  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(inner);
  }
};

/// The layout of `pass`, with operands where a training framework has them in memory:
///     forward          y  = x w^T     W as stored, read transposed   "TN"
///     input_gradient   dx = dy w      both as stored                 "NN"
///     weight_gradient  dw = dy^T x    dy read transposed             "NT"
/// 8-bit formats: always "TN", the one layout of Hopper's 8-bit tensor cores; frameworks store a
/// transposed copy (NVIDIA Transformer Engine).
GemmLayout gemm_layout(core::GemmPass pass, const LinearShape& shape, core::Precision precision);

/// Operand and result formats of a precision: fp8 gives bf16, tf32 gives fp32.
Format operand_format(core::Precision precision);
Format result_format(core::Precision precision);

/// One entry of D from operands filled with random_value(seed_a / seed_b, index), in double, and
/// the sum of the magnitudes of its terms.
struct ExpectedEntry {
  double value = 0, magnitude = 0;
};
ExpectedEntry expected_entry(const GemmLayout& layout,
                             Format format,
                             std::uint64_t seed_a,
                             std::uint64_t seed_b,
                             std::int64_t row,
                             std::int64_t column);

/// How far a correct entry may be from `expected`: half an ulp of the result's format and the
/// accumulator's rounding, which for 8-bit operands on Hopper keeps about 13 bits ("fast
/// accumulation"; DeepSeek-V3 report, 2024, section 3.3.2), else fp32's.
double tolerance(const ExpectedEntry& expected, core::Precision precision);

/// Shapes to measure, the most useful first: a grid of tokens x layer widths in powers of two (and
/// the ratios of real layers). `quick`: about a fifth of them.
std::vector<LinearShape> linear_shapes(bool quick);

}  // namespace headway::measure
