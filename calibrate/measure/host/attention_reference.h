// Softmax attention and its gradients on the CPU, in double, by the definition.
#pragma once

#include <cstdint>
#include <vector>

namespace headway::measure {

/// Size of one attention; key_value_heads divides query_heads (grouped queries).
struct AttentionShape {
  std::int64_t batch = 1, sequence = 0, query_heads = 1, key_value_heads = 1, head_dim = 128;
  bool causal = true;
  bool operator==(const AttentionShape&) const = default;

  [[nodiscard]] std::int64_t query_elements() const {
    return batch * sequence * query_heads * head_dim;
  }
  [[nodiscard]] std::int64_t key_elements() const {
    return batch * sequence * key_value_heads * head_dim;
  }
  /// 1 / sqrt(head_dim), as every framework scales the scores.
  [[nodiscard]] double scale() const;
};

/// Arrays [batch, sequence, heads, head_dim] row-major.
struct AttentionTensors {
  std::vector<double> q, k, v;
};

/// softmax(scale q k^T, masked) v
std::vector<double> attention_forward(const AttentionShape& shape, const AttentionTensors& in);

/// Gradients of sum(out x out_gradient) by q, k and v.
AttentionTensors attention_backward(const AttentionShape& shape,
                                    const AttentionTensors& in,
                                    const std::vector<double>& out_gradient);

/// |a - b| / |b|, Euclidean; how results of different precision are compared.
double relative_distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace headway::measure
