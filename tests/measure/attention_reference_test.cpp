#include "calibrate/measure/host/attention_reference.h"

#include <cmath>
#include <gtest/gtest.h>

#include "calibrate/measure/host/number_formats.h"

namespace headway::measure {
namespace {

std::vector<double> values(std::int64_t count, std::uint64_t seed) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(static_cast<double>(random_value(seed, static_cast<std::uint64_t>(i))));
  }
  return out;
}
AttentionTensors tensors(const AttentionShape& shape) {
  return {values(shape.query_elements(), 1), values(shape.key_elements(), 2),
          values(shape.key_elements(), 3)};
}

TEST(AttentionReference, TheFirstCausalTokenSeesOnlyItself) {
  const AttentionShape shape{2, 5, 4, 2, 8, true};
  const AttentionTensors in = tensors(shape);
  const auto out = attention_forward(shape, in);
  for (std::size_t head = 0; head < 4; ++head) {
    for (std::size_t d = 0; d < 8; ++d) {
      // Query heads 0 and 1 share key-value head 0, 2 and 3 share head 1.
      EXPECT_DOUBLE_EQ(out[head * 8 + d], in.v[head / 2 * 8 + d]);
    }
  }
}

TEST(AttentionReference, EqualScoresAverageTheValues) {
  const AttentionShape shape{1, 6, 1, 1, 4, false};
  AttentionTensors in = tensors(shape);
  std::fill(in.q.begin(), in.q.end(), 0.0);
  const auto out = attention_forward(shape, in);
  for (std::size_t d = 0; d < 4; ++d) {
    double mean = 0;
    for (std::size_t token = 0; token < 6; ++token) {
      mean += in.v[token * 4 + d] / 6;
    }
    EXPECT_NEAR(out[3 * 4 + d], mean, 1e-12);
  }
}

TEST(AttentionReference, TheBackwardIsTheSlopeOfTheForward) {
  for (const bool causal : {false, true}) {
    const AttentionShape shape{2, 4, 4, 2, 3, causal};
    const AttentionTensors in = tensors(shape);
    const auto weight = values(shape.query_elements(), 4);
    const auto loss = [&](const AttentionTensors& at) {
      const auto out = attention_forward(shape, at);
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        sum += out[i] * weight[i];
      }
      return sum;
    };
    const AttentionTensors gradient = attention_backward(shape, in, weight);
    const auto expect_slope = [&](std::vector<double> AttentionTensors::*array) {
      for (std::size_t i = 0; i < (in.*array).size(); i += 5) {
        const double h = 1e-5;  // error of central differences: h^2
        AttentionTensors up = in, down = in;
        (up.*array)[i] += h;
        (down.*array)[i] -= h;
        EXPECT_NEAR((gradient.*array)[i], (loss(up) - loss(down)) / (2 * h), 1e-8);
      }
    };
    expect_slope(&AttentionTensors::q);
    expect_slope(&AttentionTensors::k);
    expect_slope(&AttentionTensors::v);
  }
}

TEST(RelativeDistance, IsOneForANullResultAndSmallForRounding) {
  const std::vector<double> exact = values(1000, 5);
  std::vector<double> rounded = exact;
  for (double& value : rounded) {
    value = static_cast<double>(rounded_to(Format::bf16, static_cast<float>(value)));
  }
  EXPECT_DOUBLE_EQ(relative_distance(std::vector<double>(1000), exact), 1);
  EXPECT_LT(relative_distance(rounded, exact), 0.004);
}

}  // namespace
}  // namespace headway::measure
