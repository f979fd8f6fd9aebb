#include "sim/training/assumptions/model_assumptions.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "sim/training/decompositions.h"
#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/workload/attention/attention_heads.h"
#include "sim/workload/attention/ring_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/layout.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/preconditioner/preconditioner.h"
#include "sim/workload/teacher/cached_logits.h"
#include "sim/workload/trained/trained_layers.h"
#include "sim/workload/vision/encoder.h"

namespace headway::training {

namespace {

/// What queries see of packed documents, what is cut off them, and how a ring divides them.
void add_documents(const Scenario& s, std::vector<Assumption>& list) {
  const auto& documents = s.training.documents;
  if (documents.empty()) {
    return;
  }
  const int longest = s.training.sequence_length;
  const auto cut = std::count_if(documents.begin(), documents.end(),
                                 [&](const auto& document) { return document.tokens > longest; });
  std::string value =
      fmt::format("{:.6g} keys a query in the mean, before any window",
                  workload::mean_causal_keys(s.training, workload::AttentionWindow{}));
  std::string why = "documents do not attend to each other, and one kernel takes all of a sequence";
  const auto& p = s.parallelism;
  if (p.context > 1 && p.context_kind == workload::ContextKind::ring) {
    value += fmt::format("; each in {} chunks over the ring", 2 * p.context);
    why +=
        "; all ranks have the same share of each document; padding to whole chunks is not counted";
  }
  if (cut > 0) {
    value += fmt::format("; cut at the {} tokens of a sequence", longest);
    why +=
        fmt::format("; {} of {} lengths do not fit: what is above is dropped, not packed elsewhere",
                    cut, documents.size());
  }
  list.push_back({"training.documents", std::move(value), std::move(why)});
}

/// Which images the context ranks encode.
void add_dealt_images(const Scenario& s, std::vector<Assumption>& list) {
  if (s.parallelism.context == 1) {
    return;
  }
  const char* embeds = "each context rank embeds whole sequences and takes its part after that; ";
  if (!workload::deals_images(s.model, s.parallelism)) {
    list.push_back(
        {"model.vision.context",
         fmt::format("whole: {} context ranks encode the same images", s.parallelism.context),
         std::string(embeds) + "Megatron-Bridge (models/qwen_vl) unless "
                               "vision_dp_when_cp is set; Megatron-LM (llava_model.py)"});
    return;
  }
  const double images = s.parallelism.micro_batch * s.training.images->per_sequence;
  list.push_back(
      {"model.vision.context",
       fmt::format("split: {:.4g} of {:.4g} images on the context rank with the most",
                   images * workload::share_of_images(s.model, s.training, s.parallelism), images),
       std::string(embeds) +
           "tokens of images are gathered forward, their gradients summed on all "
           "ranks backward; Megatron-Bridge (models/qwen_vl, vision_dp_when_cp)"});
}

/// How an encoder is computed and held.
void add_encoder(const Scenario& s, std::vector<Assumption>& list) {
  if (!s.model.vision || !s.training.images) {
    return;
  }
  const double tokens = workload::image_tokens(*s.training.images);
  list.push_back({"training.images",
                  fmt::format("{:.6g} tokens of a sequence, {:.6g} patches", tokens,
                              tokens * workload::patches_of_token(*s.model.vision)),
                  "a micro-batch has the mean; memory of one with more images is not counted"});
  const bool own = workload::encoder_stages(s.model) > 0;
  const bool whole =
      s.model.vision->tensor == workload::EncoderTensor::whole && s.parallelism.tensor > 1;
  list.push_back({"model.vision",
                  fmt::format("on {}{}", own ? "a stage of its own" : "the first stage",
                              whole ? ", whole on each tensor rank" : ""),
                  own ? "as many tensor and data ranks as the other stages; products in 16 bits; "
                        "Megatron-LM core 0.12 (examples/multimodal), 2025"
                      : "before the embedding of every micro-batch, products in 16 bits; "
                        "Megatron-Bridge (models/qwen_vl), 2026"});
  if (own) {
    const double bytes = workload::element_bytes(s.training.precision) *
                         workload::image_elements(s.model, s.training, s.parallelism);
    list.push_back(
        {"model.vision.stage",
         fmt::format("{:.4g} MB of image tokens a micro-batch to the next stage", bytes / 1e6),
         "each tensor rank has all of them, of every projector; gradients come back "
         "whatever is trained, as the schedule has it; images that take longer than the "
         "mean first use up what the stage has to spare"});
  }
  add_dealt_images(s, list);
}

/// What ranks wait for each other whose sequences differ.
void add_imbalance(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const Scenario& s = checked.scenario();
  const int ranks = checked.synchronous_data();
  const auto wait = rank_imbalance(s, s.parallelism, ranks, checked.micro_batches());
  if (wait <= core::Seconds(0)) {
    return;
  }
  const RankMeetings meet = rank_meetings(s, s.parallelism, ranks);
  std::string why = fmt::format(
      "sequences drawn at random over {} data ranks, {} of which meet in every micro-batch; sums "
      "taken as normal",
      ranks, meet.group);
  if (s.parallelism.pipeline > 1) {
    why +=
        "; what stages wait for each other's longer micro-batches comes on top and is not "
        "counted";
  }
  list.push_back({"training.balanced_ranks", fmt::format("no: {:.3g} s of wait a step", wait.si()),
                  std::move(why)});
}

/// Over a ring: what a window lets it skip and whose work stands for all.
void add_ring(const Scenario& s, std::vector<Assumption>& list) {
  const auto& p = s.parallelism;
  if (p.context == 1 || p.context_kind != workload::ContextKind::ring) {
    return;
  }
  const auto window = workload::window_of(s.model);
  const auto steps = workload::ring_steps(s.training, p.context, window).size();
  const double busiest = workload::ring_imbalance(s.training, p.context, window);
  if (window.tokens > 0) {
    list.push_back({"parallelism.context_kind",
                    fmt::format("ring, {} of {} steps in layers with a window", steps, p.context),
                    fmt::format("keys that no rank needs are not sent; every rank is timed as the "
                                "busiest, which has {:.3g} x the mean pairs; "
                                "an implementation is assumed, none is public",
                                busiest)});
  }
}

/// What is known of the kernels of linear attention and state spaces.
void add_mixer(const Scenario& s, std::vector<Assumption>& list) {
  if (!s.model.mixer) {
    return;
  }
  list.push_back(
      {"model.mixer", std::string(core::to_word(s.model.mixer->kind)),
       s.model.mixer->kind == workload::MixerKind::mamba1
           ? "the scan is timed by operations and exponentials on the vector units; of its kernel "
             "and of whole training steps nothing measured: the interval is wider"
           : "forward kernels of gated delta networks alone were measured (gpu.scan_bandwidth); "
             "of backward and of other mixers, and of whole training steps, nothing measured: "
             "the interval is wider"});
  if (s.parallelism.context > 1) {
    list.push_back({"model.mixer, context parallelism", "all-to-all",
                    "tokens are traded for heads before the convolution and back after the gate, "
                    "whatever context_kind is (Megatron-Core)"});
  }
  if (!s.training.documents.empty()) {
    list.push_back({"model.mixer, packed documents", "as one sequence",
                    "states are reset between documents by kernels that take no longer; documents "
                    "shorter than a chunk are not told apart"});
  }
}

/// What is assumed of sparse attention's kernels.
void add_sparse(const Scenario& s, std::vector<Assumption>& list) {
  if (s.model.sparse) {
    list.push_back(
        {"model.sparse", fmt::format("{} keys a query", s.model.sparse->top_k),
         "kernels over chosen keys run at the rates of dense attention, scores at those of "
         "matrix products; no training step was measured; the dense warm-up of the "
         "indexer is another recipe"});
    if (s.model.sparse->period > 1) {
      list.push_back(
          {"model.sparse.period", std::to_string(s.model.sparse->period),
           "an indexer's loss compares it with the attention of its own layer alone, not "
           "of those that take its keys"});
    }
  }
}

/// What is assumed of experts on a latent width, and of those that do nothing.
void add_experts(const Scenario& s, std::vector<Assumption>& list) {
  if (!s.model.moe) {
    return;
  }
  const workload::ExpertsSpec& moe = *s.model.moe;
  if (moe.latent > 0) {
    list.push_back({"model.moe.latent", std::to_string(moe.latent),
                    "both projections are whole on each tensor rank and applied to its own tokens "
                    "(Megatron-Core); no training step with them was compared"});
  }
  if (moe.null_experts > 0) {
    list.push_back({"model.moe.null_experts",
                    fmt::format("{:.4g} of {} chosen experts have work",
                                workload::visited_experts(moe), moe.top_k),
                    "all experts are chosen alike, in every micro-batch; no training step was "
                    "compared"});
  }
}

/// What context ranks gather before keys are chosen.
void add_gathered_choice(const Scenario& s, std::vector<Assumption>& list) {
  if (s.parallelism.context == 1 || (!s.model.sparse && !s.model.native_sparse)) {
    return;
  }
  if (s.model.sparse) {
    list.push_back({"model.sparse, context parallelism",
                    "compressed keys and index keys of whole sequences on each rank",
                    "gathered before the choice and kept for the backward, which scatters their "
                    "gradients; Megatron-LM (dsa.py, cp_comm_type allgather), 2026"});
    return;
  }
  list.push_back({"model.native_sparse, context parallelism",
                  "keys and values of whole sequences on each rank, which compresses all blocks",
                  "gathered by head forward and backward, fp32 gradients scattered, nothing beside "
                  "the kernels; mdy666/Scalable-Flash-Native-Sparse-Attention, 2025, whose kernels "
                  "are of one head of keys at a time"});
}

/// What is assumed of native sparse attention.
void add_native(const Scenario& s, std::vector<Assumption>& list) {
  if (!s.model.native_sparse) {
    return;
  }
  const auto keys = workload::native_shape(*s.model.native_sparse, s.training.sequence_length).keys;
  list.push_back(
      {"model.native_sparse",
       fmt::format("{:.5g} keys a query: {:.4g} compressed, {:.4g} chosen, {:.4g} of the "
                   "window",
                   keys.total(), keys.compressed, keys.selected, keys.window),
       "blocks are compressed by two matrices a key-value head, gates are one matrix: "
       "the paper gives neither; chosen blocks are fetched at the rate of public Triton "
       "kernels on A100 and H100, the rest runs at the rates of dense attention and "
       "products; no training step was measured"});
}

/// What is assumed of heads that no flash kernel takes.
void add_wide_heads(const Scenario& s, std::vector<Assumption>& list) {
  if (workload::outgrows_flash(s.model)) {
    list.push_back({"model.head_dim", fmt::format("{}", workload::attention_heads(s.model, {}).dim),
                    "flash kernels take heads of up to 256 (FlashAttention 2 and 3); timed as if "
                    "one took these; no such step was measured, and the interval is wider by "
                    "attention's share of the work"});
  }
}

/// What is known of an optimizer that preconditions, and what it takes in the mean step.
void add_preconditioner(const Scenario& s, std::vector<Assumption>& list) {
  if (!workload::preconditions(s.training.optimizer_state)) {
    return;
  }
  const auto preconditioner = workload::preconditioner_of(s.training);
  list.push_back(
      {"training.preconditioner",
       fmt::format("blocks of {}, decomposed {} every {} steps: {:.3g} s of the mean step",
                   preconditioner.block, preconditioner.batched ? "together" : "one by one",
                   workload::steps_between_decompositions(s.training), decomposition_time(s).si()),
       "every step is the mean: it has a part of the decompositions, which real ones have all at "
       "once or not at all; their time is known to a half where cuSOLVER makes them (measured on "
       "H100) and to a factor of three on others, and the interval is wider by their share; "
       "products in fp32, as PyTorch's are unless told otherwise"});
}

/// What is assumed of a model that is trained in part.
void add_trained(const Scenario& s, std::vector<Assumption>& list) {
  if (s.model.adapters) {
    list.push_back({"model.adapters", fmt::format("rank {}", s.model.adapters->rank),
                    "kernels of adapters run one after another beside the model's own, their "
                    "products at the rates of other thin ones; no such training step was measured; "
                    "mfu counts what a step has to do: no weight gradients of frozen matrices"});
  }
  if (s.model.adapters && s.model.moe && adapts(s.model, workload::AdaptedProduct::experts)) {
    list.push_back(
        {"model.adapters.products", "experts",
         fmt::format("each of the {} experts of a rank has adapters and launches of its own, one "
                     "after another, which no measurement covers and which may take longer than "
                     "training the whole; 'products' without experts leaves them out",
                     s.model.moe->experts / s.parallelism.expert)});
  }
  if (s.model.adapters && s.model.adapters->base == workload::BaseWeights::nf4) {
    list.push_back({"model.adapters.base", "nf4",
                    "every matrix is made 16 bits wide before each product, at the speed of other "
                    "kernels that move bytes"});
  }
  if (s.model.frozen || s.model.adapters) {
    list.push_back({"checkpoints", "what is trained",
                    "saves hold trained weights and their optimizer's state; that a restart reads "
                    "the frozen weights too is not counted"});
    if (s.parallelism.pipeline > 1) {
      list.push_back(
          {"pipeline", "gradients between all stages",
           "schedules are taken to exchange them below all that is trained too, where no "
           "kernel needs them"});
    }
  }
}

/// What is assumed of a teacher that ran before.
void add_cached_logits(const Scenario& s, std::vector<Assumption>& list) {
  list.push_back(
      {"training.distillation.cached",
       fmt::format("{:.6g} B a token", workload::stored_logit_bytes(s.model, s.training)),
       "logits of a teacher that ran before, without compression; what it cost then is not "
       "counted; no such step was measured"});
  list.push_back(
      {"training.distillation.cached", "pinned memory to the GPU, before the loss",
       "a rank copies its micro-batch's logits on the stream that computes, as Megatron-LM does; "
       "unpacked by the CPUs beside the step: 64 bits a token number, 16 or 32 a value"});
  const bool one_kernel = s.training.framework.loss == workload::Loss::fused;
  list.push_back({"training.distillation", one_kernel ? "one kernel" : "PyTorch's operators",
                  s.training.distillation->top_k > 0
                      ? "passes over the student's logits and the stored tokens, of which all "
                        "others are one; operators as in Megatron-LM's topk_kl_div"
                      : "passes over logits of both models counted in ModelOpt's loss, or in one "
                        "kernel"});
}

/// What is assumed of a teacher.
void add_teacher(const Scenario& s, std::vector<Assumption>& list) {
  if (workload::reads_logits(s.training)) {
    add_cached_logits(s, list);
    return;
  }
  if (!workload::runs_teacher(s.training)) {
    return;
  }
  const bool operators =
      s.training.framework.loss != workload::Loss::fused || s.training.distillation->top_k > 0;
  list.push_back(
      {"training.distillation.teacher", s.training.distillation->teacher->name,
       "its forward runs before the student's on the same GPUs, in the student's format; "
       "no such step was measured; mfu counts it: it is work that the step has to do"});
  list.push_back({"training.distillation", operators ? "PyTorch's operators" : "one kernel",
                  "passes over logits of both models counted in ModelOpt's loss, or in one kernel "
                  "where framework.loss is fused and top_k 0"});
}

}  // namespace

void add_model_assumptions(const CheckedScenario& checked, std::vector<Assumption>& list) {
  add_ring(checked.scenario(), list);
  add_documents(checked.scenario(), list);
  add_mixer(checked.scenario(), list);
  add_sparse(checked.scenario(), list);
  add_gathered_choice(checked.scenario(), list);
  add_experts(checked.scenario(), list);
  add_native(checked.scenario(), list);
  add_wide_heads(checked.scenario(), list);
  add_preconditioner(checked.scenario(), list);
  add_trained(checked.scenario(), list);
  add_teacher(checked.scenario(), list);
  add_encoder(checked.scenario(), list);
  add_imbalance(checked, list);
}

}  // namespace headway::training
