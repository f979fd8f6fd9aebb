#include "sim/core/text.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>

namespace headway::core {
namespace {

TEST(WholeTextAs, IsTheNumberThatAllOfATextIs) {
  EXPECT_EQ(whole_text_as<int>("-12"), -12);
  EXPECT_EQ(whole_text_as<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(whole_text_as<double>("1.5e3"), 1500);
  EXPECT_EQ(whole_text_as<double>(".5"), 0.5);
}

TEST(WholeTextAs, IsNothingWhereAnythingStandsBesideTheNumber) {
  for (const char* text : {"", " 1", "1 ", "1x", "x", "+1", "1,000", "-"}) {
    EXPECT_EQ(whole_text_as<int>(text), std::nullopt) << text;
    EXPECT_EQ(whole_text_as<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(whole_text_as<int>("1.5"), std::nullopt);
  EXPECT_EQ(whole_text_as<unsigned>("-1"), std::nullopt);
}

TEST(WholeTextAs, IsNothingWhereTheNumberDoesNotFit) {
  EXPECT_EQ(whole_text_as<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(whole_text_as<double>("1e999"), std::nullopt);
}

TEST(WholeTextAs, TakesWhatIsNotFiniteOnlyWhereAsked) {
  for (const char* text : {"inf", "-inf", "nan", "infinity"}) {
    EXPECT_EQ(whole_text_as<double>(text), std::nullopt) << text;
    const auto taken = whole_text_as<double, NonFinite::taken>(text);
    ASSERT_TRUE(taken) << text;
    EXPECT_FALSE(std::isfinite(*taken)) << text;
  }
}

TEST(Trimmed, TakesBlanksOffBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace headway::core
