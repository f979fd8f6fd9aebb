#include "sim/workload/mixer/mixer_shape.h"

#include <algorithm>

namespace headway::workload {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

/// Products inside a chunk and with states, of one token and all heads.
struct ScanParts {
  double scores = 0;   ///< queries with keys of the chunk
  double inner = 0;    ///< what they weigh
  double outer = 0;    ///< queries with states
  double update = 0;   ///< keys and values into states
  double rule = 0;     ///< of the delta rule alone: corrected keys and values
  double inverse = 0;  ///< of the delta rule alone: keys with keys, and their triangular inverse
};

ScanParts scan_parts(const MixerShape& s) {
  const double q = real(s.chunk);
  if (s.kind == MixerKind::mamba1) {
    ScanParts parts;
    parts.outer = 2 * real(s.states());
    parts.update = 7 * real(s.states());
    return parts;
  }
  const bool delta = s.kind == MixerKind::gated_delta || s.kind == MixerKind::kimi_delta;
  ScanParts parts;
  const double keys = delta ? real(s.spread_keys()) : real(s.keys());
  parts.scores = 2 * q * keys;
  parts.inner = 2 * q * real(s.values());
  parts.outer = parts.update = 2 * real(s.states());
  if (delta) {
    // The inverse times keys and times values; states times corrected keys.
    parts.rule = 2 * q * (keys + real(s.values())) + 2 * real(s.states());
    parts.inverse = 2 * q * keys + real(s.heads) * q * q / 3;
  }
  return parts;
}

}  // namespace

std::int64_t MixerShape::inputs() const {
  switch (kind) {
    case MixerKind::mamba1:
      return 2 * values();
    case MixerKind::mamba2:
      return 2 * values() + 2 * keys() + heads;
    case MixerKind::gated_delta:
      return 2 * keys() + 2 * values() + 2 * heads;
    case MixerKind::kimi_delta:
      return 2 * keys() + values() + heads;
    case MixerKind::lightning:
      return 2 * keys() + 2 * values();
  }
  return 0;
}

int key_heads(const MixerSpec& mixer) {
  if (mixer.kind == MixerKind::mamba1) {
    return 1;
  }
  return mixer.key_heads > 0 ? mixer.key_heads : mixer.heads;
}

MixerShape mixer_shape(const MixerSpec& mixer, int tensor, int sequence) {
  MixerShape shape;
  shape.kind = mixer.kind;
  shape.heads = std::max(1, mixer.heads / tensor);
  shape.key_heads = std::max(1, key_heads(mixer) / tensor);
  shape.key_dim = mixer.key_dim;
  shape.value_dim = mixer.value_dim;
  shape.convolution = mixer.convolution;
  shape.chunk = std::min(mixer.chunk, sequence);
  shape.step_rank = mixer.step_rank;
  shape.norm = mixer.norm;
  return shape;
}

double mixer_matrices(const MixerShape& shape, int hidden) {
  const double ranks = real(shape.low_rank());
  return hidden * (real(shape.inputs()) + 2 * ranks + real(shape.values())) +
         ranks * real(shape.low_rank_outputs()) +
         real(shape.values() * (shape.selection() + shape.step_rank));
}

double split_mixer_parameters(const MixerShape& shape, int hidden) {
  double total = hidden * real(shape.inputs() + shape.values()) +
                 real(shape.low_rank() * shape.low_rank_outputs()) +
                 real(shape.convolution * shape.channels());
  switch (shape.kind) {
    case MixerKind::mamba1:
      total += real(shape.values() * (shape.selection() + shape.step_rank)) +
               real(shape.channels() + 2 * shape.values() + shape.states());
      break;
    case MixerKind::mamba2:
      total += real(shape.channels() + 3 * shape.heads) + (shape.norm ? real(shape.values()) : 0);
      break;
    case MixerKind::gated_delta:
      total += real(2 * shape.heads);
      break;
    case MixerKind::kimi_delta:
      total += real(shape.heads + shape.keys());
      break;
    case MixerKind::lightning:
      total += shape.norm ? real(shape.values()) : 0;
      break;
  }
  return total;
}

double whole_mixer_parameters(const MixerShape& shape, int hidden) {
  const bool head_norm =
      shape.norm && (shape.kind == MixerKind::gated_delta || shape.kind == MixerKind::kimi_delta);
  return 2.0 * hidden * real(shape.low_rank()) + (head_norm ? real(shape.value_dim) : 0) +
         (shape.norm ? real(shape.selection()) : 0);
}

double scan_flops(const MixerShape& shape) {
  const ScanParts parts = scan_parts(shape);
  return parts.scores + parts.inner + parts.outer + parts.update + parts.rule + parts.inverse;
}

double remade_scan_flops(const MixerShape& shape) {
  const ScanParts parts = scan_parts(shape);
  return parts.scores + parts.update + parts.rule;
}

}  // namespace headway::workload
