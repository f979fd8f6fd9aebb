// What one tier remembers of waits for the slowest data rank.
#include <gtest/gtest.h>
#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/training/imbalance/rank_imbalance.h"

#include "tests/training/fixture.h"

namespace headway::analytic {
namespace {

using training::Scenario;
using workload::Recompute;
using workload::Sharding;

/// Layouts that differ in one thing that a wait depends on, and two in one that it does not.
std::vector<workload::ParallelismSpec> neighbours(workload::ParallelismSpec own) {
  own.pipeline = 2;
  own.tensor = 2;
  own.sharding = Sharding::zero1;
  std::vector<workload::ParallelismSpec> list(8, own);
  list[1].tensor = 4;
  list[2].micro_batch = 2;
  list[3].recompute = Recompute::full;
  list[4].pipeline = 4;
  list[5].sharding = Sharding::zero3;
  list[6].rank_order = workload::RankOrder::pipeline_first;
  list[7].offload = workload::Offload::optimizer;
  return list;
}

// Of every layout what it waits by itself, whichever was asked before; asked again, the same.
TEST(RankWaits, AreThoseOfEachLayoutByItself) {
  Scenario s = training::eight_nodes();
  s.training.documents = {{512, 8}, {4096, 1}};
  AnalyticTier tier(s);
  std::vector<double> waits;
  for (int round = 0; round < 2; ++round) {
    for (const auto& layout : neighbours(s.parallelism)) {
      const int data = 64 / layout.tensor / layout.pipeline;
      const int micro_batches = s.training.global_batch / data / layout.micro_batch;
      const double own = training::rank_imbalance(s, layout, data, micro_batches).si();
      EXPECT_EQ(tier.evaluate(layout, data, micro_batches).imbalance.si(), own);
      waits.push_back(own);
    }
  }
  for (std::size_t i = 1; i < 8; ++i) {  // each of the first five is a wait of its own
    EXPECT_EQ(waits[i] == waits[0], i >= 6) << i;
  }
}

}  // namespace
}  // namespace headway::analytic
