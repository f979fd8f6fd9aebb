#include "sim/core/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::core {
namespace {

using ::testing::ElementsAre;

/// A problem written variable by variable.
class Problem {
 public:
  explicit Problem(std::vector<Rate> capacity) { problem_.capacity = std::move(capacity); }

  Problem& variable(std::vector<SharedUse> uses, std::uint32_t weight = 1, Rate bound = 0) {
    ShareVariable variable;
    variable.weight = weight;
    variable.bound = bound;
    variable.first_use = static_cast<std::uint32_t>(problem_.uses.size());
    variable.uses = static_cast<std::uint32_t>(uses.size());
    problem_.uses.insert(problem_.uses.end(), uses.begin(), uses.end());
    problem_.variables.push_back(variable);
    return *this;
  }
  [[nodiscard]] std::vector<Rate> rates() const { return max_min_rates(problem_); }

 private:
  ShareProblem problem_;
};

TEST(FairShare, SharesABottleneckEqually) {
  EXPECT_THAT(Problem({90}).variable({{0}}).variable({{0}}).variable({{0}}).rates(),
              ElementsAre(30, 30, 30));
}

TEST(FairShare, LeavesWhatDoesNotDivide) {
  // 100 = 3 x 33 + 1: nobody may have the last unit, since nobody comes first.
  EXPECT_THAT(Problem({100}).variable({{0}}).variable({{0}}).variable({{0}}).rates(),
              ElementsAre(33, 33, 33));
}

TEST(FairShare, SharesByWeight) {
  // Level 90 / (1 + 2) = 30.
  EXPECT_THAT(Problem({90}).variable({{0}}, 1).variable({{0}}, 2).rates(), ElementsAre(30, 60));
}

TEST(FairShare, GivesTheRestToThoseWhoCanUseIt) {
  // Constraint 1 is full first, at 4 / 1; then constraint 0 has 10 - 4 = 6 for the other.
  EXPECT_THAT(Problem({10, 4}).variable({{0}}).variable({{0}, {1}}).rates(), ElementsAre(6, 4));
}

TEST(FairShare, FillsTheParkingLot) {
  // One long variable over three constraints of 12 with one, two and three short ones: the last
  // constraint is full at 12 / 4 = 3; the second then at (12 - 3) / 2 = 4.5, the floor of which is
  // 4; the first at 12 - 3 = 9.
  EXPECT_THAT(Problem({12, 12, 12})
                  .variable({{0}, {1}, {2}})
                  .variable({{0}})
                  .variable({{1}})
                  .variable({{1}})
                  .variable({{2}})
                  .variable({{2}})
                  .variable({{2}})
                  .rates(),
              ElementsAre(3, 9, 4, 4, 3, 3, 3));
}

TEST(FairShare, StopsAtABound) {
  EXPECT_THAT(Problem({90}).variable({{0}}, 1, 10).variable({{0}}).rates(), ElementsAre(10, 80));
  EXPECT_THAT(Problem({90}).variable({{0}}, 1, 60).variable({{0}}).rates(), ElementsAre(45, 45));
  EXPECT_THAT(Problem({}).variable({}, 1, 7).rates(), ElementsAre(7));
}

TEST(FairShare, CountsARateAsOftenAsTheCoefficientSays) {
  // Level 90 / (2 + 1) = 30: the first takes 2 x 30.
  EXPECT_THAT(Problem({90}).variable({{0, 2}}).variable({{0, 1}}).rates(), ElementsAre(30, 30));
}

TEST(FairShare, TreatsACoefficientAsThatManyEqualVariables) {
  // Folding rests on this: 7 variables with coefficient 1, or one with coefficient 7.
  Problem seven({1000});
  for (int i = 0; i < 7; ++i) {
    seven.variable({{0}});
  }
  seven.variable({{0}}, 3);
  const std::vector<Rate> folded = Problem({1000}).variable({{0, 7}}).variable({{0}}, 3).rates();
  EXPECT_EQ(seven.rates().front(), folded[0]);
  EXPECT_EQ(seven.rates().back(), folded[1]);
}

TEST(FairShare, GivesNothingOnADeadConstraint) {
  EXPECT_THAT(Problem({0, 10}).variable({{0}, {1}}).variable({{1}}).rates(), ElementsAre(0, 10));
}

TEST(FairShare, FreezesTiesTogether) {
  // Both constraints are full at level 5 (10 / 2 and 17 / 3). Were the first frozen alone, the
  // second would be left with 17 - 5 = 12 for two and freeze at 6, but only if it came second: the
  // result would depend on the order.
  EXPECT_THAT(Problem({10, 17})
                  .variable({{0}})
                  .variable({{0}, {1}})
                  .variable({{1}})
                  .variable({{1}})
                  .rates(),
              ElementsAre(5, 5, 5, 5));
}

TEST(FairShare, RefusesWhatNothingLimits) {
  EXPECT_THROW((void)Problem({10}).variable({}).rates(), InternalError);
  EXPECT_THROW((void)Problem({10}).variable({{0}}, 0).rates(), InternalError);
  EXPECT_THROW((void)Problem({10}).variable({{0, 0}}).rates(), InternalError);
  EXPECT_THROW((void)Problem({10}).variable({{1}}).rates(), InternalError);
}

TEST(RateUnit, IsAsFineAsTheLargestCapacityAllows) {
  EXPECT_EQ(RateUnit::for_largest(50_GBps).shift(), 60);
  // 10^17 B/s = 10^5 byte/ps, and 10^5 x 2^45 = 2^61.6 < 2^62.
  EXPECT_EQ(RateUnit::for_largest(BytesPerSecond(1e17)).shift(), 45);
}

TEST(RateUnit, ConvertsThereAndBack) {
  const RateUnit unit = RateUnit::for_largest(900_GBps);
  EXPECT_EQ(unit.to_rate(BytesPerSecond(1e12)), Rate{1} << unit.shift());  // 1 byte/ps
  EXPECT_DOUBLE_EQ(unit.to_bandwidth(unit.to_rate(450_GBps)).si(), 450e9);
  EXPECT_THROW((void)unit.to_rate(BytesPerSecond(-1)), InternalError);
  EXPECT_THROW((void)unit.to_rate(BytesPerSecond(1e30)), InternalError);
}

}  // namespace
}  // namespace headway::core
