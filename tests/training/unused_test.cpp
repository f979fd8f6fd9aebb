#include "sim/training/unused.h"

#include <gtest/gtest.h>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using Warnings = std::vector<std::string>;

Warnings warnings_of(const Scenario& s) { return unused_fields(check(s)); }

TEST(UnusedFields, NoneInAPlainScenario) { EXPECT_EQ(warnings_of(eight_nodes()), Warnings{}); }

TEST(UnusedFields, ServersOfAStorageFabric) {
  Scenario s = eight_nodes();
  s.cluster.storage.servers = 4;
  EXPECT_EQ(warnings_of(s), (Warnings{"cluster.storage.servers counts only on the compute fabric; "
                                      "write 'path: shared' or leave it out"}));
  s.cluster.storage.path = storage::StoragePath::shared;
  EXPECT_EQ(warnings_of(s), Warnings{});
}

TEST(UnusedFields, AContextKindWithoutAContextDegree) {
  Scenario s = eight_nodes();
  s.parallelism.context_kind = workload::ContextKind::all_gather;
  EXPECT_EQ(warnings_of(s),
            (Warnings{"parallelism.context_kind: all-gather does nothing with context 1; choose a "
                      "context degree or leave it out"}));
  s.parallelism.context = 2;
  s.parallelism.tensor = 4;
  EXPECT_EQ(warnings_of(s), Warnings{});
}

// 700 W of the board, 400 W measured: sqrt((700 - 70) / (400 - 70)) = 1.38.
TEST(UnusedFields, PowerAboveWhatWasMeasured) {
  Scenario s = eight_nodes();
  s.cluster.node.gpu.sustained.power = core::Watts(700);
  EXPECT_EQ(warnings_of(s), Warnings{});
  s.cluster.node.gpu.sustained.power = core::Watts(550);
  EXPECT_EQ(warnings_of(s),
            (Warnings{"cluster.node.gpu.power of 700 W is above the 550 W at which the shares of "
                      "the H100's peaks hold (sustained.power): products and attention are taken "
                      "to be 1.15 times as fast, which no measurement covers"}));
  EXPECT_EQ(simulate_step(check(s)).warnings, warnings_of(s));
}

}  // namespace
}  // namespace headway::training
