// Laws that every step keeps, over random scenarios that mix everything a scenario can say: every
// schedule, sharding, kind of context parallelism, offload and number format, windows, documents
// and experts.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/step/step.h"

#include "tests/training/draw.h"
#include "tests/training/fixture.h"

namespace headway::training {

using analytic::AnalyticTier;

namespace {

using workload::ScheduleKind;

void draw_model(const Draw& pick, Scenario& s) {
  auto& m = s.model;
  m.layers = pick(16, 24, 32);
  m.ffn = pick(14336, 28672);
  m.tied_embeddings = pick(true, false);
  m.biases = pick(true, false, false);
  m.multi_token_prediction = pick(0, 0, 0, 0, 1);
  m.window = pick(0, 0, 1024);
  m.window_period = pick(1, 2);
  m.chunked_window = m.window > 0 && pick(true, false);
  if (pick(true, false)) {
    m.moe.emplace();
    m.moe->experts = 16;
    m.moe->ffn = 2048;
    m.moe->leading_dense_layers = pick(0, 1);
    m.moe->shared_experts = pick(0, 1);
    m.moe->biases = pick(true, false);
    m.moe->imbalance = pick(1.0, 1.3);
  }
  if (pick(true, false, false)) {
    m.latent.emplace();
    m.latent->query_rank = pick(0, 1536);
    m.attention = workload::AttentionKind::multi_latent;
    m.head_dim = m.latent->no_rope_dim + m.latent->rope_dim;
    m.key_value_heads = m.heads;
  }
}

void draw_recipe(const Draw& pick, Scenario& s) {
  using core::Precision;
  auto& t = s.training;
  t.sequence_length = pick(2048, 4096, 8192);
  t.global_batch = pick(32, 64, 128);
  t.precision = pick(Precision::bf16, Precision::bf16, Precision::fp16, Precision::fp8,
                     Precision::mxfp8, Precision::tf32, Precision::fp32);
  if (pick(true, false, false)) {
    t.documents = {{512, 2}, {2048, 1}};
  }
  auto& f = t.framework;
  f.tensor_overlap = pick(false, true);
  f.data_overlap = pick(true, true, false);
  f.pipeline_overlap = pick(true, true, false);
  f.attention_kernels = pick(workload::AttentionKernels::newest, workload::AttentionKernels::newest,
                             workload::AttentionKernels::sdpa, workload::AttentionKernels::unfused);
  f.elementwise = pick(workload::Elementwise::fused, workload::Elementwise::compiled,
                       workload::Elementwise::eager);
  f.loss = pick(workload::Loss::fused, workload::Loss::in_place, workload::Loss::separate);
  f.scaling = pick(workload::Scaling::delayed, workload::Scaling::tensor, workload::Scaling::row);
  f.gather_once = pick(true, false);
  f.context_overlap = pick(true, false);
  f.cuda_graphs = pick(true, false);
  f.expert_overlap = pick(true, false);
  f.expert_dispatch =
      pick(workload::ExpertDispatch::all_to_all, workload::ExpertDispatch::deduplicated,
           workload::ExpertDispatch::all_gather);
  f.fused_permute = pick(true, false);
  f.padded_expert_rows = pick(true, false);
}

void draw_layout(const Draw& pick, Scenario& s) {
  using workload::ContextKind;
  using workload::Offload;
  using workload::Sharding;
  auto& p = s.parallelism;
  p.tensor = pick(1, 2, 4, 8);
  p.pipeline = pick(1, 2, 4);
  p.context = pick(1, 1, 2);
  p.context_kind = pick(ContextKind::ring, ContextKind::all_gather, ContextKind::all_to_all);
  p.expert = s.model.moe ? pick(1, 2, 4, 8) : 1;
  p.expert_tensor = s.model.moe ? pick(1, 1, 2) : 1;
  p.micro_batch = pick(1, 2);
  p.schedule =
      pick(ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved,
           ScheduleKind::zero_bubble_h1, ScheduleKind::zero_bubble_h2, ScheduleKind::zero_bubble_v,
           ScheduleKind::dual_pipe, ScheduleKind::dual_pipe_v);
  p.virtual_stages = p.schedule == ScheduleKind::interleaved ? 2 : 1;
  p.rank_order = pick(workload::RankOrder::data_first, workload::RankOrder::pipeline_first);
  p.sharding = pick(Sharding::zero0, Sharding::zero1, Sharding::zero2, Sharding::zero3,
                    Sharding::hsdp, Sharding::hsdp);
  p.shard_group_size = p.sharding == Sharding::hsdp ? pick(2, 4) : 0;
  p.reshard = p.sharding < Sharding::zero3 || pick(true, false);
  p.recompute =
      pick(workload::Recompute::none, workload::Recompute::selective, workload::Recompute::full);
  p.offload =
      pick(Offload::none, Offload::none, Offload::optimizer, Offload::activations, Offload::all);
}

/// A random scenario, or nothing where the draw breaks a rule.
std::optional<CheckedScenario> random_scenario(std::mt19937& random) {
  const Draw pick(random);
  Scenario s = eight_nodes();
  s.cluster.nodes = pick(2, 4, 8);
  draw_model(pick, s);
  draw_recipe(pick, s);
  draw_layout(pick, s);
  try {
    return check(s);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

std::string describe(const CheckedScenario& c) {
  const auto& s = c.scenario();
  const auto& p = s.parallelism;
  return fmt::format(
      "{} nodes, tensor {} context {} {} pipeline {} data {} expert {} x {}, {} {}, {}, offload "
      "{}, "
      "recompute {}{}{}{}{}",
      s.cluster.nodes, p.tensor, p.context, core::to_word(p.context_kind), p.pipeline,
      c.data_parallel(), p.expert, p.expert_tensor, core::to_word(p.schedule),
      core::to_word(p.sharding), core::to_word(s.training.precision), core::to_word(p.offload),
      core::to_word(p.recompute), s.model.moe ? ", experts" : "", s.model.latent ? ", latent" : "",
      s.model.window > 0 ? ", window" : "", s.training.documents.empty() ? "" : ", documents");
}

/// No link carries more than it can; but groups inside an NVLink domain are timed as if each were
/// alone, and a step in which they carry more together says so.
void expect_links_hold(const StepResult& step) {
  for (const LinkUse& use : step.links) {
    if (use.tier == "nvlink" && use.mean > 1.001) {
      EXPECT_TRUE(std::any_of(
          step.warnings.begin(), step.warnings.end(),
          [](const std::string& warning) { return warning.starts_with("nvlink carries "); }))
          << use.mean;
      continue;
    }
    EXPECT_LE(use.busiest, 1 + 1e-6) << use.tier;
  }
}

/// Time has one cause at each instant, no rate is above its peak, and memory is what its kinds are.
void expect_laws(const StepResult& step) {
  double causes = 0;
  double path = 0;
  for (std::size_t a = 0; a < step.breakdown.values.size(); ++a) {
    EXPECT_GE(step.breakdown.values[a].si(), -1e-9);
    causes += step.breakdown.values[a].si();
    path += step.critical_path.values[a].si();
  }
  EXPECT_NEAR(causes, step.time.si(), 1e-6 * step.time.si());
  EXPECT_NEAR(path, step.time.si(), 1e-6 * step.time.si());
  EXPECT_GT(step.mfu, 0);
  EXPECT_LE(step.mfu_causal, 1);
  EXPECT_GE(step.hfu, step.mfu * (1 - 1e-12));
  EXPECT_NEAR(step.memory.by_kind.total() / step.memory.peak, 1, 1e-9);
  expect_links_hold(step);
}

/// The analytic tier against simulations.
struct TierErrors {
  int alone = 0, beyond = 0, contended = 0, folded = 0;
  double sum = 0, folded_sum = 0;

  void compare(const CheckedScenario& checked, core::Seconds simulated) {
    const core::Seconds free = simulate_step(checked, {.trace = false, .contention = false}).time;
    const double ratio = AnalyticTier(checked.scenario()).evaluate(checked).time / simulated;
    using workload::ScheduleKind;
    const ScheduleKind schedule = checked.scenario().parallelism.schedule;
    if (schedule == ScheduleKind::zero_bubble_v || schedule == ScheduleKind::dual_pipe ||
        schedule == ScheduleKind::dual_pipe_v) {
      // Two chunks on a stage: the traffic of one is hidden by the other, which the tier does not
      // know.
      ++folded;
      folded_sum += std::abs(ratio - 1);
      EXPECT_GT(ratio, 0.3);
      EXPECT_LT(ratio, 3);
      return;
    }
    if (std::abs(free / simulated - 1) > 0.001) {
      // No promise beside contention, but the right order of magnitude.
      ++contended;
      EXPECT_GT(ratio, 0.5);
      EXPECT_LT(ratio, 1.7);
      return;
    }
    ++alone;
    sum += std::abs(ratio - 1);
    beyond += std::abs(ratio - 1) > 0.03 ? 1 : 0;
  }
  /// Within 3 % without contention; zero-bubble schedules with gradients that are reduced in two
  /// places at once are a known exception, one layout in a hundred (README.md).
  void expect_small() const {
    EXPECT_LT(sum / alone, 0.002);
    EXPECT_LE(beyond, alone / 100 + 1);
    EXPECT_LT(folded_sum / folded, 0.2);
    std::cout << fmt::format(
        "analytic tier: {} steps without contention, mean {:.2f} %, {} beyond 3 %; {} with; {} of "
        "folded and bidirectional schedules, mean {:.1f} %\n",
        alone, 100 * sum / alone, beyond, contended, folded, 100 * folded_sum / folded);
  }
};

/// Scenarios to look at: 200, with HEADWAY_PROPERTY_SCALE so many times as many.
int wanted() {
  const char* scale = std::getenv("HEADWAY_PROPERTY_SCALE");
  return 200 * (scale != nullptr ? std::max(1, std::atoi(scale)) : 1);
}

TEST(RandomSteps, FoldedOrNotAreTheSameAndKeepTheLaws) {
  std::mt19937 random(20261121);
  std::map<std::string, int> schedules;
  TierErrors tier;
  std::map<std::string, int> shardings;
  int tried = 0;
  for (int found = 0; found < wanted() && tried < 3000 * wanted(); ++tried) {
    const auto checked = random_scenario(random);
    if (!checked) {
      continue;
    }
    ++found;
    SCOPED_TRACE(describe(*checked));
    const StepResult folded = simulate_step(*checked, {.fold = true});
    const StepResult unfolded = simulate_step(*checked, {.fold = false});
    EXPECT_EQ(folded.time, unfolded.time);
    EXPECT_EQ(folded.result_digest, unfolded.result_digest);
    expect_laws(folded);
    const auto& p = checked->scenario().parallelism;
    tier.compare(*checked, folded.time);
    ++schedules[std::string(core::to_word(p.schedule))];
    ++shardings[std::string(core::to_word(p.sharding))];
  }
  for (const auto& [schedule, steps] : schedules) {
    std::cout << schedule << " " << steps << ", ";
  }
  std::cout << "of " << tried << " draws\n";
  tier.expect_small();
  EXPECT_EQ(schedules.size(), 8U);
  EXPECT_EQ(shardings.size(), 5U);
}

}  // namespace
}  // namespace headway::training
