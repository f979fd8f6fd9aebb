#include "sim/workload/kernels.h"

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

/// Reads 16-bit elements and writes them narrow.
Kernel cast_kernel(core::Precision precision, double count) {
  return memory_kernel("cast", (2.0 + operand_bytes(precision)) * count);
}

Kernel flash_kernel(KernelKind kind,
                    const RankShape& shape,
                    const AttentionShape& attention,
                    double products,
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
  // Half of the scores are behind the causal mask and skipped.
  const double executed = attention.causal ? 0.5 : 1.0;
  const double scores = static_cast<double>(shape.micro_batch * attention.heads) *
                        elements(attention.sequence, attention.key_sequence);
  kernel.work = Flops(products * 2.0 * executed * scores * static_cast<double>(shape.head_dim));
  kernel.traffic = Bytes(traffic);
  return kernel;
}

/// One of the batched products of unfused attention; it computes masked scores too.
Kernel score_product(
    const char* name, const RankShape& shape, std::int64_t n, std::int64_t k, GemmPass pass) {
  const std::int64_t batch = shape.micro_batch * shape.heads;
  const double result = 2.0 * static_cast<double>(batch) * elements(shape.sequence, n);
  return gemm(name, shape.wide, pass, shape.sequence, n, k, result, batch);
}

/// Elements of queries and of keys that an attention kernel meets, and rows of its statistics.
struct AttentionElements {
  double queries = 0, keys = 0, rows = 0;
};
AttentionElements attention_elements(const RankShape& shape, const AttentionShape& attention) {
  const std::int64_t tokens = shape.micro_batch * attention.sequence;
  const std::int64_t key_tokens = shape.micro_batch * attention.key_sequence;
  return {elements(tokens, attention.heads * shape.head_dim),
          elements(key_tokens, attention.key_value_heads * shape.head_dim),
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

std::vector<Kernel> forward_product(const Linear& linear) {
  std::vector<Kernel> kernels;
  if (narrow(linear.precision)) {
    kernels.push_back(cast_kernel(linear.precision, elements(linear.tokens, linear.inputs)));
  }
  kernels.push_back(gemm(linear.name, linear.precision, GemmPass::forward, linear.tokens,
                         linear.outputs, linear.inputs,
                         2.0 * elements(linear.tokens, linear.outputs)));
  return kernels;
}

std::vector<Kernel> input_gradient(const Linear& linear) {
  std::vector<Kernel> kernels;
  if (narrow(linear.precision)) {
    // One cast of the output's gradient serves both products of the backward.
    kernels.push_back(cast_kernel(linear.precision, elements(linear.tokens, linear.outputs)));
  }
  kernels.push_back(gemm(linear.name, linear.precision, GemmPass::input_gradient, linear.tokens,
                         linear.inputs, linear.outputs,
                         2.0 * elements(linear.tokens, linear.inputs)));
  return kernels;
}

GradientTraffic gradient_traffic(const FrameworkSpec& framework, bool sharded) {
  if (sharded) {
    return {framework.reduce_bytes, 0};
  }
  if (framework.fused_elementwise) {
    return {2.0 * framework.gradient_bytes, 0};
  }
  return {2.0, 2.0 + 2.0 * framework.gradient_bytes};
}

std::vector<Kernel> weight_gradient(const Linear& linear, GradientTraffic traffic) {
  const double weights = elements(linear.outputs, linear.inputs);
  std::vector<Kernel> kernels{gemm(linear.name, linear.precision, GemmPass::weight_gradient,
                                   linear.outputs, linear.inputs, linear.tokens,
                                   traffic.result * weights)};
  if (traffic.second_pass > 0) {
    kernels.push_back(memory_kernel("gradient accumulation", traffic.second_pass * weights));
  }
  return kernels;
}

LayerLinears layer_linears(const ModelSpec& model, const RankShape& shape) {
  LayerLinears linears;
  linears.qkv = {"qkv", shape.tokens, shape.qkv_width(), shape.hidden, shape.linear};
  linears.projection = {"projection", shape.tokens, shape.hidden, shape.query_width(),
                        shape.linear};
  linears.mlp_in = {"mlp in", shape.tokens, shape.mlp_in_width(model.gated_mlp), shape.hidden,
                    shape.linear};
  linears.mlp_out = {"mlp out", shape.tokens, shape.hidden, shape.ffn, shape.linear};
  linears.head = {"head", shape.tokens, shape.vocabulary, shape.hidden, shape.wide};
  return linears;
}

Kernel flash_forward(const RankShape& shape, const AttentionShape& attention) {
  // Reads queries, keys, values; writes the output and one fp32 statistic a row.
  const AttentionElements met = attention_elements(shape, attention);
  const double traffic = 2.0 * (2.0 * met.queries + 2.0 * met.keys) + 4.0 * met.rows;
  return flash_kernel(KernelKind::attention_forward, shape, attention, 2.0, traffic);
}

Kernel flash_backward(const RankShape& shape, const AttentionShape& attention) {
  // Reads queries, keys, values, output and its gradient; writes three gradients.
  const AttentionElements met = attention_elements(shape, attention);
  const double traffic = 2.0 * (4.0 * met.queries + 4.0 * met.keys) + 8.0 * met.rows;
  return flash_kernel(KernelKind::attention_backward, shape, attention, 5.0, traffic);
}

std::vector<Kernel> attention_forward(const RankShape& shape, const FrameworkSpec& framework) {
  if (framework.fused_attention) {
    return {flash_forward(shape, shape.own_attention())};
  }
  const double scores = shape.scores();
  std::vector<Kernel> kernels{
      score_product("scores", shape, shape.sequence, shape.head_dim, GemmPass::forward)};
  kernels.push_back(memory_kernel("softmax", 4.0 * scores));
  if (shape.dropout) {
    kernels.push_back(memory_kernel("attention dropout", 5.0 * scores));
  }
  kernels.push_back(
      score_product("values", shape, shape.head_dim, shape.sequence, GemmPass::forward));
  return kernels;
}

std::vector<Kernel> attention_backward(const RankShape& shape, const FrameworkSpec& framework) {
  if (framework.fused_attention) {
    return {flash_backward(shape, shape.own_attention())};
  }
  const double scores = shape.scores();
  std::vector<Kernel> kernels{
      score_product("values", shape, shape.sequence, shape.head_dim, GemmPass::input_gradient),
      score_product("values", shape, shape.head_dim, shape.sequence, GemmPass::weight_gradient)};
  if (shape.dropout) {
    kernels.push_back(memory_kernel("attention dropout", 5.0 * scores));
  }
  kernels.push_back(memory_kernel("softmax", 6.0 * scores));
  kernels.push_back(
      score_product("scores", shape, shape.head_dim, shape.sequence, GemmPass::input_gradient));
  kernels.push_back(
      score_product("scores", shape, shape.head_dim, shape.sequence, GemmPass::weight_gradient));
  return kernels;
}

std::vector<Kernel> rotary(const ModelSpec& model, const RankShape& shape) {
  if (model.learned_positions > 0) {
    return {};
  }
  return {memory_kernel("rotary", 4.0 * shape.query_elements()),
          memory_kernel("rotary", 4.0 * shape.key_elements())};
}

std::vector<Kernel> activation_forward(const ModelSpec& model,
                                       const RankShape& shape,
                                       const FrameworkSpec& framework) {
  const double width = elements(shape.tokens, shape.ffn);
  if (framework.fused_elementwise) {
    return {memory_kernel("activation", (model.gated_mlp ? 6.0 : 4.0) * width)};
  }
  std::vector<Kernel> kernels;
  if (model.biases) {
    kernels.push_back(memory_kernel("bias", 4.0 * width));
  }
  kernels.push_back(memory_kernel("activation", 4.0 * width));
  if (model.gated_mlp) {
    kernels.push_back(memory_kernel("gate product", 6.0 * width));
  }
  return kernels;
}

std::vector<Kernel> activation_backward(const ModelSpec& model,
                                        const RankShape& shape,
                                        const FrameworkSpec& framework) {
  const double width = elements(shape.tokens, shape.ffn);
  if (framework.fused_elementwise) {
    // Gated: reads gate, up and gradient, writes two gradients; plain: reads input and gradient,
    // writes one.
    return {memory_kernel("activation", (model.gated_mlp ? 10.0 : 6.0) * width)};
  }
  std::vector<Kernel> kernels{memory_kernel("activation", 6.0 * width)};
  if (model.gated_mlp) {
    kernels.push_back(memory_kernel("gate product", 10.0 * width));
  }
  if (model.biases) {
    kernels.push_back(memory_kernel("bias", 2.0 * width));
  }
  return kernels;
}

Kernel norm_forward(const RankShape& shape) {
  return memory_kernel("norm", 4.0 * shape.split_stream());
}

std::vector<Kernel> norm_backward(const RankShape& shape, const FrameworkSpec& framework) {
  const double stream = shape.split_stream();
  if (framework.fused_elementwise) {
    return {memory_kernel(
        "norm", 8.0 * stream)};  // input, gradient and residual gradient in, one gradient out
  }
  return {memory_kernel("norm", 6.0 * stream), memory_kernel("residual", 6.0 * stream)};
}

std::vector<Kernel> residual_forward(const ModelSpec& model,
                                     const RankShape& shape,
                                     const FrameworkSpec& framework) {
  const double stream = shape.split_stream();
  const double mask = shape.dropout ? 1.0 : 0.0;
  if (framework.fused_elementwise || (!model.biases && !shape.dropout)) {
    return {memory_kernel("residual", (6.0 + mask) * stream)};
  }
  return {memory_kernel("bias", 4.0 * stream), memory_kernel("dropout", 5.0 * stream),
          memory_kernel("residual", 6.0 * stream)};
}

std::vector<Kernel> residual_backward(const RankShape& shape) {
  if (!shape.dropout) {
    return {};
  }
  return {memory_kernel("dropout", 5.0 * shape.split_stream())};
}

Kernel cross_entropy_forward(const RankShape& shape, const FrameworkSpec& framework) {
  return memory_kernel("cross entropy", (framework.fused_cross_entropy ? 8.0 : 22.0) *
                                            elements(shape.tokens, shape.vocabulary));
}

Kernel cross_entropy_backward(const RankShape& shape, const FrameworkSpec& framework) {
  return memory_kernel("cross entropy", (framework.fused_cross_entropy ? 6.0 : 12.0) *
                                            elements(shape.tokens, shape.vocabulary));
}

}  // namespace headway::workload
