// Rules that model, recipe and parallelism must keep together, and what cannot be modelled yet.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <utility>

#include "sim/core/checked.h"
#include "sim/workload/attention/attention_problems.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/offload.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/mixer/mixer_problems.h"
#include "sim/workload/native/native_problems.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/teacher/teacher_problems.h"
#include "sim/workload/trained/trained_problems.h"
#include "sim/workload/vision/encoder_problems.h"

namespace headway::workload {

namespace {

using core::Checked;

void add(Violations& out, std::string path, std::string text) {
  out.push_back({std::move(path), std::move(text)});
}

/// What would make attention one kernel.
std::string how_to_fuse(const TrainingSpec& training) {
  return full_precision(training.precision)
             ? fmt::format("{} has none: choose bf16 or fp16", core::to_word(training.precision))
             : "set framework.attention_kernels to a fused kind";
}

/// The field that keeps attention from being one kernel; that of the profile of the software is not
/// the user's own, so `asks`, which needs one kernel, is named instead.
std::string unfused_path(const TrainingSpec& training, const char* asks) {
  return full_precision(training.precision) ? "training.precision" : asks;
}

/// A ring cuts every document into chunks, two for each rank.
void check_documents(Violations& out,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism) {
  const Checked chunks = Checked(2) * parallelism.context;
  if (parallelism.context > 1 && parallelism.context_kind == ContextKind::ring) {
    for (std::size_t i = 0; i < training.documents.size(); ++i) {
      const DocumentLength& document = training.documents[i];
      if (Checked(document.tokens) < chunks) {
        add(out, fmt::format("training.documents[{}].tokens", i),
            fmt::format("documents of {} tokens do not divide into 2 x context = {} chunks, two "
                        "for each rank of a ring; choose context_kind all-gather or all-to-all",
                        document.tokens, chunks));
      }
    }
  }
  if (!training.documents.empty() && !fuses_attention(training)) {
    add(out, unfused_path(training, "training.documents"),
        "packed documents need fused attention; " + how_to_fuse(training));
  }
}

void check_shards(Violations& out, const ParallelismSpec& parallelism) {
  if (parallelism.sharding == Sharding::hsdp) {
    if (parallelism.shard_group_size < 1) {
      add(out, "parallelism.sharding",
          "sharding hsdp needs shard_group_size, the ranks that hold one copy");
    }
  } else if (parallelism.shard_group_size > 0) {
    add(out, "parallelism.shard_group_size",
        "shard_group_size belongs to sharding hsdp; leave it out or choose hsdp");
  }
  if (!parallelism.reshard && !shards_weights(parallelism.sharding)) {
    add(out, "parallelism.reshard", "reshard: false belongs to sharding zero3 or hsdp");
  }
}

/// Layers of chunks that recompute, beside the chunks and what else says which.
void check_chunk_recompute(Violations& out, const ParallelismSpec& parallelism) {
  const auto& again = parallelism.chunk_recompute;
  const auto& layers = parallelism.chunk_layers;
  if (again.empty()) {
    return;
  }
  const char* path = "parallelism.chunk_recompute";
  if (parallelism.recompute == Recompute::none) {
    add(out, path, "chunk_recompute belongs to recompute: selective or full");
  }
  if (parallelism.recompute_period > 1) {
    add(out, path,
        "chunk_recompute already says which layers recompute; leave recompute_period out");
  }
  if (layers.size() != again.size()) {
    add(out, path,
        fmt::format("chunk_recompute has {} entries, and chunk_layers {}: write both, an entry for "
                    "every chunk",
                    again.size(), layers.size()));
    return;
  }
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i] > layers[i]) {
      add(out, fmt::format("{}[{}]", path, i),
          fmt::format("{} of the {} layers of this chunk cannot recompute", again[i], layers[i]));
    }
  }
}

/// Parts that are named where they cannot be recomputed.
void check_recompute(Violations& out, const ModelSpec& model, const ParallelismSpec& parallelism) {
  const auto& parts = parallelism.recompute_parts;
  if (!parts.empty() && parallelism.recompute != Recompute::selective) {
    add(out, "parallelism.recompute_parts", "recompute_parts belongs to recompute: selective");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string path = fmt::format("parallelism.recompute_parts[{}]", i);
    if (parts[i] == RecomputePart::latent_up && !model.latent) {
      add(out, path,
          fmt::format("recompute part latent_up: model '{}' has no latent attention", model.name));
    }
    if (parts[i] == RecomputePart::experts && !model.moe) {
      add(out, path, fmt::format("recompute part experts: model '{}' has none", model.name));
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == RecomputePart::operators && (model.latent || model.parallel_block)) {
      add(out, fmt::format("parallelism.recompute_parts[{}]", i),
          fmt::format("recompute part operators: which products are every second one is known of "
                      "plain layers; model '{}' has {}",
                      model.name,
                      model.latent ? "latent attention" : "attention and MLP side by side"));
    }
  }
  check_chunk_recompute(out, parallelism);
  if (parallelism.recompute_layers > parallelism.recompute_period) {
    add(out, "parallelism.recompute_layers",
        fmt::format("{} of every {} layers cannot recompute", parallelism.recompute_layers,
                    parallelism.recompute_period));
  }
  if (parallelism.recompute_period > 1 && parallelism.recompute == Recompute::none) {
    add(out, "parallelism.recompute_period",
        "recompute_period belongs to recompute: selective or full");
  }
}

void check_degree(Violations& out, const char* path, int value, int degree, const char* what) {
  if (value % degree != 0) {
    add(out, path,
        fmt::format("{} {} do not divide over {} tensor-parallel ranks", value, what, degree));
  }
}

void check_routing(Violations& out, const ExpertsSpec& moe) {
  if (moe.experts % moe.routing_groups != 0) {
    add(out, "model.moe.routing_groups",
        fmt::format("{} experts do not divide over {} routing groups", moe.experts,
                    moe.routing_groups));
  }
  if (moe.group_limit > moe.routing_groups) {
    add(out, "model.moe.group_limit",
        fmt::format("a token cannot be limited to {} of {} routing groups", moe.group_limit,
                    moe.routing_groups));
  }
  if (moe.null_experts > 0 && moe.routing_groups > 1) {
    add(out, "model.moe.null_experts",
        fmt::format("null_experts beside {} routing groups is not simulated: which group they are "
                    "in is not known; write routing_groups: 1",
                    moe.routing_groups));
  }
  const Checked in_groups = Checked(moe.experts / moe.routing_groups) * moe.group_limit;
  const Checked all = Checked(moe.experts) + moe.null_experts;
  const Checked reachable = moe.group_limit > 0 ? std::min(in_groups, all) : all;
  if (Checked(moe.top_k) > reachable) {
    add(out, "model.moe.top_k",
        fmt::format("a token cannot visit {} experts where it can reach {}", moe.top_k, reachable));
  }
  if (moe.padded && moe.capacity_factor <= 0) {
    add(out, "model.moe.padded",
        "'padded' needs the capacity that is filled up: set 'capacity_factor'");
  }
}

/// Numbers of key and value heads that layers of a model have.
std::vector<int> key_value_heads(const ModelSpec& model) {
  std::vector<int> heads{model.key_value_heads};
  if (model.full_attention) {
    heads.push_back(model.full_attention->key_value_heads);
  }
  return heads;
}

/// Query heads share those of keys and values evenly, and tensor ranks hold whole ones or share
/// one.
void check_key_heads(Violations& out, const ModelSpec& model, int tensor) {
  for (const int heads : key_value_heads(model)) {
    if (heads % tensor != 0 && tensor % heads != 0) {
      add(out, "parallelism.tensor",
          fmt::format("{} key-value heads and {} tensor-parallel ranks do not divide each other",
                      heads, tensor));
    }
    if (model.heads % heads != 0) {
      add(out, "model.key_value_heads",
          fmt::format("{} attention heads do not divide over {} key-value heads", model.heads,
                      heads));
    }
  }
}

/// All-to-all gives each context rank whole heads.
void check_exchanged_heads(Violations& out,
                           const ModelSpec& model,
                           const ParallelismSpec& parallelism) {
  const int t = parallelism.tensor;
  const int c = parallelism.context;
  const Checked ranks = Checked(t) * c;
  if (!core::is_multiple(model.heads, ranks)) {
    add(out, "parallelism.context",
        fmt::format("{} attention heads do not divide over tensor {} x context {} = {}; choose "
                    "context_kind ring or all-gather",
                    model.heads, t, c, ranks));
  }
  for (const int heads : key_value_heads(model)) {
    const int held = std::max(1, heads / t);
    if (held % c != 0 && c % held != 0) {
      add(out, "parallelism.context",
          fmt::format("{} key-value heads of a tensor rank and context {} do not divide each "
                      "other; choose context_kind ring or all-gather",
                      held, c));
    }
  }
}

/// Sparse attention and what it needs.
void check_sparse(Violations& out,
                  const ModelSpec& model,
                  const TrainingSpec& training,
                  const ParallelismSpec& parallelism) {
  if (!model.sparse) {
    return;
  }
  if (!model.latent || model.latent->query_rank == 0) {
    add(out, "model.sparse",
        fmt::format("sparse attention of model '{}' needs 'latent' with compressed queries "
                    "(query_rank), which its indexer reads",
                    model.name));
  }
  if (model.window > 0) {
    add(out, "model.sparse",
        fmt::format("sparse attention of model '{}' with a window is not simulated", model.name));
  }
  if (model.sparse->leading_layers > 0 && model.sparse->period == 1) {
    add(out, "model.sparse.leading_layers",
        fmt::format("each layer of model '{}' has an indexer; leading_layers belongs to a 'period' "
                    "of 2 or more",
                    model.name));
  }
  if (parallelism.context > 1 && parallelism.context_kind != ContextKind::all_gather) {
    add(out, "parallelism.context",
        fmt::format(
            "sparse attention over context ranks needs the keys of whole sequences on each, "
            "and context_kind is {}: which keys are chosen is known on no rank before all "
            "have been scored; write context_kind: all-gather",
            core::to_word(parallelism.context_kind)));
  }
  if (!fuses_attention(training)) {
    add(out, unfused_path(training, "model.sparse"),
        "sparse attention needs fused attention; " + how_to_fuse(training));
  }
}

/// Native sparse attention and what it needs.
void check_native(Violations& out,
                  const ModelSpec& model,
                  const TrainingSpec& training,
                  const ParallelismSpec& parallelism) {
  std::ranges::move(native_problems(model, training, parallelism), std::back_inserter(out));
  if (model.native_sparse && !fuses_attention(training)) {
    add(out, unfused_path(training, "model.native_sparse"),
        "native sparse attention needs fused attention; " + how_to_fuse(training));
  }
}

/// Matrices, or their blocks, are updated whole, on the GPU of the rank that owns them.
void check_owners(Violations& out,
                  const TrainingSpec& training,
                  const ParallelismSpec& parallelism) {
  const OptimizerState state = training.optimizer_state;
  if (training.preconditioner && !preconditions(state)) {
    add(out, "training.preconditioner",
        fmt::format("a preconditioner belongs to optimizer_state shampoo or soap, not {}; choose "
                    "one of them or leave it out",
                    core::to_word(state)));
  }
  if (training.muon && state != OptimizerState::muon) {
    add(out, "training.muon",
        fmt::format("settings of muon belong to optimizer_state muon, not {}; choose it or leave "
                    "them out",
                    core::to_word(state)));
  }
  if (!owns_matrices(state)) {
    return;
  }
  if (shards_gradients(parallelism.sharding)) {
    add(out, "training.optimizer_state",
        fmt::format("optimizer_state {} with sharding {} is not simulated: shards cut matrices "
                    "that it multiplies whole; choose zero0 or zero1",
                    core::to_word(state), core::to_word(parallelism.sharding)));
  }
  if (offloads_optimizer(parallelism.offload)) {
    add(out, "parallelism.offload",
        fmt::format("optimizer_state {} with its states on the host is not simulated: its products "
                    "need the GPU; choose none or activations",
                    core::to_word(state)));
  }
}

/// Norms and the order of attention and MLP.
void check_block(Violations& out, const ModelSpec& model) {
  if (model.norms == 3) {
    add(out, "model.norms",
        fmt::format("model '{}' cannot have 3 norms in a layer; write 1, 2 or 4", model.name));
  }
  if (model.norms == 1 && !model.parallel_block) {
    add(out, "model.norms",
        fmt::format("model '{}' has one norm in a layer; only parallel blocks share it: write "
                    "parallel_block: true or norms: 2",
                    model.name));
  }
  if (model.parallel_block && (model.moe || model.latent || model.norms > 2)) {
    add(out, "model.parallel_block",
        fmt::format("parallel blocks of model '{}' with experts, latent attention or four norms "
                    "are not simulated",
                    model.name));
  }
  if (model.query_key_norm && model.latent) {
    add(out, "model.query_key_norm",
        fmt::format("query_key_norm of model '{}' with latent attention is not simulated",
                    model.name));
  }
}

/// Prediction modules that are lighter than the last layer.
void check_prediction(Violations& out, const ModelSpec& model) {
  if (model.dense_prediction && !model.moe) {
    add(out, "model.dense_prediction",
        fmt::format("no layer of model '{}' has experts, so prediction layers have a dense MLP "
                    "anyway: leave dense_prediction out, or set 'moe'",
                    model.name));
  }
  if (model.dense_prediction && model.multi_token_prediction > 0 && model.ffn == 0) {
    add(out, "model.ffn",
        fmt::format("dense_prediction of model '{}' needs the width of its MLP: set 'ffn' to 1 or "
                    "more",
                    model.name));
  }
  if (model.windowed_prediction && model.window == 0) {
    add(out, "model.windowed_prediction",
        fmt::format("windowed_prediction of model '{}' needs the window: set 'window', or leave it "
                    "out",
                    model.name));
  }
}

}  // namespace

Violations context_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism) {
  Violations out;
  const int c = parallelism.context;
  if (c == 1) {
    return out;
  }
  if (!fuses_attention(training)) {
    add(out, unfused_path(training, "parallelism.context"),
        "context parallelism needs fused attention; " + how_to_fuse(training));
  }
  if (parallelism.context_kind == ContextKind::all_to_all) {
    if (training.sequence_length % c != 0) {
      add(out, "parallelism.context",
          fmt::format("a sequence of {} tokens does not divide over {} context ranks",
                      training.sequence_length, c));
    }
    check_exchanged_heads(out, model, parallelism);
  } else if (!core::is_multiple(training.sequence_length, Checked(2) * c)) {
    add(out, "parallelism.context",
        fmt::format("a sequence of {} tokens does not divide into 2 x context = {} chunks, two for "
                    "each rank so that all have the same causal work",
                    training.sequence_length, Checked(2) * c));
  }
  return out;
}

namespace {

/// Parts of one array and products of their own cannot both be.
void check_joined(Violations& out, const FrameworkSpec& framework) {
  if (!framework.separate_projections) {
    return;
  }
  constexpr const char* kText =
      "'separate_projections' has a product for each of them, so that there is no joint array; "
      "leave one of the two out";
  if (framework.joined_gate) {
    add(out, "training.framework.joined_gate", kText);
  }
  if (framework.joined_heads) {
    add(out, "training.framework.joined_heads", kText);
  }
}

/// Layers that stay in 16 bits beside narrow ones.
void check_sixteen_bit(Violations& out, const ModelSpec& model, const TrainingSpec& training) {
  if (!model.sixteen_bit_layers) {
    return;
  }
  constexpr const char* kPath = "model.sixteen_bit_layers";
  const auto& kept = *model.sixteen_bit_layers;
  if (!narrow(training.precision)) {
    add(out, kPath,
        fmt::format("operands are {} in all layers; write 'precision: fp8', 'mxfp8' or 'nvfp4', or "
                    "leave 'sixteen_bit_layers' out",
                    core::to_word(training.precision)));
  } else if (training.precision == core::Precision::fp8 &&
             training.framework.scaling == Scaling::delayed) {
    add(out, kPath,
        "with delayed scales all layers are fp8 (Megatron-LM refuses it: the largest values are "
        "exchanged once for all); write another 'scaling' of the framework, or leave "
        "'sixteen_bit_layers' out");
  }
  if (kept.first + kept.last == 0) {
    add(out, kPath, "no layer stays in 16 bits; write 'first' or 'last' above 0, or leave it out");
  }
  if (kept.first + kept.last >= model.layers) {
    add(out, kPath,
        fmt::format("{} + {} layers in 16 bits leave none of the {} of model '{}' in {}; write "
                    "fewer, or 'precision: bf16'",
                    kept.first, kept.last, model.layers, model.name,
                    core::to_word(training.precision)));
  }
}

}  // namespace

Violations unsupported(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism) {
  Violations out;
  check_documents(out, training, parallelism);
  check_joined(out, training.framework);
  if (training.nvfp4 && training.precision != core::Precision::nvfp4) {
    add(out, "training.nvfp4",
        fmt::format("operands are {}, not four bits; write 'precision: nvfp4' or leave 'nvfp4' out",
                    core::to_word(training.precision)));
  }
  check_sixteen_bit(out, model, training);
  check_shards(out, parallelism);
  check_recompute(out, model, parallelism);
  if (model.attention == AttentionKind::multi_latent && !model.latent) {
    add(out, "model.attention",
        fmt::format("attention mla of model '{}' needs its ranks in 'latent'", model.name));
  }
  if (auto problem = offload_problem(model, parallelism)) {
    out.push_back(std::move(*problem));
  }
  check_block(out, model);
  check_prediction(out, model);
  std::ranges::move(attention_problems(model), std::back_inserter(out));
  check_sparse(out, model, training, parallelism);
  check_native(out, model, training, parallelism);
  std::ranges::move(mixer_problems(model, parallelism), std::back_inserter(out));
  check_owners(out, training, parallelism);
  std::ranges::move(trained_problems(model, training, parallelism), std::back_inserter(out));
  std::ranges::move(teacher_problems(model, training, parallelism), std::back_inserter(out));
  std::ranges::move(encoder_problems(model, training, parallelism), std::back_inserter(out));
  if (copies_of_layers(parallelism) > 1 && parallelism.sharding == Sharding::hsdp) {
    add(out, "parallelism.schedule",
        "schedule dualpipe with sharding hsdp is not simulated: both shard copies of the weights; "
        "choose zero1 or another sharding, or schedule dualpipe-v");
  }
  return out;
}

Violations expert_problems(const ModelSpec& model,
                           const ParallelismSpec& parallelism,
                           int data_parallel) {
  Violations out;
  const int e = parallelism.expert;
  const int et = parallelism.expert_tensor;
  if (!model.moe) {
    if (e > 1 || et > 1) {
      add(out, e > 1 ? "parallelism.expert" : "parallelism.expert_tensor",
          fmt::format("model '{}' has no experts; write expert: 1 and expert_tensor: 1",
                      model.name));
    }
    return out;
  }
  check_routing(out, *model.moe);
  if (model.moe->limited_activation && !model.gated_mlp) {
    add(out, "model.moe.limited_activation",
        "bounds are those of a gated activation's two inputs: set 'gated_mlp', or leave them out");
  }
  const auto divides = [&out](const char* path, Checked value, int by, const char* what,
                              const char* over) {
    if (!core::is_multiple(value, by)) {
      add(out, path, fmt::format("{} {} do not divide over {} {}", value, what, by, over));
    }
  };
  divides("parallelism.expert", model.moe->experts, e, "experts", "expert-parallel ranks");
  divides("parallelism.expert_tensor", model.moe->ffn, et, "columns of an expert",
          "expert tensor ranks");
  divides("parallelism.tensor", Checked(model.moe->shared_experts) * model.moe->ffn,
          parallelism.tensor, "columns of the shared experts", "tensor-parallel ranks");
  const Checked ranks = Checked(parallelism.tensor) * parallelism.context * data_parallel;
  const Checked experts = Checked(e) * et;
  if (!core::is_multiple(ranks, experts)) {
    add(out, "parallelism.expert",
        fmt::format("expert {} x expert_tensor {} = {} does not divide the tensor {} x context {} "
                    "x data {} = {} ranks of a stage",
                    e, et, experts, parallelism.tensor, parallelism.context, data_parallel, ranks));
  }
  if (parallelism.tensor > 1 && !parallelism.sequence) {
    add(out, "parallelism.sequence",
        "a mixture of experts with tensor parallelism needs 'sequence: true', so that every rank "
        "routes tokens of its own");
  }
  return out;
}

std::optional<Violation> shard_problem(const ParallelismSpec& parallelism, int data_parallel) {
  const Checked ranks = Checked(parallelism.context) * data_parallel;
  const int size = parallelism.shard_group_size;
  const char* path = "parallelism.shard_group_size";
  if (parallelism.sharding != Sharding::hsdp || size < 1) {
    return std::nullopt;
  }
  if (!core::is_multiple(ranks, size)) {
    return Violation{
        path, fmt::format("shard_group_size {} does not divide the context {} x data {} = {} ranks",
                          size, parallelism.context, data_parallel, ranks)};
  }
  const int t = parallelism.tensor;
  const Checked experts = Checked(parallelism.expert) * parallelism.expert_tensor;
  const Checked holders = Checked(t) * size;
  if (core::is_multiple(holders, experts)) {
    return std::nullopt;
  }
  return Violation{
      path, fmt::format("expert {} x expert_tensor {} = {} does not divide the tensor {} x "
                        "shard_group_size {} = {} ranks that hold one copy of a stage's weights; "
                        "choose a multiple of {} as shard_group_size, or sharding zero3",
                        parallelism.expert, parallelism.expert_tensor, experts, t, size, holders,
                        experts.fits() ? Checked(experts.value() / std::gcd(experts.value(), t))
                                       : experts)};
}

Violations violations(const ModelSpec& model,
                      const TrainingSpec& training,
                      const ParallelismSpec& parallelism,
                      int data_parallel,
                      int micro_batches) {
  Violations out = unsupported(model, training, parallelism);
  const int t = parallelism.tensor;
  if (has_attention(model)) {
    check_degree(out, "parallelism.tensor", model.heads, t, "attention heads");
  }
  check_degree(out, "parallelism.tensor", model.ffn, t, "MLP columns");
  check_key_heads(out, model, t);
  if (parallelism.sequence && t > 1) {
    check_degree(out, "training.sequence_length", training.sequence_length / parallelism.context, t,
                 "tokens of a sequence");
  }
  std::ranges::move(context_problems(model, training, parallelism), std::back_inserter(out));
  std::ranges::move(expert_problems(model, parallelism, data_parallel), std::back_inserter(out));
  if (auto problem = shard_problem(parallelism, data_parallel)) {
    out.push_back(std::move(*problem));
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  std::ranges::move(
      schedule_problems(schedule, parallelism.pipeline, parallelism.virtual_stages, micro_batches),
      std::back_inserter(out));
  if (auto problem = layout_problem(model, parallelism)) {
    out.push_back(std::move(*problem));
  }
  std::ranges::move(teacher_layout_problems(training, parallelism), std::back_inserter(out));
  return out;
}

}  // namespace headway::workload
