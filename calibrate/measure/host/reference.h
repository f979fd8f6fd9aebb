// The kernels of kernels.h on the CPU: the same arrays, the same element functions, the same order
// of merging within a row. GPU results are compared with these; tests compare these with plain
// formulas.
#pragma once

#include "calibrate/measure/cuda/kernels.h"

namespace headway::measure::reference {

void random_fill(void* array, Format format, std::uint64_t count, std::uint64_t seed);
void triad(float* a, const float* b, const float* c, float scale, std::uint64_t count);
void rms_norm(const RmsNormArrays& arrays);
void swiglu(std::uint16_t* out,
            const std::uint16_t* gate,
            const std::uint16_t* up,
            std::uint64_t count);
void swiglu_gradient(const SwigluGradientArrays& arrays);
void cross_entropy(const CrossEntropyArrays& arrays);
void adam(const AdamArrays& arrays, const AdamStep& step);

}  // namespace headway::measure::reference
