#include "sim/core/checked.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace headway::core {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Checked, MultipliesAndAddsAsLongAsItFits) {
  // 2^16 x 2^16 wraps to 0 in 32 bits.
  EXPECT_EQ((Checked(65536) * 65536).value(), std::int64_t{1} << 32);
  // 2^31 x 2^31 x 2 = 2^63 is the first product that does not fit; 2^62 x 1 does.
  EXPECT_EQ((Checked(1U << 31) * (1U << 31)).value(), std::int64_t{1} << 62);
  EXPECT_FALSE((Checked(1U << 31) * (1U << 31) * 2).fits());
  EXPECT_EQ((Checked(kMost - 1) + 1).value(), kMost);
  EXPECT_FALSE((Checked(kMost) + 1).fits());
}

TEST(Checked, StaysTooLargeWhateverComesAfter) {
  // 2^22 x 2^21 x 2^21 = 2^64 wraps to 0 in 64 bits.
  const Checked large = Checked(1 << 22) * (1 << 21) * (1 << 21);
  EXPECT_FALSE(large.fits());
  EXPECT_FALSE((large * 3).fits());
  EXPECT_FALSE((large + 0).fits());
  EXPECT_EQ(large.as<std::int64_t>(), std::nullopt);
  EXPECT_EQ((large * 0).value(), 0);  // of no nodes there are no GPUs, however many a node has
  EXPECT_THROW((void)large.value(), InternalError);
  EXPECT_DOUBLE_EQ(large.approximate(), 9223372036854775808.0);
}

TEST(Checked, IsOrderedWithWhatDoesNotFitOnTop) {
  const Checked large = Checked(kMost) * 2;
  EXPECT_LT(Checked(kMost), large);
  EXPECT_GT(large, 7);
  EXPECT_FALSE(large < large);
  EXPECT_LT(Checked(7), Checked(8));
}

TEST(Checked, KnowsMultiplesAndSaysNoWhereItCannotKnow) {
  EXPECT_TRUE(is_multiple(Checked(1024) * 16, 4096));
  EXPECT_FALSE(is_multiple(4096, Checked(1024) * 16));
  EXPECT_FALSE(is_multiple(32, Checked(65536) * 65536));
  EXPECT_FALSE(is_multiple(Checked(kMost) * 2, 2));
  EXPECT_FALSE(is_multiple(2, Checked(kMost) * 2));
  EXPECT_FALSE(is_multiple(8, 0));
}

TEST(Checked, PrintsAsANumberOrAsMoreThanTheLargest) {
  EXPECT_EQ(fmt::format("{}", Checked(65536) * 65536), "4294967296");
  EXPECT_EQ(fmt::format("{}", Checked(kMost) * 2), "more than 9.2e18");
}

TEST(Checked, RefusesNegativeSizesAsOurOwnFault) { EXPECT_THROW((void)Checked(-1), InternalError); }

TEST(Narrow, GivesAValueOnlyWhereTheTypeHasIt) {
  EXPECT_EQ(narrow<int>(std::int64_t{2147483647}), 2147483647);
  EXPECT_EQ(narrow<int>(std::int64_t{2147483648}), std::nullopt);
  EXPECT_EQ(narrow<std::uint32_t>(-1), std::nullopt);
  EXPECT_EQ((Checked(536870912) * 8).as<int>(), std::nullopt);  // nodes of 8 GPUs
}

TEST(Narrow, CutsFractionsOffAndRefusesWhatIsOutside) {
  EXPECT_EQ(narrow<int>(2.9), 2);
  EXPECT_EQ(narrow<int>(-2147483648.0), std::numeric_limits<int>::min());
  EXPECT_EQ(narrow<int>(2147483648.0), std::nullopt);
  // 2^63 is the first double that an int64 does not have; the one below is 2^63 - 1024.
  EXPECT_EQ(narrow<std::int64_t>(0x1p63), std::nullopt);
  EXPECT_EQ(narrow<std::int64_t>(0x1p63 - 1024), kMost - 1023);
  EXPECT_EQ(narrow<std::int64_t>(1e300), std::nullopt);
  EXPECT_EQ(narrow<std::int64_t>(std::numeric_limits<double>::quiet_NaN()), std::nullopt);
  EXPECT_EQ(narrow<std::uint64_t>(-1.0), std::nullopt);
}

}  // namespace
}  // namespace headway::core
