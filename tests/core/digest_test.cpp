#include "sim/core/digest.h"

#include <bit>
#include <gtest/gtest.h>
#include <set>

namespace headway::core {
namespace {

TEST(Mix, GivesThePublishedSplitMix64Sequence) {
  // SplitMix64 with seed 0 is mix(n x golden gamma); its first two outputs as in the reference
  // implementation.
  constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15U;
  EXPECT_EQ(mix(kGamma), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix(2 * kGamma), 0x6e789e6aa1b965f4U);
}

TEST(Mix, ChangesAboutHalfOfTheBitsForOne) {
  for (int bit = 0; bit < 64; ++bit) {
    const int changed = std::popcount(mix(12345) ^ mix(12345 ^ (std::uint64_t{1} << bit)));
    EXPECT_GT(changed, 12);
    EXPECT_LT(changed, 52);
  }
}

TEST(Combine, DependsOnTheOrder) {
  EXPECT_NE(combine(combine(0, 1), 2), combine(combine(0, 2), 1));
}

TEST(HashText, TellsTextsApart) {
  const std::set<std::uint64_t> hashes{hash_text(""), hash_text("gpu"), hash_text("gpv"),
                                       hash_text("upg")};
  EXPECT_EQ(hashes.size(), 4U);
}

}  // namespace
}  // namespace headway::core
