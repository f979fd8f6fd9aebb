// Whether all ranks of a replay come to their end.
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/study/replay/replay.h"

#include "tests/import/chakra_nodes.h"
#include "tests/study/replayed.h"

namespace headway::study {
namespace {

using import::collective;
using import::compute;
using import::receive;
using import::send;
using import::trace_of;

std::string told(const std::vector<import::ChakraTrace>& traces,
                 const import::ChakraGroups& groups = {}) {
  try {
    (void)describe_traces(import::join_traces(traces, groups));
  } catch (const core::Error& error) {
    return error.what();
  }
  return "all end";
}

TEST(ReplayEnds, RanksThatWaitForOneAnotherAreNamed) {
  const std::vector traces{trace_of(0, {receive(0, 1, 8), send(1, 1, 8, {0})}),
                           trace_of(1, {receive(0, 0, 8), send(1, 0, 8, {0})})};
  try {
    (void)describe_traces(import::join_traces(traces, {}));
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_STREQ(error.what(),
                 "ranks wait for one another in a circle, so that these nodes, among others, never "
                 "end:\n  t.0.et: node 0 'n0'\n  t.1.et: node 0 'n0'\n");
  }
}

TEST(ReplayEnds, MessagesThatAreSentBeforeTheyAreWaitedForEnd) {
  EXPECT_EQ(told({trace_of(0, {send(0, 1, 8), receive(1, 1, 8, {0})}),
                  trace_of(1, {send(0, 0, 8), receive(1, 0, 8, {0})})}),
            "all end");
}

// The second call of a group is not complete when the first is: one rank alone waits for itself.
TEST(ReplayEnds, EveryCallOfAGroupIsCountedByItself) {
  const std::vector twice{collective(0, kAllReduce, 8), collective(1, kAllReduce, 8, {0})};
  EXPECT_EQ(told({trace_of(0, twice), trace_of(1, twice)}), "all end");
}

// Two groups of the same ranks called in another order on each, each behind the other by its
// dependencies: neither is ever launched.
TEST(ReplayEnds, GroupsInOppositeOrdersNeverEnd) {
  const import::ChakraGroups groups{{"1", {0, 1}}, {"2", {0, 1}}};
  EXPECT_EQ(told({trace_of(0, {collective(0, kAllReduce, 8, {}, "1"),
                               collective(1, kAllReduce, 8, {0}, "2")}),
                  trace_of(1, {collective(0, kAllReduce, 8, {}, "2"),
                               collective(1, kAllReduce, 8, {0}, "1")})},
                 groups),
            "ranks wait for one another in a circle, so that these nodes, among others, never end:"
            "\n  t.0.et: node 0 'n0'\n  t.1.et: node 0 'n0'\n");
}

// What waits for a node that never ends is not named before it, and no more than four ranks are.
TEST(ReplayEnds, NamesFourRanksAtMost) {
  std::vector<import::ChakraTrace> ring;
  constexpr std::int64_t kRanks = 6;
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    ring.push_back(trace_of(rank, {compute(0, 1), receive(1, (rank + kRanks - 1) % kRanks, 8, {0}),
                                   send(2, (rank + 1) % kRanks, 8, {1})}));
  }
  EXPECT_EQ(told(ring),
            "ranks wait for one another in a circle, so that these nodes, among others, never end:"
            "\n  t.0.et: node 1 'n1'\n  t.1.et: node 1 'n1'\n  t.2.et: node 1 'n1'"
            "\n  t.3.et: node 1 'n1'\n");
}

}  // namespace
}  // namespace headway::study
