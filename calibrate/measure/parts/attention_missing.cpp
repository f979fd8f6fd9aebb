// Built where cuDNN's headers are not found.
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

void measure_attention(const GpuBench& gpu) {
  gpu.bench.left_out("attention",
                     "this program was built without cudnn.h or cudnn_frontend.h (scripts/setup "
                     "fetches the latter)");
}

}  // namespace headway::measure
