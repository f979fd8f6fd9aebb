// Rules of jobs on nodes of several kinds.
#pragma once

#include "sim/training/check.h"
#include "sim/training/scenario.h"
#include "sim/workload/violation.h"

namespace headway::training {

/// Rules that hold whatever the layout.
workload::Violations unequal_violations(const Scenario& scenario);

/// Rules of a layout: the ranks of a stage of a replica, which compute every layer together, are on
/// one kind of node.
workload::Violations unequal_layout_violations(const Scenario& scenario,
                                               const workload::ParallelismSpec& layout);

/// What is not modelled on nodes of several kinds.
/// @param what  "a drill on"
/// @throws core::Error at `cluster.other_nodes` if there are several
void refuse_unequal(const CheckedScenario& checked, std::string_view what);

}  // namespace headway::training
