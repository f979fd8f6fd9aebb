// The kernels of a transformer layer, its head and its embedding, with the work and the bytes of
// each.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// One linear layer on one rank: outputs = inputs x weights; or `groups` of them with weights and
/// tokens of their own.
struct Linear {
  const char* name = "";
  std::int64_t tokens = 0, outputs = 0, inputs = 0;
  core::Precision precision = core::Precision::bf16;
  std::int64_t groups = 1;
  bool grouped = false;                ///< run as one grouped product
  std::int64_t launches = 1;           ///< of the CPU for each kernel
  Scaling scaling = Scaling::delayed;  ///< of narrow operands
  bool casts_weights = true;  ///< with other scales than delayed: in every pass, for their use
  std::optional<Nvfp4Spec> nvfp4 = std::nullopt;  ///< how four bits are made
  double widening = 0;  ///< bytes a weight of making it 16 bits wide before each product
  /// Outputs of products of their own over the same input; zeros: one product. Their input
  /// gradients are added, by kernels or by the next operator (`joined_sums`).
  std::array<std::int64_t, 3> parts{};
  bool joined_sums = false;
};
/// Scales of narrow operands as the software takes them.
void set_scaling(const RankShape& shape, Linear& linear);

/// Kernels of one product of a linear layer, casts to a narrow format included.
std::vector<core::Kernel> forward_product(const Linear& linear);
std::vector<core::Kernel> input_gradient(const Linear& linear);
/// Where the weight gradient goes: bytes a weight that the product moves for its result, and a pass
/// of its own after it.
struct GradientTraffic {
  double result = 8;
  double second_pass = 0;
  double issued = 0;  ///< of the second pass (Kernel::issued)
};
/// Added to a buffer by the product itself (read and write), or in a second pass where elementwise
/// work is not fused; where gradients are sharded, written once for the reduction.
/// @param element  bytes of the product's result before it is added
GradientTraffic gradient_traffic(const FrameworkSpec& framework, double element, bool sharded);
std::vector<core::Kernel> weight_gradient(const Linear& linear, GradientTraffic traffic);

/// A kernel timed by its bytes.
core::Kernel memory_kernel(const char* name, double bytes);

/// The linear layers of a decoder layer and the head.
struct LayerLinears {
  Linear qkv, projection, mlp_in, mlp_out, head;
};
LayerLinears layer_linears(const ModelSpec& model, const RankShape& shape);

/// One flash kernel over `attention`'s queries and keys, scores never reach memory. Forward: two
/// products; backward: five, one of which makes the scores again. Where a window or documents leave
/// a query k keys, fewer than its causal half, the kernel is that of sequences of 2k tokens, which
/// has the same pairs; a rectangle of queries and keys of many documents is that of their means.
core::Kernel flash_forward(const RankShape& shape, const AttentionShape& attention);
core::Kernel flash_backward(const RankShape& shape, const AttentionShape& attention);

/// Core attention of a rank that has whole sequences: one flash kernel, or score product, softmax,
/// dropout and value product. Bytes of the unfused form, each 16-bit score element: forward 13,
/// backward 19 with dropout; 8 and 14 without; where elementwise work is eager 24 and 28 without.
/// Native sparse attention: native/native_blocks.h.
std::vector<core::Kernel> attention_forward(const RankShape& shape, const FrameworkSpec& framework);
std::vector<core::Kernel> attention_backward(const RankShape& shape,
                                             const FrameworkSpec& framework);

/// Norms of queries and keys, where the model has them.
std::vector<core::Kernel> query_key_norms(const ModelSpec& model,
                                          const RankShape& shape,
                                          const FrameworkSpec& framework,
                                          bool backward);

/// The gradients of queries, keys and values, parts of one product, are joined by a copy
/// (`joined_heads`): 4 B an element of 16 bits.
std::vector<core::Kernel> joined_head_gradients(const RankShape& shape,
                                                const FrameworkSpec& framework);

/// The gate of attention's output, where the model has one: reads output and gate, writes one;
/// backward reads them and the gradient, writes two.
std::vector<core::Kernel> attention_gate(const RankShape& shape, bool backward);

/// Rotary embedding of queries and keys; none with learned positions or ALiBi. Latent attention
/// turns part of a query and writes keys and values anew.
std::vector<core::Kernel> rotary(const ModelSpec& model,
                                 const RankShape& shape,
                                 const FrameworkSpec& framework,
                                 bool backward);

/// The MLP's activation function (with the gate's product, where gated).
/// @param output  bytes of its result
std::vector<core::Kernel> activation_forward(const ModelSpec& model,
                                             double output,
                                             const FrameworkSpec& framework);
std::vector<core::Kernel> activation_backward(const ModelSpec& model,
                                              double output,
                                              const FrameworkSpec& framework);

/// Norm over the residual stream of this rank.
core::Kernel norm_forward(const ModelSpec& model,
                          const RankShape& shape,
                          const FrameworkSpec& framework);
/// Gradient of the norm and its addition to the residual's gradient.
std::vector<core::Kernel> norm_backward(const ModelSpec& model,
                                        const RankShape& shape,
                                        const FrameworkSpec& framework);
/// Gradient of a norm after a half of a layer: the residual's gradient passes by.
core::Kernel output_norm_backward(const ModelSpec& model,
                                  const RankShape& shape,
                                  const FrameworkSpec& framework);

/// What follows a block on the residual stream: bias, dropout, addition.
std::vector<core::Kernel> residual_forward(const ModelSpec& model,
                                           const RankShape& shape,
                                           const FrameworkSpec& framework);
/// Gradient of dropout; nothing without dropout.
std::vector<core::Kernel> residual_backward(const RankShape& shape);

/// Cross entropy over this rank's part of the vocabulary, of 16-bit logits: 2 + 4 B each fused,
/// 22 + 12 B in fp32 in place, 22 + 30 B in PyTorch's separate operators; of fp32 logits 4 + 8,
/// 16 + 8 and 16 + 24 B.
core::Kernel cross_entropy_forward(const RankShape& shape, const FrameworkSpec& framework);
core::Kernel cross_entropy_backward(const RankShape& shape, const FrameworkSpec& framework);

}  // namespace headway::workload
