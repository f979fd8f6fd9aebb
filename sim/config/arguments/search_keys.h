// Keys of `search:` that are paths of the scenario, such as `cluster.node: [dgx-h100, dgx-b200]`.
#pragma once

#include "sim/config/tree.h"

namespace headway::config {

/// Writes them as the fields that they are short for: `nodes` and its like where `search` has such
/// a list, `spares: auto`, else an axis of `over`.
/// @param root  the tree of a scenario; other trees are left as they are
void expand_search_keys(Node& root, Complaints& complaints);

}  // namespace headway::config
