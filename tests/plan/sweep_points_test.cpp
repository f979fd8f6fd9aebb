// Points of a sweep: products, ranges, rows that change together, draws; and what is refused.
#include "sim/plan/sweep_points.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace headway::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using training::SweepAxisSpec;
using training::SweepScale;
using training::SweepSpec;

SweepAxisSpec list(const std::string& key, std::vector<std::string> values) {
  SweepAxisSpec axis;
  axis.key = key;
  axis.values = std::move(values);
  return axis;
}

SweepAxisSpec range(const std::string& from, const std::string& to) {
  SweepAxisSpec axis;
  axis.key = "x";
  axis.from = from;
  axis.to = to;
  return axis;
}

std::vector<std::string> in_steps(const std::string& from,
                                  const std::string& to,
                                  const std::string& step) {
  SweepAxisSpec axis = range(from, to);
  axis.step = step;
  return axis_values(axis);
}

std::vector<std::string> in_points(const std::string& from,
                                   const std::string& to,
                                   int points,
                                   SweepScale scale = SweepScale::linear) {
  SweepAxisSpec axis = range(from, to);
  axis.points = points;
  axis.scale = scale;
  return axis_values(axis);
}

std::string complaint(const SweepSpec& spec) {
  try {
    const SweepPoints points(spec);
    return "accepted";
  } catch (const core::Error& error) {
    return error.what();
  }
}

TEST(SweepPoints, OfAGridAreTheProductAndTheLastAxisChangesFastest) {
  SweepSpec spec;
  spec.grid = {list("a", {"1", "2"}), list("b", {"x", "y", "z"})};
  const SweepPoints points(spec);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_THAT(points.keys(), ElementsAre("a", "b"));
  EXPECT_THAT(points.changes(0), ElementsAre(SweepChange{"a", "1"}, SweepChange{"b", "x"}));
  EXPECT_THAT(points.changes(1), ElementsAre(SweepChange{"a", "1"}, SweepChange{"b", "y"}));
  EXPECT_THAT(points.changes(5), ElementsAre(SweepChange{"a", "2"}, SweepChange{"b", "z"}));
}

// 2 x 2 (together) x 3 rows.
TEST(SweepPoints, AreTheProductOfAllParts) {
  SweepSpec spec;
  spec.grid = {list("a", {"1", "2"})};
  spec.zip = {list("b", {"3", "4"}), list("c", {"5", "6"})};
  spec.rows = {"d=7; e=8 GB/s", "d=9", "e=1 GB/s"};
  const SweepPoints points(spec);
  ASSERT_EQ(points.size(), 12U);
  EXPECT_THAT(points.changes(3),
              ElementsAre(SweepChange{"a", "1"}, SweepChange{"b", "4"}, SweepChange{"c", "6"},
                          SweepChange{"d", "7"}, SweepChange{"e", "8 GB/s"}));
  EXPECT_THAT(points.changes(4), ElementsAre(SweepChange{"a", "1"}, SweepChange{"b", "4"},
                                             SweepChange{"c", "6"}, SweepChange{"d", "9"}));
}

TEST(SweepAxis, RangesReachTheirEndsAndKeepTheirUnit) {
  EXPECT_THAT(in_steps("16", "64", "16"), ElementsAre("16", "32", "48", "64"));
  EXPECT_THAT(in_steps("16", "63", "16"), ElementsAre("16", "32", "48"));
  EXPECT_THAT(in_steps("3", "1", "-1"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(in_steps("0", "1", "0.25"), ElementsAre("0", "0.25", "0.5", "0.75", "1"));
  EXPECT_THAT(in_steps("0.1", "0.3", "0.1"), ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(in_points("100 Gbps", "400 Gbps", 3),
              ElementsAre("100 Gbps", "250 Gbps", "400 Gbps"));
  EXPECT_THAT(in_points("1 GB/s", "100 GB/s", 3, SweepScale::log),
              ElementsAre("1 GB/s", "10 GB/s", "100 GB/s"));
  // Whole ends, whole values: 1, 1.26, 1.59, 2 are two.
  EXPECT_THAT(in_points("1", "2", 4, SweepScale::log), ElementsAre("1", "2"));
  EXPECT_THAT(in_points("1.0", "2", 3), ElementsAre("1", "1.5", "2"));
  EXPECT_THAT(in_points("5", "5", 3), ElementsAre("5"));
}

TEST(SweepAxis, OfTheCommandLineIsAListOrARange) {
  EXPECT_EQ(sweep_axis("a.b=1,2").values, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(sweep_axis("a.b=1:9:2").step, "2");
  EXPECT_EQ(sweep_axis("a.b=10:30:00").from, "10");
  EXPECT_EQ(sweep_axis("a.b=x:y:z").values, (std::vector<std::string>{"x:y:z"}));
  EXPECT_EQ(sweep_axis("a.b=[0,0],[1,1]").values, (std::vector<std::string>{"[0,0]", "[1,1]"}));
  EXPECT_EQ(sweep_axis("a.b={c: 1, d: [2, 3]}").values,
            (std::vector<std::string>{"{c: 1, d: [2, 3]}"}));
  for (const char* wrong : {"", "a", "=1", "a="}) {
    EXPECT_THROW(sweep_axis(wrong), core::Error) << wrong;
  }
}

// Each of 50 parts of each axis is met once; the axes are not drawn alike.
TEST(SweepSample, OfALatinHypercubeMeetsEveryPartOnce) {
  SweepSpec spec;
  spec.sample.emplace();
  spec.sample->points = 50;
  SweepAxisSpec x = range("0.0", "50");
  SweepAxisSpec y = range("0.0", "50");
  y.key = "y";
  spec.sample->axes = {x, y};
  const SweepPoints points(spec);
  ASSERT_EQ(points.size(), 50U);
  std::set<int> parts_of_x, parts_of_y;
  int equal = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    const SweepChanges changes = points.changes(i);
    const double at_x = std::stod(changes[0].value), at_y = std::stod(changes[1].value);
    parts_of_x.insert(static_cast<int>(at_x));
    parts_of_y.insert(static_cast<int>(at_y));
    equal += std::floor(at_x) == std::floor(at_y) ? 1 : 0;
  }
  EXPECT_EQ(parts_of_x.size(), 50U);
  EXPECT_EQ(parts_of_y.size(), 50U);
  EXPECT_LT(equal, 10);
  spec.sample->kind = training::SampleKind::random;
  const SweepPoints drawn(spec);
  std::set<int> parts;
  for (std::size_t i = 0; i < 50; ++i) {
    parts.insert(static_cast<int>(std::stod(drawn.changes(i)[0].value)));
  }
  EXPECT_LT(parts.size(), 45U);  // 1 - 1/e of 50 are 32 in the mean
}

TEST(SweepSample, FollowsItsSeedAlone) {
  SweepSpec spec;
  spec.sample.emplace();
  spec.sample->points = 8;
  spec.sample->axes = {list("a", {"1", "2", "3", "4"}), range("1 W", "9 W")};
  const SweepPoints one(spec), again(spec);
  spec.sample->seed = 2;
  const SweepPoints other(spec);
  bool differs = false;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(one.changes(i), again.changes(i));
    differs = differs || one.changes(i) != other.changes(i);
  }
  EXPECT_TRUE(differs);
}

// The same points in every version: shards of one sweep may be run by many.
TEST(SweepSample, DrawsThesePoints) {
  SweepSpec spec;
  spec.sample.emplace();
  spec.sample->points = 3;
  spec.sample->axes = {range("0 W", "300 W")};
  const SweepPoints points(spec);
  std::vector<std::string> drawn;
  for (std::size_t i = 0; i < 3; ++i) {
    drawn.push_back(points.changes(i)[0].value);
  }
  EXPECT_THAT(drawn, ElementsAre("180.718544967 W", "282.354033751 W", "73.5623813149 W"));
}

TEST(SweepPoints, ThatCannotBeAreRefusedAllAtOnce) {
  SweepSpec spec;
  EXPECT_THAT(complaint(spec), HasSubstr("nothing to sweep"));
  spec.grid = {list("a", {"1"}), list("a", {"2"}), range("1 W", "2 kW"), range("x", "2"),
               range("1", "2")};
  spec.rows = {"a"};
  const std::string all = complaint(spec);
  EXPECT_THAT(all, HasSubstr("two axes change 'a'; let one of them do it"));
  EXPECT_THAT(all, HasSubstr("axis 'x' goes from '1 W' to '2 kW'; write both in one unit"));
  EXPECT_THAT(all, HasSubstr("axis 'x' goes from 'x' to '2', which are not both numbers"));
  EXPECT_THAT(all, HasSubstr("axis 'x' is a range; give it either step or points"));
  EXPECT_THAT(all, HasSubstr("'a' in a row of a sweep is not KEY=VALUE"));
  spec = {};
  spec.zip = {list("a", {"1", "2"}), list("b", {"1"})};
  EXPECT_THAT(complaint(spec), HasSubstr("axis 'b' of zip has 1 values, 'a' has 2"));
  // Only one of the values would be simulated.
  for (const char* row : {"a=8; a=16", "a.b=x; a.b.use=y"}) {
    spec = {};
    spec.rows = {"c=1", row};
    EXPECT_THAT(complaint(spec), HasSubstr("twice, the second time to '")) << row;
  }
  spec = {};
  spec.zip = {list("a", {"1"}), list("a", {"2"})};
  EXPECT_THAT(complaint(spec), HasSubstr("a point changes 'a' twice"));
  spec = {};
  spec.sample.emplace();
  spec.sample->points = 4;
  EXPECT_THAT(complaint(spec), HasSubstr("a sample without axes draws nothing"));
  spec = {};
  spec.grid = {range("1", "1000"), range("1", "1001")};
  spec.grid[1].key = "y";
  spec.grid[0].points = 1000;
  spec.grid[1].points = 1001;
  EXPECT_THAT(complaint(spec), HasSubstr("more than 1000000 points"));
  EXPECT_THROW(in_steps("1", "9", "-1"), core::Error);
  EXPECT_THROW(in_steps("1", "9", "0"), core::Error);
  EXPECT_THROW(in_points("0", "9", 3, SweepScale::log), core::Error);
}

}  // namespace
}  // namespace headway::plan
