// What distinguishes one decoder layer of a model from another, and which layers are alike.
#pragma once

#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/spec.h"
#include "sim/workload/trained/trained_layers.h"

namespace headway::workload {

/// What the first half of a layer mixes tokens with.
enum class Mixing : std::uint8_t { none, attention, mixer, both };

/// All layers of a kind have the same matrices and run the same kernels.
struct LayerKind {
  bool experts = false;   ///< the MLP is a mixture of experts
  bool windowed = false;  ///< attention sees a window
  bool keeps = false;     ///< an exception from recomputation: keeps its activations
  Mixing mixing = Mixing::attention;
  bool mlp = true;  ///< has a second half: an MLP or experts
  Learning learning = Learning::weights;
  bool reuses = false;       ///< sparse attention takes the keys that a layer before chose
  bool sixteen_bit = false;  ///< its operands are not narrow, whatever those of others are
  [[nodiscard]] bool attends() const {
    return mixing == Mixing::attention || mixing == Mixing::both;
  }
  [[nodiscard]] bool mixes() const { return mixing == Mixing::mixer || mixing == Mixing::both; }
  /// Halves of a whole layer: each has half of its norms.
  [[nodiscard]] int halves() const { return (mixing == Mixing::none ? 0 : 1) + (mlp ? 1 : 0); }
  auto operator<=>(const LayerKind&) const = default;
};

/// Some layers of one kind in a row.
struct LayerRun {
  LayerKind kind;
  int layers = 0;
  bool operator==(const LayerRun&) const = default;
};
/// A few of them, kept in place: most are of one kind.
using LayerRuns = boost::container::small_vector<LayerRun, 1>;

/// The kind of layer `layer` (0 is the first). With `recompute_period` n layers 0, n, 2n, ...
/// recompute, the others keep; with `recompute_layers` k as many of each n, evenly spread. With
/// `chunk_recompute` the first layers of each chunk recompute.
LayerKind layer_kind(const ModelSpec& model, const ParallelismSpec& parallelism, int layer);

/// The kind that multi-token prediction repeats: that of the model's last layer, with an indexer of
/// its own (GLM-5.2) and as narrow as most (Megatron-LM, multi_token_prediction.py). Where the
/// pattern has single halves alone: attention and, where the model has any, experts (Nemotron 3
/// Super: "*E"), else the MLP. `dense_prediction` and `windowed_prediction` make it lighter than
/// the last layer (MiMo-V2-Flash, arXiv 2601.02780).
LayerKind prediction_kind(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Layers first .. first + count - 1 as runs of equal ones, in the order of the model.
std::vector<LayerRun> layer_runs(const ModelSpec& model,
                                 const ParallelismSpec& parallelism,
                                 int first,
                                 int count);

/// "layer", "expert layer", ...: begins the names of blocks.
std::string kind_name(const LayerKind& kind);

/// What a layer of a kind makes again in backward.
struct Remade {
  bool all = false;  ///< everything from the layer's input on
  bool core_attention = false;
  bool latent_up = false;   ///< queries, keys and values from their compressed form
  bool norms = false;       ///< outputs of both norms
  bool activation = false;  ///< output of the MLP's or the experts' activation
  bool mlp = false;         ///< the dense MLP
  bool experts = false;     ///< the mixture, exchanges included
  bool operators = false;   ///< all but what attention, reductions and every second matrix product
                            ///< leave: those of queries, values, the gate and the MLP's output
};
Remade remade(const FrameworkSpec& framework,
              const ParallelismSpec& parallelism,
              const LayerKind& kind);

}  // namespace headway::workload
