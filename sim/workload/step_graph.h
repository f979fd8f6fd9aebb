// The step graph: what every stage of the pipeline does in one training step, in which order,
// waiting for what.
//
// A block is a piece of work with a name (the forward of one layer); a stage is an ordered list of
// calls of blocks, and one call may run its block several times in a row (equal layers). All ranks
// of a stage share its list. Operations run on two kinds of streams: compute operations run one
// after another; asynchronous transfers are launched when their place in the order is reached and
// run beside what follows, until an operation that names them in `waits` or `await` needs them. A
// collective that is not asynchronous blocks what follows. A block's asynchronous transfers without
// a ticket are all awaited inside the block.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/core/collective.h"
#include "sim/core/kernel.h"
#include "sim/core/units.h"

namespace headway::workload {

/// The groups a rank communicates in.
enum class Group : std::uint8_t {
  tensor,
  context,
  expert,          ///< ranks that together hold all experts of a layer
  expert_domain,   ///< those of them in one NVLink domain
  expert_rail,     ///< those of them in the same place of each NVLink domain
  expert_tensor,   ///< ranks that share each expert's matrices
  data,            ///< ranks with the same weights
  data_context,    ///< data x context, with a bidirectional schedule on both stages that hold the
                   ///< layers: the group that reduces gradients
  shard,           ///< hsdp: neighbours in data x context that hold one copy of the weights
  replica,         ///< hsdp: ranks with the same part of the weights
  expert_data,     ///< ranks with the same experts
  expert_shard,    ///< hsdp: those of them that hold one copy
  expert_replica,  ///< hsdp: ranks with the same part of the same experts
  pipeline_next,   ///< one stage forward (wrapping around for interleaved chunks)
  pipeline_previous,
  embedding,  ///< first and last stage, when embeddings are tied
  world,      ///< all ranks (the norm of the gradients)
};

enum class OperationKind : std::uint8_t {
  compute,     ///< kernels in order
  collective,  ///< all ranks of `group`
  send,  ///< to a neighbour stage, or (Group::context) to the rank `distance` places further round
         ///< the group; starts when reached; blocks only an operation that names it in `waits`
  receive,  ///< from a neighbour stage, or from the rank as far before in the context group; blocks
            ///< until the message of the same `channel` order is here
  delay,    ///< a fixed time (`duration`)
  copy,     ///< of `bytes` between GPU and host memory, beside what follows; waited for by `await`
};

/// A few numbers, kept in place: most operations wait for one thing or none.
using FewNumbers = boost::container::small_vector<int, 2>;

/// One operation of a block.
struct Operation {
  OperationKind kind = OperationKind::compute;
  core::Activity activity = core::Activity::compute;
  const char* name = "";              ///< a literal, for timelines
  std::vector<core::Kernel> kernels;  ///< compute
  core::Seconds duration;             ///< delay
  Group group = Group::tensor;        ///< collective, send, receive
  core::CollectiveKind collective = core::CollectiveKind::all_reduce;
  core::Bytes bytes;    ///< collective: as nccl-tests counts (whole array); send, receive: the
                        ///< message of one rank; copy: from or to this rank
  int peer_stage = -1;  ///< send, receive between stages: the other stage (may be any stage)
  int channel = 0;      ///< send, receive: messages of one (from, to, channel) arrive in order sent
  int distance = 1;     ///< send, receive in the context group: places further round the ring
  FewNumbers waits;     ///< earlier transfers of this block (by index) that must be complete
  bool asynchronous =
      false;        ///< collective: does not block what follows; waited for by name or by `waits`
  int ticket = -1;  ///< collective, asynchronous, and copy: identifies it to `await` in later calls
                    ///< of the stage; may be launched many times
  FewNumbers await;  ///< tickets of which every launch by earlier calls of this stage must be
                     ///< complete first

  bool operator==(const Operation&) const = default;
};

/// A named piece of work that is called many times.
struct Block {
  std::string name;
  std::vector<Operation> operations;
  int layer_passes = 0;  ///< passes through a layer in it: one, with its forward again two
  bool teacher = false;  ///< a part of a teacher's forward
  bool encoder = false;  ///< a part of an encoder's forward or backward

  bool operator==(const Block&) const = default;
};

enum class CallKind : std::uint8_t { prologue, forward, backward, weight_gradient, epilogue };

/// One execution of a block.
struct Call {
  int block = 0;
  CallKind kind = CallKind::forward;
  int micro_batch = 0;  ///< -1 outside the pipeline (optimizer, ...)
  int chunk = 0;
  int repeat = 1;  ///< times the block runs in a row (equal layers)

  bool operator==(const Call&) const = default;
};

/// One stage's step.
struct Stage {
  std::vector<Call> calls;
};

/// What all ranks do in one step.
struct StepGraph {
  std::vector<Block> blocks;
  std::vector<Stage> stages;
};

}  // namespace headway::workload
