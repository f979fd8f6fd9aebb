#include "sim/workload/blocks/block_writer.h"

#include "sim/workload/number_formats.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

/// The same layer over a part of the tokens; the first part casts the weights for all.
Linear with_tokens(Linear linear, std::int64_t tokens, bool first) {
  linear.tokens = tokens;
  linear.casts_weights = linear.casts_weights && first;
  return linear;
}

}  // namespace

void BlockWriter::compute(std::span<const core::Kernel> kernels, Activity activity) {
  if (kernels.empty()) {
    return;
  }
  if (!open_ || !due_.empty() || block_.operations.back().activity != activity) {
    Operation operation;
    operation.activity = activity;
    operation.name = kernels.front().name;
    add(std::move(operation));
    open_ = true;
  }
  auto& written = block_.operations.back().kernels;
  written.insert(written.end(), kernels.begin(), kernels.end());
  if (in_graph_) {
    for (auto kernel = written.end() - static_cast<std::ptrdiff_t>(kernels.size());
         kernel != written.end(); ++kernel) {
      kernel->launches = 0;
    }
  }
}

void BlockWriter::wait(core::Seconds duration, Activity activity, const char* name) {
  if (duration > core::Seconds(0)) {
    Operation operation;
    operation.kind = OperationKind::delay;
    operation.activity = activity;
    operation.duration = duration;
    operation.name = name;
    add(std::move(operation));
  }
}

int BlockWriter::collective(
    CollectiveKind kind, Group group, Activity activity, Bytes bytes, const char* name) {
  Operation operation;
  operation.kind = OperationKind::collective;
  operation.collective = kind;
  operation.group = group;
  operation.activity = activity;
  operation.bytes = bytes;
  operation.name = name;
  return add(std::move(operation));
}

int BlockWriter::start(
    CollectiveKind kind, Group group, Activity activity, Bytes bytes, const char* name) {
  const int index = collective(kind, group, activity, bytes, name);
  block_.operations.back().asynchronous = true;
  return index;
}

void BlockWriter::join(int index) { due_.push_back(index); }

int BlockWriter::add(Operation operation) {
  operation.waits.insert(operation.waits.end(), due_.begin(), due_.end());
  due_.clear();
  open_ = false;
  block_.operations.push_back(std::move(operation));
  return static_cast<int>(block_.operations.size()) - 1;
}

Block BlockWriter::finish(Activity last_join) {
  if (!due_.empty()) {
    Operation wait;
    wait.kind = OperationKind::delay;
    wait.activity = last_join;
    wait.name = "wait";
    add(std::move(wait));
  }
  return std::move(block_);
}

void write_product_backward(BlockWriter& writer, const Linear& linear, const BackwardMode& mode) {
  if (mode.passes()) {
    writer.compute(input_gradient(linear));
  }
  if (mode.weights()) {
    writer.compute(weight_gradient(linear, mode.gradients));
  }
}

TensorRegion::TensorRegion(BlockWriter& writer, const RankShape& shape, bool overlap)
    : writer_(writer), shape_(shape), overlap_(overlap && shape.tensor > 1) {}

Bytes TensorRegion::array(std::int64_t width) const {
  return Bytes(shape_.element * static_cast<double>(shape_.tokens) * static_cast<double>(width));
}

void TensorRegion::gather(const char* name, std::int64_t width) {
  gather_bytes(name, array(width));
}

void TensorRegion::gather_bytes(const char* name, Bytes bytes) {
  if (shape_.gathers) {
    writer_.collective(CollectiveKind::all_gather, Group::tensor, Activity::tensor, bytes, name);
  }
}

Bytes TensorRegion::operand(const Linear& linear, std::int64_t width) const {
  const bool narrows = shape_.narrow_gathers && narrow(linear.precision);
  return array(width) * (narrows ? operand_bytes(linear.precision) / shape_.element : 1.0);
}

void TensorRegion::reduce(const char* name, std::int64_t width) {
  if (shape_.tensor > 1) {
    const auto kind = shape_.gathers ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    writer_.collective(kind, Group::tensor, Activity::tensor, array(width), name);
  }
}

void TensorRegion::gather_with(const Linear& linear, bool input_gradient_pass, const char* name) {
  const auto product = [&](const Linear& part) {
    writer_.compute(input_gradient_pass ? input_gradient(part) : forward_product(part));
  };
  const std::int64_t width = input_gradient_pass ? linear.outputs : linear.inputs;
  if (!overlap_ || !shape_.gathers) {
    gather_bytes(name, operand(linear, width));
    product(linear);
    return;
  }
  // Pieces are multiplied as they arrive: only the last of `tensor` pieces waits for the whole
  // gather.
  const std::int64_t last = linear.tokens / shape_.tensor;
  const int transfer = writer_.start(CollectiveKind::all_gather, Group::tensor, Activity::tensor,
                                     operand(linear, width), name);
  product(with_tokens(linear, linear.tokens - last, true));
  writer_.join(transfer);
  product(with_tokens(linear, last, false));
}

void TensorRegion::forward_columns(const Linear& linear) {
  gather_with(linear, false, "tensor gather");
}

void TensorRegion::forward_rows(const Linear& linear) {
  if (!overlap_) {
    writer_.compute(forward_product(linear));
    reduce("tensor reduce", linear.outputs);
    return;
  }
  // The reduction of a piece starts when its product is done: the last piece's is exposed.
  const auto kind = shape_.gathers ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const std::int64_t piece = linear.tokens / shape_.tensor;
  const Bytes whole = array(linear.outputs);
  const Bytes tail = whole / shape_.tensor;
  writer_.compute(forward_product(with_tokens(linear, piece, true)));
  const int transfer =
      writer_.start(kind, Group::tensor, Activity::tensor, whole - tail, "tensor reduce");
  writer_.compute(forward_product(with_tokens(linear, linear.tokens - piece, false)));
  writer_.join(transfer);
  writer_.collective(kind, Group::tensor, Activity::tensor, tail, "tensor reduce");
}

void TensorRegion::backward_rows(const Linear& linear, const BackwardMode& mode) {
  if (mode.passes()) {
    gather_with(linear, true, "tensor gather");
  }
  if (mode.weights()) {
    writer_.compute(weight_gradient(linear, mode.gradients));
  }
}

void TensorRegion::backward_columns(const Linear& linear, const BackwardMode& mode) {
  if (overlap_ && mode.part == BackwardPart::whole && mode.trained) {
    backward_columns_overlapped(linear, mode);
    return;
  }
  if (mode.passes()) {
    writer_.compute(input_gradient(linear));
    reduce("tensor reduce", linear.inputs);
  }
  if (mode.weights()) {
    if (!shape_.keeps_gathered) {
      gather_bytes("tensor re-gather", operand(linear, linear.inputs));
    }
    writer_.compute(weight_gradient(linear, mode.gradients));
  }
}

void TensorRegion::backward_columns_overlapped(const Linear& linear, const BackwardMode& mode) {
  int gathered = -1;
  if (shape_.gathers && !shape_.keeps_gathered) {
    gathered = writer_.start(CollectiveKind::all_gather, Group::tensor, Activity::tensor,
                             operand(linear, linear.inputs), "tensor re-gather");
  }
  writer_.compute(input_gradient(linear));
  if (gathered >= 0) {
    writer_.join(gathered);
  }
  const auto kind = shape_.gathers ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const int reduced =
      writer_.start(kind, Group::tensor, Activity::tensor, array(linear.inputs), "tensor reduce");
  writer_.compute(weight_gradient(linear, mode.gradients));
  writer_.join(reduced);
}

}  // namespace headway::workload
