// Bytes of what a run holds and sends, by the format of its matrix products.
#pragma once

#include "sim/core/precision.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Bytes of one element of a matrix operand: 4 (fp32, tf32), 2, 1 (fp8; mxfp8 with its scales
/// 33/32) or 9/16 (nvfp4).
double operand_bytes(core::Precision precision);

/// Whether linear layers run in a format narrower than bf16, with casts around them.
bool narrow(core::Precision precision);

/// Whether nothing of a run is narrower than 32 bits: fp32, and tf32, which stores fp32 and rounds
/// inside the matrix units alone.
bool full_precision(core::Precision precision);

/// Bytes of a weight as it is multiplied, of an activation between kernels, of what is sent of
/// them: 4 in full precision, else 2.
double element_bytes(core::Precision precision);

/// Whether attention runs in one kernel that keeps scores off memory. FlashAttention takes fp16,
/// bf16 and fp8 operands only (Dao-AILab/flash-attention, README): in full precision scores reach
/// memory.
bool fuses_attention(const TrainingSpec& training);

/// The recipe with the software's bytes as its format has them: in full precision gradients are
/// held and reduced and tokens sent in 4 bytes, and attention is not fused.
TrainingSpec in_its_format(const TrainingSpec& training);

}  // namespace headway::workload
