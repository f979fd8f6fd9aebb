// Writes the operations of a block in order, and arranges what runs beside what.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Appends operations to one block.
class BlockWriter {
 public:
  /// @param operations  of which room is made for so many
  explicit BlockWriter(std::string name, std::size_t operations = 4) {
    block_.name = std::move(name);
    block_.operations.reserve(operations);
  }

  /// Kernels on the compute stream; joined to the operation before if nothing came between.
  void compute(std::span<const core::Kernel> kernels,
               core::Activity activity = core::Activity::compute);
  void compute(std::initializer_list<core::Kernel> kernels, core::Activity activity) {
    compute(std::span(kernels.begin(), kernels.size()), activity);
  }
  void compute(const core::Kernel& kernel) { compute(std::span(&kernel, 1)); }

  /// Whether the kernels that follow are in a replayed graph: the CPU launches none of them.
  void replay(bool in_graph) { in_graph_ = in_graph; }

  /// One more pass through a layer.
  void pass_layer() { ++block_.layer_passes; }

  /// The GPU waits for this long.
  void wait(core::Seconds duration, core::Activity activity, const char* name);

  /// A collective that blocks what follows.
  /// @returns its index in the block
  int collective(core::CollectiveKind kind,
                 Group group,
                 core::Activity activity,
                 core::Bytes bytes,
                 const char* name);

  /// A collective beside what follows; the next operation after `join` waits for it.
  int start(core::CollectiveKind kind,
            Group group,
            core::Activity activity,
            core::Bytes bytes,
            const char* name);

  /// The next operation waits for transfer `index` of this block.
  void join(int index);

  /// Appends `operation` with the joins that are due.
  int add(Operation operation);

  /// The finished block; a last join that nothing follows becomes a delay of no time.
  Block finish(core::Activity last_join = core::Activity::other);

 private:
  Block block_;
  std::vector<int> due_;
  bool open_ = false;  ///< the last operation is compute and may be extended
  bool in_graph_ = false;
};

/// Which half of a backward a block does; zero-bubble schedules run the halves apart.
enum class BackwardPart { whole, input_gradient, weight_gradient };

/// What a layer's backward needs to know beside the layer.
struct BackwardMode {
  BackwardPart part = BackwardPart::whole;
  GradientTraffic gradients;
  bool trained = true;  ///< its own weights are
  [[nodiscard]] bool passes() const { return part != BackwardPart::weight_gradient; }
  [[nodiscard]] bool weights() const { return part != BackwardPart::input_gradient && trained; }
};

/// Gradients of a linear layer without communication around it.
void write_product_backward(BlockWriter& writer, const Linear& linear, const BackwardMode& mode);

/// Tensor-parallel communication around the linear layers of a block.
///     Sequence parallelism: all-gather before a layer split by columns, reduce-scatter after one
///     split by rows; otherwise all-reduce after one split by rows. `overlap` cuts collective and
///     product into `tensor` pieces of which all but one run side by side.
class TensorRegion {
 public:
  TensorRegion(BlockWriter& writer, const RankShape& shape, bool overlap);

  /// Forward of a layer split by columns.
  void forward_columns(const Linear& linear);
  /// Forward of a layer split by rows.
  void forward_rows(const Linear& linear);
  /// Gradients of a layer split by rows.
  void backward_rows(const Linear& linear, const BackwardMode& mode);
  /// Gradients of a layer split by columns. With `overlap` the re-gather of its input runs beside
  /// the first product and the reduction of the input's gradient beside the second (Korthikanti et
  /// al. 2022, section 4.2.2). Without it both are exposed: library kernels that hold every SM
  /// until they end are delayed by a collective beside them by as long as it lasts. Halves run
  /// apart have nothing to hide behind.
  void backward_columns(const Linear& linear, const BackwardMode& mode);

  /// Whole-tensor gather and reduction of the residual stream outside linear layers.
  void gather(const char* name) { gather(name, shape_.hidden); }
  void reduce(const char* name) { reduce(name, shape_.hidden); }
  /// The same of arrays `width` wide.
  void gather(const char* name, std::int64_t width);
  void reduce(const char* name, std::int64_t width);

 private:
  [[nodiscard]] core::Bytes array(std::int64_t width) const;
  /// What a product reads `width` wide, in the format in which it travels.
  [[nodiscard]] core::Bytes operand(const Linear& linear, std::int64_t width) const;
  void gather_bytes(const char* name, core::Bytes bytes);
  void gather_with(const Linear& linear, bool input_gradient, const char* name);
  void backward_columns_overlapped(const Linear& linear, const BackwardMode& mode);

  BlockWriter& writer_;
  const RankShape& shape_;
  bool overlap_;
};

}  // namespace headway::workload
