// Levels, trends and pauses of series whose states are known.
#include "sim/study/evidence/step_states.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/study/planted.h"

namespace headway::study {
namespace {

std::vector<SeriesStep> series_of(int lines,
                                  const std::function<double(int)>& seconds,
                                  double scatter = 0.004,
                                  std::uint64_t seed = 7) {
  Noise noise(seed);
  std::vector<SeriesStep> series;
  for (int i = 1; i <= lines; ++i) {
    series.push_back({i, 1, seconds(i) * noise(scatter)});
  }
  return series;
}

TEST(StepStates, PausesAndScatterAreNoOtherState) {
  for (const double scatter : {0.0, 0.004, 0.05, 0.17}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto series = series_of(
          150, [](int i) { return i % 10 == 0 ? 4.0 : 1.0; }, scatter, seed);
      EXPECT_EQ(states_of(series).size(), 1U) << scatter << " " << seed;
      EXPECT_EQ(words_of(states_of(series), series), "") << scatter << " " << seed;
    }
  }
  const auto third = series_of(120, [](int i) { return i % 3 == 0 ? 2.0 : 1.0; });
  EXPECT_EQ(words_of(states_of(third), third), "");
}

// Of 2,000 lines eleven are looked at together; the border is found to the line.
TEST(StepStates, AChangeIsFoundToTheLine) {
  for (const int lines : {40, 200, 2000}) {
    const int change = lines * 7 / 10 + 3;
    const auto series = series_of(lines, [&](int i) { return i < change ? 1.0 : 1.1; });
    const auto states = states_of(series);
    ASSERT_EQ(states.size(), 2U) << lines;
    EXPECT_EQ(states[0].end, static_cast<std::size_t>(change - 1)) << lines;
    EXPECT_EQ(states[1].end, series.size());
    EXPECT_NEAR(states[0].last, 1.0, 0.003);
    EXPECT_NEAR(states[1].first, 1.1, 0.003);
  }
}

TEST(StepStates, ATrendIsOneState) {
  for (const int lines : {100, 180, 2000}) {
    const auto series =
        series_of(lines, [&](int i) { return (i % 20 == 0 ? 5.0 : 1.0) + 0.3 * i / lines; });
    const auto states = states_of(series);
    ASSERT_EQ(states.size(), 1U) << lines;
    EXPECT_NEAR(states[0].first, 1.0, 0.01) << lines;
    EXPECT_NEAR(states[0].last, 1.3, 0.01) << lines;
  }
}

TEST(StepStates, LessThanThreePercentIsNoChange) {
  const auto change = series_of(100, [](int i) { return i < 50 ? 1.0 : 1.02; });
  EXPECT_EQ(words_of(states_of(change), change), "");
  const auto trend = series_of(100, [](int i) { return 1.0 + 0.02 * i / 100; });
  EXPECT_EQ(words_of(states_of(trend), trend), "");
  EXPECT_EQ(states_of({}).size(), 1U);
}

}  // namespace
}  // namespace headway::study
