// Parameters that are trained, and room that those take which are not.
#pragma once

#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"

namespace headway::workload {

/// Bytes of a weight in nf4: 4 bits, an 8-bit scale for each block of 64, and an fp32 one for each
/// 256 of those: 4.127 bits. Source: Dettmers et al. 2023, section 3, double quantization.
inline constexpr double kNf4Bytes = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);

/// What making a weight 16 bits wide moves [B]: the scales of blocks read and written in fp32, then
/// weight and scale read and two bytes written. Source: counted in bitsandbytes, functional.py
/// (dequantize_4bit with nested scales), 2025.
inline constexpr double kDequantiseBytes =
    1.0 / 64 + 4.0 / (64 * 256) + 4.0 / 64 + (0.5 + 4.0 / 64 + 2.0);

/// Parameters of one rank: what is trained of them, and all that lies in memory, adapters included,
/// in elements of the run's format: frozen matrices in nf4 count as the elements that they take.
struct HeldParameters {
  RankParameters stored, trained;
  HeldParameters& operator+=(const HeldParameters& other) {
    stored += other.stored;
    trained += other.trained;
    return *this;
  }
  friend HeldParameters operator*(double times, const HeldParameters& one) {
    return {times * one.stored, times * one.trained};
  }
};

HeldParameters held_by_layer(const ModelSpec& model,
                             const ParallelismSpec& parallelism,
                             const LayerKind& kind);
HeldParameters held_by_embedding(const ModelSpec& model, const ParallelismSpec& parallelism);
/// With multi-token prediction modules.
HeldParameters held_by_head(const ModelSpec& model, const ParallelismSpec& parallelism);
HeldParameters held_by_stage(const ModelSpec& model,
                             const ParallelismSpec& parallelism,
                             const StageLayout& layout,
                             int stage);

/// Parameters of a whole model that are trained; multi-token prediction modules included.
double trained_parameters(const ModelSpec& model);

/// The largest matrix of a layer, made 16 bits wide for a product [B]; nothing without nf4.
double widened_matrix(const ModelSpec& model);

}  // namespace headway::workload
