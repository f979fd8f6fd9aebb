// Which parts of a model are trained, and through which parts gradients must pass.
#pragma once

#include <cstdint>

#include "sim/workload/model_spec.h"

namespace headway::workload {

/// What backward does in a layer.
enum class Learning : std::uint8_t {
  weights,   ///< all of its weights are trained
  adapters,  ///< adapters beside its frozen weights are
  passes,    ///< nothing is, but gradients pass through to what is trained below
  still,     ///< nothing is, and nothing below: there is no backward
};

/// Of decoder layer `layer` (0 is the first).
Learning layer_learning(const ModelSpec& model, int layer);

/// Whether the token table and learned positions are trained.
bool embedding_trained(const ModelSpec& model);
/// Whether the last norm and the output matrix are trained.
bool head_trained(const ModelSpec& model);
/// Whether anything of an encoder of images is trained: gradients pass through all layers to it.
bool encoder_trained(const ModelSpec& model);
/// Whether anything is trained at all.
bool trains_anything(const ModelSpec& model);
/// Whether all of a model is trained.
inline bool all_trained(const ModelSpec& model) { return !model.adapters && !model.frozen; }

/// Whether a model's layers have adapters beside one of its products.
bool adapts(const ModelSpec& model, AdaptedProduct product);

/// Which products' inputs a layer keeps for the gradients of weights: all of them where its weights
/// are trained, those of adapters that keep no dropped copy of their own, none elsewhere.
struct KeptInputs {
  bool mixing = true;       ///< of queries, keys and values, or a mixer's matrices
  bool mlp_in = true;       ///< of gate and up, of shared experts too
  bool mlp_out = true;      ///< of down, of shared experts too
  bool experts = true;      ///< of routed experts' matrices
  bool router = true;       ///< of the router
  bool all_weights = true;  ///< the layer's own weights are trained
};
KeptInputs kept_inputs(const ModelSpec& model, Learning learning);

}  // namespace headway::workload
