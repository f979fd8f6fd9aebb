// Puts measured figures where the catalogue's stood.
#include "sim/training/calibration_spec.h"
#include "sim/training/cluster_spec.h"

namespace headway::training {

void apply(const CalibrationSpec& calibration, ClusterSpec& cluster) {
  auto& gpu = cluster.node.gpu;
  gpu.kernel_launch = calibration.kernel_launch.value_or(gpu.kernel_launch);
  gpu.host_bandwidth = calibration.host_bandwidth.value_or(gpu.host_bandwidth);
  if (calibration.storage && cluster.storage) {
    const auto& measured = *calibration.storage;
    auto& storage = *cluster.storage;
    storage.client_write_bandwidth =
        measured.client_write_bandwidth.value_or(storage.client_write_bandwidth);
    storage.client_read_bandwidth =
        measured.client_read_bandwidth.value_or(storage.client_read_bandwidth);
    storage.latency = measured.latency.value_or(storage.latency);
  }
}

core::Seconds host_launch(const CalibrationSpec& calibration,
                          const workload::FrameworkSpec& framework) {
  const bool eager = framework.elementwise == workload::Elementwise::eager;
  return eager ? calibration.eager_launch.value_or(framework.host.launch) : framework.host.launch;
}

core::Seconds host_layer(const CalibrationSpec& calibration,
                         const workload::FrameworkSpec& framework) {
  const bool compiled = framework.elementwise == workload::Elementwise::compiled;
  return compiled ? calibration.compiled_layer.value_or(framework.host.layer)
                  : framework.host.layer;
}

}  // namespace headway::training
