#include "sim/workload/attention/attention_blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;
using core::Kernel;

/// Messages of the two rings: blocks of keys and values, and their gradients.
enum Channel { kBlocks = 0, kGradients = 1 };

/// Bytes an element of adding a part to what there is: two in, one out.
double merge_bytes(const RankShape& shape) { return 3 * shape.element; }

void pass_on(BlockWriter& writer,
             const RankShape& shape,
             OperationKind kind,
             Channel channel,
             int distance) {
  Operation operation;
  operation.kind = kind;
  operation.activity = Activity::context;
  operation.name = channel == kBlocks ? "key-value block" : "key-value gradient";
  operation.group = Group::context;
  operation.collective = CollectiveKind::send_receive;
  operation.bytes = key_value_block(shape);
  operation.channel = channel;
  operation.distance = distance;
  writer.add(std::move(operation));
}

void exchange(BlockWriter& writer, CollectiveKind kind, Bytes bytes, const char* name) {
  writer.collective(kind, Group::context, Activity::context, bytes, name);
}

AttentionShape ring_attention(const RankShape& shape, const RingBlock& block) {
  AttentionShape attention = shape.own_attention();
  attention.sequence = std::max<std::int64_t>(1, std::llround(block.queries));
  attention.key_sequence = std::max<std::int64_t>(1, std::llround(block.keys));
  attention.causal = block.causal;
  attention.keys = block.pairs / static_cast<double>(attention.sequence);
  attention.packed = shape.packed;
  return attention;
}

/// Bytes of adding the output of `attention`, or a gradient as wide, to what there is.
Kernel merge(const char* name,
             const RankShape& shape,
             const AttentionShape& attention,
             std::int64_t width) {
  const auto tokens = static_cast<double>(shape.micro_batch * attention.sequence);
  return memory_kernel(name, merge_bytes(shape) * tokens * static_cast<double>(width));
}

/// Places between a step of the ring and the one before or after it.
int places(const RankShape& shape, std::size_t from) {
  return shape.ring[from + 1].step - shape.ring[from].step;
}

AttentionShape exchanged_attention(const RankShape& shape) {
  AttentionShape attention = shape.own_attention();
  attention.sequence *= shape.context;
  attention.key_sequence *= shape.context;
  attention.keys = shape.mean_keys;
  attention.heads /= shape.context;
  attention.key_value_heads = std::max<std::int64_t>(1, attention.key_value_heads / shape.context);
  return attention;
}

/// A block of the ring is on its way beside the kernels between `send` and `receive`; without
/// overlap both come after them.
void write_ring_forward(BlockWriter& writer, const RankShape& shape, bool beside) {
  for (std::size_t i = 0; i < shape.ring.size(); ++i) {
    const bool more = i + 1 < shape.ring.size();
    if (more && beside) {
      pass_on(writer, shape, OperationKind::send, kBlocks, places(shape, i));
    }
    for (const RingBlock& block : shape.ring[i].blocks) {
      const AttentionShape attention = ring_attention(shape, block);
      writer.compute(flash_forward(shape, attention));
      if (!block.first) {
        writer.compute(merge("merge attention", shape, attention, shape.output_width()));
      }
    }
    if (more && !beside) {
      pass_on(writer, shape, OperationKind::send, kBlocks, places(shape, i));
    }
    if (more) {
      pass_on(writer, shape, OperationKind::receive, kBlocks, places(shape, i));
    }
  }
}

void write_ring_backward(BlockWriter& writer, const RankShape& shape, bool beside) {
  for (std::size_t i = 0; i < shape.ring.size(); ++i) {
    const bool more = i + 1 < shape.ring.size();
    if (more && beside) {
      pass_on(writer, shape, OperationKind::send, kBlocks, places(shape, i));
    }
    for (const RingBlock& block : shape.ring[i].blocks) {
      const AttentionShape attention = ring_attention(shape, block);
      writer.compute(flash_backward(shape, attention));
      if (!block.first) {
        writer.compute(merge("merge gradients", shape, attention, shape.query_width()));
      }
    }
    if (i > 0) {
      // What the ranks before added to this block's gradient travelled beside the kernel.
      pass_on(writer, shape, OperationKind::receive, kGradients, places(shape, i - 1));
      if (!shape.ring[i].blocks.empty()) {
        writer.compute(
            memory_kernel("merge gradients",
                          merge_bytes(shape) * (shape.key_elements() + shape.value_elements())));
      }
    }
    if (more && !beside) {
      pass_on(writer, shape, OperationKind::send, kBlocks, places(shape, i));
    }
    if (more) {
      pass_on(writer, shape, OperationKind::send, kGradients, places(shape, i));
      pass_on(writer, shape, OperationKind::receive, kBlocks, places(shape, i));
    }
  }
}

}  // namespace

Bytes key_value_block(const RankShape& shape) {
  return Bytes(shape.element * (shape.key_elements() + shape.value_elements()));
}

Bytes gathered_block(const RankShape& shape) {
  return shape.sparse ? Bytes(shape.element * shape.key_elements()) : key_value_block(shape);
}

AttentionShape gathered_attention(const RankShape& shape) {
  AttentionShape attention = shape.own_attention();
  attention.key_sequence *= shape.context;
  attention.keys = shape.mean_keys;
  return attention;
}

Bytes exchanged_keys(const RankShape& shape) {
  const auto heads = std::max<std::int64_t>(shape.key_value_heads, shape.context);
  return Bytes(shape.element * static_cast<double>(shape.tokens) *
               static_cast<double>(heads * shape.head_dim));
}

Bytes exchanged_values(const RankShape& shape) {
  return exchanged_keys(shape) *
         (static_cast<double>(shape.value_dim) / static_cast<double>(shape.head_dim));
}

void write_core_attention_forward(BlockWriter& writer,
                                  const RankShape& shape,
                                  const FrameworkSpec& framework) {
  if (shape.context == 1) {
    writer.compute(attention_forward(shape, framework));
    return;
  }
  switch (shape.context_kind) {
    case ContextKind::ring:
      write_ring_forward(writer, shape, framework.context_overlap);
      return;
    case ContextKind::all_gather:
      if (shape.native) {  // its keys were gathered before they were compressed
        writer.compute(attention_forward(shape, framework));
        return;
      }
      exchange(writer, CollectiveKind::all_gather, shape.context * gathered_block(shape),
               "gather keys and values");
      writer.compute(flash_forward(shape, gathered_attention(shape)));
      return;
    case ContextKind::all_to_all: {
      const Bytes queries(shape.element * shape.query_elements());
      const Bytes outputs(shape.element * shape.output_elements());
      exchange(writer, CollectiveKind::all_to_all, queries, "exchange queries");
      exchange(writer, CollectiveKind::all_to_all, exchanged_keys(shape), "exchange keys");
      exchange(writer, CollectiveKind::all_to_all, exchanged_values(shape), "exchange values");
      writer.compute(flash_forward(shape, exchanged_attention(shape)));
      exchange(writer, CollectiveKind::all_to_all, outputs, "exchange output");
      return;
    }
  }
}

void write_core_attention_backward(BlockWriter& writer,
                                   const RankShape& shape,
                                   const FrameworkSpec& framework) {
  if (shape.context == 1) {
    writer.compute(attention_backward(shape, framework));
    return;
  }
  switch (shape.context_kind) {
    case ContextKind::ring:
      write_ring_backward(writer, shape, framework.context_overlap);
      return;
    case ContextKind::all_gather: {
      if (shape.native) {
        writer.compute(attention_backward(shape, framework));
        return;
      }
      const Bytes whole = shape.context * gathered_block(shape);
      if (!shape.sparse) {  // which keeps what it gathered
        exchange(writer, CollectiveKind::all_gather, whole, "gather keys and values");
      }
      writer.compute(flash_backward(shape, gathered_attention(shape)));
      exchange(writer, CollectiveKind::reduce_scatter, whole, "scatter key-value gradients");
      return;
    }
    case ContextKind::all_to_all: {
      const Bytes queries(shape.element * shape.query_elements());
      const Bytes outputs(shape.element * shape.output_elements());
      exchange(writer, CollectiveKind::all_to_all, outputs, "exchange output gradient");
      writer.compute(flash_backward(shape, exchanged_attention(shape)));
      exchange(writer, CollectiveKind::all_to_all, queries, "exchange query gradient");
      exchange(writer, CollectiveKind::all_to_all, exchanged_keys(shape), "exchange key gradient");
      exchange(writer, CollectiveKind::all_to_all, exchanged_values(shape),
               "exchange value gradient");
      return;
    }
  }
}

}  // namespace headway::workload
