#include "sim/workload/schedule/pipeline_blocks.h"

#include <utility>

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/teacher/teacher.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;

/// Whether tensor ranks hold the message in shares: tokens of images each has whole.
bool held_in_shares(const BlockInput& input, Message message) {
  return message == Message::activations && input.shape.gathers;
}

/// Whether each tensor rank sends its share of the message.
bool splits(const BlockInput& input, Message message) {
  return held_in_shares(input, message) || input.training.framework.scatter_gather_p2p;
}

/// Of all shares together.
Bytes whole_message(const BlockInput& input, Message message) {
  return Bytes(input.shape.element *
               (message == Message::images
                    ? image_elements(input.model, input.training, input.parallelism)
                    : message_elements(input.training, input.shape)));
}

Operation transfer(const BlockInput& input,
                   OperationKind kind,
                   int peer_stage,
                   Group group,
                   int channel,
                   Message message) {
  const Bytes stream = whole_message(input, message);
  Operation operation;
  operation.kind = kind;
  operation.activity = Activity::pipeline_p2p;
  operation.name = kind == OperationKind::send ? "send" : "receive";
  operation.group = group;
  operation.collective = core::CollectiveKind::send_receive;
  operation.bytes = splits(input, message) ? stream / input.shape.tensor : stream;
  operation.peer_stage = peer_stage;
  operation.channel = channel;
  return operation;
}

}  // namespace

Block receive_block(const BlockInput& input, int from, Group group, int channel, Message message) {
  BlockWriter writer("receive");
  writer.add(transfer(input, OperationKind::receive, from, group, channel, message));
  writer.wait(input.training.framework.message_overhead, Activity::pipeline_p2p,
              "message overhead");
  if (input.shape.tensor > 1 && !held_in_shares(input, message) && splits(input, message)) {
    writer.collective(core::CollectiveKind::all_gather, Group::tensor, Activity::pipeline_p2p,
                      whole_message(input, message), "gather received");
  }
  return writer.finish();
}

Block send_block(const BlockInput& input, int to, Group group, int channel, Message message) {
  BlockWriter writer("send");
  const int sent = writer.add(transfer(input, OperationKind::send, to, group, channel, message));
  if (!input.training.framework.pipeline_overlap) {
    writer.join(sent);
  }
  return writer.finish(Activity::pipeline_p2p);
}

}  // namespace headway::workload
