// Shape dependence of kernels, read off measured tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/kernel.h"
#include "sim/gpu/spec.h"

namespace headway::gpu {

/// Rate of one m x n x k product / rate of large products: multilinear in the logarithms of shape
/// and share; outside the grid the nearest edge. Fp16 reads the bf16 table, mxfp8 that of fp8.
/// @returns nothing where there is no table for the precision
std::optional<double> gemm_table_share(
    const GpuSpec& gpu, core::Precision precision, std::int64_t m, std::int64_t n, std::int64_t k);

/// Rate of causal attention / its rate at 8,192 tokens, 32 heads of width 128. Widths between
/// tables read the nearest below.
/// @param heads  query heads x sequences of the kernel
/// @returns nothing where there is no table
std::optional<double> attention_table_share(const GpuSpec& gpu,
                                            std::int64_t sequence,
                                            std::int64_t heads,
                                            std::int64_t head_dim);

/// What is wrong with a GPU's tables, in words; empty if they can be read.
std::string table_problem(const KernelTables& tables);

}  // namespace headway::gpu
