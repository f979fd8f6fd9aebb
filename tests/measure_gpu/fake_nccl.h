// A pretended NCCL: ranks are threads of one process, a collective happens when all have called it.
#pragma once

#include "calibrate/measure/cuda/nccl_library.h"

namespace headway::measure::fake {

/// Functions that compute what NCCL's documentation says on bf16 and fp32 arrays.
Nccl nccl();

/// From now on the `call`-th collective of rank 1 fails; 0: none does.
void fail_at(int call);

}  // namespace headway::measure::fake
