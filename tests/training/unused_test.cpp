#include "sim/training/unused.h"

#include <gtest/gtest.h>

#include "sim/training/price_warning.h"
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

TEST(UnusedFields, LayersOfEndStagesWithoutStages) {
  Scenario s = eight_nodes();
  s.parallelism.first_stage_layers = 4;
  EXPECT_EQ(warnings_of(s), Warnings{});
  s.parallelism.pipeline = 1;
  EXPECT_EQ(warnings_of(s),
            (Warnings{"parallelism.first_stage_layers: 4 does nothing with pipeline 1, whose stage "
                      "has all layers; choose a pipeline degree or leave it out"}));
}

TEST(UnusedFields, AKindOfAttentionThatItsHeadsContradict) {
  Scenario s = eight_nodes();
  s.model.heads = 64;
  s.model.key_value_heads = 8;
  s.model.attention = workload::AttentionKind::multi_head;
  EXPECT_EQ(warnings_of(s),
            (Warnings{"model.attention: mha does nothing with 8 key_value_heads of 64 heads, which "
                      "are grouped queries; write 'key_value_heads: 64' for a head of keys each, "
                      "or 'attention: gqa'"}));
  s.model.key_value_heads = 64;
  EXPECT_EQ(warnings_of(s), Warnings{});
}

TEST(UnusedFields, APeriodOfWindowsWithoutOne) {
  Scenario s = eight_nodes();
  s.model.window_period = 2;
  EXPECT_EQ(warnings_of(s), (Warnings{"model.window_period 2 does nothing without a window; write "
                                      "'window' or leave it out"}));
  s.model.window = 1024;
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

// 2/7 of 700 W are 200 W, the least of an H100.
TEST(UnusedFields, ABoardBelowTheLowestLimit) {
  Scenario s = eight_nodes();
  auto& gpu = s.cluster.node.gpu;
  gpu.sustained.power = core::Watts(700);
  gpu.power = core::Watts(200);
  EXPECT_EQ(warnings_of(s), Warnings{});
  gpu.power = core::Watts(100);
  ASSERT_EQ(warnings_of(s).size(), 1U);
  EXPECT_EQ(
      warnings_of(s)[0].rfind("cluster.node.gpu.power of 100 W is below the 200 W that a ", 0), 0U)
      << warnings_of(s)[0];
}

// Words of the name: B200 is none of GB200.
TEST(PriceWarnings, APriceOfAnotherGpu) {
  Scenario s = eight_nodes();
  s.cluster.node.gpu.name = "GB200 NVL";
  EXPECT_EQ(price_warnings(s), Warnings{});
  auto& prices = s.run.prices.emplace();
  prices.name = "B200 on demand";
  prices.gpu_hour = core::DollarsPerSecond(5.25 / 3600);
  EXPECT_EQ(price_warnings(s), Warnings{}) << "of any GPU";
  prices.gpu = "GB200";
  EXPECT_EQ(price_warnings(s), Warnings{});
  prices.gpu = "B200";
  EXPECT_EQ(price_warnings(s),
            (Warnings{"run.prices bills GB200 NVL at 5.25 USD a GPU-hour, which is a price of B200 "
                      "(B200 on demand): dollars are not those of this GPU; name one of its own in "
                      "run.prices.use, in a search or sweep a list over run.prices or --machine "
                      "with both, or set run.prices.gpu_hour and run.prices.gpu"}));
  EXPECT_EQ(warnings_of(s), price_warnings(s));
}

// A kind of nodes with a price of its own needs none of run.prices.
TEST(PriceWarnings, KindsWithAPriceOfTheirOwn) {
  Scenario s = eight_nodes();
  s.cluster.node.gpu.name = "H100 80 GB SXM";
  auto& prices = s.run.prices.emplace();
  prices.gpu = "H100";
  OtherNodesSpec other;
  other.nodes = 4;
  other.node = s.cluster.node;
  other.node.gpu.name = "A100 80 GB SXM";
  s.cluster.other_nodes = {other};
  EXPECT_EQ(price_warnings(s).size(), 1U);
  s.cluster.other_nodes[0].gpu_hour = core::DollarsPerSecond(1.5 / 3600);
  EXPECT_EQ(price_warnings(s), Warnings{});
}

}  // namespace
}  // namespace headway::training
