// What layouts share, read off small step graphs: the passes of layers on a rank, and what data
// parallelism adds.
#pragma once

#include <span>
#include <vector>

#include "sim/analytic/blocks.h"
#include "sim/workload/spec.h"

namespace headway::analytic {

/// Passes of one micro-batch on one rank, data parallelism aside [s].
struct RankCosts {
  /// [l]: layers 0 .. l - 1 together. `weight_gradient` is zero where backward runs whole.
  std::vector<double> forward{0}, backward{0}, weight_gradient{0};
  double embedding_forward = 0, embedding_backward = 0;
  double head_forward = 0, head_backward = 0;
  /// Of a teacher's forward: [l]: its layers 0 .. l - 1 together; its embedding and its head.
  std::vector<double> teacher{0};
  double teacher_embedding = 0, teacher_head = 0;
  /// Of an encoder: [l]: its first l runs together, in the order of the pass's calls.
  std::vector<double> encoder_forward{0}, encoder_backward{0};
  double receive = 0;          ///< on the receiving rank, after the message is here
  bool send_blocks = false;    ///< the sender waits until its message has left
  core::Bytes message;         ///< between stages
  double receive_images = 0;   ///< as `receive`, between an encoder's own stage and the next
  core::Bytes images_message;  ///< between these two
  std::vector<double> copy;    ///< per layer: of its activations to the host, or back; empty: none
  int most_offloaded = 0;      ///< layers of a chunk, at its front, whose activations are copied
};

/// Reads the costs off a step graph of two stages, of which the first holds one layer; in front of
/// them an encoder's own, where it has one. Copies of activations are not among them.
/// @param layout         whose tensor, context and expert groups communicate
/// @param splits         the schedule runs the halves of backward apart
RankCosts rank_costs(const training::Scenario& scenario,
                     const workload::ParallelismSpec& layout,
                     int data_parallel,
                     bool splits,
                     BlockTimer& timer);

/// Copies of what each layer keeps, where a layout offloads activations.
/// @param costs  of the same layout without them; changed
void add_copies(const training::Scenario& scenario,
                const workload::ParallelismSpec& layout,
                const BlockTimer& timer,
                RankCosts& costs);

/// The costs of a layout of whose layers some recompute, as `chunk_recompute` has it.
/// @param again  where all recompute
/// @param kept   where none does
/// @param costs  the result; kept between calls for its memory
void join_costs(const workload::ModelSpec& model,
                const workload::ParallelismSpec& layout,
                const RankCosts& again,
                const RankCosts& kept,
                RankCosts& costs);

/// One thing a pass does, in order: a block of data-parallel traffic, or compute.
struct PassPart {
  int block = -1;                   ///< of DataCosts; -1: compute
  bool reduces = false;             ///< the block launches a reduction of gradients
  int first_layer = 0, layers = 0;  ///< counted from the chunk's first
  bool embedding = false, head = false;
  bool teacher = false;  ///< of a teacher's forward, as are the layers
  bool encoder = false;  ///< of an encoder's pass, whose runs `first_layer` and `layers` count
  bool operator==(const PassPart&) const = default;
};

/// Chunks with equal traffic beside as many layers.
struct ChunkClass {
  int layers = 0;
  int teacher_layers = 0;  ///< of a teacher, on the same ranks
  bool embedding = false, head = false, encoder = false;
  std::vector<int> prologue;                ///< blocks before the first pass
  std::vector<PassPart> forward, backward;  ///< of the first and of the last micro-batch
  bool forward_always = false;              ///< every forward has traffic, not only the first
  bool backward_always = false;             ///< every backward, not only the last
  bool has_traffic = false;
  /// What the reductions that every backward launches beside what follows take one after another
  /// [s].
  double reduction = 0;
  /// Weights are gathered for every pass, behind the reductions before it: both are over the NICs.
  bool gathers_wait = false;
};

/// The end of a stage's step [s]: what precedes the wait for gradient reductions, what follows it
/// up to where all ranks of the job meet, and what follows that.
struct StepEnd {
  double lead = 0, rest = 0, after = 0;
};

/// Ends of all stages of a layout.
struct StepEnds {
  std::vector<StepEnd> ends;  ///< stages that are alike have one
  std::vector<int> end_of;    ///< per stage
};

/// Where the layers of a chunk begin, and those of a teacher on the same ranks.
struct FirstLayers {
  int own = 0, teacher = 0;
};

/// A chunk of a layout.
struct PlacedChunk {
  int position = 0;   ///< stage x chunks + chunk
  int mirrored = -1;  ///< of two directions the same chunk of the other one
  int found = 0;      ///< its class
  FirstLayers first;
};

/// Chunks of a class that recompute alike: they take the same.
struct ChunkKind {
  int found = 0;      ///< the class
  FirstLayers first;  ///< of the first of these chunks
};

struct ChunkKinds {
  std::vector<ChunkKind> kinds;
  std::vector<int> kind_of;  ///< per position: stage x chunks + chunk
};

/// Data-parallel traffic of a layout, which does not depend on what recomputes.
struct DataCosts {
  std::vector<TicketStep> steps;    ///< of all blocks, one after another
  std::vector<std::size_t> ends{};  ///< of the blocks: where in the steps
  std::size_t tickets = 0;          ///< more than the largest
  std::vector<ChunkClass> classes;
  std::vector<PlacedChunk> chunks;  ///< in the order of the model
  ChunkKinds kinds;                 ///< where all layers recompute, or none

  /// One more block, inside which nothing waits.
  void add(const TimedBlock& block);
  [[nodiscard]] std::span<const TicketStep> steps_of(int block) const {
    const auto b = static_cast<std::size_t>(block);
    const std::size_t begin = b == 0 ? 0 : ends[b - 1];
    return {steps.data() + begin, ends[b] - begin};
  }
};

/// Tells the chunks of a class apart by what recomputes: where they begin in the period of
/// recomputation, or how many of their layers do.
/// @param kinds  the result; kept between calls for its memory
void tell_kinds(const std::vector<PlacedChunk>& chunks,
                const workload::ParallelismSpec& layout,
                ChunkKinds& kinds);

/// Reads the traffic off a step graph with a stage for each chunk.
DataCosts data_costs(const training::Scenario& scenario,
                     const workload::ParallelismSpec& layout,
                     int data_parallel,
                     BlockTimer& timer);

/// Times the last blocks of the stages.
StepEnds step_ends(const training::Scenario& scenario,
                   const workload::ParallelismSpec& layout,
                   int data_parallel,
                   BlockTimer& timer);

/// The specs that the three above depend on: what does not matter is set to a fixed value, so that
/// they are keys.
workload::ParallelismSpec rank_key(const workload::FrameworkSpec& framework,
                                   const workload::ParallelismSpec& layout,
                                   bool splits);
workload::ParallelismSpec data_key(const workload::ParallelismSpec& layout);
workload::ParallelismSpec end_key(const workload::ParallelismSpec& layout);

}  // namespace headway::analytic
