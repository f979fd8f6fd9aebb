#include "sim/study/verdict/shapley.h"

#include <bit>
#include <gtest/gtest.h>
#include <numeric>

namespace headway::study {
namespace {

TEST(Shapley, IndependentPartsGetWhatTheyChangeAlone) {
  // value = 10 + 1 (part 0) + 2 (part 1) + 4 (part 2)
  const auto parts = shapley(3, [](std::size_t set) { return 10 + static_cast<double>(set); });
  for (std::size_t i = 0; i < 3; ++i) {
    const double own = static_cast<double>(1U << i);
    EXPECT_DOUBLE_EQ(parts[i].shapley, own);
    EXPECT_DOUBLE_EQ(parts[i].first, own);
    EXPECT_DOUBLE_EQ(parts[i].last, own);
  }
}

TEST(Shapley, PartsThatOnlyWorkTogetherShareEqually) {
  // 6 only if both are switched: 3 each; alone nothing, as the last one everything.
  const auto parts = shapley(2, [](std::size_t set) { return set == 3 ? 6.0 : 0.0; });
  for (const auto& part : parts) {
    EXPECT_DOUBLE_EQ(part.shapley, 3);
    EXPECT_EQ(part.first, 0);
    EXPECT_EQ(part.last, 6);
  }
}

TEST(Shapley, GloveGameIsTheTextbookAnswer) {
  // One left glove (part 0), two right ones: a pair is worth 1. phi = 2/3, 1/6, 1/6.
  const auto parts =
      shapley(3, [](std::size_t set) { return (set & 1U) != 0 && (set & 6U) != 0 ? 1.0 : 0.0; });
  EXPECT_DOUBLE_EQ(parts[0].shapley, 2.0 / 3);
  EXPECT_DOUBLE_EQ(parts[1].shapley, 1.0 / 6);
  EXPECT_DOUBLE_EQ(parts[2].shapley, 1.0 / 6);
}

TEST(Shapley, ContributionsAddUpToTheDifference) {
  // An arbitrary table of whole numbers: sums of products with n! are exact in doubles.
  const auto value = [](std::size_t set) {
    return static_cast<double>((set * 2654435761U >> 7U) % 10007U);
  };
  for (std::size_t n = 0; n <= 6; ++n) {
    const auto parts = shapley(n, value);
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0,
                                       [](double s, const auto& p) { return s + p.shapley; });
    const double whole = value((std::size_t{1} << n) - 1) - value(0);
    EXPECT_NEAR(sum, whole, 1e-12 * 10007) << n;
  }
}

TEST(Shapley, APartThatChangesNothingGetsNothing) {
  const auto parts = shapley(
      4, [](std::size_t set) { return static_cast<double>(std::popcount(set & 0b1011U)) * 7; });
  EXPECT_EQ(parts[2].shapley, 0);
}

}  // namespace
}  // namespace headway::study
