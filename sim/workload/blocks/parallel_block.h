// A layer whose attention and MLP start from the same input and end in one sum.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/blocks/layer_kind.h"

namespace headway::workload {

/// x + attention(norm(x)) + MLP(norm(x)). The halves' partial results are added up before one
/// reduction over the tensor group; with one norm they share the gather of its output, with two
/// each has its own (GPT-NeoX, Falcon-40B). Sources: Wang & Komatsuzaki, GPT-J, 2021; Chowdhery et
/// al., PaLM (arXiv 2204.02311), section 2.
void write_parallel_forward(BlockWriter& writer, const BlockInput& input);

/// One gather of the output's gradient serves both halves; the gradients of a shared norm's output
/// are added up before one reduction.
void write_parallel_backward(BlockWriter& writer,
                             const BlockInput& input,
                             const Remade& again,
                             const BackwardMode& mode);

}  // namespace headway::workload
