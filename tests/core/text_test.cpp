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

TEST(Compact, TakesTheLetterOfTheRoundedFigure) {
  EXPECT_EQ(compact(9'990), "9,990");
  EXPECT_EQ(compact(999'400), "999 k");
  EXPECT_EQ(compact(999'999), "1.00 M");
  EXPECT_EQ(compact(-999.9e6), "-1.00 B");
  EXPECT_EQ(compact(1.23e6), "1.23 M");
}

TEST(Trimmed, TakesBlanksOffBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

PathStep step(std::string_view name) { return {name, std::nullopt}; }
PathStep place(std::size_t index) { return {{}, index}; }

TEST(PathSteps, AreKeysAndPlacesInLists) {
  using Steps = std::vector<PathStep>;
  EXPECT_EQ(path_steps("run.hazards[2].mtbf"),
            (Steps{step("run"), step("hazards"), place(2), step("mtbf")}));
  EXPECT_EQ(path_steps("a[0][10]"), (Steps{step("a"), place(0), place(10)}));
  EXPECT_EQ(path_steps("[3].a"), (Steps{place(3), step("a")}));
  EXPECT_EQ(path_steps(""), Steps{});
  EXPECT_EQ(path_steps("a..b."), (Steps{step("a"), step(""), step("b"), step("")}));
}

TEST(PathSteps, AreNothingWhereATextIsNoPath) {
  for (const char* text : {"x[2", "x[", "x[]", "x[-1]", "x[1 ]", "x[a]", "x[2]y", "x[1.5]",
                           "x[99999999999999999999]", "[", "[]"}) {
    EXPECT_EQ(path_steps(text), std::nullopt) << text;
  }
}

// A goodput of 99.96 % is not all of the time.
TEST(Text, LessThanAllNeverReadsHundred) {
  EXPECT_EQ(percent(0.6126), "61.3");
  EXPECT_EQ(percent(0.9994), "99.9");
  EXPECT_EQ(percent(0.9996), "99.96");
  EXPECT_EQ(percent(0.99996), "99.996");
  EXPECT_EQ(percent(0.99999), "99.999");
  EXPECT_EQ(percent(1), "100.0");
  EXPECT_EQ(percent(1 - 1e-15), "100.0") << "a sum of shares";
  EXPECT_EQ(percent(1.0004), "100.0");
}

}  // namespace
}  // namespace headway::core
