// What is trained and how the work is divided: model, training recipe, parallelism, framework.
// Knows no hardware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"
#include "sim/workload/distillation_spec.h"
#include "sim/workload/formats/nvfp4_spec.h"
#include "sim/workload/framework/framework_spec.h"
#include "sim/workload/model_spec.h"
#include "sim/workload/muon/muon_spec.h"
#include "sim/workload/preconditioner/preconditioner_spec.h"
#include "sim/workload/usual_run.h"
#include "sim/workload/vision/vision_spec.h"

namespace headway::workload {

/// How the work is divided over the ranks. tensor x context x pipeline x data = GPUs.
struct ParallelismSpec {
  int tensor = 1;
  bool sequence = true;
  int pipeline = 1;
  int virtual_stages = 1;
  int context = 1;
  ContextKind context_kind = ContextKind::ring;
  int expert = 1;
  int expert_tensor = 1;
  core::OrAuto<int> data;
  Sharding sharding = Sharding::zero1;
  int micro_batch = 1;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int shard_group_size = 0;
  bool reshard = true;
  Recompute recompute = Recompute::none;
  std::vector<RecomputePart> recompute_parts;
  int recompute_period = 1;
  int recompute_layers = 1;
  int first_stage_layers = 0;
  int last_stage_layers = 0;
  std::vector<int> chunk_layers;
  std::vector<int> chunk_recompute;
  RankOrder rank_order = RankOrder::data_first;
  Offload offload = Offload::none;
  core::OrAuto<int> offload_layers;
  template <class V>
  void fields(V& v) {  // NOLINT(readability-function-size): a list
    v.optional("tensor", tensor, "Tensor-parallel degree.", core::from_one_to_16m);
    v.optional("sequence", sequence,
               "Split norms and residuals along the sequence over the tensor group.");
    v.optional("pipeline", pipeline, "Pipeline stages.", core::from_one_to_10k);
    v.optional("virtual", virtual_stages, "Model chunks a stage holds (interleaved schedule).",
               core::from_one_to_10k);
    v.optional("context", context, "Context-parallel degree.", core::from_one_to_16m);
    v.optional(
        "context_kind", context_kind,
        "How context ranks share keys and values: ring passes them on beside attention; all-gather "
        "collects them first (Llama 3); all-to-all trades sequence for heads (Ulysses).");
    v.optional("expert", expert,
               "Expert-parallel degree; its ranks are taken from the tensor, context and data "
               "ranks of a stage.",
               core::from_one_to_16m);
    v.optional("expert_tensor", expert_tensor, "Tensor-parallel degree inside an expert.",
               core::from_one_to_16m);
    v.optional("data", data, "Data-parallel degree; auto: GPUs / (tensor x context x pipeline).",
               core::from_one_to_16m);
    v.optional("sharding", sharding,
               "What data-parallel ranks shard: zero0 nothing, zero1 optimizer, zero2 and "
               "gradients, zero3 and weights (FSDP); hsdp: as zero3, inside groups of "
               "shard_group_size ranks, with copies between the groups.");
    v.optional(
        "shard_group_size", shard_group_size,
        "Ranks that hold one copy of the sharded weights; hsdp needs it. A mixture's experts lie "
        "once in each tensor x shard_group_size ranks.",
        core::up_to_16m);
    v.optional("reshard", reshard,
               "zero3, hsdp: drop a layer's gathered weights after its forward and gather them "
               "again for its backward.");
    v.optional("micro_batch", micro_batch, "Sequences in one micro-batch.", core::from_one_to_16m);
    v.optional("schedule", schedule, "Order of forward and backward work on a stage.");
    v.optional(
        "recompute", recompute,
        "Activations recomputed in backward: none, some parts of a layer (selective), all (full).");
    v.optional("recompute_parts", recompute_parts,
               "Parts that 'selective' recomputes; empty: core_attention. operators: all but what "
               "every second matrix product, attention and reductions over tensor ranks leave "
               "(torchtitan).");
    v.optional("recompute_period", recompute_period,
               "recompute_layers in this many recompute; 1: all.", core::from_one_to_10k);
    v.optional("recompute_layers", recompute_layers,
               "Layers of each recompute_period that recompute, evenly spread.",
               core::from_one_to_10k);
    v.optional("first_stage_layers", first_stage_layers,
               "Layers of the first stage; 0: even. Uneven layouts need the rest to divide evenly.",
               core::up_to_10k);
    v.optional("last_stage_layers", last_stage_layers, "Layers of the last stage; 0: even.",
               core::up_to_10k);
    v.optional(
        "chunk_layers", chunk_layers,
        "Layers of every chunk, in the order in which a micro-batch meets the chunks; empty: even.",
        core::up_to_10k);
    v.optional("chunk_recompute", chunk_recompute,
               "How many layers of each of chunk_layers recompute, from its first on; empty: all, "
               "or as recompute_period has it.",
               core::up_to_10k);
    v.optional("rank_order", rank_order,
               "Order of ranks over GPUs, fastest first: tp-cp-dp-pp (Megatron) or tp-cp-pp-dp "
               "(Llama 3).");
    v.optional("offload", offload,
               "optimizer: master weights and moments live in host memory, where the CPUs update "
               "them; gradients go there and weights come back every step. activations: what a "
               "layer keeps for its backward goes to host memory after its forward and comes back "
               "a layer ahead. all: both. Offload of weights is not modelled.");
    v.optional("offload_layers", offload_layers,
               "Layers at the front of each chunk whose activations are offloaded; auto: all but "
               "the chunk's last, which backward needs at once.",
               core::from_one_to_10k);
  }
  bool operator==(const ParallelismSpec&) const = default;
};

/// One length of the documents that are packed into sequences.
struct DocumentLength {
  int tokens = 0;
  double share = 1;
  template <class V>
  void fields(V& v) {
    v.required("tokens", tokens, "Tokens of a document.", core::sequence_tokens);
    v.optional("share", share, "Documents of this length, relative to the others.",
               core::relative_share);
  }
  bool operator==(const DocumentLength&) const = default;
};

/// What the optimizer keeps of a parameter beside the 16-bit weight and the gradient.
enum class OptimizerState { adam_fp32, adam_bf16, adam_8bit, muon, shampoo, soap, sgd_momentum };
constexpr auto enum_words(OptimizerState) {
  using O = OptimizerState;
  using E = core::EnumWord<O>;
  return std::array{E{O::adam_fp32, "adam_fp32"},      E{O::adam_bf16, "adam_bf16"},
                    E{O::adam_8bit, "adam_8bit"},      E{O::muon, "muon"},
                    E{O::shampoo, "shampoo"},          E{O::soap, "soap"},
                    E{O::sgd_momentum, "sgd_momentum"}};
}
/// Whether factors of blocks precondition the gradients of matrices.
constexpr bool preconditions(OptimizerState state) {
  return state == OptimizerState::shampoo || state == OptimizerState::soap;
}
/// Whether matrices of layers, or blocks of them, are updated whole, each by the rank that owns it.
constexpr bool owns_matrices(OptimizerState state) {
  return state == OptimizerState::muon || preconditions(state);
}

/// Training of one replica a site that meet only every so many steps: DiLoCo, and streaming DiLoCo
/// with `fragments` and `overlap_steps`.
struct LocalStepsSpec {
  int steps = 500;
  int fragments = 1;
  int overlap_steps = 0;
  double exchange_bits = 32;
  template <class V>
  void fields(V& v) {
    v.required("steps", steps,
               "Optimizer steps between two exchanges of the same parameters between sites.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("fragments", fragments,
               "Parts of the model that are exchanged in turn, evenly spread over `steps` "
               "(streaming DiLoCo); 1: all at once.",
               core::from_one_to_10k);
    v.optional("overlap_steps", overlap_steps,
               "Steps that an exchange runs beside before its result is applied; 0: training waits "
               "for it.",
               core::up_to_10k);
    v.optional("exchange_bits", exchange_bits,
               "Bits of a parameter's change on its way between sites (streaming DiLoCo: 4).",
               core::Range{0, 32, true, false, "above 0 and at most 32"});
  }
  bool operator==(const LocalStepsSpec&) const = default;
};

/// The training recipe.
struct TrainingSpec {
  int sequence_length = 0;
  int global_batch = 0;
  std::vector<DocumentLength> documents;
  std::optional<ImagesSpec> images;
  bool balanced_ranks = false;
  core::Precision precision = core::Precision::bf16;
  std::optional<Nvfp4Spec> nvfp4;
  OptimizerState optimizer_state = OptimizerState::adam_fp32;
  std::optional<PreconditionerSpec> preconditioner;
  std::optional<MuonSpec> muon;
  FrameworkSpec framework;
  std::optional<LocalStepsSpec> local_steps;
  std::optional<DistillationSpec> distillation;
  template <class V>
  void fields(V& v) {
    v.required("sequence_length", sequence_length, "Tokens in a sequence.", core::sequence_tokens);
    v.required("global_batch", global_batch, "Sequences in a step, over all ranks.",
               core::at_least_one);
    v.optional("documents", documents,
               "Lengths of the documents packed into a sequence, which do not attend to each "
               "other: a list, or a CSV file beside this one (tokens,share; or one length a line). "
               "Empty: a sequence is one document.");
    v.optional("images", images, "Images of a sequence; belongs to a model with 'vision'.");
    v.optional("balanced_ranks", balanced_ranks,
               "Sequences are dealt so that all data-parallel ranks have the same work; false: at "
               "random, and every step waits for the rank that drew the most.");
    v.optional("precision", precision,
               "Operand format of the matrix products. fp32, tf32: weights, gradients, activations "
               "and messages are fp32 and there is no master copy; attention is not fused.");
    v.optional(
        "nvfp4", nvfp4,
        "With 'precision: nvfp4': scales of whole arrays and transforms of NVIDIA's recipe, as "
        "traffic; absent: operands are rounded in one pass.");
    v.optional(
        "optimizer_state", optimizer_state,
        "fp32 master weights and: adam_fp32 two fp32 moments, adam_bf16 two bf16 moments, "
        "adam_8bit two 8-bit moments, sgd_momentum one fp32 moment, muon one fp32 moment of the "
        "matrices of layers, whose updates are made orthogonal, and Adam's of all else; shampoo, "
        "soap two fp32 moments, and four fp32 factors of each block of a matrix of layers.");
    v.optional("preconditioner", preconditioner,
               "Blocks and decompositions of shampoo and soap; absent: their defaults.");
    v.optional("muon", muon, "Settings of muon; absent: their defaults.");
    v.optional("framework", framework, "What the training software fuses and overlaps.");
    v.optional("local_steps", local_steps,
               "Sites train apart and exchange what they learned every so many steps; absent: "
               "every step is one of all sites. What that does to the loss is not modelled.");
    v.optional("distillation", distillation,
               "A teacher whose probabilities are the loss, and whose forward runs beside the "
               "step or ran before; absent: the loss compares with the next token alone.");
  }
  bool operator==(const TrainingSpec&) const = default;
};

/// Whether a teacher runs beside the step; of one that ran before only its logits are there.
inline bool runs_teacher(const TrainingSpec& training) {
  return training.distillation && training.distillation->teacher && !training.distillation->cached;
}
/// Whether the loss reads logits of a teacher that ran before.
inline bool reads_logits(const TrainingSpec& training) {
  return training.distillation && training.distillation->cached;
}

}  // namespace headway::workload
