#include "calibrate/measure/host/gemm_layout.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace headway::measure {
namespace {

using core::GemmPass;
using core::Precision;

/// y[m, n] = x[m, k] w[n, k]^T and its gradients, all row-major as PyTorch stores them.
struct Layer {
  std::int64_t m = 5, n = 7, k = 3;
  std::vector<double> x = values(15, 1), w = values(21, 2), dy = values(35, 3);
  static std::vector<double> values(std::size_t count, std::uint64_t seed) {
    std::vector<double> out(count);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = static_cast<double>(random_value(seed, i));
    }
    return out;
  }
};

/// The product as `layout` describes it, result column-major.
std::vector<double> multiply(const GemmLayout& layout,
                             const std::vector<double>& a,
                             const std::vector<double>& b) {
  std::vector<double> d(static_cast<std::size_t>(layout.rows * layout.columns));
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    for (std::int64_t column = 0; column < layout.columns; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < layout.inner; ++i) {
        sum += a[static_cast<std::size_t>(layout.a_index(row, i))] *
               b[static_cast<std::size_t>(layout.b_index(i, column))];
      }
      d[static_cast<std::size_t>(layout.d_index(row, column))] = sum;
    }
  }
  return d;
}

// A row-major matrix is its transpose in column-major order, so the results below are row-major.
TEST(GemmLayout, ForwardIsInputTimesWeightTransposed) {
  const Layer l;
  const auto y =
      multiply(gemm_layout(GemmPass::forward, {l.m, l.n, l.k}, Precision::bf16), l.w, l.x);
  for (std::int64_t t = 0; t < l.m; ++t) {
    for (std::int64_t o = 0; o < l.n; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < l.k; ++i) {
        sum +=
            l.x[static_cast<std::size_t>(t * l.k + i)] * l.w[static_cast<std::size_t>(o * l.k + i)];
      }
      EXPECT_NEAR(y[static_cast<std::size_t>(t * l.n + o)], sum, 1e-12);
    }
  }
}

TEST(GemmLayout, InputGradientIsOutputGradientTimesWeight) {
  const Layer l;
  const auto dx =
      multiply(gemm_layout(GemmPass::input_gradient, {l.m, l.n, l.k}, Precision::bf16), l.w, l.dy);
  for (std::int64_t t = 0; t < l.m; ++t) {
    for (std::int64_t i = 0; i < l.k; ++i) {
      double sum = 0;
      for (std::int64_t o = 0; o < l.n; ++o) {
        sum += l.dy[static_cast<std::size_t>(t * l.n + o)] *
               l.w[static_cast<std::size_t>(o * l.k + i)];
      }
      EXPECT_NEAR(dx[static_cast<std::size_t>(t * l.k + i)], sum, 1e-12);
    }
  }
}

TEST(GemmLayout, WeightGradientIsOutputGradientTransposedTimesInput) {
  const Layer l;
  const auto dw =
      multiply(gemm_layout(GemmPass::weight_gradient, {l.m, l.n, l.k}, Precision::bf16), l.x, l.dy);
  for (std::int64_t o = 0; o < l.n; ++o) {
    for (std::int64_t i = 0; i < l.k; ++i) {
      double sum = 0;
      for (std::int64_t t = 0; t < l.m; ++t) {
        sum += l.dy[static_cast<std::size_t>(t * l.n + o)] *
               l.x[static_cast<std::size_t>(t * l.k + i)];
      }
      EXPECT_NEAR(dw[static_cast<std::size_t>(o * l.k + i)], sum, 1e-12);
    }
  }
}

TEST(GemmLayout, EightBitOperandsAlwaysLieInnerFirst) {
  for (const GemmPass pass :
       {GemmPass::forward, GemmPass::input_gradient, GemmPass::weight_gradient}) {
    const GemmLayout eight = gemm_layout(pass, {32, 48, 64}, Precision::fp8);
    const GemmLayout sixteen = gemm_layout(pass, {32, 48, 64}, Precision::bf16);
    EXPECT_TRUE(eight.transpose_a);
    EXPECT_FALSE(eight.transpose_b);
    EXPECT_EQ(eight.flops(), sixteen.flops());  // the same product
    EXPECT_EQ(eight.rows, sixteen.rows);
    EXPECT_EQ(eight.a_index(3, 5), 5 + 3 * eight.inner);
  }
}

TEST(ExpectedEntry, IsTheDotProductOfWhatTheArraysHold) {
  const GemmLayout layout = gemm_layout(GemmPass::weight_gradient, {16, 8, 4}, Precision::fp16);
  double sum = 0;
  for (std::int64_t i = 0; i < 16; ++i) {
    // weight gradient: A = x [16, 4] row-major, B = dy [16, 8] row-major; entry (input 2, output 5)
    sum += static_cast<double>(
               stored_random_value(Format::fp16, 1, static_cast<std::uint64_t>(i * 4 + 2))) *
           static_cast<double>(
               stored_random_value(Format::fp16, 2, static_cast<std::uint64_t>(i * 8 + 5)));
  }
  EXPECT_DOUBLE_EQ(expected_entry(layout, Format::fp16, 1, 2, 2, 5).value, sum);
}

TEST(Tolerance, AllowsRoundingAndRefusesAnotherEntry) {
  // Neighbouring entries differ by about sqrt(2 inner); the tolerance must be far below that.
  for (const Precision precision :
       {Precision::bf16, Precision::fp16, Precision::fp8, Precision::tf32}) {
    const GemmLayout layout = gemm_layout(GemmPass::forward, {8, 8, 16384}, precision);
    const ExpectedEntry entry = expected_entry(layout, operand_format(precision), 1, 2, 0, 0);
    EXPECT_LT(tolerance(entry, precision), 0.1 * std::sqrt(2.0 * 16384));
    const auto rounded =
        static_cast<double>(rounded_to(result_format(precision), static_cast<float>(entry.value)));
    EXPECT_LE(std::abs(rounded - entry.value), tolerance(entry, precision));
  }
}

/// To fp32, towards zero.
double cut_off(double value) {
  const auto rounded = static_cast<float>(value);
  const bool away = std::abs(static_cast<double>(rounded)) > std::abs(value);
  return static_cast<double>(away ? std::nextafter(rounded, 0.0F) : rounded);
}

// An H200's sums of 16,384 tf32 products were off by more than 2^-20 of the terms' magnitude: fp32
// sums that are cut off after every few terms lean towards zero.
TEST(Tolerance, AllowsLongSumsThatAreCutOff) {
  const GemmLayout layout = gemm_layout(GemmPass::forward, {256, 8, 16384}, Precision::tf32);
  double worst = 0;  // of the magnitude
  for (std::int64_t row = 0; row < 256; ++row) {
    const ExpectedEntry entry = expected_entry(layout, Format::tf32, 1, 2, row, 0);
    double sum = 0;
    double part = 0;
    for (std::int64_t i = 0; i < 16384; ++i) {
      const auto a = static_cast<std::uint64_t>(row * 16384 + i);
      part +=
          static_cast<double>(stored_random_value(Format::tf32, 1, a)) *
          static_cast<double>(stored_random_value(Format::tf32, 2, static_cast<std::uint64_t>(i)));
      if (i % 4 == 3) {
        sum = cut_off(sum + part);
        part = 0;
      }
    }
    const double error = std::abs(sum - entry.value);
    worst = std::max(worst, error / entry.magnitude);
    EXPECT_LE(error, tolerance(entry, Precision::tf32)) << row;
  }
  EXPECT_GT(worst, std::ldexp(1.0, -20));
}

TEST(LinearShapes, AreDistinctAlignedAndFewerWhenQuick) {
  const auto full = linear_shapes(false), quick = linear_shapes(true);
  EXPECT_LT(4 * quick.size(), full.size());
  for (const auto& shapes : {full, quick}) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      EXPECT_EQ(std::count(shapes.begin(), shapes.end(), shapes[i]), 1);
      // 8-bit products want every side a multiple of 16.
      EXPECT_EQ(shapes[i].m % 16 + shapes[i].n % 16 + shapes[i].k % 16, 0);
    }
  }
}

}  // namespace
}  // namespace headway::measure
