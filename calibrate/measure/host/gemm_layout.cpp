#include "calibrate/measure/host/gemm_layout.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace headway::measure {

using core::GemmPass;
using core::Precision;

Format operand_format(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return Format::bf16;
    case Precision::fp16:
      return Format::fp16;
    case Precision::fp8:
      return Format::fp8_e4m3;
    case Precision::tf32:
      return Format::tf32;
    default:
      throw std::invalid_argument("this precision is not measured");
  }
}

Format result_format(Precision precision) {
  const Format operand = operand_format(precision);
  return operand == Format::fp8_e4m3 ? Format::bf16
         : operand == Format::tf32   ? Format::fp32
                                     : operand;
}

GemmLayout gemm_layout(GemmPass pass, const LinearShape& s, Precision precision) {
  const bool eight_bit = element_bytes(operand_format(precision)) == 1;
  switch (pass) {
    case GemmPass::forward:
      return {s.n, s.m, s.k, true, false};
    case GemmPass::input_gradient:
      return {s.k, s.m, s.n, eight_bit, false};
    case GemmPass::weight_gradient:
      return {s.k, s.n, s.m, eight_bit, !eight_bit};
  }
  throw std::invalid_argument("no such pass");
}

ExpectedEntry expected_entry(const GemmLayout& layout,
                             Format format,
                             std::uint64_t seed_a,
                             std::uint64_t seed_b,
                             std::int64_t row,
                             std::int64_t column) {
  ExpectedEntry out;
  for (std::int64_t i = 0; i < layout.inner; ++i) {
    const auto a_index = static_cast<std::uint64_t>(layout.a_index(row, i));
    const auto b_index = static_cast<std::uint64_t>(layout.b_index(i, column));
    const double term = static_cast<double>(stored_random_value(format, seed_a, a_index)) *
                        static_cast<double>(stored_random_value(format, seed_b, b_index));
    out.value += term;
    out.magnitude += std::abs(term);
  }
  return out;
}

double tolerance(const ExpectedEntry& expected, Precision precision) {
  const Format result = result_format(precision);
  const double half_ulp = result == Format::bf16   ? std::ldexp(1.0, -8)
                          : result == Format::fp16 ? std::ldexp(1.0, -11)
                                                   : std::ldexp(1.0, -24);
  // fp32 sums are cut off, not rounded, after every few terms: with terms of random signs that adds
  // up to 2^-24 k/4 sqrt(k) of terms of size 1, 2^-18.4 of their magnitude at k = 16,384 and four
  // terms (tests/measure/gemm_layout_test.cpp). Only results in fp32 show it.
  const int bits = precision == Precision::fp8 ? -11 : precision == Precision::tf32 ? -18 : -20;
  const double accumulator = std::ldexp(1.0, bits);
  return half_ulp * std::abs(expected.value) + accumulator * expected.magnitude;
}

std::vector<LinearShape> linear_shapes(bool quick) {
  std::vector<LinearShape> shapes;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const LinearShape shape{m, n, k};
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) {
      shapes.push_back(shape);
    }
  };
  // Square ones first: they show the peak.
  for (const std::int64_t side : {8192, 4096, 2048, 16384, 1024}) {
    add(side, side, side);
  }
  // Layers of real models: hidden x {hidden, qkv, 4 hidden, 8/3 hidden}, and a vocabulary.
  const std::vector<std::int64_t> tokens =
      quick ? std::vector<std::int64_t>{4096} : std::vector<std::int64_t>{8192, 2048, 16384, 512};
  for (const std::int64_t m : tokens) {
    for (const std::int64_t hidden : {4096, 8192, 2048, 1024, 16384}) {
      add(m, hidden, hidden);
      add(m, 4 * hidden, hidden);
      add(m, hidden, 4 * hidden);
      if (!quick) {
        add(m, 3 * hidden, hidden);
        add(m, hidden / 8, hidden);  // an eighth of the outputs, as under tensor parallelism
        add(m, hidden, hidden / 8);
      }
    }
    add(m, 50304, 2048);
    if (!quick) {
      add(m, 128256, 4096);
    }
  }
  return shapes;
}

}  // namespace headway::measure
