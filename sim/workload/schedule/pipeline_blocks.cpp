#include "sim/workload/schedule/pipeline_blocks.h"

#include <utility>

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/teacher/teacher.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;

/// Whether each tensor rank sends its share of the message.
bool splits(const BlockInput& input) {
  return input.shape.gathers || input.training.framework.scatter_gather_p2p;
}

Operation transfer(
    const BlockInput& input, OperationKind kind, int peer_stage, Group group, int channel) {
  const Bytes stream(input.shape.element * message_elements(input.training, input.shape));
  Operation operation;
  operation.kind = kind;
  operation.activity = Activity::pipeline_p2p;
  operation.name = kind == OperationKind::send ? "send" : "receive";
  operation.group = group;
  operation.collective = core::CollectiveKind::send_receive;
  operation.bytes = splits(input) ? stream / input.shape.tensor : stream;
  operation.peer_stage = peer_stage;
  operation.channel = channel;
  return operation;
}

}  // namespace

Block receive_block(const BlockInput& input, int from, Group group, int channel) {
  BlockWriter writer("receive");
  writer.add(transfer(input, OperationKind::receive, from, group, channel));
  writer.wait(input.training.framework.message_overhead, Activity::pipeline_p2p,
              "message overhead");
  if (input.shape.tensor > 1 && !input.shape.gathers && splits(input)) {
    writer.collective(core::CollectiveKind::all_gather, Group::tensor, Activity::pipeline_p2p,
                      Bytes(input.shape.element * message_elements(input.training, input.shape)),
                      "gather received");
  }
  return writer.finish();
}

Block send_block(const BlockInput& input, int to, Group group, int channel) {
  BlockWriter writer("send");
  const int sent = writer.add(transfer(input, OperationKind::send, to, group, channel));
  if (!input.training.framework.pipeline_overlap) {
    writer.join(sent);
  }
  return writer.finish(Activity::pipeline_p2p);
}

}  // namespace headway::workload
