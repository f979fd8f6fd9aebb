// How long a computation takes of which a trace says only what it works.
#pragma once

#include <optional>
#include <string>

#include "sim/gpu/spec.h"
#include "sim/import/chakra/chakra_job.h"

namespace headway::study {

/// Gives nodes with FLOPs and no duration
///     T = max(num_ops / (peak x share of products), tensor_size / (bandwidth x share of memory))
/// in 16 bits, both shares as the catalogue has them for the GPU. Source: Williams, Waterman,
/// Patterson, CACM 2009 (roofline).
/// @returns  what was taken, in a sentence; nothing if all nodes have a duration
std::optional<std::string> time_by_roofline(import::ChakraJob& job, const gpu::GpuSpec& gpu);

}  // namespace headway::study
