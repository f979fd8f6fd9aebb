// The arithmetic of the memory-bound kernels, one element or one merge at a time: called by the
// __global__ kernels of kernels.cu and by the CPU reference, so that tests without a GPU reach it.
#pragma once

#include "calibrate/measure/host/number_formats.h"

namespace headway::measure {

/// One element of the STREAM triad, a = b + s c. Source: McCalpin, 1995.
HEADWAY_BOTH float triad(float b, float c, float scale) { return b + scale * c; }

/// One element of RMSNorm: x w / sqrt(mean(x^2) + eps). Source: Zhang & Sennrich, NeurIPS 2019.
HEADWAY_BOTH float rms_norm(float x, float weight, float inverse_rms) {
  return x * inverse_rms * weight;
}
HEADWAY_BOTH float inverse_rms(float sum_of_squares, int width, float epsilon) {
  return 1.0F / sqrtf(sum_of_squares / static_cast<float>(width) + epsilon);
}

/// Logistic function.
HEADWAY_BOTH float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

/// One element of SwiGLU: silu(gate) x up, silu(x) = x sigmoid(x). Source: Shazeer, 2020.
HEADWAY_BOTH float swiglu(float gate, float up) { return gate * sigmoid(gate) * up; }

/// Gradients of one element of SwiGLU.
struct SwigluGradient {
  float gate, up;
};
HEADWAY_BOTH SwigluGradient swiglu_gradient(float gate, float up, float gradient) {
  const float s = sigmoid(gate);
  // d silu / d gate = s (1 + gate (1 - s))
  return {gradient * up * s * (1.0F + gate * (1.0F - s)), gradient * gate * s};
}

/// Maximum and sum of exp(x - maximum) of the logits seen so far.
/// Source: Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018.
struct SoftmaxState {
  float maximum, sum;  // trivial, so that it may live in a block's shared memory
};
/// Before the first logit.
HEADWAY_BOTH SoftmaxState empty_softmax() { return {-INFINITY, 0}; }
HEADWAY_BOTH SoftmaxState merge(SoftmaxState a, SoftmaxState b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  if (maximum == -INFINITY) {  // nothing seen on either side
    return {maximum, 0};
  }
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}
HEADWAY_BOTH SoftmaxState softmax_of(float logit) { return {logit, 1}; }

/// Loss of one row: log sum exp - logit of the target.
HEADWAY_BOTH float cross_entropy(SoftmaxState row, float target_logit) {
  return row.maximum + logf(row.sum) - target_logit;
}
/// Gradient of one logit: (softmax - [is target]) x scale, scale = 1 / rows.
HEADWAY_BOTH float cross_entropy_gradient(SoftmaxState row,
                                          float logit,
                                          bool is_target,
                                          float scale) {
  return (expf(logit - row.maximum) / row.sum - (is_target ? 1.0F : 0.0F)) * scale;
}

/// Constants of one AdamW step. Source: Loshchilov & Hutter, ICLR 2019.
struct AdamStep {
  float learning_rate = 3e-4F;
  float beta1 = 0.9F, beta2 = 0.95F;
  float epsilon = 1e-8F;
  float weight_decay = 0.1F;
  float correction1 = 0.1F;   ///< 1 - beta1^t
  float correction2 = 0.05F;  ///< 1 - beta2^t
};
/// State of one parameter, all fp32.
struct AdamState {
  float parameter, first_moment, second_moment;
};
HEADWAY_BOTH AdamState adam(AdamState s, float gradient, const AdamStep& step) {
  const float m = step.beta1 * s.first_moment + (1.0F - step.beta1) * gradient;
  const float v = step.beta2 * s.second_moment + (1.0F - step.beta2) * gradient * gradient;
  const float update = (m / step.correction1) / (sqrtf(v / step.correction2) + step.epsilon);
  const float decayed = s.parameter * (1.0F - step.learning_rate * step.weight_decay);
  return {decayed - step.learning_rate * update, m, v};
}

}  // namespace headway::measure
