#include "sim/core/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>

#include "sim/core/units.h"

namespace headway::core {
namespace {

using testing::ElementsAre;

struct Spread {
  double low = 1, high = 2;
  template <class V>
  void fields(V& v) const {
    v.figure("low", low, "", "");
    v.figure("high", high, "", "");
  }
};

struct Tier {
  std::string name;
  std::int64_t cables = 0;
  template <class V>
  void fields(V& v) const {
    v.part("name", name, "its name");
    v.figure("cables", cables, "", "how many", non_negative);
  }
};

struct Sample {
  Seconds time{4};
  double speed = std::numeric_limits<double>::quiet_NaN();
  bool fits = true;
  Spread spread;
  std::optional<Spread> cost;
  std::vector<Tier> tiers;
  std::map<std::string, double> errors;
  std::optional<Spread> explanation;
  template <class V>
  void fields(V& v) const {
    v.figure("time_s", time, "s", "how long", positive);
    v.figure("interval_s", std::array{time, 2 * time}, "s", "from, to");
    v.figure("speed", speed, "1/s", "how fast");
    v.part("fits", fits, "in memory");
    v.part("digest", Hexadecimal{0xabc}, "of all");
    v.figure("spread_d", spread, "d", "over the trials", non_negative);
    v.figure("cost_usd", cost, "USD", "absent without prices");
    v.part("tiers", tiers, "of links");
    v.figure("errors", errors, "1", "by part");
    v.on_request("explanation", explanation, "where asked for");
  }
};

double at(const Figure& root, const char* path) {
  const Figure* figure = find_figure(root, path);
  return figure == nullptr ? -1 : value_of(*figure).value_or(-2);
}

TEST(Figures, AreFoundByTheirPaths) {
  Sample sample;
  sample.tiers = {{"leaf", 7}, {"spine", 9}};
  sample.errors = {{"dense NVIDIA", 0.5}};
  const Figure root = figures_of(sample);
  EXPECT_EQ(at(root, "time_s"), 4);
  EXPECT_EQ(at(root, "interval_s[1]"), 8);
  EXPECT_EQ(at(root, "fits"), 1);
  EXPECT_EQ(at(root, "spread_d.high"), 2);
  EXPECT_EQ(at(root, "tiers[1].cables"), 9);
  EXPECT_EQ(at(root, "errors.dense NVIDIA"), 0.5);
  for (const char* wrong :
       {"time", "time_s.low", "interval_s[2]", "tiers[2].cables", "tiers.cables", "tiers[x].cables",
        "tiers[", "[", ".", "spread_d..low", "spread_d[0]"}) {
    EXPECT_EQ(find_figure(root, wrong), nullptr) << wrong;
  }
}

TEST(Figures, AreAbsentWhereThereIsNoNumber) {
  const Figure root = figures_of(Sample{});
  EXPECT_EQ(at(root, "speed"), -2);
  EXPECT_EQ(at(root, "cost_usd"), -2);
  EXPECT_EQ(at(root, "cost_usd.low"), -1);
  EXPECT_TRUE(find_figure(root, "explanation")->absent);
  EXPECT_THAT(number_paths(root), ElementsAre("time_s", "interval_s[0]", "interval_s[1]", "fits",
                                              "spread_d.low", "spread_d.high"));
}

TEST(Figures, OfATypeHaveWhatAnyResultMayHave) {
  const Figure type = figures_of_type<Sample>();
  EXPECT_THAT(number_paths(type),
              ElementsAre("time_s", "interval_s[0]", "speed", "fits", "spread_d.low",
                          "spread_d.high", "cost_usd.low", "cost_usd.high", "tiers[0].cables",
                          "errors.*", "explanation.low", "explanation.high"));
  EXPECT_NE(find_figure(type, "tiers[41].cables"), nullptr);
  EXPECT_NE(find_figure(type, "interval_s[1]"), nullptr);
  EXPECT_EQ(find_figure(type, "interval_s[2]"), nullptr);
  EXPECT_TRUE(find_figure(type, "cost_usd")->optional);
  EXPECT_FALSE(find_figure(type, "time_s")->optional);
}

// `low` of `spread_d` says nothing of itself.
TEST(Figures, PartsWithoutAUnitHaveThatOfTheWhole) {
  const Figure root = figures_of(Sample{});
  EXPECT_EQ(find_figure(root, "spread_d.low")->unit, "d");
  EXPECT_EQ(find_figure(root, "spread_d.low")->range.low, 0);
  EXPECT_EQ(find_figure(root, "digest")->text, "0000000000000abc");
}

}  // namespace
}  // namespace headway::core
