#include "sim/training/unused.h"

#include <fmt/format.h>
#include <functional>
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

constexpr const char* kFile = "s.yaml";

/// Of a scenario whose file says its name, and another line this key.
Warnings warnings_where(const Scenario& s, const std::string& written, const char* file = kFile) {
  core::SourceMarks marks;
  marks["name"] = {kFile, 1, 1, 1, ""};
  marks[written] = {file, 2, 1, 1, ""};
  return unused_fields(check(s, marks));
}

/// A key that does nothing until something else is said: warned of where the file or --set says
/// it, not in an entry that is used, not where it counts.
void expect_idle(Scenario s,
                 const std::string& path,
                 const std::string& begin,
                 const std::function<void(Scenario&)>& make_it_count) {
  const Warnings warned = warnings_where(s, path);
  ASSERT_EQ(warned.size(), 1U) << path;
  EXPECT_EQ(warned[0].substr(0, begin.size()), begin);
  EXPECT_EQ(warnings_where(s, path, "entry.yaml"), Warnings{}) << path;
  make_it_count(s);
  EXPECT_EQ(warnings_where(s, path), Warnings{}) << path;
}

Scenario with_experts() {
  Scenario s = eight_nodes();
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->experts = 8;
  s.model.moe->top_k = 2;
  s.model.moe->ffn = 4096;
  return s;
}

TEST(UnusedFields, KeysOfModelsThatTheirOtherKeysOverrule) {
  Scenario latent = eight_nodes();
  latent.model.latent = workload::LatentAttentionSpec{};
  latent.model.attention = workload::AttentionKind::multi_latent;
  const int width = latent.model.latent->no_rope_dim + latent.model.latent->rope_dim;
  latent.model.head_dim = width + 64;
  expect_idle(latent, "model.head_dim",
              fmt::format("model.head_dim: {} does nothing beside latent attention", width + 64),
              [&](Scenario& s) { s.model.head_dim = width; });
  latent.model.attention = workload::AttentionKind::grouped_query;
  expect_idle(latent, "model.attention",
              "model.attention: gqa does nothing beside latent attention; write",
              [](Scenario& s) { s.model.attention = workload::AttentionKind::multi_latent; });
  expect_idle(with_experts(), "model.ffn",
              fmt::format("model.ffn: {} does nothing where no layer has a dense MLP",
                          with_experts().model.ffn),
              [](Scenario& s) { s.model.moe->leading_dense_layers = 1; });
  Scenario predicting = with_experts();
  predicting.model.dense_prediction = true;
  expect_idle(predicting, "model.dense_prediction",
              "model.dense_prediction: true does nothing without prediction layers",
              [](Scenario& s) { s.model.multi_token_prediction = 1; });
  Scenario grouped = with_experts();
  grouped.model.moe->routing_groups = 4;
  expect_idle(grouped, "model.moe.routing_groups",
              "model.moe.routing_groups: 4 does nothing without a group_limit",
              [](Scenario& s) { s.model.moe->group_limit = 2; });
  grouped.model.moe->group_limit = 4;
  expect_idle(grouped, "model.moe.group_limit",
              "model.moe.group_limit: 4 does nothing with 4 routing_groups",
              [](Scenario& s) { s.model.moe->group_limit = 2; });
}

TEST(UnusedFields, KeysOfLayoutsWithoutWhatTheyDivide) {
  Scenario s = eight_nodes();
  s.parallelism.tensor = 1;
  expect_idle(s, "parallelism.sequence", "parallelism.sequence: true does nothing with tensor 1",
              [](Scenario& one) { one.parallelism.tensor = 8; });
  s.parallelism.pipeline = 1;
  s.training.global_batch = 64;
  s.parallelism.rank_order = workload::RankOrder::pipeline_first;
  expect_idle(s, "parallelism.rank_order",
              "parallelism.rank_order: tp-cp-pp-dp does nothing where one stage",
              [](Scenario& one) { one.parallelism.pipeline = 2; });
  s = eight_nodes();
  s.parallelism.virtual_stages = 1;
  s.parallelism.schedule = workload::ScheduleKind::interleaved;
  expect_idle(s, "parallelism.schedule",
              "parallelism.schedule: interleaved does nothing with virtual 1",
              [](Scenario& one) { one.parallelism.schedule = workload::ScheduleKind::gpipe; });
  s = eight_nodes();
  s.training.balanced_ranks = true;
  expect_idle(s, "training.balanced_ranks",
              "training.balanced_ranks: true does nothing where all sequences are equal work",
              [](Scenario& one) {
                one.training.documents = {{1024, 1}, {2048, 1}};
              });
}

TEST(UnusedFields, KeysOfRunsWhereNothingFailsSo) {
  Scenario s = eight_nodes();
  s.run.until = UntilSpec{};
  s.run.until->steps = 1000;
  const auto fail = [](Scenario& one) {
    one.run.failures = failures::FailureSpec{};
    one.run.failures->hazards.emplace_back();
    one.run.failures->hazards[0].name = "h";
    one.run.failures->hazards[0].mtbf = core::Seconds(1e7);
    one.run.failures->hazards[0].effect = failures::Effect::slow_drive;
  };
  auto& recovery = s.run.recovery;
  recovery.eviction = failures::Eviction::gpu;
  expect_idle(s, "run.recovery.eviction",
              "run.recovery.eviction: gpu does nothing in a run without failures", fail);
  recovery.repair_sigma = 1;
  expect_idle(s, "run.recovery.repair_sigma",
              "run.recovery.repair_sigma: 1 does nothing in a run without failures", fail);
  recovery.slow_part = failures::SlowPart::keep;
  expect_idle(s, "run.recovery.slow_part",
              "run.recovery.slow_part: keep does nothing where no failure slows a part", fail);
  recovery.rack_nodes = 4;
  expect_idle(s, "run.recovery.rack_nodes",
              "run.recovery.rack_nodes: 4 does nothing without 'eviction: rack'",
              [](Scenario& one) { one.run.recovery.eviction = failures::Eviction::rack; });
  s.run.checkpoint.via_drives = true;
  expect_idle(s, "run.checkpoint.via_drives",
              "run.checkpoint.via_drives: true does nothing where no failure slows a drive", fail);
  s.run.checkpoint.files_per_writer = 4;
  expect_idle(s, "run.checkpoint.files_per_writer",
              "run.checkpoint.files_per_writer: 4 does nothing where files take no time",
              [](Scenario& one) { one.cluster.storage->files_per_second = 1000; });
  // One step alone is predicted: everything of the run is passed over.
  s.run.until.reset();
  EXPECT_EQ(warnings_where(s, "run.recovery.rack_nodes"), Warnings{});
}

// A file that the program wrote has every key; what --set says is said by somebody.
TEST(UnusedFields, AFileWithEveryKeyAsksForNone) {
  Scenario s = eight_nodes();
  s.parallelism.tensor = 1;
  core::SourceMarks marks;
  for (const char* path : {"name", "parallelism.context_kind", "parallelism.rank_order",
                           "parallelism.reshard", "parallelism.sequence"}) {
    marks[path] = {kFile, 1, 1, 1, ""};
  }
  EXPECT_EQ(unused_fields(check(s, marks)), Warnings{});
  marks["parallelism.sequence"] = {"--set parallelism.sequence=true", 0, 0, 1, ""};
  EXPECT_EQ(unused_fields(check(s, marks)).size(), 1U);
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
  // Of an entry that is used it is the catalogue that extrapolates, not who writes the scenario.
  const Warnings catalogue{
      "the catalogue's limit of 700 W is above the 550 W at which the shares of the H100's peaks "
      "hold (sustained.power): products and attention are taken to be 1.15 times as fast, which no "
      "measurement covers"};
  EXPECT_EQ(warnings_where(s, "cluster.node.gpu.power", "h100.yaml"), catalogue);
  EXPECT_EQ(warnings_where(s, "cluster.node.gpu.power"), warnings_of(s));
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
