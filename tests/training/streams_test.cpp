// What runs beside each other on GPUs, in bands.
#include "sim/training/explain/streams.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

#include "sim/training/explain/observed_rank.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

CheckedScenario pipelined(int micro_batches = 8) {
  Scenario scenario = eight_nodes();
  scenario.parallelism.pipeline = 4;
  scenario.training.global_batch = 2 * micro_batches;
  return check(scenario);
}

// No time of a kernel or transfer is lost when bands are joined.
TEST(Streams, ABandRunsAsLongAsWhatIsInIt) {
  const auto checked = pipelined();
  const Streams streams = stage_streams(checked);
  ASSERT_EQ(streams.ranks.size(), 4U);
  std::vector<core::Rank> ranks;
  for (const RankStreams& each : streams.ranks) {
    ranks.emplace_back(static_cast<std::uint32_t>(each.rank));
  }
  const ObservedRanks observed = observe_ranks(checked, ranks);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    EXPECT_EQ(streams.ranks[r].stage, static_cast<int>(r));
    EXPECT_EQ(observed.ranks[r].at.pipeline, static_cast<int>(r));
    double kernels = 0;
    for (const core::GpuSpan& span : observed.ranks[r].spans) {
      kernels += core::is_computation(span.work) ? 1e6 * (span.end - span.begin).si() : 0;
    }
    const auto& lines = streams.ranks[r].lines;
    ASSERT_EQ(lines.front().name, "kernels");
    EXPECT_GT(lines.size(), 1U) << "transfers beside them";
    const auto& line = lines.front();
    const double runs = std::accumulate(line.runs.begin(), line.runs.end(), 0.0);
    EXPECT_NEAR(runs, kernels, static_cast<double>(line.runs.size()));
  }
}

TEST(Streams, BandsOfALineAreApartByMoreThanWhatIsJoined) {
  const Streams streams = stage_streams(pipelined());
  for (const RankStreams& rank : streams.ranks) {
    for (const StreamLine& line : rank.lines) {
      for (std::size_t i = 0; i < line.begin.size(); ++i) {
        EXPECT_LE(line.runs[i], line.length[i]);
        if (i > 0) {
          EXPECT_GE(line.begin[i] - line.begin[i - 1] - line.length[i - 1], streams.joined);
        }
      }
    }
  }
}

TEST(Streams, AreJoinedUntilTheyAreFewEnough) {
  const Streams few = stage_streams(pipelined(8));
  const Streams many = stage_streams(pipelined(2048));
  std::size_t bands = 0;
  for (const RankStreams& rank : many.ranks) {
    for (const StreamLine& line : rank.lines) {
      bands += line.begin.size();
    }
  }
  EXPECT_LE(bands, kMostBands);
  EXPECT_GT(bands, kMostBands / 20);
  EXPECT_GT(many.joined, few.joined);
}

}  // namespace
}  // namespace headway::training
