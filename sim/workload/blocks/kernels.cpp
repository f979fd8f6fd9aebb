#include "sim/workload/blocks/kernels.h"

#include <algorithm>
#include <cmath>

#include "sim/workload/elementwise/elementwise.h"
#include "sim/workload/native/native_blocks.h"
#include "sim/workload/number_formats.h"

namespace headway::workload {

namespace {

using core::Bytes;
using core::Flops;
using core::GemmPass;
using core::Kernel;
using core::KernelKind;

double elements(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

/// A product of m x k by k x n, `batch` times; operands of `precision`, result of `result_bytes` an
/// element.
Kernel gemm(const char* name,
            core::Precision precision,
            GemmPass pass,
            std::int64_t m,
            std::int64_t n,
            std::int64_t k,
            double result_traffic,
            std::int64_t batch = 1) {
  Kernel kernel;
  kernel.kind = KernelKind::gemm;
  kernel.name = name;
  kernel.precision = precision;
  kernel.pass = pass;
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  kernel.batch = batch;
  const double count = static_cast<double>(batch);
  kernel.work = Flops(2.0 * count * elements(m, n) * static_cast<double>(k));
  kernel.traffic =
      Bytes(count * operand_bytes(precision) * (elements(m, k) + elements(k, n)) + result_traffic);
  return kernel;
}

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
};

/// One of the three products of a linear layer.
Kernel product(const Linear& linear, GemmPass pass, ProductShape shape, double result_traffic) {
  Kernel kernel = gemm(linear.name, linear.precision, pass, shape.m, shape.n, shape.k,
                       result_traffic, linear.groups);
  kernel.kind = linear.grouped ? KernelKind::grouped_gemm : KernelKind::gemm;
  kernel.launches = linear.launches;
  return kernel;
}

/// Elements of all groups' tokens, `width` each.
double all_elements(const Linear& linear, std::int64_t width) {
  return static_cast<double>(linear.groups) * elements(linear.tokens, width);
}

/// Reads 16-bit elements of all groups and writes them narrow, along rows and along columns (the
/// weight gradient sums over tokens). In dense layers norms write one of the two, so that one is
/// left on average.
/// Source: NVIDIA/TransformerEngine, cast_transpose, LayerNormLinear and GroupedLinear, 2025.
Kernel delayed_cast(const Linear& linear, std::int64_t width) {
  const double copies = linear.grouped ? 2 : 1;
  Kernel kernel = memory_kernel(
      "cast", (2.0 + copies * operand_bytes(linear.precision)) * all_elements(linear, width));
  kernel.launches = linear.launches;
  return kernel;
}

/// Bytes an element of making a narrow operand of b bytes, and of making it again the other way
/// round, since the weight gradient sums over tokens and the input gradient over outputs.
///     tensor  read 2 for the largest element, then read 2 and write b; again: read 2, write b
///     row     a scale a row, read twice: 4 + b; the columns' scales are others: again 4 + b
///     block   read 2, write b; again the same
/// Source: pytorch/ao, torchao/float8/float8_linear.py and prototype/mx_formats/mx_linear.py, 2025.
double cast_bytes(const Linear& linear) {
  const double narrow_bytes = operand_bytes(linear.precision);
  return (linear.scaling == Scaling::block ? 2.0 : 4.0) + narrow_bytes;
}
double cast_again_bytes(const Linear& linear) {
  const double narrow_bytes = operand_bytes(linear.precision);
  return (linear.scaling == Scaling::row ? 4.0 : 2.0) + narrow_bytes;
}

/// Four bits by NVIDIA's recipe, both directions at once: the largest element of all, 2; to b bytes
/// along rows 2 + b; along columns b more, or, where they are turned first, 2 + b in a pass of its
/// own (its largest element is found in the first). Weights have the same copy both ways, made once
/// a step, which is not counted, as with delayed scales. Source: NVIDIA/TransformerEngine,
/// common/hadamard_transform and cast/nvfp4, 2025.
Kernel nvfp4_cast(const Linear& linear, std::int64_t width) {
  const double b = operand_bytes(linear.precision);
  const double bytes = linear.nvfp4->hadamard ? 6 + 2 * b : 4 + 2 * b;
  Kernel kernel = memory_kernel("cast", bytes * all_elements(linear, width));
  kernel.launches = linear.launches * (linear.nvfp4->hadamard ? 3 : 2);
  return kernel;
}

Kernel cast(const Linear& linear, double bytes, double count) {
  Kernel kernel = memory_kernel("cast", bytes * count);
  kernel.launches = linear.launches * (linear.scaling == Scaling::tensor ? 3 : 1);
  return kernel;
}

double weights_of(const Linear& linear) {
  return static_cast<double>(linear.groups) * elements(linear.outputs, linear.inputs);
}

/// Outputs of each product that a linear layer is.
std::vector<std::int64_t> widths(const Linear& linear) {
  std::vector<std::int64_t> found;
  for (const std::int64_t part : linear.parts) {
    if (part > 0) {
      found.push_back(part);
    }
  }
  return found.empty() ? std::vector{linear.outputs} : found;
}

/// Casts before a product of which `width` are the elements of a token that it multiplies.
void add_casts(std::vector<Kernel>& kernels, const Linear& linear, std::int64_t width, bool again) {
  if (linear.widening > 0 && linear.casts_weights) {
    kernels.push_back(memory_kernel("dequantise", linear.widening * weights_of(linear)));
    const auto matrices = static_cast<std::int64_t>(widths(linear).size());
    kernels.back().launches = 2 * linear.groups * matrices;  // scales, then weights, of each
  }
  if (!narrow(linear.precision)) {
    return;
  }
  if (linear.nvfp4) {
    kernels.push_back(nvfp4_cast(linear, width));
    return;
  }
  if (linear.scaling == Scaling::delayed) {
    kernels.push_back(delayed_cast(linear, width));
    return;
  }
  kernels.push_back(cast(linear, cast_bytes(linear), all_elements(linear, width)));
  if (linear.casts_weights) {
    kernels.push_back(
        cast(linear, again ? cast_again_bytes(linear) : cast_bytes(linear), weights_of(linear)));
  }
}

/// @param work  floating-point operations of one pair of a query and a key, one head
Kernel flash_kernel(KernelKind kind,
                    const RankShape& shape,
                    const AttentionShape& attention,
                    double work,
                    double traffic) {
  Kernel kernel;
  kernel.kind = kind;
  kernel.name = "attention";
  kernel.precision = shape.wide;
  kernel.batch = shape.micro_batch;
  kernel.sequence = attention.sequence;
  kernel.key_sequence = attention.key_sequence;
  kernel.query_heads = attention.heads;
  kernel.key_value_heads = attention.key_value_heads;
  kernel.head_dim = shape.head_dim;
  kernel.causal = attention.causal;
  const auto reached = std::max<std::int64_t>(1, std::llround(2.0 * attention.keys));
  if (attention.causal && reached < attention.key_sequence) {
    const std::int64_t tokens = shape.micro_batch * attention.sequence;
    kernel.sequence = kernel.key_sequence = reached;
    kernel.batch = std::max<std::int64_t>(1, (tokens + reached / 2) / reached);
  } else if (attention.packed && !attention.causal) {
    // The rectangle of a mean document, as often as there are queries for.
    const double share = attention.keys / static_cast<double>(attention.key_sequence);
    const std::int64_t queries =
        std::max<std::int64_t>(1, std::llround(share * static_cast<double>(attention.sequence)));
    kernel.sequence = queries;
    kernel.key_sequence = std::max<std::int64_t>(1, std::llround(attention.keys));
    kernel.batch =
        std::max<std::int64_t>(1, (shape.micro_batch * attention.sequence + queries / 2) / queries);
  }
  const double pairs = static_cast<double>(shape.micro_batch * attention.heads) *
                       static_cast<double>(attention.sequence) * attention.keys;
  kernel.work = Flops(work * pairs);
  kernel.traffic = Bytes(traffic);
  return kernel;
}

/// One of the batched products of unfused attention; it computes masked scores too.
Kernel score_product(
    const char* name, const RankShape& shape, std::int64_t n, std::int64_t k, GemmPass pass) {
  const std::int64_t batch = shape.micro_batch * shape.heads;
  const double result = shape.element * static_cast<double>(batch) * elements(shape.sequence, n);
  return gemm(name, shape.wide, pass, shape.sequence, n, k, result, batch);
}

/// Dropout or its gradient: read and written, with a mask of one byte, a quarter of an fp32.
constexpr ElementwisePass kMasked{2, 0.25};

/// Softmax or dropout over scores that are in memory.
Kernel score_rows(const char* name, const ElementwisePass& pass, const RankShape& shape) {
  Kernel kernel = elementwise_kernel(name, pass, shape.element, shape.scores());
  kernel.kind = KernelKind::score_rows;
  return kernel;
}

/// Elements that an attention kernel meets, and rows of its statistics.
struct AttentionElements {
  double queries = 0, outputs = 0, keys = 0, values = 0, rows = 0;
};
AttentionElements attention_elements(const RankShape& shape, const AttentionShape& attention) {
  const std::int64_t tokens = shape.micro_batch * attention.sequence;
  const std::int64_t key_tokens = shape.micro_batch * attention.key_sequence;
  return {elements(tokens, attention.heads * shape.head_dim),
          elements(tokens, attention.heads * shape.value_dim),
          elements(key_tokens, attention.key_value_heads * shape.head_dim),
          elements(key_tokens, attention.key_value_heads * shape.value_dim),
          elements(tokens, attention.heads)};
}

}  // namespace

Kernel memory_kernel(const char* name, double bytes) {
  Kernel kernel;
  kernel.kind = KernelKind::memory_bound;
  kernel.name = name;
  kernel.traffic = Bytes(bytes);
  return kernel;
}

namespace {

/// Gradients of one input by several products: each sum reads two and writes one; as part of the
/// operator that comes next it reads one more.
void add_sums(std::vector<Kernel>& kernels, const Linear& linear, std::int64_t products) {
  if (products < 2) {
    return;
  }
  const double array = element_bytes(linear.precision) * all_elements(linear, linear.inputs);
  const auto sums = static_cast<double>(products - 1);
  Kernel sum = memory_kernel("input gradients", linear.joined_sums ? sums * array : 3.0 * array);
  sum.count = linear.joined_sums ? 1 : products - 1;
  sum.launches = linear.joined_sums ? 0 : 1;
  kernels.push_back(sum);
}

}  // namespace

std::vector<Kernel> forward_product(const Linear& linear) {
  std::vector<Kernel> kernels;
  add_casts(kernels, linear, linear.inputs, false);
  for (const std::int64_t width : widths(linear)) {
    kernels.push_back(product(linear, GemmPass::forward, {linear.tokens, width, linear.inputs},
                              element_bytes(linear.precision) * all_elements(linear, width)));
  }
  return kernels;
}

std::vector<Kernel> input_gradient(const Linear& linear) {
  std::vector<Kernel> kernels;
  add_casts(kernels, linear, linear.outputs, true);
  const std::vector<std::int64_t> parts = widths(linear);
  for (const std::int64_t width : parts) {
    kernels.push_back(
        product(linear, GemmPass::input_gradient, {linear.tokens, linear.inputs, width},
                element_bytes(linear.precision) * all_elements(linear, linear.inputs)));
  }
  add_sums(kernels, linear, static_cast<std::int64_t>(parts.size()));
  return kernels;
}

GradientTraffic gradient_traffic(const FrameworkSpec& framework, double element, bool sharded) {
  if (sharded) {
    return {framework.reduce_bytes, framework.accumulation_bytes};
  }
  if (framework.elementwise == Elementwise::fused) {
    return {2.0 * framework.gradient_bytes, framework.accumulation_bytes};
  }
  return {element, element + 2.0 * framework.gradient_bytes + framework.accumulation_bytes,
          kMixedSumIssue};
}

std::vector<Kernel> weight_gradient(const Linear& linear, GradientTraffic traffic) {
  std::vector<Kernel> kernels;
  if (narrow(linear.precision) && linear.scaling != Scaling::delayed && !linear.nvfp4) {
    kernels.push_back(cast(linear, cast_again_bytes(linear),
                           all_elements(linear, linear.inputs + linear.outputs)));
  }
  for (const std::int64_t width : widths(linear)) {
    const double weights = static_cast<double>(linear.groups) * elements(width, linear.inputs);
    kernels.push_back(product(linear, GemmPass::weight_gradient,
                              {width, linear.inputs, linear.tokens}, traffic.result * weights));
    if (traffic.second_pass > 0) {
      kernels.push_back(memory_kernel("gradient accumulation", traffic.second_pass * weights));
      kernels.back().issued = traffic.issued;
    }
  }
  return kernels;
}

void set_scaling(const RankShape& shape, Linear& linear) {
  linear.scaling = shape.scaling;
  linear.nvfp4 = shape.nvfp4;
  linear.widening = shape.widening;
  linear.casts_weights = !shape.narrow_gathers;
}

LayerLinears layer_linears(const ModelSpec& model, const RankShape& shape) {
  LayerLinears linears;
  linears.qkv = {"qkv", shape.tokens, shape.qkv_width(), shape.hidden, shape.linear};
  linears.projection = {"projection", shape.tokens, shape.hidden, shape.projection_width(),
                        shape.linear};
  linears.mlp_in = {"mlp in", shape.tokens, shape.mlp_in_width(model.gated_mlp), shape.hidden,
                    shape.linear};
  linears.mlp_out = {"mlp out", shape.tokens, shape.hidden, shape.ffn, shape.linear};
  linears.head = {"head", shape.tokens, shape.vocabulary, shape.hidden, shape.wide};
  for (Linear* linear : {&linears.qkv, &linears.projection, &linears.mlp_in, &linears.mlp_out}) {
    set_scaling(shape, *linear);
    linear->joined_sums = shape.joined_sums;
  }
  if (shape.separate_projections) {
    linears.qkv.parts = shape.attention_parts();
    linears.mlp_in.parts = {shape.ffn, model.gated_mlp ? shape.ffn : 0, 0};
  }
  return linears;
}

Kernel flash_forward(const RankShape& shape, const AttentionShape& attention) {
  // Reads queries, keys, values; writes the output and one fp32 statistic a row.
  const AttentionElements met = attention_elements(shape, attention);
  const double traffic =
      shape.element * (met.queries + met.outputs + met.keys + met.values) + 4.0 * met.rows;
  const auto work = static_cast<double>(2 * (shape.head_dim + shape.value_dim));
  return flash_kernel(KernelKind::attention_forward, shape, attention, work, traffic);
}

Kernel flash_backward(const RankShape& shape, const AttentionShape& attention) {
  // Reads queries, keys, values, output and its gradient; writes three gradients.
  const AttentionElements met = attention_elements(shape, attention);
  const double traffic =
      2.0 * shape.element * (met.queries + met.outputs + met.keys + met.values) + 8.0 * met.rows;
  // Scores again and gradients of queries and keys are as wide as keys, the two others as values.
  const auto work = static_cast<double>(2 * (3 * shape.head_dim + 2 * shape.value_dim));
  return flash_kernel(KernelKind::attention_backward, shape, attention, work, traffic);
}

std::vector<Kernel> attention_forward(const RankShape& shape, const FrameworkSpec& framework) {
  if (shape.native) {
    return native_attention_forward(shape);
  }
  if (framework.fuses_attention()) {
    return {flash_forward(shape, shape.own_attention())};
  }
  std::vector<Kernel> kernels{
      score_product("scores", shape, shape.sequence, shape.head_dim, GemmPass::forward)};
  kernels.push_back(
      score_rows("softmax", softmax_operator(framework, shape.element).forward, shape));
  if (shape.dropout) {
    kernels.push_back(score_rows("attention dropout", kMasked, shape));
  }
  kernels.push_back(
      score_product("values", shape, shape.value_dim, shape.sequence, GemmPass::forward));
  return kernels;
}

std::vector<Kernel> attention_backward(const RankShape& shape, const FrameworkSpec& framework) {
  if (shape.native) {
    return native_attention_backward(shape);
  }
  if (framework.fuses_attention()) {
    return {flash_backward(shape, shape.own_attention())};
  }
  std::vector<Kernel> kernels{
      score_product("values", shape, shape.sequence, shape.value_dim, GemmPass::input_gradient),
      score_product("values", shape, shape.value_dim, shape.sequence, GemmPass::weight_gradient)};
  if (shape.dropout) {
    kernels.push_back(score_rows("attention dropout", kMasked, shape));
  }
  kernels.push_back(
      score_rows("softmax", softmax_operator(framework, shape.element).backward, shape));
  kernels.push_back(
      score_product("scores", shape, shape.head_dim, shape.sequence, GemmPass::input_gradient));
  kernels.push_back(
      score_product("scores", shape, shape.head_dim, shape.sequence, GemmPass::weight_gradient));
  return kernels;
}

std::vector<Kernel> rotary(const ModelSpec& model,
                           const RankShape& shape,
                           const FrameworkSpec& framework,
                           bool backward) {
  if (model.learned_positions > 0 || !model.rotary) {
    return {};
  }
  const ElementwiseOperator turn = rotary_operator(model, framework);
  const ElementwisePass& pass = backward ? turn.backward : turn.forward;
  if (shape.latent()) {
    const double turned = elements(shape.tokens, shape.heads * shape.rope_dim);
    if (shape.sparse) {  // keys stay as they are
      return {elementwise_kernel("rotary", pass, shape.element, turned)};
    }
    return {elementwise_kernel("rotary", pass, shape.element, turned),
            memory_kernel("assemble keys",
                          2.0 * shape.element * (shape.key_elements() + shape.value_elements()))};
  }
  std::vector<Kernel> kernels{
      elementwise_kernel("rotary", pass, shape.element, shape.query_elements()),
      elementwise_kernel("rotary", pass, shape.element, shape.key_elements())};
  if (framework.copied_heads) {
    const auto [queries, keys_values] = head_copies();
    const double joined = shape.key_elements() + shape.value_elements();
    kernels.push_back(elementwise_kernel("copy queries",
                                         backward ? queries.backward : queries.forward,
                                         shape.element, shape.query_elements()));
    kernels.push_back(elementwise_kernel("copy keys and values",
                                         backward ? keys_values.backward : keys_values.forward,
                                         shape.element, joined));
  }
  return kernels;
}

std::vector<Kernel> query_key_norms(const ModelSpec& model,
                                    const RankShape& shape,
                                    const FrameworkSpec& framework,
                                    bool backward) {
  if (!model.query_key_norm) {
    return {};
  }
  const ElementwiseOperator norm = norm_operator(model, framework);
  const ElementwisePass& pass = backward ? norm.backward : norm.forward;
  return {elementwise_kernel("query-key norm", pass, shape.element, shape.query_elements()),
          elementwise_kernel("query-key norm", pass, shape.element, shape.key_elements())};
}

std::vector<Kernel> joined_head_gradients(const RankShape& shape, const FrameworkSpec& framework) {
  if (!framework.joined_heads || framework.copied_heads || shape.native) {
    return {};  // gradients of copies are joined with them (`head_copies`)
  }
  return {memory_kernel(
      "join heads", 2.0 * shape.element *
                        (shape.query_elements() + shape.key_elements() + shape.value_elements()))};
}

std::vector<Kernel> attention_gate(const RankShape& shape, bool backward) {
  if (!shape.attention_gate) {
    return {};
  }
  const double arrays = backward ? 5 : 3;
  return {memory_kernel("attention gate", arrays * shape.element * shape.output_elements())};
}

std::vector<Kernel> activation_forward(const ModelSpec& model,
                                       double output,
                                       const FrameworkSpec& framework) {
  std::vector<Kernel> kernels;
  if (model.biases && !framework.fuses_elementwise()) {
    kernels.push_back(memory_kernel("bias", 2.0 * output));
  }
  kernels.push_back(
      elementwise_kernel("activation", activation_operator(model, framework).forward, 1.0, output));
  return kernels;
}

std::vector<Kernel> activation_backward(const ModelSpec& model,
                                        double output,
                                        const FrameworkSpec& framework) {
  std::vector<Kernel> kernels{elementwise_kernel(
      "activation", activation_operator(model, framework).backward, 1.0, output)};
  if (model.biases && !framework.fuses_elementwise()) {
    kernels.push_back(memory_kernel("bias", output));
  }
  return kernels;
}

Kernel norm_forward(const ModelSpec& model,
                    const RankShape& shape,
                    const FrameworkSpec& framework) {
  return elementwise_kernel("norm", norm_operator(model, framework).forward, shape.element,
                            shape.split_stream());
}

Kernel output_norm_backward(const ModelSpec& model,
                            const RankShape& shape,
                            const FrameworkSpec& framework) {
  return elementwise_kernel("norm", norm_operator(model, framework).backward, shape.element,
                            shape.split_stream());
}

std::vector<Kernel> norm_backward(const ModelSpec& model,
                                  const RankShape& shape,
                                  const FrameworkSpec& framework) {
  const double array = shape.element * shape.split_stream();
  if (framework.fuses_elementwise()) {
    Kernel norm = memory_kernel(
        "norm", 4.0 * array);  // input, gradient and residual gradient in, one gradient out
    norm.issued = norm_operator(model, framework).backward.issued;
    return {norm};
  }
  return {output_norm_backward(model, shape, framework), memory_kernel("residual", 3.0 * array)};
}

std::vector<Kernel> residual_forward(const ModelSpec& model,
                                     const RankShape& shape,
                                     const FrameworkSpec& framework) {
  const double stream = shape.split_stream();
  const double mask = shape.dropout ? 1.0 : 0.0;
  if (framework.fuses_elementwise() || (!model.biases && !shape.dropout)) {
    return {memory_kernel("residual", (3.0 * shape.element + mask) * stream)};
  }
  std::vector<Kernel> kernels;
  if (model.biases) {
    kernels.push_back(memory_kernel("bias", 2.0 * shape.element * stream));
  }
  if (shape.dropout) {
    kernels.push_back(memory_kernel("dropout", kMasked.bytes(shape.element) * stream));
  }
  kernels.push_back(memory_kernel("residual", 3.0 * shape.element * stream));
  return kernels;
}

std::vector<Kernel> residual_backward(const RankShape& shape) {
  if (!shape.dropout) {
    return {};
  }
  return {memory_kernel("dropout", kMasked.bytes(shape.element) * shape.split_stream())};
}

namespace {

double logits(const RankShape& shape) { return elements(shape.tokens, shape.vocabulary); }

/// Passes of cross entropy over the logits; what a fp32 logit moves beside its casts.
///   fused: forward the logits are read once, exponentials take longer; backward they are read and
///     the gradient is written.
///   in-place: four fp32 passes forward; backward one in place.
///   copied: one more pass forward, which writes the copy.
///   separate: forward maximum R, sum R, result RW; backward the gradient of the target's
///     probability filled W, its product with the probabilities summed RR and written RRW.
/// Last number: bytes a cycle and multiprocessor, as in sim/workload/elementwise.
/// Source of separate operators: PyTorch, aten/src/ATen/native/cuda/SoftMax.cu (cunn_SoftMaxForward
/// and Backward, rows too long for the cache) and NLLLoss2d.cu.
struct LossPasses {
  ElementwisePass forward, backward;
};
LossPasses loss_passes(const RankShape& shape, Loss loss) {
  const double casts = shape.element < 4 ? 1 : 0;  // to fp32 before and from it after
  switch (loss) {
    case Loss::fused:
      return {{1, 0, 1, kFusedLossIssue}, {2, 0, 1, kFusedLossBackwardIssue}};
    case Loss::in_place:
      return {{casts, 4 + casts, 1}, {casts * 2, 2, 1}};
    case Loss::copied:
      return {{casts, 6 + casts, 2}, {casts * 2, 2, 1}};
    case Loss::separate:
      return {{casts, 4 + casts, 3, kSeparateLossIssue}, {casts, 6 + casts, 3}};
  }
  return {};
}

}  // namespace

Kernel cross_entropy_forward(const RankShape& shape, const FrameworkSpec& framework) {
  return elementwise_kernel("cross entropy", loss_passes(shape, framework.loss).forward,
                            shape.element, logits(shape));
}

Kernel cross_entropy_backward(const RankShape& shape, const FrameworkSpec& framework) {
  return elementwise_kernel("cross entropy", loss_passes(shape, framework.loss).backward,
                            shape.element, logits(shape));
}

}  // namespace headway::workload
