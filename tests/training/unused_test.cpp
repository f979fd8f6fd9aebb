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
  s.cluster.storage->servers = 4;
  EXPECT_EQ(warnings_of(s), (Warnings{"cluster.storage.servers counts only on the compute fabric; "
                                      "write 'path: shared' or leave it out"}));
  s.cluster.storage->path = storage::StoragePath::shared;
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

// Leaves of one port, two to a pod: eight nodes are four pods, or one where nothing divides them.
TEST(UnusedFields, OversubscriptionOfCoresBelowWhichOnePodLies) {
  Scenario s = eight_nodes();
  s.cluster.fabric.tiers = 3;
  s.cluster.fabric.spine_oversubscription = 2;
  EXPECT_EQ(warnings_of(s),
            (Warnings{"cluster.fabric.spine_oversubscription 2 slows nothing here: one pod holds "
                      "all 8 nodes, and nothing crosses the cores; fewer leaves_per_pod make more "
                      "pods"}));
  s.cluster.fabric.ports_per_leaf = 1;
  s.cluster.fabric.leaves_per_pod = 16;
  EXPECT_EQ(warnings_of(s), Warnings{});
}

TEST(UnusedFields, AHopInsideADomainThatIsFasterThanMeasuredOnes) {
  Scenario s = eight_nodes();
  s.cluster.node.scale_up.latency = core::Seconds(5e-7);
  EXPECT_EQ(warnings_of(s),
            (Warnings{"cluster.node.scale_up.latency of 0.5 us is below the 1 us that NCCL's "
                      "measured hops inside a domain contain: messages between two GPUs are faster "
                      "for it, collectives of more are not"}));
}

TEST(UnusedFields, ImbalanceOfExpertsThatComputeTheirWholeCapacity) {
  Scenario s = eight_nodes();
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->experts = 8;
  s.model.moe->top_k = 2;
  s.model.moe->ffn = 4096;
  s.model.moe->capacity_factor = 1.5;
  s.model.moe->imbalance = 1.2;
  EXPECT_EQ(warnings_of(s), Warnings{});
  s.model.moe->padded = true;
  EXPECT_EQ(warnings_of(s),
            (Warnings{"model.moe.imbalance 1.2 does nothing with padded: true, where every expert "
                      "computes its whole capacity; leave one of the two out"}));
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
