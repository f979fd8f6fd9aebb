// The training software: what it fuses, overlaps and launches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"
#include "sim/workload/framework/allocation_spec.h"
#include "sim/workload/framework/framework_words.h"
#include "sim/workload/framework/host_spec.h"
#include "sim/workload/framework/recompute_spec.h"
#include "sim/workload/framework/refusal_spec.h"
#include "sim/workload/usual_run.h"

namespace headway::workload {

/// What the training software does: fusions and overlaps, not speeds.
struct FrameworkSpec {
  static constexpr const char* kCatalogue = "frameworks";
  std::string name = "generic";
  AttentionKernels attention_kernels = AttentionKernels::newest;
  Loss loss = Loss::fused;
  Elementwise elementwise = Elementwise::fused;
  bool fused_norms = false;
  bool fused_rotary = false;
  bool fused_scaled_rotary = true;
  bool copied_heads = false;
  bool joined_gate = false;
  bool separate_projections = false;
  bool joined_heads = false;
  bool recompute_elementwise = false;
  bool narrow_activations = false;
  bool tensor_overlap = false;
  bool pipeline_overlap = true;
  bool data_overlap = true;
  bool gather_overlap = true;
  bool scatter_overlap = true;
  bool context_overlap = true;
  bool gather_once = false;
  bool narrow_gathers = false;
  Scaling scaling = Scaling::delayed;
  std::optional<core::Bytes> gradient_bucket;
  double gradient_bytes = 4;
  double reduce_bytes = 4;
  double accumulation_bytes = 0;
  double gemm_share = 1;
  double attention_share = 1;
  double tensor_interference = 0;
  double data_interference = 0;
  bool scatter_gather_p2p = true;
  bool cuda_graphs = false;
  bool attention_graphs = false;
  ExpertDispatch expert_dispatch = ExpertDispatch::all_to_all;
  double dispatch_bytes = 2;
  bool expert_overlap = false;
  double expert_interference = 0;
  bool grouped_launch = true;
  bool joined_experts = false;
  bool fused_permute = true;
  bool wide_probabilities = true;
  bool fused_expert_bias = false;
  bool fused_expert_limits = true;
  bool padded_expert_rows = false;
  HostSpec host;
  AllocationSpec allocation;
  core::Seconds step_overhead{0};
  core::Seconds message_overhead{0};
  std::vector<ScheduleKind> schedules;
  std::vector<Sharding> shardings;
  std::vector<ContextKind> context_kinds;
  RecomputeAbilitySpec recomputes;
  std::vector<RefusalSpec> refuses;
  LaunchWords launch_file = LaunchWords::none;
  UsualRunSpec usual;
  [[nodiscard]] bool fuses_attention() const {
    return attention_kernels != AttentionKernels::unfused;
  }
  /// Updated weights are gathered beside the next forward pass, not at the end of the step.
  [[nodiscard]] bool gathers_beside_forward() const { return data_overlap && gather_overlap; }
  [[nodiscard]] bool fuses_elementwise() const { return elementwise != Elementwise::eager; }
  [[nodiscard]] bool fuses_norms() const { return fuses_elementwise() || fused_norms; }
  [[nodiscard]] bool fuses_rotary() const { return fuses_elementwise() || fused_rotary; }
  /// DeepEP and HybridEP send fp32 probabilities.
  [[nodiscard]] bool has_wide_probabilities() const {
    return wide_probabilities || expert_dispatch == ExpertDispatch::deduplicated;
  }
  /// Compilers make one kernel of the bounds and the activation.
  [[nodiscard]] bool fuses_expert_limits() const {
    return fused_expert_limits || elementwise == Elementwise::compiled;
  }
  template <class V>
  void fields(V& v) {  // NOLINT(readability-function-size): a list
    v.optional("name", name, "Name printed in reports.");
    v.optional(
        "attention_kernels", attention_kernels,
        "newest: the best for the GPU; unfused: products, softmax and dropout apart, scores reach "
        "memory; flash2, flash3 (Hopper): FlashAttention; cudnn: cuDNN's fused kernels; sdpa: what "
        "PyTorch chooses, FlashAttention-2, on Blackwell cuDNN. GPUs before Ampere run sdpa alone, "
        "all else unfused.");
    v.optional(
        "loss", loss,
        "Cross entropy: fused (or compiled): one pass over 16-bit logits; in-place: in "
        "fp32, the gradient in the place of the probabilities (Megatron); copied: the same from "
        "a copy, fp32 logits beside it in forward (nanotron); separate: "
        "PyTorch's operators in fp32 one by one, each with an array of its own.");
    v.optional("elementwise", elementwise,
               "Norms, rotary embedding, activation, bias, dropout and residual: fused: kernels "
               "written by hand; compiled: made by a compiler, as few; eager: PyTorch's operators "
               "one by one.");
    v.optional("fused_norms", fused_norms,
               "With elementwise eager: a norm is one kernel all the same (Triton, Apex).");
    v.optional(
        "fused_rotary", fused_rotary,
        "With elementwise eager: the rotary embedding of queries, and of keys, is one kernel "
        "all the same (FlashAttention's).");
    v.optional("fused_scaled_rotary", fused_scaled_rotary,
               "With elementwise fused: so is one whose sines and cosines have a factor; false: "
               "PyTorch's operators one by one, as the kernel takes none (Transformer Engine).");
    v.optional("copied_heads", copied_heads,
               "Queries, keys and values are copied into the layout of attention's kernel; keys "
               "and values are joined for the rotary embedding and copied once more (permute and "
               "contiguous).");
    v.optional("joined_gate", joined_gate,
               "With elementwise eager: both inputs of the MLP's gate are halves of one array, "
               "whose gradients are joined by a copy (torch.split).");
    v.optional("separate_projections", separate_projections,
               "Queries, keys and values, and the MLP's gate and its other input, are products of "
               "their own, the gradients of whose common input are added up.");
    v.optional(
        "joined_heads", joined_heads,
        "Values are a part of the product of queries, keys and values, not a copy (with "
        "copied_heads: queries are, of its copy, where there are as many keys): all of it stays "
        "for backward beside queries and keys turned by their positions, and the gradients of the "
        "three are joined by a copy (torch.split).");
    v.optional("recompute_elementwise", recompute_elementwise,
               "Backward recomputes the outputs of norms and of the MLP's activation instead of "
               "keeping them.");
    v.optional(
        "narrow_activations", narrow_activations,
        "With a format narrower than bf16 the inputs of the MLP's activation are kept in it, "
        "and of attention's output one copy of 12 bits (E5M6, DeepSeek-V3) in place of two.");
    v.optional("tensor_overlap", tensor_overlap,
               "Tensor-parallel collectives run beside the matrix products (user buffers).");
    v.optional("pipeline_overlap", pipeline_overlap, "Stages send while they compute.");
    v.optional("data_overlap", data_overlap,
               "Gradient reduction and parameter gathering run beside backward and forward.");
    v.optional("gather_overlap", gather_overlap,
               "With data_overlap, zero1, zero2 and weights that stay gathered: they are gathered "
               "beside the next forward pass; false: after the update, before the next step.");
    v.optional("scatter_overlap", scatter_overlap,
               "With data_overlap and zero1: gradients are reduced and scattered beside the last "
               "backward pass; false: after it, though zero0's reductions run beside it.");
    v.optional("context_overlap", context_overlap,
               "A ring of context ranks passes keys and values on beside attention; false: before "
               "it.");
    v.optional("gather_once", gather_once,
               "zero3, hsdp in a pipeline: weights are gathered for the first micro-batch and "
               "stay, gradients are kept whole and reduced after the last (FSDP2); false: for "
               "every micro-batch.");
    v.optional("narrow_gathers", narrow_gathers,
               "zero3, hsdp: weights of narrow products are gathered in their narrow format; with "
               "tensorwise scales activations between tensor ranks too.");
    v.optional("scaling", scaling,
               "Scales of fp8 operands: delayed: those of earlier steps, one pass; tensor: the "
               "largest element is searched first; row: a scale a row and another a column, two "
               "passes; block: a scale a block, both ways.");
    v.optional(
        "gradient_bucket", gradient_bucket,
        "Gradients whose weights have replicas (zero0 to zero2) are reduced in buckets of "
        "this size, counted in the format of the weights: small layers together, large ones "
        "in pieces (PyTorch's DistributedDataParallel, 25 MiB). Without it whole layers together, "
        "40 million parameters and more (Megatron-Core).",
        core::memory_size);
    v.optional("gradient_bytes", gradient_bytes, "Bytes a parameter of the gradient buffer.",
               core::element_size);
    v.optional("reduce_bytes", reduce_bytes, "Bytes a parameter when gradients are reduced.",
               core::element_size);
    v.optional("accumulation_bytes", accumulation_bytes,
               "Bytes a parameter that are moved after each micro-batch beside the weight gradient "
               "itself: copies, fp32 accumulation outside the product.",
               core::extra_bytes);
    v.optional("gemm_share", gemm_share,
               "Rate of matrix products / that of tuned libraries on this GPU.", core::speed_ratio);
    v.optional("attention_share", attention_share,
               "Rate of attention kernels / that of the GPU's newest tuned ones.",
               core::speed_ratio);
    v.optional("tensor_interference", tensor_interference,
               "Compute time lost a second of tensor-parallel collective that runs beside it (SMs, "
               "memory, chunks that wait).",
               core::lost_share);
    v.optional("data_interference", data_interference,
               "Compute time lost a second of data-parallel or context-parallel transfer that runs "
               "beside it.",
               core::lost_share);
    v.optional("scatter_gather_p2p", scatter_gather_p2p,
               "Each tensor rank sends its share between stages, not the whole.");
    v.optional("cuda_graphs", cuda_graphs, "Kernels are launched from recorded graphs.");
    v.optional("attention_graphs", attention_graphs,
               "In layers of experts attention and routing are launched from recorded graphs, the "
               "experts' kernels one by one.");
    v.optional(
        "expert_dispatch", expert_dispatch,
        "all-to-all: a copy of a token for each of its experts; deduplicated: one copy for "
        "each GPU that holds some of them, and one over the network for each NVLink domain "
        "(DeepEP, HybridEP); all-gather: all tokens of the expert group go to each of its GPUs.");
    v.optional("dispatch_bytes", dispatch_bytes,
               "Bytes an element of tokens on their way to experts (1: fp8 dispatch); they come "
               "back in 16 bits.",
               core::element_size);
    v.optional("expert_overlap", expert_overlap,
               "Tokens travel to experts and back beside the computation of another micro-batch.");
    v.optional("expert_interference", expert_interference,
               "Compute time lost a second of such travel beside it.", core::lost_share);
    v.optional("grouped_launch", grouped_launch,
               "The CPU launches the products of all experts of a GPU as one; false: one by one (a "
               "loop over library calls).");
    v.optional("joined_experts", joined_experts,
               "Experts are modules of their own, one after the other: their outputs are copied "
               "into one array, and the gradients of their inputs.");
    v.optional("fused_permute", fused_permute,
               "One kernel sorts tokens by expert and one weights their results and adds them up; "
               "false: a product and a sum over scattered rows, one operator after the other.");
    v.optional("wide_probabilities", wide_probabilities,
               "The router's probabilities are fp32, and so is what operators of their own weight "
               "by them; false: both are in the activations' format. One copy a GPU "
               "(expert_dispatch: deduplicated) takes fp32 alone.");
    v.optional("fused_expert_bias", fused_expert_bias,
               "The product of experts adds the biases of its rows, weighted by each token's "
               "probability; false: kernels of their own do, in fp32.");
    v.optional("fused_expert_limits", fused_expert_limits,
               "The kernel of the experts' activation cuts its inputs off at their bound; false: "
               "PyTorch's operators do before it, one by one.");
    v.optional("padded_expert_rows", padded_expert_rows,
               "With narrow operands the rows of each expert are copied to a multiple of what the "
               "product asks for, and its results back; false: routing pads them.");
    v.optional("host", host, "What the software asks of the CPU that drives a GPU.");
    v.optional("allocation", allocation,
               "What it allocates beside the model's own tensors, and how its allocator holds "
               "memory.");
    v.optional("step_overhead", step_overhead, "Fixed time of a step outside the model.",
               core::within_a_day);
    v.optional("message_overhead", message_overhead,
               "Time a stage loses at each pipeline message it receives: the scheduler's own work "
               "and launching the transfer.",
               core::launch_time);
    v.optional("schedules", schedules,
               "Pipeline schedules that the software has: what 'headway plan' tries where "
               "'search.schedule' lists none; empty: all. Every schedule can be simulated.");
    v.optional("shardings", shardings,
               "What its data-parallel ranks can shard: what 'headway plan' tries where "
               "'search.sharding' lists none; empty: all.");
    v.optional("context_kinds", context_kinds,
               "Its kinds of context parallelism, likewise for 'search.context_kind'.");
    v.optional("recomputes", recomputes,
               "The recomputation that the software has. All of it can be simulated.");
    v.optional("refuses", refuses,
               "Combinations that it does not start: 'headway plan' leaves them out, a run of one "
               "is warned and simulated as if it started.");
    v.optional("launch_file", launch_file,
               "Whose launch file 'headway plan --save' writes beside each plan: of those that "
               "'headway export' has.");
    v.optional("usual", usual,
               "How its runs are usually laid out: what 'headway validate' takes where a published "
               "run does not say.");
  }
  bool operator==(const FrameworkSpec&) const = default;
};

}  // namespace headway::workload
