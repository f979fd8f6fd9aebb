// The arithmetic of the kernels against plain formulas in double.
#include "calibrate/measure/host/reference.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace headway::measure {
namespace {

using Halves = std::vector<std::uint16_t>;

Halves random_halves(std::size_t count, std::uint64_t seed) {
  Halves out(count);
  reference::random_fill(out.data(), Format::bf16, count, seed);
  return out;
}
double value(const Halves& array, std::size_t i) {
  return static_cast<double>(from_bf16(array[i]));
}

/// bf16 keeps 8 significant bits, so a rounded result is within 2^-9 of itself; twice that allows
/// for fp32 inside.
double near(double expected) { return std::abs(expected) / 256 + 1e-7; }

TEST(TriadKernel, AddsAScaledArray) {
  std::vector<float> a(64), b(64), c(64);
  reference::random_fill(b.data(), Format::fp32, 64, 1);
  reference::random_fill(c.data(), Format::fp32, 64, 2);
  reference::triad(a.data(), b.data(), c.data(), 3.0F, 64);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_FLOAT_EQ(a[i], b[i] + 3.0F * c[i]);
  }
}

TEST(RmsNormKernel, DividesEachRowByItsRootMeanSquare) {
  const int rows = 3, width = 4096 + 8;  // not a multiple of the block, so threads differ in work
  const Halves in = random_halves(static_cast<std::size_t>(rows * width), 3);
  const Halves weight = random_halves(width, 4);
  Halves out(in.size());
  reference::rms_norm({out.data(), in.data(), weight.data(), rows, width, 1e-5F});
  for (std::size_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) {
      squares += std::pow(value(in, row * width + i), 2);
    }
    const double rms = std::sqrt(squares / width + 1e-5);
    for (std::size_t i = 0; i < width; ++i) {
      const double expected = value(in, row * width + i) / rms * value(weight, i);
      EXPECT_NEAR(value(out, row * width + i), expected, near(expected));
    }
  }
}

double silu(double x) { return x / (1 + std::exp(-x)); }

TEST(SwigluKernel, MultipliesTheGatedHalfByTheOther) {
  const Halves gate = random_halves(512, 5), up = random_halves(512, 6);
  Halves out(512);
  reference::swiglu(out.data(), gate.data(), up.data(), 512);
  for (std::size_t i = 0; i < 512; ++i) {
    const double expected = silu(value(gate, i)) * value(up, i);
    EXPECT_NEAR(value(out, i), expected, near(expected));
  }
}

TEST(SwigluGradient, IsTheSlopeOfTheForward) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const float gate = random_value(7, i), up = random_value(8, i), gradient = random_value(9, i);
    const SwigluGradient slope = swiglu_gradient(gate, up, gradient);
    // Central differences in double: error of order h^2 = 1e-10.
    const double h = 1e-5, g = static_cast<double>(gate), u = static_cast<double>(up);
    const double by_gate = (silu(g + h) - silu(g - h)) / (2 * h) * u;
    EXPECT_NEAR(static_cast<double>(slope.gate), by_gate * static_cast<double>(gradient), 2e-6);
    EXPECT_NEAR(static_cast<double>(slope.up), silu(g) * static_cast<double>(gradient), 2e-6);
  }
}

TEST(SwigluGradient, FillsBothArrays) {
  const Halves gate = random_halves(64, 5), up = random_halves(64, 6), back = random_halves(64, 7);
  Halves to_gate(64), to_up(64);
  reference::swiglu_gradient(
      {to_gate.data(), to_up.data(), gate.data(), up.data(), back.data(), 64});
  for (std::size_t i = 0; i < 64; ++i) {
    const double expected = silu(value(gate, i)) * value(back, i);
    EXPECT_NEAR(value(to_up, i), expected, near(expected));
  }
}

TEST(SoftmaxState, MergesInAnyOrder) {
  const float logits[] = {3.0F, -80.0F, 2.5F, 90.0F, 89.0F};
  SoftmaxState forward = empty_softmax(), backward = empty_softmax();
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    forward = merge(forward, softmax_of(logits[i]));
    backward = merge(softmax_of(logits[4 - i]), backward);
    sum += std::exp(static_cast<double>(logits[i]) - 90);
  }
  EXPECT_EQ(forward.maximum, 90.0F);
  EXPECT_NEAR(static_cast<double>(forward.sum), sum, 1e-6);
  EXPECT_NEAR(static_cast<double>(backward.sum), sum, 1e-6);
  EXPECT_EQ(merge(empty_softmax(), empty_softmax()).sum, 0.0F);
}

struct CrossEntropyCase {
  int rows = 4, vocabulary = 2056;
  Halves logits = random_halves(4 * 2056, 10);
  Halves gradient = Halves(4 * 2056);
  std::vector<float> loss = std::vector<float>(4);
  CrossEntropyCase() {
    reference::cross_entropy({loss.data(), gradient.data(), logits.data(), rows, vocabulary});
  }
};

TEST(CrossEntropyKernel, GivesMinusTheLogProbabilityOfTheTarget) {
  const CrossEntropyCase c;
  for (int row = 0; row < c.rows; ++row) {
    const auto first = static_cast<std::size_t>(row * c.vocabulary);
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.vocabulary); ++i) {
      sum += std::exp(value(c.logits, first + i));
    }
    const auto target = static_cast<std::size_t>(cross_entropy_target(row, c.vocabulary));
    const double expected = std::log(sum) - value(c.logits, first + target);
    EXPECT_NEAR(static_cast<double>(c.loss[static_cast<std::size_t>(row)]), expected, 1e-4);
  }
}

TEST(CrossEntropyKernel, GradientOfARowSumsToZeroAndIsSoftmaxOffTheTarget) {
  const CrossEntropyCase c;
  for (int row = 0; row < c.rows; ++row) {
    const auto first = static_cast<std::size_t>(row * c.vocabulary);
    const auto target = static_cast<std::size_t>(cross_entropy_target(row, c.vocabulary));
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.vocabulary); ++i) {
      sum += std::exp(value(c.logits, first + i));
      total += value(c.gradient, first + i);
    }
    // Every entry is rounded to bf16: the probabilities sum to 1 / rows within 2^-9.
    EXPECT_NEAR(total, 0, 0.25 / 512);
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.vocabulary); ++i) {
      const double probability = std::exp(value(c.logits, first + i)) / sum;
      const double expected = (probability - (i == target ? 1 : 0)) / c.rows;
      EXPECT_NEAR(value(c.gradient, first + i), expected, near(expected));
    }
  }
}

TEST(AdamKernel, FollowsTheRecurrenceOfTheSource) {
  // Algorithm 2 of Loshchilov & Hutter with a schedule multiplier of 1, in double, three steps.
  const AdamStep base;
  double p = 0.7, m = 0, v = 0;
  AdamState state{0.7F, 0, 0};
  for (int t = 1; t <= 3; ++t) {
    const double g = 0.1 * t - 0.25;
    AdamStep step = base;
    step.correction1 = static_cast<float>(1 - std::pow(0.9, t));
    step.correction2 = static_cast<float>(1 - std::pow(0.95, t));
    state = adam(state, static_cast<float>(g), step);
    m = 0.9 * m + 0.1 * g;
    v = 0.95 * v + 0.05 * g * g;
    const double m_hat = m / (1 - std::pow(0.9, t)), v_hat = v / (1 - std::pow(0.95, t));
    p -= 3e-4 * (m_hat / (std::sqrt(v_hat) + 1e-8) + 0.1 * p);
    EXPECT_NEAR(static_cast<double>(state.parameter), p, 1e-6);
    EXPECT_NEAR(static_cast<double>(state.first_moment), m, 1e-7);
    EXPECT_NEAR(static_cast<double>(state.second_moment), v, 1e-7);
  }
}

TEST(AdamKernel, WritesTheRoundedWeightBesideTheMasterWeight) {
  std::vector<float> parameter(8, 1.001F), m(8, 0), v(8, 0), gradient(8, 0.5F);
  Halves weight(8);
  reference::adam({parameter.data(), m.data(), v.data(), gradient.data(), weight.data(), 8},
                  AdamStep{});
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_LT(parameter[i], 1.001F);
    EXPECT_EQ(weight[i], to_bf16(parameter[i]));
  }
}

}  // namespace
}  // namespace headway::measure
