#include "sim/workload/mixer/mixer_kernels.h"

#include <algorithm>

namespace headway::workload {

namespace {

using core::Kernel;

double as_real(std::int64_t count) { return static_cast<double>(count); }

bool has_delta_rule(const MixerShape& mixer) {
  return mixer.kind == MixerKind::gated_delta || mixer.kind == MixerKind::kimi_delta;
}

/// Elements of states a token.
double states_a_token(const MixerShape& mixer) {
  return as_real(mixer.states()) / as_real(mixer.chunk);
}

/// Bytes of a pass over `width` elements of every token.
Kernel pass(const RankShape& shape, const char* name, double bytes, std::int64_t width) {
  return memory_kernel(name, bytes * as_real(shape.tokens) * as_real(width));
}

/// Tokens between two states that mamba1's scan writes.
/// Source: state-spaces/mamba, csrc/selective_scan/selective_scan.cpp, n_chunks, 2024.
constexpr double kStateTokens = 2048;

/// Bytes of a token and kernels of a scan.
struct ScanBytes {
  double forward = 0, backward = 0;
  int forward_kernels = 1, backward_kernels = 1;
};
ScanBytes chunked(double forward, int kernels) {
  return {forward, 3 * forward, kernels, 3 * kernels};
}
ScanBytes scan_bytes(const MixerShape& m, double e) {
  const double k = as_real(m.keys());
  const double d = as_real(m.spread_keys());
  const double v = as_real(m.values());
  const double states = states_a_token(m);
  const double pairs = as_real(m.heads * m.chunk);
  switch (m.kind) {
    case MixerKind::mamba1:
      return {e * (5 * v + 2 * k), e * ((m.norm ? 8 : 9) * v + 2 * k) + 16 * k, 1, 1};
    case MixerKind::mamba2:
      return chunked(
          e * (3 * v + 4 * k) + 8 * as_real(m.key_heads * m.chunk) + (8 + 2 * e) * states, 5);
    case MixerKind::gated_delta:
      return chunked(e * (7 * d + 6 * v + 2 * pairs + 2 * states) + 8 * pairs, 5);
    case MixerKind::kimi_delta:
      return chunked(e * (9 * d + 6 * v + 5 * pairs + 2 * states) + 16 * d, 5);
    case MixerKind::lightning:
      return chunked(e * (4 * k + 2 * v) + 12 * states, 3);
  }
  return {};
}

}  // namespace

MixerLinears mixer_linears(const RankShape& shape) {
  const MixerShape& mixer = *shape.mixer;
  MixerLinears linears;
  linears.in = {"mixer in", shape.tokens, mixer.inputs(), shape.hidden, shape.linear};
  linears.out = {"mixer out", shape.tokens, shape.hidden, mixer.values(), shape.linear};
  linears.down = {"mixer gates down", shape.split_tokens, 2 * mixer.low_rank(), shape.hidden,
                  shape.linear};
  linears.up = {"mixer gates up", shape.tokens, mixer.low_rank_outputs(), mixer.low_rank(),
                shape.linear};
  linears.select = {"mixer selection", shape.tokens, mixer.selection(), mixer.values(),
                    shape.linear};
  linears.steps = {"mixer steps", shape.tokens, mixer.values(), mixer.step_rank, shape.linear};
  for (Linear* linear :
       {&linears.in, &linears.out, &linears.down, &linears.up, &linears.select, &linears.steps}) {
    set_scaling(shape, *linear);
  }
  return linears;
}

MixerShape exchanged_mixer(const RankShape& shape) {
  MixerShape mixer = *shape.mixer;
  mixer.key_heads = std::max<std::int64_t>(mixer.key_heads, shape.context);
  return mixer;
}

double exchanged_inputs(const RankShape& shape) {
  const MixerShape mixer = exchanged_mixer(shape);
  return as_real(mixer.inputs() + mixer.low_rank_outputs());
}

std::vector<Kernel> before_scan(const RankShape& shape, bool backward) {
  const MixerShape mixer = exchanged_mixer(shape);
  const double e = shape.element;
  const double arrays = backward ? 3 * e : 2 * e;
  std::vector<Kernel> kernels;
  if (mixer.convolution > 0) {
    kernels.push_back(pass(shape, "mixer convolution", arrays, mixer.channels()));
    kernels.back().kind = core::KernelKind::scan;  // as far from the peak bandwidth as scans
  } else {
    kernels.push_back(pass(shape, "mixer activation", arrays, mixer.activated()));
  }
  if (has_delta_rule(mixer)) {
    kernels.push_back(pass(shape, "mixer query-key norm", arrays, 2 * mixer.keys()));
    if (mixer.key_heads < mixer.heads) {
      kernels.push_back(pass(shape, "mixer key copies", e, 2 * mixer.keys()));
      kernels.push_back(pass(shape, "mixer key copies", e, 2 * mixer.spread_keys()));
    }
  }
  // Decays and write strengths are made in fp32.
  const std::int64_t decays = mixer.kind == MixerKind::kimi_delta ? mixer.keys() : 2 * mixer.heads;
  if (mixer.kind != MixerKind::lightning && mixer.kind != MixerKind::mamba1) {
    kernels.push_back(pass(shape, "mixer decay", (backward ? 2 * e : e) + 4, decays));
  }
  return kernels;
}

std::vector<Kernel> selection_norms(const RankShape& shape, bool backward) {
  const MixerShape& mixer = *shape.mixer;
  if (mixer.selection() == 0 || !mixer.norm) {
    return {};
  }
  return {
      pass(shape, "mixer selection norms", (backward ? 3 : 2) * shape.element, mixer.selection())};
}

Kernel scan_kernel(const RankShape& shape, bool backward) {
  const MixerShape mixer = exchanged_mixer(shape);
  const ScanBytes bytes = scan_bytes(mixer, shape.element);
  const double tokens = as_real(shape.tokens);
  const double work =
      backward ? 2 * scan_flops(mixer) + remade_scan_flops(mixer) : scan_flops(mixer);
  Kernel kernel;
  const bool recurrence = mixer.kind == MixerKind::mamba1;
  kernel.kind = recurrence ? core::KernelKind::vector_scan : core::KernelKind::scan;
  kernel.name = backward ? "mixer scan backward" : "mixer scan";
  kernel.precision = recurrence ? core::Precision::fp32 : shape.wide;
  kernel.count = backward ? bytes.backward_kernels : bytes.forward_kernels;
  kernel.work = core::Flops(work * tokens / as_real(kernel.count));
  kernel.traffic =
      core::Bytes((backward ? bytes.backward : bytes.forward) * tokens / as_real(kernel.count));
  return kernel;
}

std::vector<Kernel> gated_norm(const RankShape& shape, bool backward) {
  if (shape.mixer->kind == MixerKind::mamba1) {
    return {};
  }
  return {pass(shape, "mixer norm and gate", (backward ? 5 : 3) * shape.element,
               shape.mixer->values())};
}

namespace {

/// What mamba1 keeps of a token [B].
double kept_by_recurrence(const MixerShape& mixer, double e, double operand) {
  double elements = as_real(mixer.inputs() + mixer.selection() + mixer.values());
  double bytes = 8 * as_real(mixer.states()) / kStateTokens;
  if (mixer.norm) {
    elements += as_real(2 * mixer.values() + mixer.selection());
    bytes += operand * as_real(mixer.values());
  }
  return e * elements + bytes;
}

}  // namespace

double kept_by_mixer(const RankShape& shape, double operand) {
  const MixerShape mixer = exchanged_mixer(shape);
  const double e = shape.element;
  if (mixer.kind == MixerKind::mamba1) {
    return kept_by_recurrence(mixer, e, operand);
  }
  double elements = as_real(mixer.inputs() + mixer.low_rank_outputs() + mixer.values());
  const double bytes =
      operand * as_real(mixer.values() + 2 * mixer.low_rank()) + 4 * as_real(mixer.heads);
  if (has_delta_rule(mixer)) {
    const int inverses = mixer.kind == MixerKind::kimi_delta ? 2 : 1;
    elements += as_real(2 * mixer.spread_keys() + mixer.values());
    elements += inverses * as_real(mixer.heads * mixer.chunk);
  } else if (mixer.kind == MixerKind::lightning) {
    elements += as_real(2 * mixer.keys() + 2 * mixer.values());  // activated, and the norm's output
  }
  return e * elements + bytes;
}

double mixer_gradients(const RankShape& shape) {
  const MixerShape mixer = exchanged_mixer(shape);
  if (mixer.kind == MixerKind::mamba1) {  // of z and x, the output, the convolution's and the steps
    return shape.element * as_real(mixer.inputs() + 3 * mixer.values());
  }
  const double elements = as_real(mixer.inputs() + mixer.low_rank_outputs() + 2 * mixer.values()) +
                          2 * states_a_token(mixer);
  return shape.element * elements;
}

}  // namespace headway::workload
