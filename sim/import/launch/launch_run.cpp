#include "sim/import/launch/launch_run.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::import {

namespace {

using workload::AttentionKind;
using workload::ParallelismSpec;
using workload::RecomputePart;

void normalise_model(workload::ModelSpec& model) {
  if (model.dropout == std::optional(model.biases)) {
    model.dropout.reset();
  }
  if (model.learned_positions > 0) {
    model.rotary = true;
  }
  if (model.window == 0) {
    model.window_period = 1;
    model.chunked_window = false;
    model.full_attention.reset();
  }
  if (model.value_dim == model.head_dim) {
    model.value_dim = 0;
  }
  if (model.multi_token_prediction == 0) {
    model.dense_prediction = model.windowed_prediction = false;
  }
  const auto& pattern = model.layer_pattern;
  const bool dense = std::ranges::find(pattern, workload::LayerContent::mlp_only) != pattern.end();
  const bool all_experts =
      model.moe && model.moe->leading_dense_layers == 0 && model.moe->period == 1 && !dense;
  if (all_experts && !model.dense_prediction) {
    model.ffn = 0;
  }
  if (model.moe && model.moe->group_limit >= model.moe->routing_groups) {
    model.moe->group_limit = 0;
  }
  model.attention = model.latent                           ? AttentionKind::multi_latent
                    : model.window > 0                     ? AttentionKind::sliding_window
                    : model.key_value_heads == model.heads ? AttentionKind::multi_head
                                                           : AttentionKind::grouped_query;
  if (model.latent) {
    model.key_value_heads = model.heads;
    model.head_dim = model.latent->no_rope_dim + model.latent->rope_dim;
  }
}

void normalise_recompute(ParallelismSpec& p) {
  const auto& again = p.chunk_recompute;
  if (p.recompute_layers == 0 || (!again.empty() && std::ranges::max(again) == 0)) {
    p.recompute = workload::Recompute::none;
    p.recompute_parts.clear();
    p.chunk_recompute.clear();
  }
  if (p.recompute == workload::Recompute::none) {
    p.recompute_period = p.recompute_layers = 1;
  }
  const int common = std::gcd(p.recompute_period, p.recompute_layers);
  if (p.recompute_period == p.recompute_layers) {
    p.recompute_period = p.recompute_layers = 1;
  } else if (common > 1) {
    p.recompute_period /= common;
    p.recompute_layers /= common;
  }
  std::ranges::sort(p.recompute_parts);
  if (p.recompute_parts == std::vector{RecomputePart::core_attention}) {
    p.recompute_parts.clear();
  }
}

/// As many layers of every chunk are so many of the layers of the largest.
void fold_chunk_recompute(ParallelismSpec& p) {
  if (p.chunk_recompute.empty() || !workload::recomputes_alike(p)) {
    return;
  }
  p.recompute_period = std::ranges::max(p.chunk_layers);
  p.recompute_layers = std::ranges::max(p.chunk_recompute);
  p.chunk_recompute.clear();
}

void normalise_layout(ParallelismSpec& p) {
  const ParallelismSpec usual;
  if (p.pipeline == 1) {
    fold_chunk_recompute(p);
  }
  if (p.tensor == 1) {
    p.sequence = usual.sequence;
  }
  if (p.context == 1) {
    p.context_kind = usual.context_kind;
  }
  if (p.pipeline == 1) {
    p.rank_order = usual.rank_order;
    p.schedule = usual.schedule;
    p.virtual_stages = 1;
    p.first_stage_layers = p.last_stage_layers = 0;
    p.chunk_layers.clear();
  }
  if (p.schedule == workload::ScheduleKind::interleaved && p.virtual_stages == 1) {
    p.schedule = workload::ScheduleKind::one_f_one_b;
  }
  p.schedule = workload::effective_schedule(p);
  if (p.sharding != workload::Sharding::hsdp) {
    p.shard_group_size = 0;
  }
  if (!workload::offloads_activations(p.offload)) {
    p.offload_layers = {};
  }
}

/// Chunks that only the ends make unequal are said by their ends, if that gives the same chunks.
void normalise_chunks(LaunchRun& run) {
  const ParallelismSpec& p = run.parallelism;
  const int stages = p.pipeline;
  const auto chunks = static_cast<int>(p.chunk_layers.size());
  const bool folded = p.schedule == workload::ScheduleKind::zero_bubble_v ||
                      p.schedule == workload::ScheduleKind::dual_pipe_v;
  if (run.model.layers == 0 || stages < 2 || folded || chunks != stages * p.virtual_stages) {
    return;
  }
  ParallelismSpec ends = p;
  fold_chunk_recompute(ends);
  ends.chunk_layers.clear();
  ends.first_stage_layers = ends.last_stage_layers = 0;
  const auto [least, most] = std::ranges::minmax(p.chunk_layers);
  for (int i = 0; i < chunks && least < most; ++i) {
    const int layers = p.chunk_layers[static_cast<std::size_t>(i)];
    ends.first_stage_layers += i % stages == 0 ? layers : 0;
    ends.last_stage_layers += i % stages == stages - 1 ? layers : 0;
  }
  if (workload::layout_problem(run.model, ends)) {
    return;
  }
  const workload::StageLayout layout(run.model, ends);
  for (int i = 0; i < chunks; ++i) {
    if (layout.at(i % stages, i / stages).layers != p.chunk_layers[static_cast<std::size_t>(i)]) {
      return;
    }
  }
  run.parallelism = ends;
}

}  // namespace

std::int64_t ranks_product(std::initializer_list<std::int64_t> degrees) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  std::int64_t product = 1;
  for (const std::int64_t degree : degrees) {
    product = degree > 0 && product > kMost / degree ? kMost : product * degree;
  }
  return product;
}

int middle_layers(const LaunchRun& run) {
  const ParallelismSpec& p = run.parallelism;
  const int ends = (p.first_stage_layers > 0 ? 1 : 0) + (p.last_stage_layers > 0 ? 1 : 0);
  const int stages = p.pipeline - ends;
  const int layers = run.model.layers - p.first_stage_layers - p.last_stage_layers;
  return stages > 0 && layers > 0 && layers % stages == 0 ? layers / stages : 0;
}

LaunchRun normalised(LaunchRun run) {
  normalise_model(run.model);
  normalise_layout(run.parallelism);
  normalise_chunks(run);
  normalise_recompute(run.parallelism);
  ParallelismSpec& p = run.parallelism;
  const std::int64_t replica = ranks_product({p.tensor, p.context, p.pipeline});
  if (run.gpus > 0 && replica > 0 && run.gpus % replica == 0 && p.data.is_auto() &&
      run.gpus / replica <= std::numeric_limits<int>::max()) {
    p.data = static_cast<int>(run.gpus / replica);
  }
  if (const int middle = middle_layers(run); middle > 0) {
    p.first_stage_layers = p.first_stage_layers == middle ? 0 : p.first_stage_layers;
    p.last_stage_layers = p.last_stage_layers == middle ? 0 : p.last_stage_layers;
  }
  return run;
}

}  // namespace headway::import
