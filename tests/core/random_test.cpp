#include "sim/core/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "sim/core/statistics.h"

namespace headway::core {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The three vectors published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedAnswerForZeros) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, GivesThePublishedAnswerForOnes) {
  constexpr std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32_10({f, f, f, f}, {f, f}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, GivesThePublishedAnswerForDigitsOfPi) {
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, DrawsTheSameBitsOnEveryMachine) {
  // Written down once; a change here changes every seeded result of the program.
  const RandomStream stream(42, "gpu", 3);
  EXPECT_EQ(stream.bits(7, 1), (RandomBits{0x14cd4aa24ddbc94dU, 0x2cd49664d3f8e6d0U}));
}

TEST(RandomStream, ChangesWithEveryPartOfItsKey) {
  const RandomStream stream(42, "gpu", 3);
  std::set<std::uint64_t> firsts;
  firsts.insert(stream.bits(7, 1)[0]);
  firsts.insert(stream.bits(8, 1)[0]);
  firsts.insert(stream.bits(7, 2)[0]);
  firsts.insert(stream.bits(7 + (std::uint64_t{1} << 32), 1)[0]);
  firsts.insert(RandomStream(43, "gpu", 3).bits(7, 1)[0]);
  firsts.insert(RandomStream(42, "nic", 3).bits(7, 1)[0]);
  firsts.insert(RandomStream(42, "gpu", 4).bits(7, 1)[0]);
  firsts.insert(stream.part(0).bits(7, 1)[0]);
  firsts.insert(stream.part(1).bits(7, 1)[0]);
  firsts.insert(stream.part(1).part(0).bits(7, 1)[0]);
  EXPECT_EQ(firsts.size(), 10U);
}

TEST(UnitInterval, NeverReachesItsEnds) {
  EXPECT_EQ(unit_interval(0), 0x1p-53);
  EXPECT_EQ(unit_interval(~std::uint64_t{0}), 1 - 0x1p-53);
  EXPECT_LT(unit_interval(~std::uint64_t{0}), 1);
}

TEST(IndexBelow, CoversAllValuesAndNoMore) {
  EXPECT_EQ(index_below(0, 10), 0U);
  EXPECT_EQ(index_below(~std::uint64_t{0}, 10), 9U);
  EXPECT_EQ(index_below(std::uint64_t{1} << 63, 10), 5U);
}

// The transforms at points where the answer is known by hand.
TEST(Transforms, InvertTheirDistributions) {
  EXPECT_DOUBLE_EQ(exponential_from(std::exp(-1.0), 250), 250);  // survival 1/e at the mean
  EXPECT_DOUBLE_EQ(normal_from(0.5, 7, 2), 7);
  EXPECT_NEAR(normal_from(0.97724986805182079, 7, 2), 11, 1e-12);  // two deviations above
  EXPECT_DOUBLE_EQ(lognormal_from(0.5, 2, 0.3), std::exp(2.0));    // the median
}

/// Mean of `draws` values of `transform`, with the standard error.
template <class Transform>
MeanEstimate mean_of(std::uint64_t draws, Transform transform) {
  const RandomStream stream(2024, "moments");
  std::vector<double> sample;
  for (std::uint64_t i = 0; i < draws; ++i) {
    sample.push_back(transform(stream.uniform(i)));
  }
  return mean_estimate(sample);
}

// Fixed seed, so these either always pass or never; four standard errors.
TEST(Transforms, HaveTheMeansOfTheTextbook) {
  const auto near = [](MeanEstimate estimate, double mean) {
    EXPECT_NEAR(estimate.mean, mean, 4 * estimate.standard_error);
  };
  near(mean_of(200'000, [](double u) { return u; }), 0.5);
  near(mean_of(200'000, [](double u) { return exponential_from(u, 3); }), 3);
  near(mean_of(200'000, [](double u) { return normal_from(u, -1, 2); }), -1);
  near(mean_of(200'000, [](double u) { return lognormal_from(u, 0.2, 0.5); }),
       std::exp(0.2 + 0.125));
}

}  // namespace
}  // namespace headway::core
