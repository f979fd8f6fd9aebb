#include "calibrate/measure/host/number_formats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <vector>

namespace headway::measure {
namespace {

TEST(NumberFormats, DecodesTheBitsThatTheStandardsName) {
  EXPECT_EQ(from_bf16(0x3F80), 1.0F);
  EXPECT_EQ(from_bf16(0xC000), -2.0F);
  EXPECT_EQ(from_fp16(0x3C00), 1.0F);
  EXPECT_EQ(from_fp16(0x7BFF), 65504.0F);
  EXPECT_EQ(from_fp16(0x0001), std::ldexp(1.0F, -24));  // the smallest subnormal
  EXPECT_EQ(from_fp8(0x38), 1.0F);
  EXPECT_EQ(from_fp8(0x7E), 448.0F);  // OCP E4M3: the largest
  EXPECT_EQ(from_fp8(0x01), std::ldexp(1.0F, -9));
  EXPECT_EQ(from_fp8(0xB8), -1.0F);
}

TEST(NumberFormats, EveryEightAndSixteenBitValueReadsBackToItsBits) {
  for (int bits = 0; bits < 0x7F; ++bits) {
    EXPECT_EQ(to_fp8(from_fp8(static_cast<std::uint8_t>(bits))), bits);
    EXPECT_EQ(to_fp8(from_fp8(static_cast<std::uint8_t>(bits | 0x80))), bits | 0x80);
  }
  for (int bits = 0; bits < 0x7C00; ++bits) {
    EXPECT_EQ(to_fp16(from_fp16(static_cast<std::uint16_t>(bits))), bits);
  }
  for (int bits = 0; bits < 0x7F80; ++bits) {
    EXPECT_EQ(to_bf16(from_bf16(static_cast<std::uint16_t>(bits))), bits);
  }
}

TEST(NumberFormats, RoundsHalfwayCasesToEven) {
  // bf16 has 8 significant bits: between 1 and 1 + 2^-7 the middle goes to 1, whose last bit is 0.
  EXPECT_EQ(rounded_to(Format::bf16, 1 + std::ldexp(1.0F, -8)), 1.0F);
  EXPECT_EQ(rounded_to(Format::bf16, 1 + 3 * std::ldexp(1.0F, -8)), 1 + std::ldexp(1.0F, -6));
  // E4M3 has 4: 1.0625 is between 1 and 1.125.
  EXPECT_EQ(rounded_to(Format::fp8_e4m3, 1.0625F), 1.0F);
  EXPECT_EQ(rounded_to(Format::fp8_e4m3, 1.1875F), 1.25F);
  // Up across a power of two.
  EXPECT_EQ(rounded_to(Format::fp8_e4m3, 1.99F), 2.0F);
  EXPECT_EQ(rounded_to(Format::fp16, 2047.75F), 2048.0F);
  EXPECT_EQ(rounded_to(Format::tf32, 1 + std::ldexp(1.0F, -11)), 1.0F);
}

TEST(NumberFormats, EightBitsGoToTheNearestOfAllValues) {
  for (int i = 0; i < 2000; ++i) {
    const float value = 3 * random_value(5, static_cast<std::uint64_t>(i));
    float nearest = 0, distance = std::numeric_limits<float>::infinity();
    for (int bits = 0; bits < 256; ++bits) {
      const float candidate = from_fp8(static_cast<std::uint8_t>(bits));
      if ((bits & 0x7F) != 0x7F && std::abs(candidate - value) < distance) {
        nearest = candidate;
        distance = std::abs(candidate - value);
      }
    }
    EXPECT_EQ(std::abs(rounded_to(Format::fp8_e4m3, value) - value), distance)
        << value << " " << nearest;
  }
}

TEST(NumberFormats, LargeValuesSaturate) {
  EXPECT_EQ(rounded_to(Format::fp8_e4m3, 1e6F), 448.0F);
  EXPECT_EQ(rounded_to(Format::fp8_e4m3, -1e6F), -448.0F);
  EXPECT_EQ(rounded_to(Format::fp16, 1e6F), 65504.0F);
}

TEST(NumberFormats, WhatIsStoredIsLoaded) {
  for (const Format format :
       {Format::fp32, Format::tf32, Format::bf16, Format::fp16, Format::fp8_e4m3}) {
    std::vector<float> room(16);
    for (std::uint64_t i = 0; i < 16; ++i) {
      store(format, room.data(), i, random_value(3, i));
    }
    for (std::uint64_t i = 0; i < 16; ++i) {
      EXPECT_EQ(load(format, room.data(), i), stored_random_value(format, 3, i));
    }
  }
}

TEST(RandomValues, HaveMeanZeroAndVarianceOneAndAreNeverZero) {
  const int n = 100000;
  double sum = 0, squares = 0, neighbours = 0, before = 0;
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(random_value(1, static_cast<std::uint64_t>(i)));
    EXPECT_NE(x, 0);
    sum += x;
    squares += x * x;
    neighbours += x * before;
    before = x;
  }
  // Standard errors: 1 / sqrt(n) = 0.003 for the mean and the correlation, about 0.004 for the
  // variance.
  EXPECT_NEAR(sum / n, 0, 0.015);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(neighbours / n, 0, 0.015);
}

TEST(RandomValues, DifferBetweenSeeds) {
  std::set<float> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    seen.insert(random_value(seed, 7));
  }
  EXPECT_EQ(seen.size(), 100U);
}

}  // namespace
}  // namespace headway::measure
