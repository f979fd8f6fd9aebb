#include "sim/workload/trained/adapter_blocks.h"

#include "sim/workload/blocks/kernels.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

/// Writes the work of the adapters at one place.
class AdapterWriter {
 public:
  AdapterWriter(BlockWriter& writer, const BlockInput& input, AdapterPlace place)
      : writer_(writer), input_(input), place_(place), rank_(input.model.adapters->rank) {
    tensor_ = experts() ? 1 : input.shape.tensor;
    tokens_ = experts() ? input.experts->rows_each : input.shape.tokens;
  }

  void forward(const Adapter& one) {
    drop(one);
    writer_.compute(forward_product(down(one)));
    move(one.columns ? CollectiveKind::all_gather : CollectiveKind::all_reduce, rank_,
         "adapter gather");
    writer_.compute(forward_product(up(one)));
    if (!one.columns) {
      move(CollectiveKind::all_gather, one.outputs, "adapter output");
    }
    const bool split = !one.columns && input_.shape.gathers;
    const double rows = split ? static_cast<double>(input_.shape.split_tokens) : rows_of(one);
    add(rows * static_cast<double>(one.outputs));
  }

  void backward(const Adapter& one, const BackwardMode& mode) {
    if (mode.passes()) {
      if (!one.columns && input_.shape.gathers) {
        move(CollectiveKind::all_gather, one.outputs, "adapter gradient");
      }
      writer_.compute(input_gradient(up(one)));
      move(CollectiveKind::all_reduce, rank_, "adapter reduce");
      writer_.compute(input_gradient(down(one)));
      drop(one);
      writer_.compute(memory_kernel("add gradient", 3.0 * input_.shape.element * rows_of(one) *
                                                        static_cast<double>(one.inputs)));
    }
    if (mode.part != BackwardPart::input_gradient) {
      writer_.compute(weight_gradient(up(one), mode.gradients));
      writer_.compute(weight_gradient(down(one), mode.gradients));
    }
  }

  /// Inputs of columns come from all tensor ranks once more, where they were not kept whole;
  /// dropped copies of them are.
  void gather_again(const Adapter& one) {
    const bool kept = input_.shape.keeps_gathered || input_.model.adapters->dropout;
    if (one.columns && input_.shape.gathers && !kept) {
      move(CollectiveKind::all_gather, one.inputs, "adapter re-gather");
    }
  }

 private:
  [[nodiscard]] bool experts() const {
    return place_ == AdapterPlace::experts_in || place_ == AdapterPlace::experts_out;
  }
  [[nodiscard]] double rows_of(const Adapter& one) const {
    return static_cast<double>(one.groups * tokens_);
  }

  /// @param outputs  columns
  [[nodiscard]] Linear product(const char* name,
                               const Adapter& one,
                               std::int64_t outputs,
                               std::int64_t inputs) const {
    const bool together = input_.training.framework.grouped_launch;
    return {name,
            tokens_,
            outputs,
            inputs,
            input_.shape.wide,
            one.groups,
            experts(),
            experts() && !together ? one.groups : std::int64_t{1}};
  }
  [[nodiscard]] Linear down(const Adapter& one) const {
    return product("adapter down", one, one.down_columns(rank_, tensor_), one.inputs);
  }
  [[nodiscard]] Linear up(const Adapter& one) const {
    return product("adapter up", one, one.up_columns(tensor_), rank_);
  }

  /// Between tensor ranks, `width` elements of every token.
  void move(CollectiveKind kind, std::int64_t width, const char* name) {
    if (tensor_ > 1) {
      writer_.collective(kind, Group::tensor, Activity::tensor,
                         Bytes(input_.shape.element * static_cast<double>(tokens_ * width)), name);
    }
  }

  /// Dropout of the input or its gradient: read, written, with a mask of a byte.
  void drop(const Adapter& one) {
    if (input_.model.adapters->dropout) {
      writer_.compute(memory_kernel(
          "adapter dropout",
          (2.0 * input_.shape.element + 1.0) * rows_of(one) * static_cast<double>(one.inputs)));
    }
  }

  /// Scaled result added to the product's: two read, one written; eager code scales it apart.
  void add(double elements) {
    const bool fused = input_.training.framework.fuses_elementwise();
    if (!fused) {
      writer_.compute(memory_kernel("scale adapter", 2.0 * input_.shape.element * elements));
    }
    writer_.compute(memory_kernel("add adapter", 3.0 * input_.shape.element * elements));
  }

  BlockWriter& writer_;
  const BlockInput& input_;
  AdapterPlace place_;
  std::int64_t rank_;
  std::int64_t tokens_ = 0;
  int tensor_ = 1;
};

std::vector<Adapter> adapters_of(const BlockInput& input, AdapterPlace place) {
  if (input.learning != Learning::adapters) {
    return {};
  }
  return adapters_at(input.model, adapter_widths(input.model, input.parallelism), place);
}

}  // namespace

void write_adapters_forward(BlockWriter& writer, const BlockInput& input, AdapterPlace place) {
  for (const Adapter& one : adapters_of(input, place)) {
    AdapterWriter(writer, input, place).forward(one);
  }
}

void write_adapters_backward(BlockWriter& writer,
                             const BlockInput& input,
                             AdapterPlace place,
                             const BackwardMode& mode) {
  const auto adapters = adapters_of(input, place);
  if (!adapters.empty() && mode.part != BackwardPart::input_gradient) {
    AdapterWriter(writer, input, place).gather_again(adapters.front());
  }
  for (const Adapter& one : adapters) {
    AdapterWriter(writer, input, place).backward(one, mode);
  }
}

}  // namespace headway::workload
