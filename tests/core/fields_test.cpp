#include "sim/core/fields.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sim/core/activity.h"

namespace headway::core {
namespace {

TEST(Ranges, KnowTheirEnds) {
  EXPECT_FALSE(positive.contains(0));
  EXPECT_TRUE(positive.contains(1e-300));
  EXPECT_FALSE(positive.contains(kInfinity));
  EXPECT_TRUE(non_negative.contains(0));
  EXPECT_FALSE(fraction.contains(0));
  EXPECT_TRUE(fraction.contains(1));
  EXPECT_TRUE(probability.contains(0));
  EXPECT_FALSE(probability.contains(std::nextafter(1.0, 2.0)));
  EXPECT_TRUE(any_value.contains(-1e300));
  EXPECT_FALSE(positive.contains(std::nan("")));
}

TEST(Words, LeadThereAndBack) {
  for (const auto& [value, word] : enum_words(Activity{})) {
    EXPECT_EQ(from_word<Activity>(word), value);
    EXPECT_EQ(to_word(value), word);
  }
  EXPECT_EQ(from_word<Activity>("idle"), std::nullopt);
}

TEST(OrAuto, IsAutoUntilGivenAValue) {
  OrAuto<int> degree;
  EXPECT_TRUE(degree.is_auto());
  degree = 8;
  EXPECT_FALSE(degree.is_auto());
  EXPECT_EQ(degree.value, 8);
}

}  // namespace
}  // namespace headway::core
