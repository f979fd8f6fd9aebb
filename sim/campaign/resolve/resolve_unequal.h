// What a replica that lost a part does until it is mended, as numbers of the job.
#pragma once

#include "sim/campaign/resolve/resolve.h"

namespace headway::campaign {

/// Where broken replicas narrow or reroute (`run.recovery.elastic.broken_replica`): simulates what
/// is left of one, and says what was found.
/// @param healthy  the healthy step
void set_unequal(const training::CheckedScenario& checked,
                 const storage::ShardLayout& layout,
                 core::Seconds healthy,
                 ResolvedJob& resolved);

}  // namespace headway::campaign
