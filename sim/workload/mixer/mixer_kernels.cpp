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

/// Bytes and kernels of a scan, forward.
struct ScanBytes {
  double a_token = 0;
  int kernels = 1;
};
ScanBytes scan_bytes(const MixerShape& m, double e) {
  const double k = as_real(m.keys());
  const double d = as_real(m.spread_keys());
  const double v = as_real(m.values());
  const double states = states_a_token(m);
  const double pairs = as_real(m.heads * m.chunk);
  switch (m.kind) {
    case MixerKind::mamba2:
      return {e * (3 * v + 4 * k) + 8 * as_real(m.key_heads * m.chunk) + (8 + 2 * e) * states, 5};
    case MixerKind::gated_delta:
      return {e * (7 * d + 6 * v + 2 * pairs + 2 * states) + 8 * pairs, 5};
    case MixerKind::kimi_delta:
      return {e * (9 * d + 6 * v + 5 * pairs + 2 * states) + 16 * d, 5};
    case MixerKind::lightning:
      return {e * (4 * k + 2 * v) + 12 * states, 3};
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
  for (Linear* linear : {&linears.in, &linears.out, &linears.down, &linears.up}) {
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
    kernels.push_back(pass(shape, "mixer activation", arrays, 2 * mixer.keys() + mixer.values()));
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
  if (mixer.kind != MixerKind::lightning) {
    kernels.push_back(pass(shape, "mixer decay", (backward ? 2 * e : e) + 4, decays));
  }
  return kernels;
}

Kernel scan_kernel(const RankShape& shape, bool backward) {
  const MixerShape mixer = exchanged_mixer(shape);
  const ScanBytes bytes = scan_bytes(mixer, shape.element);
  const double tokens = as_real(shape.tokens);
  const double work =
      backward ? 2 * scan_flops(mixer) + remade_scan_flops(mixer) : scan_flops(mixer);
  Kernel kernel;
  kernel.kind = core::KernelKind::scan;
  kernel.name = backward ? "mixer scan backward" : "mixer scan";
  kernel.precision = shape.wide;
  kernel.count = backward ? 3 * bytes.kernels : bytes.kernels;
  kernel.work = core::Flops(work * tokens / as_real(kernel.count));
  kernel.traffic = core::Bytes((backward ? 3 : 1) * bytes.a_token * tokens / as_real(kernel.count));
  return kernel;
}

Kernel gated_norm(const RankShape& shape, bool backward) {
  return pass(shape, "mixer norm and gate", (backward ? 5 : 3) * shape.element,
              shape.mixer->values());
}

double kept_by_mixer(const RankShape& shape, double operand) {
  const MixerShape mixer = exchanged_mixer(shape);
  const double e = shape.element;
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
  const double elements = as_real(mixer.inputs() + mixer.low_rank_outputs() + 2 * mixer.values()) +
                          2 * states_a_token(mixer);
  return shape.element * elements;
}

}  // namespace headway::workload
