// What a training software does not start of a layout, though it has each part of it.
#pragma once

#include <optional>
#include <string>

#include "sim/training/scenario.h"
#include "sim/workload/violation.h"

namespace headway::training {

/// Rules that are asked: all, or those that name shardings, or those that name none.
enum class RefusalsOf { all, shardings, other_than_shardings };

/// The first combination of `training.framework.refuses` that a layout is; nothing: it starts.
/// @param micro_batches  of a replica and step
std::optional<workload::Violation> refusal(const workload::FrameworkSpec& framework,
                                           const Scenario& scenario,
                                           const workload::ParallelismSpec& layout,
                                           int micro_batches,
                                           RefusalsOf asked = RefusalsOf::all);

/// The same of the scenario's own layout, whose degrees may not agree.
std::optional<workload::Violation> refusal(const workload::FrameworkSpec& framework,
                                           const Scenario& scenario);

}  // namespace headway::training
