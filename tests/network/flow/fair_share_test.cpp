// The solver alone: closed forms of max-min sharing, in whole units.
#include "sim/network/flow/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::network {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Builds tables flow by flow.
class Tables {
 public:
  explicit Tables(std::vector<std::int64_t> capacity) { tables_.capacity = std::move(capacity); }
  Tables& flow(std::vector<FlowLoad> loads, std::int64_t bound = FairShare::kUnbounded) {
    tables_.loads.insert(tables_.loads.end(), loads.begin(), loads.end());
    tables_.first_load.push_back(static_cast<std::uint32_t>(tables_.loads.size()));
    tables_.bound.push_back(bound);
    return *this;
  }
  [[nodiscard]] FairShare solver() const { return FairShare(tables_); }

 private:
  FairShareTables tables_;
};

/// By seat. All flows take part.
std::vector<std::int64_t> levels(FairShare& solver) {
  std::vector<std::int64_t> out;
  for (std::uint32_t seat = 0; seat < solver.flows(); ++seat) {
    out.push_back(solver.level(seat));
  }
  return out;
}

FairShare solved(const Tables& tables) {
  FairShare solver = tables.solver();
  for (std::uint32_t f = 0; f < solver.flows(); ++f) {
    EXPECT_EQ(solver.add(f), f);  // so here a flow's seat is its number
  }
  solver.solve();
  return solver;
}

TEST(MaxMinSolver, SharesABottleneckEqually) {
  FairShare solver = solved(Tables({90}).flow({{0, 1}}).flow({{0, 1}}).flow({{0, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(30, 30, 30));
}

// Links 100 and 60; flow 0 on both, flow 1 on the first, flow 2 on the second:
// the second freezes 0 and 2 at 30, the first then leaves 70 for flow 1.
TEST(MaxMinSolver, GivesWhatABottleneckLeavesToTheOthers) {
  FairShare solver = solved(Tables({100, 60}).flow({{0, 1}, {1, 1}}).flow({{0, 1}}).flow({{1, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(30, 70, 30));
}

// Load 2 takes twice its level: 3 x level = 90.
TEST(MaxMinSolver, CountsLoads) {
  FairShare solver = solved(Tables({90}).flow({{0, 2}}).flow({{0, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(30, 30));
}

TEST(MaxMinSolver, HoldsAFlowAtItsBoundAndSharesTheRest) {
  FairShare solver = solved(Tables({90}).flow({{0, 1}}, 10).flow({{0, 1}}).flow({{0, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(10, 40, 40));
}

// The parking lot: a long flow over three links of 12 with one, two and three short ones. The last
// link is full at 12 / 4 = 3; the second then at floor((12 - 3) / 2) = 4; the first at 12 - 3 = 9.
TEST(MaxMinSolver, FillsTheParkingLot) {
  FairShare solver = solved(Tables({12, 12, 12})
                                .flow({{0, 1}, {1, 1}, {2, 1}})
                                .flow({{0, 1}})
                                .flow({{1, 1}})
                                .flow({{1, 1}})
                                .flow({{2, 1}})
                                .flow({{2, 1}})
                                .flow({{2, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(3, 9, 4, 4, 3, 3, 3));
}

// Both links are full at level 5 (10 / 2, 17 / 3). Were the first frozen alone, the second would
// have 17 - 5 = 12 for two and freeze at 6, but only if it came second.
TEST(MaxMinSolver, FreezesTiesTogether) {
  FairShare solver =
      solved(Tables({10, 17}).flow({{0, 1}}).flow({{0, 1}, {1, 1}}).flow({{1, 1}}).flow({{1, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(5, 5, 5, 5));
}

// floor(10 / 3) = 3: one unit of 2^-s byte/ps stays unused, the same for any order.
TEST(MaxMinSolver, RoundsDownToWholeUnits) {
  FairShare solver = solved(Tables({10}).flow({{0, 1}}).flow({{0, 1}}).flow({{0, 1}}));
  EXPECT_THAT(levels(solver), ElementsAre(3, 3, 3));
}

TEST(MaxMinSolver, ReportsOnlyTheFlowsWhoseLevelChanged) {
  FairShare solver = solved(Tables({90, 50}).flow({{0, 1}}).flow({{0, 1}}).flow({{1, 1}}));
  EXPECT_THAT(solver.solve(), ::testing::IsEmpty());
  solver.remove(0);
  EXPECT_THAT(solver.solve(), ElementsAre(1U));
  EXPECT_EQ(solver.level(1), 90);
  EXPECT_EQ(solver.add(0), 0U);
  EXPECT_THAT(solver.solve(), UnorderedElementsAre(0U, 1U));
  EXPECT_EQ(solver.level(1), 45);
}

// Two links of 90 and 50; flow 2, of the other link, comes after flow 0 and sits where that sat.
TEST(MaxMinSolver, GivesASeatThatWasLeftToTheNextFlow) {
  FairShare solver = Tables({90, 50}).flow({{0, 1}}).flow({{0, 1}}).flow({{1, 1}}).solver();
  EXPECT_EQ(solver.add(0), 0U);
  EXPECT_EQ(solver.add(1), 1U);
  solver.solve();
  solver.remove(0);
  EXPECT_FALSE(solver.taken(0));
  EXPECT_EQ(solver.add(2), 0U);
  EXPECT_THAT(solver.solve(), UnorderedElementsAre(0U, 1U));
  EXPECT_EQ(solver.level(0), 50);
  EXPECT_EQ(solver.level(1), 90);
  EXPECT_EQ(solver.active(), 2U);
}

// Flow 0 alone on links 90 and 40, the second twice: min(90, 40 / 2) = 20; with bounds that its
// links fit nothing is solved.
TEST(MaxMinSolver, SolvesNothingWhereTheBoundsFit) {
  FairShare solver = solved(Tables({90, 40, 60})
                                .flow({{0, 1}, {1, 2}}, 20)
                                .flow({{2, 1}}, 10)
                                .flow({{2, 1}}, 48)
                                .flow({}, 7));
  EXPECT_THAT(levels(solver), ElementsAre(20, 10, 48, 7));
  EXPECT_EQ(solver.flow_solves(), 0U);
  solver.set_capacity(0, 5);
  EXPECT_THAT(solver.solve(), ElementsAre(0U));
  EXPECT_EQ(solver.level(0), 5);
  EXPECT_TRUE(solver.agrees_with_full_solve());
  solver.set_capacity(0, 0);
  solver.remove(0);  // in the same tick: nothing is reported of it
  EXPECT_THAT(solver.solve(), ::testing::IsEmpty());
  solver.add(0);
  EXPECT_THAT(solver.solve(), ElementsAre(0U));
  EXPECT_EQ(solver.level(0), 0);
  solver.set_capacity(0, 90);
  EXPECT_THAT(solver.solve(), ElementsAre(0U));
  EXPECT_EQ(solver.level(0), 20);
}

// A link of 60 with bounds 40 and 40 shares 30 and 30; without the second flow it is slack again
// and the first stands at its bound, for which nothing but the link was in the way.
TEST(MaxMinSolver, GivesAFlowItsBoundWhenItsLinkBecomesSlack) {
  FairShare solver = solved(Tables({60}).flow({{0, 1}}, 40).flow({{0, 1}}, 40));
  EXPECT_THAT(levels(solver), ElementsAre(30, 30));
  solver.remove(1);
  EXPECT_THAT(solver.solve(), ElementsAre(0U));
  EXPECT_EQ(solver.level(0), 40);
  solver.add(1);
  EXPECT_THAT(solver.solve(), UnorderedElementsAre(0U, 1U));
  EXPECT_THAT(levels(solver), ElementsAre(30, 30));
}

TEST(MaxMinSolver, FollowsALinkThatLosesAndRegainsCapacity) {
  FairShare solver = solved(Tables({100, 60}).flow({{0, 1}, {1, 1}}).flow({{0, 1}}).flow({{1, 1}}));
  solver.set_capacity(0, 20);
  solver.solve();
  EXPECT_THAT(levels(solver), ElementsAre(10, 10, 50));
  solver.set_capacity(0, 0);
  solver.solve();
  EXPECT_THAT(levels(solver), ElementsAre(0, 0, 60));
  solver.set_capacity(0, 100);
  solver.solve();
  EXPECT_THAT(levels(solver), ElementsAre(30, 70, 30));
}

// Two links within a rounding unit of each other: capacity 3 and 4, flow 0 on both, 1 on the first,
// 2 on the second. floor(3 / 2) = 1 freezes 0 and 1; the second link has floor(3 / 1) = 3 left for
// flow 2.
TEST(MaxMinSolver, DecidesNearTiesAsAFillingFromScratchDoes) {
  const Tables tables = Tables({3, 4}).flow({{0, 1}, {1, 1}}).flow({{0, 1}}).flow({{1, 1}});
  FairShare at_once = solved(tables);
  EXPECT_THAT(levels(at_once), ElementsAre(1, 1, 3));
  FairShare one_by_one = tables.solver();
  for (const std::uint32_t flow : {2U, 0U, 1U}) {
    one_by_one.add(flow);
    one_by_one.solve();
  }
  EXPECT_THAT(levels(one_by_one), ElementsAre(3, 1, 1));  // by seat: of flows 2, 0, 1
}

}  // namespace
}  // namespace headway::network
