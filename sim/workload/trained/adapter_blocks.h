// Work of low-rank adapters beside the products of a layer.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/trained/adapter_shape.h"

namespace headway::workload {

/// y += B (A x) at a place, where the layer has adapters there. Over t tensor ranks A's output of a
/// product split by columns is gathered; that of one split by rows is reduced, and B's output, of
/// which each rank has 1 / t of the columns, is gathered.
void write_adapters_forward(BlockWriter& writer, const BlockInput& input, AdapterPlace place);

/// Its gradients: that of A's output B' y' is reduced over tensor ranks, A' of it is added to the
/// gradient of x before the product's own reduction. Where sequences are split, the inputs of
/// columns are gathered again for A's gradient, and output gradients of rows for B.
void write_adapters_backward(BlockWriter& writer,
                             const BlockInput& input,
                             AdapterPlace place,
                             const BackwardMode& mode);

}  // namespace headway::workload
