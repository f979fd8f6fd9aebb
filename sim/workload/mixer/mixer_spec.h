// What stands beside softmax attention in hybrid models: state-space and linear-attention mixers,
// and the pattern in which layers have them.
#pragma once

#include <array>
#include <cstdint>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"

namespace headway::workload {

/// How a layer without softmax attention carries tokens forward: a state of key_dim x value_dim a
/// head, decayed and written by every token.
enum class MixerKind { mamba1, mamba2, gated_delta, kimi_delta, lightning };
constexpr auto enum_words(MixerKind) {
  using E = core::EnumWord<MixerKind>;
  return std::array{E{MixerKind::mamba1, "mamba1"}, E{MixerKind::mamba2, "mamba2"},
                    E{MixerKind::gated_delta, "gated_delta"},
                    E{MixerKind::kimi_delta, "kimi_delta"}, E{MixerKind::lightning, "lightning"}};
}

/// A linear-attention or state-space mixer. Sources: Gu and Dao 2023 (arXiv 2312.00752, Mamba: here
/// a head is a channel, `value_dim` 1, and all share one B and C), Dao and Gu 2024 (arXiv
/// 2405.21060, Mamba-2), Yang et al. 2024 (arXiv 2412.06464, gated delta networks), Kimi Linear
/// (arXiv 2510.26692), MiniMax-01 (arXiv 2501.08313, lightning attention).
struct MixerSpec {
  MixerKind kind = MixerKind::mamba2;
  int heads = 0;
  int key_heads = 0;
  int key_dim = 128;
  int value_dim = 128;
  int convolution = 4;
  int chunk = 64;
  int step_rank = 0;
  bool norm = true;
  template <class V>
  void fields(V& v) {
    v.required("kind", kind,
               "mamba1 (selective scan, a state a channel), mamba2 (state-space duality), "
               "gated_delta (gated delta network), kimi_delta (a "
               "decay for each channel), lightning (fixed decays, no convolution).");
    v.required("heads", heads,
               "Heads; each has a state of key_dim x value_dim (mamba1: channels, value_dim 1).",
               core::from_one_to_64k);
    v.optional("key_heads", key_heads,
               "Heads of keys and queries (mamba2: groups of B and C), each shared by equally many "
               "heads; 0: as many as heads (mamba1: one).",
               core::up_to_64k);
    v.required("key_dim", key_dim, "Width of a key (mamba1, mamba2: the state size).",
               core::from_one_to_64k);
    v.required("value_dim", value_dim, "Width of a value (mamba2: the head dimension).",
               core::from_one_to_64k);
    v.optional("convolution", convolution,
               "Tokens that the causal convolution before the state sees; 0: there is none.",
               core::up_to_64);
    v.optional("chunk", chunk,
               "Tokens of a chunk: inside one tokens meet as in attention, between chunks states "
               "are passed on (mamba1 has none).",
               core::from_one_to_64k);
    v.optional("step_rank", step_rank,
               "mamba1: width from which the time steps of all channels are made (dt_rank).",
               core::up_to_64k);
    v.optional("norm", norm,
               "A norm of the mixer's output before its projection (mamba1: of the step's rank, B "
               "and C, as Jamba has them).");
  }
  bool operator==(const MixerSpec&) const = default;
};

/// What one layer consists of. The first three have an MLP, or the experts of a mixture, as a
/// second half; the others are one half alone.
enum class LayerContent {
  attention,
  mixer,
  both,
  attention_only,
  mixer_only,
  mlp_only,
  experts_only
};
constexpr auto enum_words(LayerContent) {
  using L = LayerContent;
  using E = core::EnumWord<L>;
  return std::array{E{L::attention, "attention"},
                    E{L::mixer, "mixer"},
                    E{L::both, "both"},
                    E{L::attention_only, "attention_only"},
                    E{L::mixer_only, "mixer_only"},
                    E{L::mlp_only, "mlp_only"},
                    E{L::experts_only, "experts_only"}};
}

}  // namespace headway::workload
