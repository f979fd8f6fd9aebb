// What the training software allocates beside the model's own tensors, and how its allocator holds
// memory.
#pragma once

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"

namespace headway::workload {

/// Buffers, copies and the allocator of a training software.
struct AllocationSpec {
  /// Source: SimuMax, memory factor 0.94 (allocated / reserved by PyTorch's caching allocator).
  static constexpr double kSlack = 1.0 / 0.94 - 1.0;
  double slack = kSlack;
  core::Seconds retry{0};
  double bucket_bytes = 0;
  bool narrow_weights = false;
  bool empty_gradients = false;
  bool gathered_inputs = false;
  bool root_gathered = false;
  bool gather_pool = false;
  bool sent_outputs = false;
  template <class V>
  void fields(V& v) {
    v.optional("slack", slack,
               "Memory that the allocator holds and no tensor has / that of tensors, at the peak: "
               "0.064 PyTorch's caching allocator; less with expandable segments; 0: buffers "
               "assigned when the program is compiled (XLA).",
               core::lost_share);
    v.optional("retry", retry,
               "Time that each pass of a stage loses where its rank needs more memory than the GPU "
               "has: the allocator finds no room, gives what no tensor has back to the driver and "
               "asks for it again; 0: such a step is simulated as if it fitted.",
               core::within_a_day);
    v.optional("bucket_bytes", bucket_bytes,
               "Bytes a parameter of buckets that gradients are copied into to be reduced, beside "
               "the gradient buffer, where weights have replicas (zero0, zero1; PyTorch's "
               "DistributedDataParallel).",
               core::extra_bytes);
    v.optional("narrow_weights", narrow_weights,
               "With 8-bit operands the layers' weights are held in that format alone, no 16-bit "
               "ones beside the fp32 masters (Megatron-LM, --fp8-param-gather).");
    v.optional("empty_gradients", empty_gradients,
               "Products add to the gradient buffer themselves and hand an empty gradient of 16 "
               "bits to autograd: one for each shape of a layer's weights stays, the head's while "
               "its gradient is computed (Transformer Engine).");
    v.optional("gathered_inputs", gathered_inputs,
               "With sequence parallelism the inputs of attention and MLP are kept as they were "
               "gathered, whole on each tensor rank; false: only the own share, gathered again in "
               "backward.");
    v.optional("root_gathered", root_gathered,
               "zero3, hsdp: embedding, last norm and head are one group that stays gathered from "
               "the first forward to the last backward (FSDP's root).");
    v.optional("gather_pool", gather_pool,
               "zero3, hsdp: weights arrive in a buffer of the communication's stream and are "
               "copied out of it; what the allocator has for that stream no other gets (FSDP2).");
    v.optional("sent_outputs", sent_outputs,
               "A stage keeps what it sent on to the next one until the micro-batch comes back "
               "(DeepSpeed's and PyTorch's pipelines); false: it is given back once sent "
               "(Megatron-Core, deallocate_output_tensor).");
  }
  bool operator==(const AllocationSpec&) const = default;
};

}  // namespace headway::workload
