// The step with one input changed at a time.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/core/error.h"
#include "sim/training/explain/explain.h"
#include "sim/training/step/step.h"

namespace headway::training {

namespace {

using core::Seconds;

/// An input, the fields it stands for, and how it is scaled.
struct Input {
  const char* name;
  const char* fields;
  void (*scale)(Scenario& scenario, double factor);
};

void scale_matrix_units(Scenario& s, double factor) {
  auto& peak = s.cluster.node.gpu.peak;
  for (auto* rate : {&peak.fp32, &peak.tf32, &peak.bf16, &peak.fp16, &peak.fp8, &peak.fp4}) {
    *rate *= factor;
  }
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

void scale_network(Scenario& s, double factor) {
  s.cluster.node.nic.bandwidth *= factor;
  s.cluster.fabric.link_bandwidth *= factor;
}

void scale_latency(Scenario& s, double factor) {
  s.cluster.node.nic.latency *= factor;
  s.cluster.fabric.link_latency *= factor;
  s.cluster.node.scale_up.latency *= factor;
}

void scale_host(Scenario& s, double factor) {
  workload::HostSpec& host = s.training.framework.host;
  for (Seconds* time :
       {&host.launch, &host.loop_launch, &host.collective, &host.layer, &host.token_counts}) {
    *time *= factor;
  }
}

constexpr Input kInputs[] = {
    {"matrix units", "cluster.node.gpu.peak", scale_matrix_units},
    {"memory bandwidth", "cluster.node.gpu.memory_bandwidth",
     [](Scenario& s, double factor) { s.cluster.node.gpu.memory_bandwidth *= factor; }},
    {"attention kernels", "sustained.attention_*", scale_attention},
    {"NVLink", "cluster.node.scale_up.bandwidth",
     [](Scenario& s, double factor) { s.cluster.node.scale_up.bandwidth *= factor; }},
    {"network bandwidth", "cluster.node.nic.bandwidth, cluster.fabric.link_bandwidth",
     scale_network},
    {"network latency", "nic.latency, fabric.link_latency, scale_up.latency", scale_latency},
    {"gaps between kernels", "cluster.node.gpu.kernel_launch",
     [](Scenario& s, double factor) { s.cluster.node.gpu.kernel_launch *= factor; }},
    {"CPU time", "training.framework.host", scale_host},
};

constexpr Input kHostInput{"way to the host",
                           "cluster.node.gpu.host_bandwidth, cluster.node.host_memory_bandwidth",
                           [](Scenario& s, double factor) {
                             s.cluster.node.gpu.host_bandwidth *= factor;
                             s.cluster.node.host_memory_bandwidth *= factor;
                           }};

/// @returns nothing where the changed machine contradicts a measured curve
std::optional<Seconds> step_with(const Scenario& scenario, const Input& input, double factor) {
  Scenario changed = scenario;
  input.scale(changed, factor);
  for (OtherNodesSpec& other : changed.cluster.other_nodes) {
    Scenario alone = scenario;
    alone.cluster.node = other.node;
    input.scale(alone, factor);
    other.node = alone.cluster.node;
  }
  try {
    return simulate_step(check(std::move(changed)), {.trace = false, .hash_draws = 0}).time;
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

}  // namespace

Seconds Sensitivity::span(Seconds step) const {
  const auto distance = [&](const std::optional<Seconds>& time) {
    return time ? std::abs((*time - step).si()) : 0.0;
  };
  return Seconds(std::max(distance(lower), distance(higher)));
}

std::vector<Sensitivity> step_sensitivities(const CheckedScenario& checked,
                                            Seconds step,
                                            double change) {
  std::vector<Input> inputs(std::begin(kInputs), std::end(kInputs));
  if (checked.scenario().parallelism.offload != workload::Offload::none) {
    inputs.push_back(kHostInput);
  }
  std::vector<Sensitivity> list;
  for (const Input& input : inputs) {
    list.push_back({input.name, input.fields, step_with(checked.scenario(), input, 1 - change),
                    step_with(checked.scenario(), input, 1 + change), change});
  }
  std::stable_sort(list.begin(), list.end(), [&](const Sensitivity& a, const Sensitivity& b) {
    return a.span(step) > b.span(step);
  });
  return list;
}

}  // namespace headway::training
