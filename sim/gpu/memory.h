// What of a GPU's memory a training job can use.
#pragma once

#include "sim/core/units.h"

namespace headway::gpu {

/// Memory that the job's tensors cannot have.
struct ReservedMemory {
  core::Bytes context;      ///< driver, CUDA context, loaded kernels, library workspaces
  core::Bytes collectives;  ///< buffers of the communicators
  core::Bytes allocator;    ///< fragmentation: reserved by the allocator and not allocated
  [[nodiscard]] core::Bytes total() const { return context + collectives + allocator; }
};

/// @param communicators  process groups of more than one rank this rank is in (tensor, data, ...)
/// @param tensors        peak bytes of the job's own tensors
/// @param slack          held by the allocator and not by tensors / by tensors
ReservedMemory reserved_memory(int communicators, core::Bytes tensors, double slack);

}  // namespace headway::gpu
