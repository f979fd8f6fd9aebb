// Blocks that pass activations and gradients between pipeline stages.
#pragma once

#include <cstdint>

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// What stages send: a micro-batch's activations or their gradients; between an encoder's own stage
/// and the next the tokens of its images, or their gradients.
enum class Message : std::uint8_t { activations, images };

/// Waits for the message of `channel` from stage `from`; where each tensor rank got a share,
/// gathers the whole.
Block receive_block(const BlockInput& input, int from, Group group, int channel, Message message);

/// Sends to stage `to`; without `pipeline_overlap` the sender waits until the message has left.
Block send_block(const BlockInput& input, int to, Group group, int channel, Message message);

}  // namespace headway::workload
