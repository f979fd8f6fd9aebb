// What a kernel does, by the name that its library gave it.
#pragma once

#include <string_view>

#include "sim/core/profile/gpu_work.h"

namespace headway::import {

/// NCCL's and RCCL's kernels by the collective in their names, products and attention by the words
/// that their libraries use; all else is other computation, but copies and fills.
/// @param collective  what torch.distributed calls the operation ("_allgather_base"), which tells
///                    more than the kernel: an exchange of all with all is one of sends and
///                    receives; empty where the profiler does not say
core::GpuWork work_of_kernel(std::string_view name, std::string_view collective = {});

}  // namespace headway::import
