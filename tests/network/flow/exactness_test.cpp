// Rings and all-to-alls on a fat tree against values computed by hand and by SimGrid, to the
// picosecond.
#include <gtest/gtest.h>

#include "tests/network/patterns/patterns.h"

namespace headway::network {
namespace {

using patterns::FatTree;

constexpr core::Bytes k64MiB{67108864};

core::Tick end_of(const Problem& problem, bool fold) {
  RunOptions options;
  options.fold = fold;
  return run(problem, options).end;
}

core::Tick ring_end(std::uint32_t hosts, patterns::Dependency dependency, bool fold) {
  FatTree tree;
  tree.hosts = hosts;
  return end_of(patterns::ring_all_reduce(tree, k64MiB, dependency), fold);
}

// Every rank goes at the pace of the slowest hop, which crosses leaves: 2 (N - 1) (4 us + 64 MiB /
// N / 50 GB/s).
TEST(RingAllReduce, BlockingGoesAtThePaceOfTheLongestHop) {
  for (const bool fold : {false, true}) {
    EXPECT_EQ(ring_end(64, patterns::Dependency::blocking, fold), 3'146'411'520);
    EXPECT_EQ(ring_end(256, patterns::Dependency::blocking, fold), 4'713'868'800);
    EXPECT_EQ(ring_end(1024, patterns::Dependency::blocking, fold), 10'865'733'120);
  }
}

// A chunk goes round: transfers as above, and the latencies of 2 (N - 1) hops in a row: twice round
// the ring (N / 32 hops of 4 us, the others of 2 us) less the two cheapest.
TEST(RingAllReduce, PipelinedAddsUpTheLatenciesAlongTheRing) {
  for (const bool fold : {false, true}) {
    EXPECT_EQ(ring_end(64, patterns::Dependency::pipelined, fold), 2'902'411'520);
    EXPECT_EQ(ring_end(256, patterns::Dependency::pipelined, fold), 3'725'868'800);
    EXPECT_EQ(ring_end(1024, patterns::Dependency::pipelined, fold), 6'901'733'120);
  }
}

// Leaf-mates start first and keep every NIC full: (N - 1) / N x 64 MiB / 50 GB/s + 2 us.
TEST(AllToAll, KeepsEveryNicFullFromTheFirstArrivalOn) {
  for (const bool fold : {false, true}) {
    for (const auto& [hosts, ticks] :
         {std::pair{64U, 1'323'205'760}, {128U, 1'333'691'520}, {256U, 1'338'934'400}}) {
      FatTree tree;
      tree.hosts = hosts;
      EXPECT_EQ(end_of(patterns::all_to_all(tree, k64MiB), fold), ticks);
    }
  }
}

// The classes written down by hand are those of the whole problem: every flow ends at the same
// tick.
TEST(AllToAll, FoldedByHandEqualsAllFlows) {
  for (const std::uint32_t hosts : {32U, 64U, 256U}) {
    FatTree tree;
    tree.hosts = hosts;
    RunOptions options;
    options.fold = false;
    const RunResult all = run(patterns::all_to_all(tree, k64MiB), options);
    const RunResult classes = run(patterns::all_to_all_classes(tree, k64MiB), options);
    EXPECT_EQ(all.result_digest, classes.result_digest);
    EXPECT_EQ(all.end, classes.end);
  }
}

}  // namespace
}  // namespace headway::network
