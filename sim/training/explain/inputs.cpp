#include "sim/training/explain/inputs.h"

#include <algorithm>

namespace headway::training {

namespace {

using core::Seconds;

void scale_matrix_units(Scenario& s, double factor) {
  auto& peak = s.cluster.node.gpu.peak;
  for (auto* rate : {&peak.fp32, &peak.tf32, &peak.bf16, &peak.fp16, &peak.fp8, &peak.fp4}) {
    *rate *= factor;
  }
}

void scale_memory_bandwidth(Scenario& s, double factor) {
  s.cluster.node.gpu.memory_bandwidth *= factor;
}

/// Shares of a peak stay at or below the peak.
void scale_attention(Scenario& s, double factor) {
  gpu::SustainedShares shares = s.calibration.kernels.value_or(s.cluster.node.gpu.sustained);
  for (double* share :
       {&shares.attention_forward, &shares.attention_backward, &shares.attention_flash2}) {
    *share = std::min(*share * factor, 1.0);
  }
  (s.calibration.kernels ? *s.calibration.kernels : s.cluster.node.gpu.sustained) = shares;
}

void scale_nvlink(Scenario& s, double factor) { s.cluster.node.scale_up.bandwidth *= factor; }

void scale_network(Scenario& s, double factor) {
  s.cluster.node.nic.bandwidth *= factor;
  s.cluster.fabric.link_bandwidth *= factor;
}

void scale_latency(Scenario& s, double factor) {
  s.cluster.node.nic.latency *= factor;
  s.cluster.fabric.link_latency *= factor;
  s.cluster.node.scale_up.latency *= factor;
}

void scale_gaps(Scenario& s, double factor) {
  s.cluster.node.gpu.kernel_launch *= factor;
  if (s.calibration.kernel_launch) {
    *s.calibration.kernel_launch *= factor;
  }
}

void scale_host(Scenario& s, double factor) {
  workload::HostSpec& host = s.training.framework.host;
  for (Seconds* time :
       {&host.launch, &host.loop_launch, &host.collective, &host.layer, &host.token_counts}) {
    *time *= factor;
  }
  for (auto* measured : {&s.calibration.eager_launch, &s.calibration.compiled_layer}) {
    if (*measured) {
      **measured *= factor;
    }
  }
}

void scale_host_way(Scenario& s, double factor) {
  s.cluster.node.gpu.host_bandwidth *= factor;
  s.cluster.node.host_memory_bandwidth *= factor;
  if (s.calibration.host_bandwidth) {
    *s.calibration.host_bandwidth *= factor;
  }
}

void scale_memory(Scenario& s, double factor) { s.cluster.node.gpu.memory *= factor; }

void scale_failures(Scenario& s, double factor) {
  if (!s.run.failures) {
    return;
  }
  for (failures::HazardSpec& hazard : s.run.failures->hazards) {
    if (hazard.mtbf) {
      *hazard.mtbf /= factor;
    }
  }
  if (s.run.failures->observed) {  // of what is counted
    s.run.failures->observed->wall /= factor;
  }
}

}  // namespace

const std::vector<Input>& step_inputs() {
  static const std::vector<Input> inputs{
      {"matrix units", "cluster.node.gpu.peak", scale_matrix_units},
      {"memory bandwidth", "cluster.node.gpu.memory_bandwidth", scale_memory_bandwidth},
      {"attention kernels", "sustained.attention_*", scale_attention},
      {"NVLink", "cluster.node.scale_up.bandwidth", scale_nvlink},
      {"network bandwidth", "cluster.node.nic.bandwidth, cluster.fabric.link_bandwidth",
       scale_network},
      {"network latency", "nic.latency, fabric.link_latency, scale_up.latency", scale_latency},
      {"gaps between kernels", "cluster.node.gpu.kernel_launch", scale_gaps},
      {"CPU time", "training.framework.host", scale_host}};
  return inputs;
}

const Input& host_way_input() {
  static const Input input{"way to the host",
                           "cluster.node.gpu.host_bandwidth, cluster.node.host_memory_bandwidth",
                           scale_host_way};
  return input;
}

const Input& memory_input() {
  static const Input input{"GPU memory", "cluster.node.gpu.memory", scale_memory};
  return input;
}

const Input& failure_input() {
  static const Input input{"failures", "run.failures.hazards[].mtbf, run.failures.observed.wall",
                           scale_failures};
  return input;
}

Scenario scaled(const Scenario& scenario, const Input& input, double factor) {
  Scenario changed = scenario;
  input.scale(changed, factor);
  for (OtherNodesSpec& other : changed.cluster.other_nodes) {
    Scenario alone = scenario;
    alone.cluster.node = other.node;
    input.scale(alone, factor);
    other.node = alone.cluster.node;
  }
  return changed;
}

}  // namespace headway::training
