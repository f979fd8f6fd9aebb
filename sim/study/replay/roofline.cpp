#include "sim/study/replay/roofline.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/training/step/step_clock.h"

namespace headway::study {

std::optional<std::string> time_by_roofline(import::ChakraJob& job, const gpu::GpuSpec& gpu) {
  const core::FlopsPerSecond products =
      std::max(gpu.peak.bf16, gpu.peak.fp16) * gpu.sustained.gemm_16bit;
  const core::BytesPerSecond memory = gpu.memory_bandwidth * gpu.sustained.memory;
  std::int64_t timed = 0;
  std::int64_t nodes = 0;
  for (import::ChakraTrace& trace : job.traces) {
    nodes += static_cast<std::int64_t>(trace.nodes.size());
    for (import::ChakraNode& node : trace.nodes) {
      if (node.lacks_time()) {
        const core::Flops work(static_cast<double>(*node.operations));
        const core::Bytes traffic(static_cast<double>(node.tensor_bytes.value_or(0)));
        node.duration_ps =
            training::step_ticks(std::max(work / products, traffic / memory), node.name);
        ++timed;
      }
    }
  }
  if (timed == 0) {
    return std::nullopt;
  }
  return fmt::format(
      "{} of {} nodes have num_ops and no duration; they are timed by the roofline of {}: {} "
      "TFLOP/s, {} TB/s",
      timed, nodes, gpu.name, core::number(products.si() / 1e12), core::number(memory.si() / 1e12));
}

}  // namespace headway::study
