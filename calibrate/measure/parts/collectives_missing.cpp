// Built where NCCL's header is not found.
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

void measure_collectives(const GpuBench& gpu) {
  gpu.bench.left_out("collectives", "this program was built without NCCL's header (nccl.h)");
}

}  // namespace headway::measure
