#include "sim/workload/elementwise/elementwise.h"

#include "sim/workload/constants.h"

namespace headway::workload {

namespace {

/// Every line reads (r) and writes (w) arrays; small letters are of the activations' format,
/// capitals of fp32.
///   forward:  to fp32 rW, square RW, mean R, times its root RW, to 16 bits Rw, times weight rw
///   backward: times weight rw, for the weight rrw and summed r, to fp32 rW, times the root RW, for
///             the root RRW and summed R, square's RW RW RW, added RRW, to 16 bits Rw
/// The root itself is a value a token: two launches forward, four backward.
/// Source: PyTorch, aten/src/ATen/native/layer_norm.cpp, rms_norm of 2.4 to 2.7; Hugging Face,
/// LlamaRMSNorm.
/// The last number (here and below): bytes a cycle and multiprocessor, fitted to samples of PyTorch
/// 2.11 on H200 and H100 (calibrate/validate, pytorch.csv of both), at 2,048 and 4,096 columns, by
/// the law of sim/gpu: both have the same multiprocessors, one 1.43 times the bandwidth of the
/// other, and these kernels are only 1.0 to 1.3 times as fast on it.
constexpr ElementwiseOperator kComposedNorm{{4, 7, 8, 12.9}, {8, 17, 17, 13.7}};
constexpr ElementwiseOperator kCompiledNorm{{2, 0, 1, 18}, {3, 0, 1, 10.3}};
constexpr ElementwiseOperator kLibraryNorm{{2, 0, 1, 14.4}, {3, 0, 1, 6.0}};  // PyTorch's own
constexpr ElementwiseOperator kSingleNorm{{2, 0, 1}, {3, 0, 1}};

/// forward: to fp32 rW, complex product RW, to 16 bits Rw; backward the same.
/// Source: pytorch/torchtitan, apply_rotary_emb; Hugging Face's rotate_half moves as much in five
/// operators (negate, join, two products, sum).
constexpr ElementwiseOperator kComposedRotary{{2, 4, 3, 16.4}, {2, 4, 3, 15.7}};
constexpr ElementwiseOperator kCompiledRotary{{2, 0, 1, 21.6}, {2, 0, 1, 14.7}};
constexpr ElementwiseOperator kSingleRotary{{2, 0, 1}, {2, 0, 1}};

/// Between small letters as above; half an array counts half.
///   forward:  times cosines rw, half of it negated rw/2, joined rw, times sines rw, added rrw,
///             joined with what is not turned (nothing) rw; the tables are six launches more
///   backward: times sines rw, times cosines rw, half negated rw/2, joined rw, added rrw, and of
///             what is not turned zeros w, added rrw
/// Source: Megatron-LM, megatron/core/models/common/embeddings/rope_utils.py, apply_rotary_pos_emb
/// (its factor "is not supported by TE's fused RoPE") and _apply_rotary_pos_emb_bshd, 2025.
/// Issue: as of the other composed one, products with a row of a table and joins.
constexpr ElementwiseOperator kScaledRotary{{12, 0, 12, 16}, {14, 0, 7, 16}};

/// Copies of heads between layouts. Forward: out of the product rw; of keys and values, joined rw
/// and made contiguous rw. Backward: queries, keys and values stacked rw and made contiguous for
/// the product rw; of keys and values, joined out of the kernel's gradients rw. Source:
/// huggingface/nanotron, src/nanotron/models/llama.py, CausalSelfAttention, 2025; PyTorch,
/// tools/autograd/derivatives.yaml (unbind, split). Issue: as of the composed rotary embedding,
/// which joins.
constexpr ElementwiseOperator kCopiedQueries{{2, 0, 1, 16}, {4, 0, 2, 16}};
constexpr ElementwiseOperator kCopiedKeys{{6, 0, 3, 16}, {6, 0, 3, 16}};

/// An element of the result has two inputs, the gate (one bound) and the other (two). Backward
/// keeps maps of truth values, 1 B each, here as fp32 arrays: 8 B are two.
///   forward:  cut off rw of each, joined rw of each
///   backward: gate: compared r, map w; chosen by map and gradient r, w, map r; other: compared rr,
///             two maps w, their conjunction of r r w, chosen r, w, map r; both joined rw rw; the
///             zero of each choice is a launch
/// Source: Megatron-LM, megatron/core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl,
/// 2025; PyTorch, torch/csrc/autograd/FunctionsManual.cpp, clamp_backward.
constexpr ElementwiseOperator kComposedLimits{{8, 0, 3}, {11, 2, 9}};

/// Gated, eager: SiLU rw, product rrw; backward: two products rrw each, SiLU rrw.
constexpr ElementwiseOperator kComposedGate{{5, 0, 2}, {9, 0, 3}};
/// The same of halves of one array: backward joins both gradients rw rw.
constexpr ElementwiseOperator kJoinedGate{{5, 0, 2}, {13, 0, 4}};
/// Gated: reads gate and up, writes one; backward reads them and the gradient, writes two.
constexpr ElementwiseOperator kSingleGate{{3, 0, 1}, {5, 0, 1}};
/// Plain: reads its input, backward and the gradient, writes one.
constexpr ElementwiseOperator kPlain{{2, 0, 1}, {3, 0, 1}};

/// Softmax between two products, an element being a score. Scaled, masked and normalised by one
/// kernel, backward reads the gradient and the probabilities; or the operators of a model's code:
///   forward:  scaled rw, mask added rw, softmax rW, to 16 bits Rw
///   backward: to fp32 rW, softmax RRw, scaled rw
/// Source: Hugging Face, modeling_llama.py, eager_attention_forward (softmax with dtype float32).
constexpr ElementwiseOperator kSingleSoftmax{{2, 0, 1}, {3, 0, 1}};
constexpr ElementwiseOperator kComposedSoftmax{{6, 2, 4}, {4, 3, 3}};

}  // namespace

ElementwiseOperator softmax_operator(const FrameworkSpec& framework, double element) {
  const bool narrow = element < 4;
  return narrow && !framework.fuses_elementwise() ? kComposedSoftmax : kSingleSoftmax;
}

ElementwiseOperator norm_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  switch (framework.elementwise) {
    case Elementwise::compiled:
      return kCompiledNorm;
    case Elementwise::eager:  // RMSNorm came with the gate (Llama)
      if (framework.fused_norms) {
        break;
      }
      return model.gated_mlp ? kComposedNorm : kLibraryNorm;
    case Elementwise::fused:
      break;
  }
  return kSingleNorm;
}

ElementwiseOperator rotary_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  if (model.scaled_rotary && framework.elementwise == Elementwise::fused &&
      !framework.fused_scaled_rotary) {
    return kScaledRotary;
  }
  if (framework.elementwise == Elementwise::compiled) {
    return kCompiledRotary;
  }
  return framework.fuses_rotary() ? kSingleRotary : kComposedRotary;
}

HeadCopies head_copies() { return {kCopiedQueries, kCopiedKeys}; }

ElementwiseOperator activation_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  if (!model.gated_mlp) {
    return kPlain;
  }
  if (framework.fuses_elementwise()) {
    return kSingleGate;
  }
  return framework.joined_gate ? kJoinedGate : kComposedGate;
}

ElementwiseOperator limits_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  const bool limited = model.moe && model.moe->limited_activation;
  return limited && !framework.fuses_expert_limits() ? kComposedLimits
                                                     : ElementwiseOperator{{0, 0, 0}, {0, 0, 0}};
}

core::Kernel elementwise_kernel(const char* name,
                                const ElementwisePass& pass,
                                double element,
                                double elements) {
  core::Kernel kernel;
  kernel.kind = core::KernelKind::memory_bound;
  kernel.name = name;
  kernel.traffic = core::Bytes(pass.bytes(element) * elements / pass.launches);
  kernel.issued = pass.issued;
  kernel.count = pass.launches;
  return kernel;
}

std::vector<core::ModelConstant> elementwise_constants() {
  constexpr const char* kSource =
      "PyTorch 2.11 on H200 and H100: samples of docs/calibration.md, parts 8 and 9";
  constexpr const char* kAlike = "as of the composed rotary embedding: the same kinds of operators";
  return {
      {"workload.composed_norm_issue", kComposedNorm.forward.issued, "B/cycle", 0.6, kSource},
      {"workload.composed_norm_backward_issue", kComposedNorm.backward.issued, "B/cycle", 0.8,
       kSource},
      {"workload.compiled_norm_issue", kCompiledNorm.forward.issued, "B/cycle", 2, kSource},
      {"workload.compiled_norm_backward_issue", kCompiledNorm.backward.issued, "B/cycle", 0.7,
       kSource},
      {"workload.library_norm_issue", kLibraryNorm.forward.issued, "B/cycle", 0.9, kSource},
      {"workload.library_norm_backward_issue", kLibraryNorm.backward.issued, "B/cycle", 0.8,
       kSource},
      {"workload.composed_rotary_issue", kComposedRotary.forward.issued, "B/cycle", 0.4, kSource},
      {"workload.composed_rotary_backward_issue", kComposedRotary.backward.issued, "B/cycle", 0.4,
       kSource},
      {"workload.fused_loss_issue", kFusedLossIssue, "B/cycle", 0.3, kSource},
      {"workload.fused_loss_backward_issue", kFusedLossBackwardIssue, "B/cycle", 0.6, kSource},
      {"workload.separate_loss_issue", kSeparateLossIssue, "B/cycle", 0.3, kSource},
      {"workload.compiled_rotary_issue", kCompiledRotary.forward.issued, "B/cycle", 0.6, kSource},
      {"workload.compiled_rotary_backward_issue", kCompiledRotary.backward.issued, "B/cycle", 0.2,
       kSource},
      {"workload.scaled_rotary_issue", kScaledRotary.forward.issued, "B/cycle", 1.5, kAlike},
      {"workload.copied_heads_issue", kCopiedKeys.forward.issued, "B/cycle", 2.5,
       "as of the composed rotary embedding: copies of transposed arrays"},
      {"workload.list_issue", kListIssue, "B/cycle", 0.6, kSource},
      {"workload.mixed_sum_issue", kMixedSumIssue, "B/cycle", 0.7,
       "steps of eight decoders on H200 and H100: calibrate/validate"}};
}

}  // namespace headway::workload
