// How far the fluid network of a step may be from packets: what `headway validate --flow-model`
// found for its fabric, traffic and size of messages, as width of the step's interval.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/core/units.h"
#include "sim/training/scenario.h"
#include "sim/training/step/step_result.h"

namespace headway::validation {

/// One traffic of one size on a fabric of the catalogue, by packets and by fluid flows.
struct FlowModelRow {
  std::string fabric, transport, traffic;
  core::Bytes message;  ///< from one rank to another
  double times = 1;     ///< packets / fluid
  double groups = 1;    ///< that did it at once
};

/// `validation/flow_model.csv` of these configuration folders; none where there is no such file.
/// @throws core::Error if a figure in it cannot be read
std::vector<FlowModelRow> load_flow_model(const std::vector<std::filesystem::path>& roots);

/// A wait of a step for traffic that packets time differently.
struct FlowModelEffect {
  core::Activity activity = core::Activity::other;
  std::string traffic;
  core::Bytes message;
  double times = 1;  ///< packets / fluid, on the line between the sizes of the table
  double share = 0;  ///< of the step that waits for it

  /// What the step's time is multiplied by: times^share, the elasticity of a step in what it waits
  /// for.
  [[nodiscard]] double factor() const;
};

/// Of each cause of waiting the call that packets make longest, and the one that they make
/// shortest; without those that change the step by less than a thousandth. None for a step that was
/// timed by packets, for a fabric or a transport that the table does not have.
std::vector<FlowModelEffect> flow_model_effects(const training::Scenario& scenario,
                                                const training::StepResult& step,
                                                const std::vector<FlowModelRow>& rows);

/// Widens the interval of a step by these effects, upwards by those that make it longer: they are
/// of known direction, so they multiply instead of adding in quadrature. Says so among the
/// assumptions, and warns of traffic that fluid flows miss by more than 10 %.
/// Not of validation rows: what runs were measured at has the network's effects in it, and
/// `step_error` was judged from these misses.
void widen_by_flow_model(const training::Scenario& scenario,
                         const std::vector<FlowModelRow>& rows,
                         training::StepResult& step);

}  // namespace headway::validation
