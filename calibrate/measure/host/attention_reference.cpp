#include "calibrate/measure/host/attention_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::measure {

namespace {

/// Views into the arrays of one shape.
class Layout {
 public:
  explicit Layout(const AttentionShape& shape) : shape_(shape) {}
  /// First element of a query-side vector; `head` counts query heads.
  [[nodiscard]] std::size_t query(std::int64_t batch, std::int64_t token, std::int64_t head) const {
    return place(batch, token, head, shape_.query_heads);
  }
  /// First element of the key-side vector that query head `head` attends to.
  [[nodiscard]] std::size_t key(std::int64_t batch, std::int64_t token, std::int64_t head) const {
    const std::int64_t group = shape_.query_heads / shape_.key_value_heads;
    return place(batch, token, head / group, shape_.key_value_heads);
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t batch,
                                  std::int64_t token,
                                  std::int64_t head,
                                  std::int64_t heads) const {
    return static_cast<std::size_t>(((batch * shape_.sequence + token) * heads + head) *
                                    shape_.head_dim);
  }
  AttentionShape shape_;
};

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}
void add_scaled(double* to, double factor, const double* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += factor * from[i];
  }
}

/// Softmax weights of one query over the keys it sees.
std::vector<double> weights(const AttentionShape& shape,
                            const AttentionTensors& in,
                            std::int64_t batch,
                            std::int64_t head,
                            std::int64_t token) {
  const Layout layout(shape);
  const std::int64_t seen = shape.causal ? token + 1 : shape.sequence;
  std::vector<double> out(static_cast<std::size_t>(seen));
  double maximum = -std::numeric_limits<double>::infinity();
  const double* q = &in.q[layout.query(batch, token, head)];
  for (std::int64_t other = 0; other < seen; ++other) {
    double& score = out[static_cast<std::size_t>(other)];
    score = shape.scale() * dot(q, &in.k[layout.key(batch, other, head)], shape.head_dim);
    maximum = std::max(maximum, score);
  }
  double sum = 0;
  for (double& score : out) {
    score = std::exp(score - maximum);
    sum += score;
  }
  for (double& score : out) {
    score /= sum;
  }
  return out;
}

/// Calls `work(batch, head, token)` for every query.
template <class Work>
void for_each_query(const AttentionShape& shape, const Work& work) {
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (std::int64_t head = 0; head < shape.query_heads; ++head) {
      for (std::int64_t token = 0; token < shape.sequence; ++token) {
        work(batch, head, token);
      }
    }
  }
}

}  // namespace

double AttentionShape::scale() const { return 1 / std::sqrt(static_cast<double>(head_dim)); }

std::vector<double> attention_forward(const AttentionShape& shape, const AttentionTensors& in) {
  const Layout layout(shape);
  std::vector<double> out(static_cast<std::size_t>(shape.query_elements()));
  for_each_query(shape, [&](std::int64_t batch, std::int64_t head, std::int64_t token) {
    const std::vector<double> p = weights(shape, in, batch, head, token);
    double* o = &out[layout.query(batch, token, head)];
    for (std::size_t other = 0; other < p.size(); ++other) {
      const auto place = layout.key(batch, static_cast<std::int64_t>(other), head);
      add_scaled(o, p[other], &in.v[place], shape.head_dim);
    }
  });
  return out;
}

// With P the weights, O = P V and dO given:
//     dV = P^T dO,  dP = dO V^T,  dS = P (dP - rowsum(P dP)),  dQ = scale dS K,  dK = scale dS^T Q
AttentionTensors attention_backward(const AttentionShape& shape,
                                    const AttentionTensors& in,
                                    const std::vector<double>& out_gradient) {
  const Layout layout(shape);
  AttentionTensors gradient{std::vector<double>(in.q.size()), std::vector<double>(in.k.size()),
                            std::vector<double>(in.v.size())};
  for_each_query(shape, [&](std::int64_t batch, std::int64_t head, std::int64_t token) {
    const std::vector<double> p = weights(shape, in, batch, head, token);
    const std::size_t here = layout.query(batch, token, head);
    std::vector<double> dp(p.size());
    double mean = 0;
    for (std::size_t other = 0; other < p.size(); ++other) {
      const auto place = layout.key(batch, static_cast<std::int64_t>(other), head);
      add_scaled(&gradient.v[place], p[other], &out_gradient[here], shape.head_dim);
      dp[other] = dot(&out_gradient[here], &in.v[place], shape.head_dim);
      mean += p[other] * dp[other];
    }
    for (std::size_t other = 0; other < p.size(); ++other) {
      const auto place = layout.key(batch, static_cast<std::int64_t>(other), head);
      const double ds = shape.scale() * p[other] * (dp[other] - mean);
      add_scaled(&gradient.q[here], ds, &in.k[place], shape.head_dim);
      add_scaled(&gradient.k[place], ds, &in.q[here], shape.head_dim);
    }
  });
  return gradient;
}

double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

}  // namespace headway::measure
