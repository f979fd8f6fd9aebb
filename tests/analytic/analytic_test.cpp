#include "sim/analytic/analytic.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "tests/analytic/random_layouts.h"

namespace headway::analytic {

namespace {

// A CPU that is slower than the GPU, and stalled where stages are on several nodes: both tiers see
// it.
TEST(AnalyticTier, AgreesWithTheSimulationWhereTheHostBinds) {
  for (const int pipeline : {1, 4}) {
    Scenario s = eight_nodes();
    s.parallelism.pipeline = pipeline;
    auto& host = s.training.framework.host;
    host.launch = core::Seconds(20e-6);
    host.collective = core::Seconds(200e-6);
    host.layer = core::Seconds(1e-3);
    host.stall = 0.5;
    AnalyticTier tier(s);
    for (const int other : {4, 1}) {  // of another layout first: nothing of it is kept
      auto layout = s.parallelism;
      layout.pipeline = other;
      tier.evaluate(layout, 64 / 8 / other, 32 / (64 / 8 / other));
    }
    const auto checked = check(s);
    const double simulated = simulate_step(checked).time.si();
    EXPECT_NEAR(tier.evaluate(checked).time.si() / simulated, 1, 0.01) << pipeline;
  }
}

TEST(AnalyticTier, AgreesWithTheSimulationWithoutContention) {
  std::mt19937 random(2024);
  Agreement agreement;
  std::set<workload::Sharding> shardings;
  std::set<workload::ScheduleKind> schedules;
  while (agreement.compared() < 240) {
    const auto layout = random_layout(random);
    if (layout && !scatters_beside_weight_gradients(layout->scenario().parallelism) &&
        agreement.compare(*layout)) {
      shardings.insert(layout->scenario().parallelism.sharding);
      schedules.insert(layout->scenario().parallelism.schedule);
    }
  }
  EXPECT_EQ(shardings.size(), 5U);
  EXPECT_EQ(schedules.size(), 5U);
  std::cout << agreement.text();
}

// The same of models with linear attention or state spaces, whose layers and stages differ. Where
// interleaved chunks are single halves, all chunks of a stage may be of one kind: then the tier is
// up to 6 % too fast, as it is with experts in every so many layers (docs/models/workload.md).
TEST(AnalyticTier, AgreesWithTheSimulationOfHybrids) {
  std::mt19937 random(7);
  Agreement agreement;
  std::set<workload::MixerKind> kinds;
  while (agreement.compared() < 60) {
    const auto layout = random_layout(random, add_mixers);
    const bool halves = layout && layout->scenario().model.layer_pattern.front() ==
                                      workload::LayerContent::mixer_only;
    if (!layout || (halves && layout->scenario().parallelism.virtual_stages > 1)) {
      continue;
    }
    if (agreement.compare(*layout)) {
      kinds.insert(layout->scenario().model.mixer->kind);
    }
  }
  EXPECT_EQ(kinds.size(), 5U);
  std::cout << agreement.text();
}

TEST(AnalyticTier, AgreesWithTheSimulationOfLatentAndNullExperts) {
  std::mt19937 random(23);
  Agreement agreement;
  int narrow = 0, idle = 0;
  while (agreement.compared() < 40) {
    const auto layout = random_layout(random, add_other_experts);
    if (layout && !scatters_beside_weight_gradients(layout->scenario().parallelism) &&
        agreement.compare(*layout)) {
      narrow += layout->scenario().model.moe->latent > 0 ? 1 : 0;
      idle += layout->scenario().model.moe->null_experts > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(narrow, 10);
  EXPECT_GT(idle, 10);
  std::cout << agreement.text();
}

TEST(AnalyticTier, AgreesWithTheSimulationOfNativeSparseAttention) {
  std::mt19937 random(16);
  Agreement agreement;
  std::set<int> strides;
  while (agreement.compared() < 40) {
    const auto layout = random_layout(random, add_native_attention);
    if (layout && agreement.compare(*layout)) {
      strides.insert(layout->scenario().model.native_sparse->stride);
    }
  }
  EXPECT_EQ(strides.size(), 2U);
  std::cout << agreement.text();
}

// As MiMo-V2-Flash: both kinds of layers, and modules unlike the last of them.
TEST(AnalyticTier, AgreesWithTheSimulationOfNarrowValues) {
  std::mt19937 random(31);
  Agreement agreement;
  int leading = 0, light = 0;
  while (agreement.compared() < 40) {
    const auto layout = random_layout(random, add_narrow_values);
    if (layout && !scatters_beside_weight_gradients(layout->scenario().parallelism) &&
        agreement.compare(*layout)) {
      const workload::ModelSpec& m = layout->scenario().model;
      leading += m.leading_full_layers > 0 ? 1 : 0;
      light += m.multi_token_prediction > 0 && m.windowed_prediction ? 1 : 0;
    }
  }
  EXPECT_GT(leading, 10);
  EXPECT_GT(light, 5);
  std::cout << agreement.text();
}

// Layers at both ends that stay in 16 bits beside narrow ones.
TEST(AnalyticTier, AgreesWithTheSimulationOfSixteenBitLayers) {
  std::mt19937 random(18);
  Agreement agreement;
  std::set<int> pipelines;
  while (agreement.compared() < 40) {
    const auto layout = random_layout(random);
    if (!layout) {
      continue;
    }
    const Draw pick(random);
    Scenario s = layout->scenario();
    s.model.sixteen_bit_layers = workload::SixteenBitLayersSpec{pick(0, 1, 4), pick(1, 3, 5)};
    s.training.precision = core::Precision::fp8;
    s.training.framework.scaling = workload::Scaling::tensor;
    if (agreement.compare(check(s))) {
      pipelines.insert(s.parallelism.pipeline);
    }
  }
  EXPECT_GT(pipelines.size(), 2U);
  std::cout << agreement.text();
}

/// Latent attention over keys that an indexer chooses, in all layers.
void add_indexer(const Draw& pick, workload::ModelSpec& m) {
  m.attention = workload::AttentionKind::multi_latent;
  m.biases = false;
  m.window = 0;
  m.latent = workload::LatentAttentionSpec{1536, 512, 128, 64, 128};
  m.sparse = workload::SparseAttentionSpec{pick(16, 64), 128, pick(512, 2048)};
}

// Both kinds of chosen keys over context ranks, which gather those of whole sequences.
TEST(AnalyticTier, AgreesWithTheSimulationOfChosenKeysOverContextRanks) {
  std::mt19937 random(29);
  Agreement agreement;
  int indexed = 0, staged = 0;
  while (agreement.compared() < 40) {
    const bool indexer = agreement.compared() % 2 == 0;
    const auto drawn = random_layout(random, indexer ? add_indexer : add_native_attention);
    if (!drawn) {
      continue;
    }
    Scenario s = drawn->scenario();
    s.parallelism.context = 2;
    s.parallelism.context_kind = workload::ContextKind::all_gather;
    try {
      const CheckedScenario layout = check(s);
      if (agreement.compare(layout)) {
        indexed += indexer ? 1 : 0;
        staged += s.parallelism.pipeline > 2 ? 1 : 0;
      }
    } catch (const core::Error&) {
      continue;  // fewer GPUs than the layout has ranks
    }
  }
  EXPECT_GE(indexed, 20);
  EXPECT_GT(staged, 5);
  std::cout << agreement.text();
}

// What tensor ranks exchange before Muon's products, and between them.
TEST(AnalyticTier, AgreesWithTheSimulationOfMuonOverTensorRanks) {
  using M = workload::MuonTensorMode;
  for (const M mode : {M::blockwise, M::duplicated, M::distributed}) {
    for (const auto sharding : {workload::Sharding::zero0, workload::Sharding::zero1}) {
      Scenario s = eight_nodes();
      s.training.optimizer_state = workload::OptimizerState::muon;
      s.training.muon = workload::MuonSpec{mode};
      s.parallelism.tensor = 4;
      s.parallelism.sharding = sharding;
      const auto checked = check(s);
      const double simulated = simulate_step(checked).time.si();
      EXPECT_NEAR(AnalyticTier(s).evaluate(checked).time.si() / simulated, 1, 0.01)
          << core::to_word(mode) << " " << core::to_word(sharding);
    }
  }
}

// Gated delta networks over context ranks, which trade tokens for heads; without zero-bubble
// schedules of sharded gradients, where the tier is up to 12 % off (its README).
TEST(AnalyticTier, AgreesWithTheSimulationOfDeltaNetworksOverContextRanks) {
  std::mt19937 random(37);
  Agreement agreement;
  std::set<int> contexts;
  while (agreement.compared() < 40) {
    const auto drawn = random_layout(random, add_mixers);
    if (!drawn || drawn->scenario().model.layer_pattern.size() > 3) {
      continue;  // of chunks that are single halves see the test of hybrids
    }
    Scenario s = drawn->scenario();
    s.model.mixer = workload::MixerSpec{workload::MixerKind::gated_delta, s.model.hidden / 128, 8};
    s.parallelism.context = Draw(random)(2, 4);
    const auto schedule = s.parallelism.schedule;
    const bool halves = schedule == workload::ScheduleKind::zero_bubble_h1 ||
                        schedule == workload::ScheduleKind::zero_bubble_h2;
    if (halves && s.parallelism.sharding >= workload::Sharding::zero2) {
      continue;
    }
    try {
      const CheckedScenario layout = check(s);
      if (agreement.compare(layout)) {
        contexts.insert(s.parallelism.context);
      }
    } catch (const core::Error&) {
      continue;  // fewer GPUs than the layout has ranks, or heads that do not divide
    }
  }
  EXPECT_EQ(contexts.size(), 2U);
  std::cout << agreement.text();
}

// The same of models that are trained in part: stages without a backward, traffic of adapters
// alone.
TEST(AnalyticTier, AgreesWithTheSimulationOfWhatIsTrainedInPart) {
  std::mt19937 random(17);
  Agreement agreement;
  int adapted = 0, frozen = 0, staged = 0;
  while (agreement.compared() < 80) {
    const auto layout = random_layout(random, train_in_part);
    if (!layout || !agreement.compare(*layout)) {
      continue;
    }
    const workload::ModelSpec& m = layout->scenario().model;
    adapted += m.adapters ? 1 : 0;
    frozen += m.frozen && m.frozen->layers > 0 ? 1 : 0;
    staged +=
        m.frozen && m.frozen->layers > 1 && layout->scenario().parallelism.pipeline > 1 ? 1 : 0;
  }
  EXPECT_GT(adapted, 20);
  EXPECT_GT(frozen, 20);
  EXPECT_GT(staged, 10);
  std::cout << agreement.text();
}

// The same of optimizers whose decompositions run once in so many steps.
TEST(AnalyticTier, AgreesWithTheSimulationOfPreconditioners) {
  std::mt19937 random(19);
  Agreement agreement;
  int soaps = 0, owned = 0, staged = 0;
  while (agreement.compared() < 60) {
    const auto drawn = random_layout(random);
    if (!drawn) {
      continue;
    }
    const Draw pick(random);
    Scenario s = drawn->scenario();
    s.training.optimizer_state =
        pick(workload::OptimizerState::shampoo, workload::OptimizerState::soap);
    s.training.preconditioner =
        workload::PreconditionerSpec{pick(512, 1024, 8192), pick(1, 10, 100), pick(true, false)};
    try {
      const CheckedScenario layout = check(s);
      if (agreement.compare(layout)) {
        soaps += s.training.optimizer_state == workload::OptimizerState::soap ? 1 : 0;
        owned += s.parallelism.sharding == workload::Sharding::zero1 ? 1 : 0;
        staged += s.parallelism.pipeline > 2 ? 1 : 0;
      }
    } catch (const core::Error&) {
      continue;  // shards cut the blocks
    }
  }
  EXPECT_GT(soaps, 10);
  EXPECT_GT(owned, 10);
  EXPECT_GT(staged, 5);
  std::cout << agreement.text();
}

/// A teacher beside a random layout, or nothing where it does not fit.
std::optional<CheckedScenario> taught(std::mt19937& random) {
  const auto layout = random_layout(random);
  if (!layout) {
    return std::nullopt;
  }
  const Draw pick(random);
  Scenario s = layout->scenario();
  s.model.multi_token_prediction = 0;
  workload::ModelSpec teacher = random_scenario(pick).model;
  teacher.vocabulary = s.model.vocabulary;
  teacher.layers = pick(1, 2, 3) * s.parallelism.pipeline;
  s.training.distillation = workload::DistillationSpec{teacher, {}, pick(0, 64), pick(true, false)};
  s.parallelism.virtual_stages = 1;
  s.parallelism.schedule = pick(workload::ScheduleKind::one_f_one_b, workload::ScheduleKind::gpipe);
  try {
    return check(s);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

// The same of models that learn from a teacher: its forward, its gathers, its part of messages.
TEST(AnalyticTier, AgreesWithTheSimulationOfWhatIsTaught) {
  std::mt19937 random(18);
  Agreement agreement;
  int staged = 0, sharded = 0, unlike = 0;
  while (agreement.compared() < 80) {
    const auto layout = taught(random);
    if (!layout || !agreement.compare(*layout)) {
      continue;
    }
    const auto& s = layout->scenario();
    staged += s.parallelism.pipeline > 2 ? 1 : 0;
    sharded += s.parallelism.sharding >= workload::Sharding::zero3 ? 1 : 0;
    unlike += s.training.distillation->teacher->moe ? 1 : 0;
  }
  EXPECT_GT(staged, 10);
  EXPECT_GT(sharded, 10);
  EXPECT_GT(unlike, 5);
  std::cout << agreement.text();
}

/// Cached logits beside a random layout, or nothing where they are refused.
std::optional<CheckedScenario> taught_before(std::mt19937& random) {
  const auto layout = random_layout(random);
  if (!layout) {
    return std::nullopt;
  }
  const Draw pick(random);
  Scenario s = layout->scenario();
  s.model.multi_token_prediction = 0;
  s.training.framework.loss = pick(workload::Loss::fused, workload::Loss::separate);
  workload::DistillationSpec& distillation = s.training.distillation.emplace();
  distillation.top_k = pick(0, 64, 256);
  distillation.label_loss = pick(true, false);
  distillation.cached.emplace().value_bits = pick(16, 32);
  try {
    return check(s);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

// Logits of a teacher that ran before: their copy and loss are in the head, in every schedule.
TEST(AnalyticTier, AgreesWithTheSimulationOfCachedLogits) {
  std::mt19937 random(19);
  Agreement agreement;
  int staged = 0, interleaved = 0;
  while (agreement.compared() < 40) {
    const auto layout = taught_before(random);
    if (!layout || !agreement.compare(*layout)) {
      continue;
    }
    const auto& p = layout->scenario().parallelism;
    staged += p.pipeline > 1 ? 1 : 0;
    interleaved += p.virtual_stages > 1 ? 1 : 0;
  }
  EXPECT_GT(staged, 10);
  EXPECT_GT(interleaved, 2);
  std::cout << agreement.text();
}

/// Tier / simulation.
double ratio(const Scenario& s) {
  const auto checked = check(s);
  return AnalyticTier(s).evaluate(checked).time / simulate_step(checked, {.trace = false}).time;
}

// Every second layer recomputes, and each chunk is one layer: stages differ by their layers'
// places.
TEST(AnalyticTier, TellsStagesApartByTheirPlaceInTheRecomputePeriod) {
  auto s = eight_nodes();
  s.parallelism.pipeline = 8;
  s.parallelism.virtual_stages = 2;
  s.parallelism.schedule = workload::ScheduleKind::interleaved;
  s.parallelism.recompute = workload::Recompute::full;
  s.parallelism.recompute_period = 2;
  EXPECT_NEAR(ratio(s), 1, 0.01);
}

// Passes of 512 tokens with reductions after each that take several times as long: the step is as
// long as the reductions of all micro-batches. In the simulation those of different buckets fill
// each other's gaps, which the tier does not see.
TEST(AnalyticTier, AddsUpReductionsThatOutlastThePasses) {
  auto s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.parallelism.sharding = workload::Sharding::zero2;
  s.training.sequence_length = 512;
  s.training.global_batch = 128;
  const auto step = AnalyticTier(s).evaluate(check(s));
  EXPECT_GT(step.reduction, 3 * step.pipeline);
  EXPECT_NEAR(ratio(s), 1, 0.05);
}

// Where two chunks of the model share a stage, and where a forward and a backward are one pass.
TEST(AnalyticTier, KnowsFoldedAndBidirectionalSchedules) {
  using workload::ScheduleKind;
  for (const auto schedule :
       {ScheduleKind::zero_bubble_v, ScheduleKind::dual_pipe, ScheduleKind::dual_pipe_v}) {
    for (const int pipeline : {2, 4, 8}) {
      auto s = eight_nodes();
      s.training.global_batch = 256;
      s.parallelism.pipeline = pipeline;
      s.parallelism.schedule = schedule;
      std::cout << core::to_word(schedule) << " " << pipeline << ": " << ratio(s) << "\n";
      EXPECT_NEAR(ratio(s), 1, 0.03) << core::to_word(schedule) << " " << pipeline;
    }
  }
}

// HSDP inside nodes: gathers go over NVLink and wait for no reduction, so the reductions between
// nodes pile up behind the passes.
TEST(AnalyticTier, ReductionsBetweenNodesPileUpBesideGathersInsideThem) {
  auto s = eight_nodes();
  s.cluster.nodes = 4;
  s.model.layers = 32;
  s.training.sequence_length = 512;
  s.training.global_batch = 128;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 2;
  s.parallelism.rank_order = workload::RankOrder::pipeline_first;
  s.parallelism.schedule = workload::ScheduleKind::gpipe;
  s.parallelism.sharding = workload::Sharding::hsdp;
  s.parallelism.shard_group_size = 4;
  const auto step = AnalyticTier(s).evaluate(check(s));
  EXPECT_GT(step.reduction, step.pipeline);
  EXPECT_NEAR(ratio(s), 1, 0.1);
}

TEST(AnalyticTier, PartsAddUpToTheStep) {
  auto s = eight_nodes();
  s.cluster.nodes = 16;
  const auto step = AnalyticTier(s).evaluate(check(s));
  EXPECT_DOUBLE_EQ((step.pipeline + step.reduction + step.update).si(), step.time.si());
  EXPECT_GT(step.pipeline.si(), 0);
  EXPECT_GT(step.update.si(), 0);
}

// One GPU: no transfers, so tier and simulation differ by rounding to ticks alone.
TEST(AnalyticTier, OfOneGpuIsTheSumOfItsKernels) {
  auto s = eight_nodes();
  s.cluster.nodes = 1;
  s.cluster.node.gpus = 1;
  s.cluster.node.nic.count = 1;
  s.cluster.node.scale_up.domain_gpus = 1;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  const auto checked = check(s);
  EXPECT_NEAR(AnalyticTier(s).evaluate(checked).time.si() / simulate_step(checked).time.si(), 1,
              1e-9);
}

// Halves pass on what the stage before waits for at once, while reductions of every micro-batch
// pile up behind them: what is left at the end counts, weights gathered for every pass or not.
TEST(AnalyticTier, CountsReductionsThatPileUpBehindHalvesOfBackward) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 4;
  s.cluster.fabric.link_bandwidth = core::BytesPerSecond(5e9);
  s.cluster.node.nic.bandwidth = core::BytesPerSecond(5e9);
  s.parallelism.tensor = 2;
  s.parallelism.pipeline = 2;
  s.parallelism.schedule = workload::ScheduleKind::zero_bubble_h1;
  s.parallelism.sharding = workload::Sharding::hsdp;
  s.parallelism.shard_group_size = 4;
  s.model.moe.emplace();
  s.model.moe->experts = 16;
  s.model.moe->ffn = 2048;
  const double r = ratio(s);
  EXPECT_GT(r, 0.8);
  EXPECT_LT(r, 1.3);
}

}  // namespace

}  // namespace headway::analytic
