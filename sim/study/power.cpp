#include "sim/study/power.h"

#include <algorithm>
#include <cmath>

#include "sim/training/explain/power_trace.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::study {

PowerReport power_report(const training::CheckedScenario& checked, core::Seconds step, bool fold) {
  const training::Scenario& s = checked.scenario();
  const training::PowerTrace trace = training::power_trace(checked, fold);
  const auto& node = s.cluster.node;
  PowerReport power;
  power.gpus = trace.gpus;
  power.rack = trace.rack;
  power.rack_standing = trace.rack_standing;
  power.window = trace.window;
  power.standing = training::machine_power(s.cluster, training::spare_nodes(s), 0).standing;
  core::Watts idle;
  for (int kind = 0; kind < training::node_kinds(s.cluster); ++kind) {
    const auto& of_kind = training::node_of_kind(s.cluster, kind);
    idle += static_cast<double>(training::nodes_of_kind(s.cluster, kind) * of_kind.gpus) *
            of_kind.gpu.idle_power;
  }
  power.beside = power.standing - idle;
  const auto [least, peak] = std::minmax_element(trace.gpus.begin(), trace.gpus.end());
  power.least = *least + power.beside;
  power.peak = *peak + power.beside;
  core::Watts sum, before = trace.gpus.back();
  for (const core::Watts now : trace.gpus) {
    sum += now;
    power.ramp = std::max(power.ramp, std::abs((now - before).si()) / trace.window.si());
    before = now;
  }
  const core::Watts drawn = sum / static_cast<double>(trace.gpus.size()) + power.beside;
  const double share = std::min(1.0, trace.step / step);
  power.mean = drawn * share + power.standing * (1 - share);
  power.pue = training::pue_of(s);
  power.sites = s.cluster.sites ? s.cluster.sites->count : 1;
  power.limits = training::power_fit(s);
  power.rack_of_node = static_cast<double>(node.gpus) * node.gpu.power + node.host_power;
  power.joules_per_token = (power.mean * step).si() * power.pue / checked.tokens_per_step();
  return power;
}

}  // namespace headway::study
