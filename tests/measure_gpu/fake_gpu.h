// A pretended GPU for tests: the CUDA runtime's calls on ordinary memory, kernels run by the CPU
// reference, and a cuBLASLt that multiplies. It has no speed; it shows whether the measuring
// program asks for the right things.
#pragma once

#include "calibrate/measure/cuda/cublas_lt.h"

namespace headway::measure::fake {

/// Functions that compute what cuBLASLt's documentation says, on the pretended GPU's memory.
CublasLt cublas_lt();

/// From now on every product's result is off by `factor`: what a broken library would do.
void spoil_products(float factor);

/// GPUs that cudaGetDeviceCount finds; 0: cudaErrorNoDevice.
void set_device_count(int count);

/// Bytes allocated and not yet freed.
std::size_t bytes_in_use();

}  // namespace headway::measure::fake
