// Rules that model, recipe and parallelism must keep together, and what cannot be modelled yet.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

#include "sim/workload/build.h"
#include "sim/workload/layout.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/offload.h"
#include "sim/workload/rank_parameters.h"
#include "sim/workload/schedule.h"

namespace headway::workload {

namespace {

/// What would make attention one kernel.
std::string how_to_fuse(const TrainingSpec& training) {
  return full_precision(training.precision)
             ? fmt::format("{} has none: choose bf16 or fp16", core::to_word(training.precision))
             : "set framework.fused_attention: true";
}

/// A ring cuts every document into chunks, two for each rank.
void check_documents(std::vector<std::string>& out,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism) {
  const int chunks = 2 * parallelism.context;
  if (parallelism.context > 1 && parallelism.context_kind == ContextKind::ring) {
    for (const DocumentLength& document : training.documents) {
      if (document.tokens < chunks) {
        out.push_back(fmt::format(
            "documents of {} tokens do not divide into 2 x context = {} chunks, two for each rank "
            "of a ring; choose context_kind all-gather or all-to-all",
            document.tokens, chunks));
      }
    }
  }
  if (!training.documents.empty() && !fuses_attention(training)) {
    out.push_back("packed documents need fused attention; " + how_to_fuse(training));
  }
}

void check_shards(std::vector<std::string>& out, const ParallelismSpec& parallelism) {
  if (parallelism.sharding == Sharding::hsdp) {
    if (parallelism.shard_group_size < 1) {
      out.emplace_back("sharding hsdp needs shard_group_size, the ranks that hold one copy");
    }
  } else if (parallelism.shard_group_size > 0) {
    out.emplace_back("shard_group_size belongs to sharding hsdp; leave it out or choose hsdp");
  }
  if (!parallelism.reshard && !shards_weights(parallelism.sharding)) {
    out.emplace_back("reshard: false belongs to sharding zero3 or hsdp");
  }
}

/// Parts that are named where they cannot be recomputed.
void check_recompute(std::vector<std::string>& out,
                     const ModelSpec& model,
                     const ParallelismSpec& parallelism) {
  const auto& parts = parallelism.recompute_parts;
  if (!parts.empty() && parallelism.recompute != Recompute::selective) {
    out.emplace_back("recompute_parts belongs to recompute: selective");
  }
  const auto has = [&parts](RecomputePart part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  if (has(RecomputePart::latent_up) && !model.latent) {
    out.push_back(
        fmt::format("recompute part latent_up: model '{}' has no latent attention", model.name));
  }
  if (has(RecomputePart::experts) && !model.moe) {
    out.push_back(fmt::format("recompute part experts: model '{}' has none", model.name));
  }
  if (parallelism.recompute_period > 1 && parallelism.recompute == Recompute::none) {
    out.emplace_back("recompute_period belongs to recompute: selective or full");
  }
}

void check_degree(std::vector<std::string>& out, int value, int degree, const char* what) {
  if (value % degree != 0) {
    out.push_back(
        fmt::format("{} {} do not divide over {} tensor-parallel ranks", value, what, degree));
  }
}

void check_routing(std::vector<std::string>& out, const ExpertsSpec& moe) {
  if (moe.experts % moe.routing_groups != 0) {
    out.push_back(fmt::format("{} experts do not divide over {} routing groups", moe.experts,
                              moe.routing_groups));
  }
  if (moe.group_limit > moe.routing_groups) {
    out.push_back(fmt::format("a token cannot be limited to {} of {} routing groups",
                              moe.group_limit, moe.routing_groups));
  }
  const int reachable =
      moe.group_limit > 0 ? moe.experts / moe.routing_groups * moe.group_limit : moe.experts;
  if (moe.top_k > reachable) {
    out.push_back(
        fmt::format("a token cannot visit {} experts where it can reach {}", moe.top_k, reachable));
  }
  if (moe.padded && moe.capacity_factor <= 0) {
    out.emplace_back("'padded' needs the capacity that is filled up: set 'capacity_factor'");
  }
}

/// All-to-all gives each context rank whole heads.
void check_exchanged_heads(std::vector<std::string>& out,
                           const ModelSpec& model,
                           const ParallelismSpec& parallelism) {
  const int t = parallelism.tensor;
  const int c = parallelism.context;
  if (model.heads % (t * c) != 0) {
    out.push_back(fmt::format(
        "{} attention heads do not divide over tensor {} x context {} = {}; choose context_kind "
        "ring or all-gather",
        model.heads, t, c, t * c));
  }
  const int held = std::max(1, model.key_value_heads / t);
  if (held % c != 0 && c % held != 0) {
    out.push_back(fmt::format(
        "{} key-value heads of a tensor rank and context {} do not divide each other; choose "
        "context_kind ring or all-gather",
        held, c));
  }
}

/// Norms and the order of attention and MLP.
void check_block(std::vector<std::string>& out, const ModelSpec& model) {
  if (model.norms == 3) {
    out.push_back(
        fmt::format("model '{}' cannot have 3 norms in a layer; write 1, 2 or 4", model.name));
  }
  if (model.norms == 1 && !model.parallel_block) {
    out.push_back(fmt::format(
        "model '{}' has one norm in a layer; only parallel blocks share it: write parallel_block: "
        "true or norms: 2",
        model.name));
  }
  if (model.parallel_block && (model.moe || model.latent || model.norms > 2)) {
    out.push_back(fmt::format(
        "parallel blocks of model '{}' with experts, latent attention or four norms are not "
        "simulated",
        model.name));
  }
  if (model.query_key_norm && model.latent) {
    out.push_back(fmt::format("query_key_norm of model '{}' with latent attention is not simulated",
                              model.name));
  }
  if (model.chunked_window && model.window == 0) {
    out.push_back(fmt::format("chunked_window of model '{}' needs 'window'", model.name));
  }
}

}  // namespace

std::vector<std::string> context_problems(const ModelSpec& model,
                                          const TrainingSpec& training,
                                          const ParallelismSpec& parallelism) {
  std::vector<std::string> out;
  const int c = parallelism.context;
  if (c == 1) {
    return out;
  }
  if (!fuses_attention(training)) {
    out.push_back("context parallelism needs fused attention; " + how_to_fuse(training));
  }
  if (parallelism.context_kind == ContextKind::all_to_all) {
    if (training.sequence_length % c != 0) {
      out.push_back(fmt::format("a sequence of {} tokens does not divide over {} context ranks",
                                training.sequence_length, c));
    }
    check_exchanged_heads(out, model, parallelism);
  } else if (training.sequence_length % (2 * c) != 0) {
    out.push_back(fmt::format(
        "a sequence of {} tokens does not divide into 2 x context = {} chunks, two for each rank "
        "so that all have the same causal work",
        training.sequence_length, 2 * c));
  }
  return out;
}

std::vector<std::string> unsupported(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism) {
  std::vector<std::string> out;
  check_documents(out, training, parallelism);
  check_shards(out, parallelism);
  check_recompute(out, model, parallelism);
  if (model.attention == AttentionKind::multi_latent && !model.latent) {
    out.push_back(fmt::format("model '{}' has attention mla without 'latent'", model.name));
  }
  if (std::string problem = offload_problem(model, parallelism); !problem.empty()) {
    out.push_back(std::move(problem));
  }
  check_block(out, model);
  if (training.optimizer_state == OptimizerState::muon) {
    out.emplace_back(
        "optimizer_state muon is not simulated: its orthogonalization gathers and multiplies whole "
        "matrices; choose adam_fp32, adam_bf16, adam_8bit or sgd_momentum");
  }
  if (copies_of_layers(parallelism) > 1 && parallelism.sharding == Sharding::hsdp) {
    out.emplace_back(
        "schedule dualpipe with sharding hsdp is not simulated: both shard copies of the weights; "
        "choose zero1 or another sharding, or schedule dualpipe-v");
  }
  return out;
}

std::vector<std::string> expert_problems(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         int data_parallel) {
  std::vector<std::string> out;
  const int e = parallelism.expert;
  const int et = parallelism.expert_tensor;
  if (!model.moe) {
    if (e > 1 || et > 1) {
      out.push_back(fmt::format("model '{}' has no experts; write expert: 1 and expert_tensor: 1",
                                model.name));
    }
    return out;
  }
  check_routing(out, *model.moe);
  const auto divides = [&out](int value, int by, const char* what, const char* over) {
    if (value % by != 0) {
      out.push_back(fmt::format("{} {} do not divide over {} {}", value, what, by, over));
    }
  };
  divides(model.moe->experts, e, "experts", "expert-parallel ranks");
  divides(model.moe->ffn, et, "columns of an expert", "expert tensor ranks");
  divides(model.moe->shared_experts * model.moe->ffn, parallelism.tensor,
          "columns of the shared experts", "tensor-parallel ranks");
  const int ranks = parallelism.tensor * parallelism.context * data_parallel;
  if (ranks % (e * et) != 0) {
    out.push_back(fmt::format(
        "expert {} x expert_tensor {} = {} does not divide the tensor {} x context {} x data {} = "
        "{} ranks of a stage",
        e, et, e * et, parallelism.tensor, parallelism.context, data_parallel, ranks));
  }
  if (parallelism.tensor > 1 && !parallelism.sequence) {
    out.emplace_back(
        "a mixture of experts with tensor parallelism needs 'sequence: true', so that every rank "
        "routes tokens of its own");
  }
  return out;
}

std::string shard_problem(const ParallelismSpec& parallelism, int data_parallel) {
  const int ranks = parallelism.context * data_parallel;
  const int size = parallelism.shard_group_size;
  if (parallelism.sharding != Sharding::hsdp || size < 1) {
    return {};
  }
  if (ranks % size != 0) {
    return fmt::format("shard_group_size {} does not divide the context {} x data {} = {} ranks",
                       size, parallelism.context, data_parallel, ranks);
  }
  const int t = parallelism.tensor;
  const int experts = parallelism.expert * parallelism.expert_tensor;
  if (t * size % experts == 0) {
    return {};
  }
  return fmt::format(
      "expert {} x expert_tensor {} = {} does not divide the tensor {} x shard_group_size {} = {} "
      "ranks that hold one copy of a stage's weights; choose a multiple of {} as shard_group_size, "
      "or sharding zero3",
      parallelism.expert, parallelism.expert_tensor, experts, t, size, t * size,
      experts / std::gcd(experts, t));
}

std::vector<std::string> violations(const ModelSpec& model,
                                    const TrainingSpec& training,
                                    const ParallelismSpec& parallelism,
                                    int data_parallel,
                                    int micro_batches) {
  std::vector<std::string> out = unsupported(model, training, parallelism);
  const int t = parallelism.tensor;
  check_degree(out, model.heads, t, "attention heads");
  check_degree(out, model.ffn, t, "MLP columns");
  if (model.key_value_heads % t != 0 && t % model.key_value_heads != 0) {
    out.push_back(
        fmt::format("{} key-value heads and {} tensor-parallel ranks do not divide each other",
                    model.key_value_heads, t));
  }
  if (parallelism.sequence && t > 1) {
    check_degree(out, training.sequence_length / parallelism.context, t, "tokens of a sequence");
  }
  std::ranges::move(context_problems(model, training, parallelism), std::back_inserter(out));
  std::ranges::move(expert_problems(model, parallelism, data_parallel), std::back_inserter(out));
  if (std::string problem = shard_problem(parallelism, data_parallel); !problem.empty()) {
    out.push_back(std::move(problem));
  }
  if (model.heads % model.key_value_heads != 0) {
    out.push_back(fmt::format("{} attention heads do not divide over {} key-value heads",
                              model.heads, model.key_value_heads));
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  if (std::string problem = schedule_problem(schedule, parallelism.pipeline,
                                             parallelism.virtual_stages, micro_batches);
      !problem.empty()) {
    out.push_back(std::move(problem));
  }
  if (std::string problem = layout_problem(model, parallelism); !problem.empty()) {
    out.push_back(std::move(problem));
  }
  return out;
}

}  // namespace headway::workload
