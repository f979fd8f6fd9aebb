// Keys of `search:` that are paths of the scenario, such as `cluster.node: [dgx-h100, dgx-b200]`.
#pragma once

#include <string_view>

#include "sim/config/tree.h"

namespace headway::config {

/// The list of `search` that a path is short for, as `nodes` of `cluster.nodes`; empty: there is
/// none.
std::string_view own_search_list(std::string_view path);

/// Writes them as the fields that they are short for: `nodes` and its like where `search` has such
/// a list, `spares: auto`, else an axis of `over`.
/// @param root  the tree of a scenario; other trees are left as they are
void expand_search_keys(Node& root, Complaints& complaints);

}  // namespace headway::config
