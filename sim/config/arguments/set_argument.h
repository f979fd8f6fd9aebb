// `--set a.b=c`: changes to the tree, before anything is read from it.
#pragma once

#include "sim/config/resolve.h"
#include "sim/config/spec_type.h"
#include "sim/config/tree.h"

namespace headway::config {

/// When a change can be made.
enum class SetPhase {
  before_use,  ///< paths without an index: they become overrides, so that `a.use=name` works
  after_use,   ///< paths with an index, as in hazards[2].mtbf: the list may come from a used file
};

/// Applies the changes of `state.options.set` that belong to `phase`. Where `type` has a part that
/// entries of the catalogue describe, a text for it names one: `cluster.node=x` is
/// `cluster.node.use=x`. Faults become complaints at "argument --set a.b=c".
void apply_set_arguments(LoadState& state, Node& root, const SpecType& type, SetPhase phase);

}  // namespace headway::config
