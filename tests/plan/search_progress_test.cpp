// How far a search is, told by a clock that the test moves.
#include "sim/plan/search_progress.h"

#include <gtest/gtest.h>

namespace headway::plan {
namespace {

class PretendedSearch : public testing::Test {
 protected:
  void pass(double seconds) { now_ += seconds; }
  /// What its share says.
  [[nodiscard]] double left() const { return (now_ - kStart) * (1 - share_) / share_; }

  static constexpr double kStart = 1000;
  double now_ = kStart;
  double share_ = 0;
  SearchProgress progress_{[this](double share) { share_ = share; }, [this] { return now_; }};
};

// 100 shapes, a second each; with every third that is opened the limit passes two more: 60 s.
TEST_F(PretendedSearch, CountsShapesThatTheLimitPasses) {
  progress_.open_shapes(100);
  progress_.expect(1, 0);
  std::size_t still = 100;
  for (int opened = 1; opened < 60; ++opened) {
    pass(1);
    progress_.open_shapes(still -= opened % 3 == 0 ? 3 : 1);
    if (opened % 3 == 0) {
      EXPECT_NEAR(left(), 60 - opened, 1e-3);
    }
  }
}

// Half of 10 s of shapes in which 1,000 layouts are timed; simulations take as long as 2,000.
TEST_F(PretendedSearch, ExpectsSimulationsByTheirOperations) {
  progress_.open_shapes(10);
  progress_.expect(500, 2000 * SearchProgress::kOperationsOfLayout);
  pass(5);
  progress_.open_shapes(5);
  EXPECT_NEAR(left(), 5 + 20, 1e-3);
}

// After 10 s of shapes four layouts whose costs are not alike, 0.5 s an operation. Equal shares
// would say 45 s after the first, not 15.
TEST_F(PretendedSearch, WeighsSimulationsByTheirOperations) {
  pass(10);
  progress_.simulate(0, 60);
  double done = 0;
  double rest = 60;
  for (const double operations : {30.0, 2.0, 20.0, 8.0}) {
    pass(0.5 * operations);
    progress_.simulate(done += operations, rest -= operations);
    EXPECT_NEAR(left(), 0.5 * rest, 1e-3);
  }
}

TEST_F(PretendedSearch, SaysNothingBeforeAnythingIsDone) {
  progress_.open_shapes(100);
  pass(1);
  progress_.open_shapes(99);  // nobody knows what is kept
  progress_.simulate(0, 5);
  EXPECT_EQ(share_, 0);
}

// Who is told may throw to end the search, between two shapes and inside a simulation.
TEST_F(PretendedSearch, TellsAgainWhatItToldLast) {
  pass(10);
  progress_.simulate(0, 60);
  pass(5);
  progress_.simulate(10, 50);  // 15 s of 15 + 5 x 50 / 10
  EXPECT_NEAR(share_, 15.0 / 40.0, 1e-12);
  share_ = 0;
  pass(100);
  progress_.look();
  EXPECT_NEAR(share_, 15.0 / 40.0, 1e-12);
  SearchProgress stopped([](double) { throw 1; }, [] { return 0.0; });
  EXPECT_THROW(stopped.look(), int);
  EXPECT_NO_THROW(SearchProgress({}, [] { return 0.0; }).look());
}

}  // namespace
}  // namespace headway::plan
