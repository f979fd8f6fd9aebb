// Random models and layouts, and how far the analytic tier is from their simulation.
#pragma once

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <string>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/step/step.h"

#include "tests/training/draw.h"
#include "tests/training/fixture.h"

namespace headway::analytic {

using training::check;
using training::CheckedScenario;
using training::Draw;
using training::eight_nodes;
using training::Scenario;
using training::simulate_step;

/// A random model on a random number of nodes: dense, with windows, or with experts.
inline Scenario random_scenario(const Draw& pick) {
  Scenario s = eight_nodes();
  s.cluster.nodes = pick(1, 2, 4, 8, 16);
  auto& m = s.model;
  m.layers = pick(16, 24, 32);
  m.hidden = pick(4096, 8192);
  m.heads = m.hidden / 128;
  m.ffn = pick(14336, 28672);
  m.tied_embeddings = pick(true, false);
  m.biases = pick(true, false);
  if (pick(true, false, false, false)) {
    m.moe.emplace();
    m.moe->experts = 16;
    m.moe->ffn = 2048;
    m.moe->leading_dense_layers = pick(0, 1);
    m.moe->period = pick(1, 2);
  }
  m.window = pick(0, 0, 0, 1024);
  m.window_period = pick(1, 2);
  m.multi_token_prediction = pick(0, 0, 0, 0, 1);
  s.training.sequence_length = pick(2048, 4096, 8192);
  s.training.global_batch = pick(64, 128, 256);
  auto& f = s.training.framework;
  f.tensor_overlap = pick(false, false, true);
  f.data_overlap = pick(true, true, false);
  f.pipeline_overlap = pick(true, true, false);
  f.step_overhead = core::Seconds(pick(0.0, 0.0, 0.01));
  f.message_overhead = core::Seconds(pick(0.0, 0.0, 1e-5));
  return s;
}

/// Linear attention or state spaces in some of the layers.
inline void add_mixers(const Draw& pick, workload::ModelSpec& m) {
  using L = workload::LayerContent;
  using K = workload::MixerKind;
  m.mixer.emplace();
  m.mixer->kind = pick(K::mamba1, K::mamba2, K::gated_delta, K::kimi_delta, K::lightning);
  const bool channels = m.mixer->kind == K::mamba1;
  m.mixer->heads = channels ? 2 * m.hidden : m.hidden / 128;
  m.mixer->key_dim = channels ? 16 : 128;
  m.mixer->value_dim = channels ? 1 : 128;
  m.mixer->step_rank = channels ? m.hidden / 16 : 0;
  const bool shared = m.mixer->kind == K::mamba2 || m.mixer->kind == K::gated_delta;
  m.mixer->key_heads = shared ? 8 : 0;
  m.mixer->convolution = m.mixer->kind == K::lightning ? 0 : 4;
  m.attention_gate = pick(true, false);
  m.multi_token_prediction = 0;
  if (m.moe) {
    m.moe->period = 1;
    m.moe->leading_dense_layers = 0;
  }
  switch (pick(0, 1, 2, 3)) {
    case 0:
      m.layer_pattern = {L::mixer, L::mixer, L::mixer, L::attention};
      return;
    case 1:
      m.layer_pattern = {L::both};
      return;
    case 2:
      m.layer_pattern = {L::mixer, L::both, L::attention};
      return;
    default:
      m.layer_pattern = {L::mixer_only, m.moe ? L::experts_only : L::mlp_only, L::attention_only,
                         L::mlp_only};
  }
}

/// Experts on a latent width, experts that do nothing, or both.
inline void add_other_experts(const Draw& pick, workload::ModelSpec& m) {
  m.moe.emplace();
  m.moe->experts = 16;
  m.moe->top_k = pick(2, 6);
  m.moe->ffn = 2048;
  m.moe->shared_experts = pick(0, 1);
  m.moe->latent = pick(0, 1024, 2048);
  m.moe->null_experts = m.moe->latent == 0 ? 8 : pick(0, 16);
}

/// Native sparse attention in all layers, with the paper's blocks or others.
inline void add_native_attention(const Draw& pick, workload::ModelSpec& m) {
  m.biases = false;
  m.window = 0;
  m.native_sparse.emplace();
  m.native_sparse->value_dim = pick(0, 96);
  m.native_sparse->selected_blocks = pick(8, 16);
  m.native_sparse->stride = pick(16, 32);
}

/// Values narrower than keys, layers without the window at the front, light prediction modules.
inline void add_narrow_values(const Draw& pick, workload::ModelSpec& m) {
  m.attention = workload::AttentionKind::sliding_window;
  m.head_dim = 192;
  m.value_dim = pick(64, 128);
  m.window = pick(128, 1024);
  m.window_period = pick(2, 6);
  m.leading_full_layers = pick(0, 1, 3);
  if (pick(true, false)) {
    m.full_attention = workload::FullAttentionSpec{pick(4, 8), 192, false, 128};
  }
  m.multi_token_prediction = pick(0, 1, 2);
  m.dense_prediction = m.moe && pick(true, false);
  m.windowed_prediction = pick(true, false);
}

/// Adapters, frozen layers, or both.
inline void train_in_part(const Draw& pick, workload::ModelSpec& m) {
  m.multi_token_prediction = 0;
  const int kind = pick(0, 1, 2, 3);
  if (kind != 1) {
    m.adapters =
        workload::AdaptersSpec{pick(8, 64), {}, workload::BaseWeights::full, pick(0, 1) > 0};
    m.adapters->base = pick(workload::BaseWeights::full, workload::BaseWeights::nf4);
    if (pick(true, false)) {
      m.adapters->products = {workload::AdaptedProduct::query, workload::AdaptedProduct::value};
    }
  }
  if (kind != 0) {
    m.tied_embeddings = m.adapters && m.tied_embeddings;
    m.frozen = workload::FrozenSpec{pick(0, 1, m.layers / 2 + 1, m.layers - 1),
                                    m.adapters || pick(true, false), pick(true, false)};
  }
}

inline void draw_memory_savings(const Draw& pick, workload::ParallelismSpec& p) {
  using workload::Sharding;
  p.recompute =
      pick(workload::Recompute::none, workload::Recompute::selective, workload::Recompute::full);
  p.recompute_period = p.recompute == workload::Recompute::none ? 1 : pick(1, 1, 2, 3);
  p.sharding = pick(Sharding::zero0, Sharding::zero1, Sharding::zero1, Sharding::zero2,
                    Sharding::zero3, Sharding::hsdp);
  p.shard_group_size = p.sharding == Sharding::hsdp ? pick(2, 4) : 0;
  p.reshard = p.sharding < Sharding::zero3 || pick(true, false);
  p.offload = pick(workload::Offload::none, workload::Offload::none, workload::Offload::optimizer);
}

/// A layout of a random model, or nothing where the draw breaks a rule.
/// @param change  of the model drawn
inline std::optional<CheckedScenario> random_layout(
    std::mt19937& random, void (*change)(const Draw&, workload::ModelSpec&) = nullptr) {
  using workload::ContextKind;
  using workload::ScheduleKind;
  const Draw pick(random);
  Scenario s = random_scenario(pick);
  if (change != nullptr) {
    change(pick, s.model);
  }
  auto& p = s.parallelism;
  p.tensor = pick(1, 2, 4, 8);
  p.pipeline = pick(1, 2, 4, 8);
  p.virtual_stages = pick(1, 1, 2, 4);
  p.context = pick(1, 1, 1, 2);
  p.context_kind = pick(ContextKind::ring, ContextKind::all_gather, ContextKind::all_to_all);
  p.expert = s.model.moe ? pick(1, 2, 8) : 1;
  p.expert_tensor = s.model.moe ? pick(1, 1, 2) : 1;
  p.micro_batch = pick(1, 2);
  p.sequence = pick(true, false);
  p.first_stage_layers = p.pipeline > 1 ? pick(0, 0, 1, 2) : 0;
  p.last_stage_layers = pick(0, p.first_stage_layers);
  p.rank_order = pick(workload::RankOrder::data_first, workload::RankOrder::pipeline_first);
  p.schedule = p.virtual_stages > 1
                   ? ScheduleKind::interleaved
                   : pick(ScheduleKind::one_f_one_b, ScheduleKind::one_f_one_b, ScheduleKind::gpipe,
                          ScheduleKind::zero_bubble_h1, ScheduleKind::zero_bubble_h2);
  draw_memory_savings(pick, p);
  try {
    return check(s);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

/// Where the tier is known to be as much as a fifth short, whatever the model (its README).
inline bool scatters_beside_weight_gradients(const workload::ParallelismSpec& p) {
  return p.schedule == workload::ScheduleKind::zero_bubble_h2 &&
         p.sharding >= workload::Sharding::zero3;
}

inline std::string describe(const CheckedScenario& c) {
  const auto& p = c.scenario().parallelism;
  const auto& f = c.scenario().training.framework;
  return fmt::format(
      "{} nodes, {} layers, tensor {} context {} pipeline {} x {} data {} micro-batches {} {} {} "
      "{}{}{}",
      c.scenario().cluster.nodes, c.scenario().model.layers, p.tensor, p.context, p.pipeline,
      p.virtual_stages, c.data_parallel(), c.micro_batches(), core::to_word(p.schedule),
      core::to_word(p.sharding), f.data_overlap ? "data-overlap " : "",
      f.pipeline_overlap ? "" : "blocking-sends ", f.tensor_overlap ? "tensor-overlap" : "");
}

/// How far the tier is from the simulation, layout by layout.
class Agreement {
 public:
  /// Whether the layout counts. The definition of "without contention": the simulation gives the
  /// same time, to a thousandth, when every transfer takes its time alone. There the tier must be
  /// within 3 %.
  bool compare(const CheckedScenario& layout) {
    const double simulated = simulate_step(layout, {.trace = false}).time.si();
    const double alone = simulate_step(layout, {.trace = false, .contention = false}).time.si();
    if (std::abs(simulated / alone - 1) > 0.001) {
      ++contended_;
      return false;
    }
    const double error = AnalyticTier(layout.scenario()).evaluate(layout).time.si() / simulated - 1;
    EXPECT_LT(std::abs(error), 0.03) << describe(layout);
    if (std::abs(error) > std::abs(worst_)) {
      worst_ = error;
      worst_layout_ = describe(layout);
    }
    sum_ += std::abs(error);
    ++compared_;
    return true;
  }

  [[nodiscard]] int compared() const { return compared_; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} layouts: mean {:.2f} %, worst {:+.2f} % ({}); {} more have contention\n",
                       compared_, 100 * sum_ / compared_, 100 * worst_, worst_layout_, contended_);
  }

 private:
  double worst_ = 0, sum_ = 0;
  std::string worst_layout_;
  int compared_ = 0, contended_ = 0;
};

}  // namespace headway::analytic
