// Blocks that pass activations and gradients between pipeline stages.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Waits for the message of `channel` from stage `from`; where each tensor rank got a share,
/// gathers the whole.
Block receive_block(const BlockInput& input, int from, Group group, int channel);

/// Sends to stage `to`; without `pipeline_overlap` the sender waits until the message has left.
Block send_block(const BlockInput& input, int to, Group group, int channel);

}  // namespace headway::workload
