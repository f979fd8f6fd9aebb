// How far a search is, phase by phase.
#include "sim/plan/search_progress.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/plan/search_fixture.h"

namespace headway::plan {
namespace {

struct Heard {
  std::string what;
  std::size_t done = 0, total = 0;
};

class PhasesOfASearch : public testing::Test {
 protected:
  Heard heard_;
  SearchProgress progress_{[this](const char* what, std::size_t done, std::size_t total) {
    heard_ = {what, done, total};
  }};
};

// Of 100 shapes 40 are opened and 30 passed: 30 are left, 70 % are done.
TEST_F(PhasesOfASearch, CountsShapesThatTheLimitPasses) {
  progress_.open_shapes(100);
  EXPECT_EQ(heard_.done, 0U);
  progress_.open_shapes(30);
  EXPECT_EQ(heard_.what, kPhases[0]);
  EXPECT_EQ(1000 * heard_.done, 700 * heard_.total);
}

// Layouts whose simulations cost 30, 2 and 28: by number the first would be a third.
TEST_F(PhasesOfASearch, WeighsSimulationsByTheirOperations) {
  progress_.simulate(30, 30);
  EXPECT_EQ(heard_.what, kPhases[1]);
  EXPECT_EQ(2 * heard_.done, heard_.total);
  progress_.simulate(32, 0);  // the rest cannot win
  EXPECT_EQ(heard_.done, heard_.total);
}

TEST_F(PhasesOfASearch, BeginsEachPhaseAnew) {
  progress_.simulate(60, 0);
  progress_.count(Phase::classes, 1, 4);
  EXPECT_EQ(heard_.what, kPhases[3]);
  EXPECT_EQ(heard_.done, 1U);
  progress_.count(Phase::classes, 0, 4);  // a thread that counted before another and tells after it
  EXPECT_EQ(heard_.done, 1U);
}

// Who is told may throw to end the search, between two shapes and inside a simulation.
TEST_F(PhasesOfASearch, TellsAgainWhatItToldLast) {
  progress_.simulate(10, 30);
  const Heard before = std::exchange(heard_, {});
  progress_.look();
  EXPECT_EQ(heard_.what, before.what);
  EXPECT_EQ(heard_.done, before.done);
  SearchProgress stopped([](const char*, std::size_t, std::size_t) { throw 1; });
  EXPECT_THROW(stopped.look(), int);
  EXPECT_NO_THROW(SearchProgress({}).look());
}

TEST(PhasesOfSearches, AreQuartersOfAPieceWhereThereAreSeveral) {
  Heard heard;
  const PhaseTold told = [&](const char* what, std::size_t done, std::size_t total) {
    heard = {what, done, total};
  };
  core::JointProgress joint(told_by_all(told), 2);
  const PhaseTold one = told_by_one(told, joint, 2);
  one(kPhases[1].data(), 5, 10);  // a quarter and half of the next, of one of two
  EXPECT_EQ(heard.what, "searching layouts");
  EXPECT_EQ(16 * heard.done, 3 * heard.total);
  core::JointProgress outer(told_by_all(told), 2);
  told_by_all(told_by_one(told, outer, 2))(1, 2);  // of one of two machines half of its settings
  EXPECT_EQ(heard.what, "searching layouts");
  EXPECT_EQ(heard.done, 375U);
  EXPECT_EQ(heard.total, 2000U);
  one("something else", 1, 7);  // as it is
  EXPECT_EQ(heard.what, "something else");
  EXPECT_EQ(heard.total, 7U);
  told_by_one(told, joint, 1)(kPhases[1].data(), 5, 10);
  EXPECT_EQ(heard.what, kPhases[1]);
}

// Every phase of a whole search is told, in their order, and ends.
TEST(PhasesOfSearches, EndOneAfterAnother) {
  std::vector<Heard> last;
  PlanOptions options;
  options.threads = 1;
  options.progress = [&](const char* what, std::size_t done, std::size_t total) {
    if (last.empty() || last.back().what != what) {
      last.push_back({what, 0, 0});
    }
    last.back() = {what, done, total};
  };
  search(priced(), options);
  ASSERT_EQ(last.size(), kPhases.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    EXPECT_EQ(last[i].what, kPhases[i]);
    if (i > 0) {  // how many shapes the limit would pass nobody knew
      EXPECT_EQ(last[i].done, last[i].total) << last[i].what;
    }
  }
}

}  // namespace
}  // namespace headway::plan
