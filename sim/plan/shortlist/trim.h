// Recompute of a short list cut back to what memory asks for.
#pragma once

#include <vector>

#include "sim/plan/shortlist/shortlist.h"
#include "sim/plan/space.h"

namespace headway::plan {

/// Layouts in which every layer recomputes, or parts of it, recompute as few layers of each stage
/// as let them fit (`Fit::fewest_recomputed`), where the search leaves recompute open: each is as
/// fast as before or faster. They are timed again and sorted, fastest first.
void trim_recompute(const training::Scenario& scenario,
                    const Space& space,
                    double headroom,
                    std::vector<Estimate>& layouts);

}  // namespace headway::plan
