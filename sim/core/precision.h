// Number formats of matrix products, shared by the rooms that count bytes and the rooms that time
// kernels.
#pragma once

#include "sim/core/fields.h"

namespace headway::core {

/// The operand format of the matrix products of a training run, which are added up in fp32.
enum class Precision { fp32, tf32, bf16, fp16, fp8, mxfp8, nvfp4 };

constexpr auto enum_words(Precision) {
  using E = EnumWord<Precision>;
  return std::array{E{Precision::fp32, "fp32"},  E{Precision::tf32, "tf32"},
                    E{Precision::bf16, "bf16"},  E{Precision::fp16, "fp16"},
                    E{Precision::fp8, "fp8"},    E{Precision::mxfp8, "mxfp8"},
                    E{Precision::nvfp4, "nvfp4"}};
}

}  // namespace headway::core
