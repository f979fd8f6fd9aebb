// Models of which a part is trained, and their figures by hand.
#pragma once

#include <utility>
#include <vector>

#include "sim/workload/blocks/build.h"
#include "sim/workload/model_spec.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload::tests {

using Products = std::vector<AdaptedProduct>;
using P = AdaptedProduct;

inline ModelSpec adapted(ModelSpec model, int rank, Products products = {}) {
  model.adapters = AdaptersSpec{rank, std::move(products), BaseWeights::full, false};
  return model;
}

inline ModelSpec few(int layers = 4) {
  ModelSpec model = llama_8b();
  model.layers = layers;
  return model;
}

inline ModelSpec frozen(int layers, FrozenSpec spec) {
  ModelSpec model = few(layers);
  model.frozen = spec;
  return model;
}

inline ModelSpec in_nf4(ModelSpec model) {
  model.adapters->base = BaseWeights::nf4;
  return model;
}

// Llama 8B, a layer: query and output 4096^2, key and value 4096 x 1024, three of 4096 x 14336.
inline constexpr double kLayer = 2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336;
inline constexpr double kNorms = 2 * 4096.0;
inline constexpr double kTable = 4096.0 * 128256;
// An adapter has r (inputs + outputs) weights: a layer's seven with r = 16.
inline constexpr double kAdapters = 16 * (2 * 8192.0 + 2 * 5120.0 + 3 * (4096.0 + 14336.0));

inline double step_work(const ModelSpec& model, int tensor, int batch) {
  return tensor *
         matrix_work(build_step_graph(model, recipe(int(kS), batch), split(tensor, 1), 1, batch));
}

// Attention of a layer and micro-batch: two products forward, five backward, of s^2 / 2 pairs of 32
// heads of 128, 2 FLOP an element.
inline constexpr double kForwardCore = 2 * 2 * kS * kS / 2 * 32 * 128;
inline constexpr double kCore = kForwardCore * 3.5;

}  // namespace headway::workload::tests
