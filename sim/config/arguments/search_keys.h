// Keys of `search:` and `sweep:` that lead to fields of the scenario: whole paths
// (`cluster.node: [dgx-h100, dgx-b200]`) or nested as every other block is
// (`cluster: {node: [dgx-h100, dgx-b200]}`).
#pragma once

#include <string_view>
#include <vector>

#include "sim/config/spec_type.h"
#include "sim/config/tree.h"

namespace headway::config {

/// A block of a scenario that has such keys.
struct PathBlock {
  std::string_view key;   ///< of the block
  std::string_view list;  ///< of it: what each such key is an axis of
};

/// The block named `key`, or nullptr.
const PathBlock* find_path_block(std::string_view key);

/// The fields of the block, by the scenario's own field list.
const std::vector<Field>& fields_of(const PathBlock& block, const SpecType& scenario);

/// The list of `search` that a path is short for, as `nodes` of `cluster.nodes`; empty: there is
/// none.
std::string_view own_search_list(const PathBlock& block, std::string_view path);

/// Makes whole paths of nested keys, and `nodes` and its like of the paths that `search` has a list
/// of its own for, so that files laid over each other meet in one spelling. What leads to no field
/// is complained about.
/// @param root  the tree of one scenario file, before its `use:` is resolved
void join_path_keys(Node& root, const SpecType& scenario, Complaints& complaints);

/// Moves the paths to `over` of `search` and `grid` of `sweep`, an axis each. What the command line
/// lists, varies or holds stands in place of what the file lists.
/// @param root  the tree of a scenario, resolved
void gather_path_axes(Node& root, const SpecType& scenario);

}  // namespace headway::config
