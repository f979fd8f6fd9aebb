#include "sim/workload/trained/trained_layers.h"

#include <algorithm>

namespace headway::workload {

bool embedding_trained(const ModelSpec& model) {
  return !model.adapters && !(model.frozen && model.frozen->embedding);
}

bool head_trained(const ModelSpec& model) {
  return !model.adapters && !(model.frozen && model.frozen->head);
}

bool encoder_trained(const ModelSpec& model) {
  return model.vision && model.vision->trained != EncoderTraining::none;
}

Learning layer_learning(const ModelSpec& model, int layer) {
  const int frozen = model.frozen ? model.frozen->layers : 0;
  if (layer >= frozen) {
    return model.adapters ? Learning::adapters : Learning::weights;
  }
  return embedding_trained(model) || encoder_trained(model) ? Learning::passes : Learning::still;
}

bool trains_anything(const ModelSpec& model) {
  return embedding_trained(model) || head_trained(model) ||
         layer_learning(model, model.layers - 1) != Learning::still;
}

bool adapts(const ModelSpec& model, AdaptedProduct product) {
  if (!model.adapters || (product == AdaptedProduct::gate && !model.gated_mlp) ||
      (product == AdaptedProduct::experts && !model.moe)) {
    return false;
  }
  const auto& products = model.adapters->products;
  return products.empty() || std::find(products.begin(), products.end(), product) != products.end();
}

KeptInputs kept_inputs(const ModelSpec& model, Learning learning) {
  if (learning == Learning::weights) {
    return {};
  }
  const bool shares = learning == Learning::adapters && !model.adapters->dropout;
  const auto any = [&](std::initializer_list<AdaptedProduct> products) {
    return shares && std::any_of(products.begin(), products.end(),
                                 [&](AdaptedProduct one) { return adapts(model, one); });
  };
  using A = AdaptedProduct;
  return {any({A::query, A::key, A::value}),
          any({A::gate, A::up}),
          any({A::down}),
          any({A::experts}),
          false,
          false};
}

}  // namespace headway::workload
