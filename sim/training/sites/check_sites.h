// Rules of clusters that are spread over several sites.
#pragma once

#include "sim/training/scenario.h"
#include "sim/workload/violation.h"

namespace headway::training {

/// Rules that hold whatever the layout.
workload::Violations site_violations(const Scenario& scenario);

/// Rules of a layout: every site holds whole replicas, and groups that are not data-parallel lie on
/// one site.
workload::Violations site_layout_violations(const Scenario& scenario,
                                            const workload::ParallelismSpec& layout,
                                            int data_parallel);

}  // namespace headway::training
