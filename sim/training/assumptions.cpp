#include "sim/training/assumptions.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "sim/gpu/kernel_time.h"
#include "sim/gpu/tables.h"
#include "sim/training/decompositions.h"
#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/occupancy/occupancy.h"
#include "sim/training/power/power_fit.h"
#include "sim/workload/blocks/ring_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/layout.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/preconditioner/preconditioner.h"
#include "sim/workload/teacher/cached_logits.h"
#include "sim/workload/vision/encoder.h"

namespace headway::training {

namespace {

std::string yes_no(bool value) { return value ? "yes" : "no"; }

/// The generation whose measured kernels stand for those of a GPU of another; empty: its own.
std::string_view stand_in(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::volta:
    case gpu::Architecture::turing:
    case gpu::Architecture::ada:
      return "ampere";
    case gpu::Architecture::cdna2:
    case gpu::Architecture::cdna3:
    case gpu::Architecture::cdna4:
      return "hopper";
    case gpu::Architecture::ampere:
    case gpu::Architecture::hopper:
    case gpu::Architecture::blackwell:
      return "";
  }
  return "";
}

void add_generation(const gpu::GpuSpec& gpu, std::vector<Assumption>& list) {
  const std::string_view other = stand_in(gpu.architecture);
  if (!other.empty()) {
    list.push_back({"gpu.architecture", std::string(core::to_word(gpu.architecture)),
                    fmt::format("no kernels of this generation were measured: shapes of products "
                                "and lengths of attention act as on {}",
                                other)});
  }
}

/// The share of the peak that products of the run's format sustain, and what full precision means.
void add_products(const Scenario& s, const std::string& from, std::vector<Assumption>& list) {
  const auto shares = kernel_times(s).shares;
  const auto precision = s.training.precision;
  if (!workload::full_precision(precision)) {
    list.push_back({"gpu.sustained.gemm_16bit", fmt::format("{:g}", shares.gemm_16bit), from});
    return;
  }
  const std::string word(core::to_word(precision));
  if (gpu::has_own_share(shares, precision)) {
    list.push_back({"gpu.sustained.gemm_" + word,
                    fmt::format("{:g}", gpu::gemm_share(shares, precision)), from});
  } else {
    list.push_back({"gpu.sustained.gemm_16bit", fmt::format("{:g}", shares.gemm_16bit), from});
    list.push_back({"gpu.gemm_" + word, fmt::format("{:g}", shares.gemm_16bit),
                    "not measured: the share of 16-bit products stands in; the interval is wider"});
  }
  list.push_back({"training.precision", word,
                  "weights, gradients, activations and messages of 4 bytes, no master weights; "
                  "attention writes its scores to "
                  "memory, since flash kernels take operands of 16 bits or less"});
}

void add_attention(const Scenario& s,
                   const gpu::SustainedShares& shares,
                   const std::string& from,
                   std::vector<Assumption>& list) {
  if (runs_flash2(s)) {
    list.push_back(
        {"gpu.sustained.attention_flash2", fmt::format("{:g}", shares.attention_forward), from});
  } else {
    list.push_back(
        {"gpu.sustained.attention_forward", fmt::format("{:g}", shares.attention_forward), from});
    list.push_back(
        {"gpu.sustained.attention_backward", fmt::format("{:g}", shares.attention_backward), from});
  }
}

void add_speeds(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const Scenario& s = checked.scenario();
  const auto shares = kernel_times(s).shares;
  // The entry's own words on each share are put here by the room that reads files (report/predict).
  const std::string from = s.calibration.kernels
                               ? "measured, calibration '" + s.calibration.name + "'"
                               : "the entry of the GPU";
  add_generation(s.cluster.node.gpu, list);
  add_products(s, from, list);
  const auto& tables = s.cluster.node.gpu.kernels;
  const bool full = workload::full_precision(s.training.precision);
  const bool read =
      tables &&
      (!full ||
       gpu::gemm_table_share(s.cluster.node.gpu, s.training.precision, 1, 1, 1).has_value());
  list.push_back({"gpu.kernels", read ? tables->name : "none",
                  read ? "measured shape dependence, relative to large kernels"
                       : "laws of tiles and waves; the interval is wider"});
  if (!full) {
    add_attention(s, shares, from, list);  // else it is products and passes over memory
  }
  list.push_back({"gpu.sustained.memory", fmt::format("{:g}", shares.memory), from});
}

/// What the CPU takes, which recorded graphs do not ask of it.
void add_host(const CheckedScenario& checked,
              const std::string& from,
              std::vector<Assumption>& list) {
  const workload::FrameworkSpec& framework = checked.scenario().training.framework;
  const CalibrationSpec& calibration = checked.scenario().calibration;
  if (framework.cuda_graphs) {
    return;
  }
  const auto add = [&](const char* field, core::Seconds used, core::Seconds profile) {
    const bool measured = used != profile;
    list.push_back({field, fmt::format("{:g} s", used.si()),
                    measured ? "measured, calibration '" + calibration.name + "'" : from});
  };
  add("training.framework.host.launch", host_launch(calibration, framework), framework.host.launch);
  const core::Seconds layer = host_layer(calibration, framework);
  if (layer > core::Seconds(0)) {
    add("training.framework.host.layer", layer, framework.host.layer);
  }
}

void add_software(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const auto& f = checked.scenario().training.framework;
  const std::string from = "framework profile '" + f.name + "'";
  const auto& training = checked.scenario().training;
  const auto kernels = workload::fuses_attention(training) ? f.attention_kernels
                                                           : workload::AttentionKernels::unfused;
  list.push_back({"training.framework.attention_kernels", std::string(core::to_word(kernels)),
                  workload::full_precision(training.precision)
                      ? fmt::format("precision {}: flash kernels take operands of 16 bits or less",
                                    core::to_word(training.precision))
                      : from});
  list.push_back({"training.framework.tensor_overlap", yes_no(f.tensor_overlap), from});
  list.push_back(
      {"training.framework.tensor_interference", fmt::format("{:g}", f.tensor_interference), from});
  const auto& measured = checked.scenario().calibration.data_interference;
  list.push_back(
      {"training.framework.data_interference",
       fmt::format("{:g}", measured.value_or(f.data_interference)),
       measured ? "measured, calibration '" + checked.scenario().calibration.name + "'" : from});
  add_host(checked, from, list);
  list.push_back({"training.framework.message_overhead",
                  fmt::format("{:g} s", f.message_overhead.si()), from});
  list.push_back({"training.framework.pipeline_overlap", yes_no(f.pipeline_overlap), from});
  list.push_back({"training.framework.data_overlap", yes_no(f.data_overlap), from});
  const auto& p = checked.scenario().parallelism;
  const bool gathers_weights =
      p.sharding == workload::Sharding::zero1 || p.sharding == workload::Sharding::zero2;
  if (gathers_weights && checked.data_parallel() > 1) {
    list.push_back({"training.framework.gather_overlap", yes_no(f.gather_overlap), from});
  }
  if (p.sharding == workload::Sharding::zero1 && checked.data_parallel() > 1) {
    list.push_back({"training.framework.scatter_overlap", yes_no(f.scatter_overlap), from});
  }
  if (f.gradient_bucket) {
    list.push_back({"training.framework.gradient_bucket",
                    fmt::format("{:g} MiB", f.gradient_bucket->si() / (1 << 20)), from});
  }
}

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
       "once or not at all; their time is known to a factor of three (eigenvalues one at a time: "
       "nothing measured), and the interval is wider by their share; products in fp32, as "
       "PyTorch's are unless told otherwise"});
}

/// What is assumed of a model that is trained in part.
void add_trained(const Scenario& s, std::vector<Assumption>& list) {
  if (s.model.adapters) {
    list.push_back({"model.adapters", fmt::format("rank {}", s.model.adapters->rank),
                    "kernels of adapters run one after another beside the model's own, their "
                    "products at the rates of other thin ones; no such training step was measured; "
                    "mfu counts what a step has to do: no weight gradients of frozen matrices"});
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

void add_offload(const workload::ParallelismSpec& p, std::vector<Assumption>& list) {
  if (workload::offloads_optimizer(p.offload)) {
    list.push_back({"parallelism.offload", "optimizer",
                    "gradients to the host, update there, weights back, one after another; "
                    "software that tiles them is faster by at most the two copies"});
  }
  if (workload::offloads_activations(p.offload)) {
    const auto& layers = p.offload_layers.value;
    list.push_back(
        {"parallelism.offload_layers",
         layers ? fmt::format("{}", *layers) : "all but the last of each chunk",
         "copies of layers follow one another beside the computation, spread over the chunk's "
         "layers as in Transformer Engine; the "
         "way to the host carries nothing else, and kernels beside a copy are as fast as without"});
  }
}

void add_sites(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const auto& sites = checked.scenario().cluster.sites;
  if (!sites) {
    return;
  }
  list.push_back({"cluster.sites",
                  fmt::format("{}, {}", sites->count, core::to_word(sites->collective)),
                  "each has one way into the wide area, shared without loss of its own making; "
                  "queues and other traffic on it are not modelled, egress is not priced"});
  list.push_back({"cluster.sites.transport", std::string(core::to_word(sites->transport)),
                  fmt::format("at most {} connections a card of {:.3g} MiB each; lost packets by "
                              "the transport's law (docs/models/sites.md)",
                              sites->connections, sites->window.si() / 1048576)});
  if (const auto& local = checked.scenario().training.local_steps) {
    list.push_back({"training.local_steps", fmt::format("{} steps", local->steps),
                    "that sites train apart changes the loss of a token, and applying a stale "
                    "exchange does too: neither is modelled, tokens count as any other's"});
  }
}

/// The nodes of the job on a fabric that is larger, and whose traffic is beside it.
void add_occupancy(const ClusterSpec& cluster, std::vector<Assumption>& list) {
  if (!cluster.occupancy) {
    return;
  }
  list.push_back({"cluster.occupancy",
                  fmt::format("nodes {} of {}", fmt::join(node_ranges(taken_nodes(cluster)), ", "),
                              cluster.occupancy->nodes),
                  fmt::format("beside {} other jobs, which send without a pause and share links by "
                              "the rates of their cards",
                              cluster.occupancy->jobs.size())});
}

/// How operands of blocks are made, and how well that is known.
void add_block_formats(const Scenario& s, std::vector<Assumption>& list) {
  const auto& training = s.training;
  if (training.precision == core::Precision::mxfp8) {
    list.push_back(
        {"training.precision, mxfp8", "as fp8, with scales",
         "one copy of an operand to each product that needs another, as with delayed "
         "scales; two published runs that nothing was fitted to (torchao, Llama 3 8B on 8 "
         "B200) are predicted 62 % off (docs/validation.md), five of NVIDIA's recipes 2.5 %"});
  }
  if (training.precision == core::Precision::nvfp4) {
    list.push_back(
        {"training.nvfp4",
         !training.nvfp4            ? "rounded in one pass"
         : training.nvfp4->hadamard ? "scales of arrays and of blocks, transforms"
                                    : "scales of arrays and of blocks",
         "every layer's products are in four bits: layers that a recipe keeps in 16 bits "
         "(NVIDIA's 12B: 16 % of them) are not told apart, so the step is a little fast"});
  }
}

/// The limit that boards run at where racks or the building have one.
void add_power(const Scenario& s, std::vector<Assumption>& list) {
  if (const auto fit = power_fit(s)) {
    list.push_back({"cluster.power", boards_in_words(s, *fit), feeds_in_words(*fit)});
  }
}

}  // namespace

std::vector<Assumption> step_assumptions(const CheckedScenario& checked,
                                         const LoweredStep& lowered) {
  std::vector<Assumption> list;
  add_speeds(checked, list);
  add_block_formats(checked.scenario(), list);
  add_power(checked.scenario(), list);
  add_software(checked, list);
  add_ring(checked.scenario(), list);
  add_documents(checked.scenario(), list);
  add_mixer(checked.scenario(), list);
  add_sparse(checked.scenario(), list);
  add_gathered_choice(checked.scenario(), list);
  add_experts(checked.scenario(), list);
  add_native(checked.scenario(), list);
  add_preconditioner(checked.scenario(), list);
  add_trained(checked.scenario(), list);
  add_teacher(checked.scenario(), list);
  add_encoder(checked.scenario(), list);
  add_imbalance(checked, list);
  for (const auto& use : lowered.collectives) {
    list.push_back(
        {fmt::format("collective {}", use.name),
         fmt::format("{:.3g} us for {:.3g} MB over {} ranks", use.alone.total.si() * 1e6,
                     use.call.bytes.si() / 1e6, use.shape.ranks),
         fmt::format("{}, {} {}", core::to_word(use.alone.source),
                     core::to_word(use.alone.algorithm), core::to_word(use.alone.protocol))});
  }
  const int filled = checked.scenario().cluster.node.scale_up.domain_gpus;
  if (filled != checked.whole_domain()) {
    list.push_back(
        {"cluster.placement",
         fmt::format("{} of {} GPUs of each NVLink domain", filled, checked.whole_domain()),
         "no tensor or expert group straddles two domains; the rest of each stays free"});
  }
  add_occupancy(checked.scenario().cluster, list);
  const auto& fabric = checked.scenario().cluster.fabric;
  list.push_back({"cluster.fabric.efficiency", fmt::format("{:g}", fabric.efficiency),
                  "share of the line rate that payload reaches"});
  const auto& parallelism = checked.scenario().parallelism;
  add_sites(checked, list);
  add_offload(parallelism, list);
  if (workload::copies_of_layers(parallelism) > 1) {
    list.push_back({"parallelism.schedule", "dualpipe",
                    "gradients are summed over both copies of a layer, and a sharded optimizer is "
                    "divided over both: published descriptions do not say"});
  }
  list.push_back({"overlap", "in proportion",
                  "a collective beside kernels slows them by the framework's interference; groups "
                  "in one NVLink domain do not contend"});
  list.push_back(
      {"jitter", "none",
       "every GPU runs at the sustained speed of the slowest of them, which all others wait for"});
  return list;
}

}  // namespace headway::training
