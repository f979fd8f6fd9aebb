// Offload of activations: which layers' activations leave the GPU, and when their copies run.
//
// Transformer Engine's order (AsyncDoubleBufferGroupOffloadHandler): the first k of a chunk's n
// layers are offloaded one after another on a copy stream. The copies are spread over the n layers:
// copy c starts where copy c - 1 is awaited and is awaited at the end of layer
//     w(c) = (c + 1) floor(n / k) - 1 + min(c + 1, n mod k),
// so for k = n - 1 at the end of the layer after its own. Backward is the mirror image: copy c
// starts back where layer w(c) begins, which awaits copy c + 1; layer 0 awaits copy 0.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/layout.h"
#include "sim/workload/spec.h"
#include "sim/workload/step_graph.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// Tickets of copies to and from the host; those of gradients and parameters are smaller.
inline constexpr int kToHostTicket = 1 << 20;
inline constexpr int kFromHostTicket = kToHostTicket + 1;

/// What happens to copies at one layer; -1: nothing.
struct CopyStep {
  int awaits = -1;  ///< layer of the chunk whose copy must be complete
  int starts = -1;  ///< layer of the chunk whose copy begins then
};

/// The copies of one chunk.
class OffloadedChunk {
 public:
  /// @param layers     of the chunk
  /// @param offloaded  of them, at the front; less than `layers`
  OffloadedChunk(int layers, int offloaded) : layers_(layers), offloaded_(offloaded) {
    if (offloaded != 0) {
      check(layers, offloaded);
    }
  }
  /// Of a plan; none offloaded where it offloads no activations or the chunk has one layer.
  static OffloadedChunk of(const ParallelismSpec& parallelism, int layers);

  [[nodiscard]] bool any() const { return offloaded_ > 0; }
  [[nodiscard]] int layers() const { return layers_; }
  [[nodiscard]] int offloaded() const { return offloaded_; }
  bool operator==(const OffloadedChunk&) const = default;
  /// After the forward of layer `place` of the chunk.
  [[nodiscard]] CopyStep after_forward(int place) const;
  /// Before the backward of layer `place`.
  [[nodiscard]] CopyStep before_backward(int place) const;

 private:
  static void check(int layers, int offloaded);
  /// Layer at whose end copy `copy` is awaited: w.
  [[nodiscard]] int window_end(int copy) const;
  /// Copy whose window ends with layer `place`, or -1.
  [[nodiscard]] int copy_ending_at(int place) const;

  int layers_ = 0, offloaded_ = 0;
};

/// What happens to the copies of a chunk layer by layer, worked out once.
class CopySteps {
 public:
  void set(const OffloadedChunk& chunk) {
    if (chunk != chunk_) {
      work_out(chunk);
    }
  }
  [[nodiscard]] bool any() const { return chunk_.any(); }
  /// As `OffloadedChunk` has them.
  [[nodiscard]] const CopyStep& after_forward(int place) const {
    return after_forward_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] const CopyStep& before_backward(int place) const {
    return before_backward_[static_cast<std::size_t>(place)];
  }

 private:
  void work_out(const OffloadedChunk& chunk);

  OffloadedChunk chunk_{0, 0};
  std::vector<CopyStep> after_forward_, before_backward_;
};

/// Inserts the copies into all passes of a step graph.
/// @param layout  of the graph's chunks
void add_copies(const ModelSpec& model,
                const TrainingSpec& training,
                const ParallelismSpec& parallelism,
                const StageLayout& layout,
                StepGraph& graph);

/// Why activations cannot be offloaded as the plan says; nothing if they can, or are not.
std::optional<Violation> offload_problem(const ModelSpec& model,
                                         const ParallelismSpec& parallelism);

}  // namespace headway::workload
