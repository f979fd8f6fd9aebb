#include "sim/workload/trained/trained_problems.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "sim/workload/number_formats.h"
#include "sim/workload/trained/trained_layers.h"

namespace headway::workload {

namespace {

/// Gathers sentences about one run.
class TrainedComplaints {
 public:
  TrainedComplaints(const ModelSpec& model,
                    const TrainingSpec& training,
                    const ParallelismSpec& parallelism)
      : model_(model), training_(training), parallelism_(parallelism) {}

  Violations take() {
    if (all_trained(model_)) {
      return {};
    }
    if (model_.frozen) {
      check_frozen();
    }
    if (model_.adapters) {
      check_products();
      check_kinds();
      check_layout();
      if (model_.adapters->base == BaseWeights::nf4) {
        check_nf4();
      }
    }
    check_both();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(std::string path, fmt::format_string<Args...> text, Args&&... args) {
    out_.push_back({std::move(path), fmt::format(text, std::forward<Args>(args)...)});
  }

  void check_frozen() {
    const FrozenSpec& frozen = *model_.frozen;
    if (frozen.layers > model_.layers) {
      add("model.frozen.layers", "{} frozen layers are more than the {} of model '{}'",
          frozen.layers, model_.layers, model_.name);
      return;
    }
    if (!model_.adapters && !trains_anything(model_)) {
      add("model.frozen", "nothing of model '{}' is trained; leave some layers or the head out",
          model_.name);
    }
    if (model_.adapters) {
      if (!frozen.embedding) {
        add("model.frozen.embedding",
            "adapters leave the embedding as it is; an embedding that is trained beside them is "
            "not "
            "simulated");
      }
      if (frozen.layers == model_.layers) {
        add("model.frozen.layers", "no layer of model '{}' is left to have adapters", model_.name);
      }
    } else if (model_.tied_embeddings && frozen.embedding != frozen.head) {
      add("model.frozen.head",
          "model '{}' shares the weights of embedding and head: freeze both or neither",
          model_.name);
    }
  }

  void check_products() {
    const auto& products = model_.adapters->products;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const std::string path = fmt::format("model.adapters.products[{}]", i);
      if (products[i] == AdaptedProduct::gate && !model_.gated_mlp) {
        add(path, "the MLP of model '{}' has no gate", model_.name);
      }
      if (products[i] == AdaptedProduct::experts && !model_.moe) {
        add(path, "model '{}' has no experts", model_.name);
      }
      if (std::find(products.begin(), products.begin() + static_cast<std::ptrdiff_t>(i),
                    products[i]) != products.begin() + static_cast<std::ptrdiff_t>(i)) {
        add(path, "adapter product {} is named twice", core::to_word(products[i]));
      }
    }
  }

  /// Models whose adapters are not counted.
  void check_kinds() {
    const char* other = model_.latent           ? "latent attention"
                        : model_.mixer          ? "linear attention or state spaces"
                        : model_.parallel_block ? "attention and MLP side by side"
                        : model_.full_attention ? "heads of their own in layers without the window"
                                                : nullptr;
    if (other != nullptr) {
      add("model.adapters", "adapters of model '{}' with {} are not simulated", model_.name, other);
    }
  }

  void check_layout() {
    const int rank = model_.adapters->rank;
    const int t = parallelism_.tensor;
    if (rank % t != 0 || model_.hidden % t != 0) {
      add("model.adapters.rank",
          "adapters of rank {} do not divide over {} tensor-parallel ranks, each of which has some "
          "of their columns",
          rank, t);
    }
    if (parallelism_.expert_tensor > 1 && adapts(model_, AdaptedProduct::experts)) {
      add("parallelism.expert_tensor",
          "adapters of experts that are divided over ranks are not simulated; write "
          "expert_tensor: 1");
    }
  }

  void check_nf4() {
    const char* path = "model.adapters.base";
    if (parallelism_.tensor > 1) {
      add(path,
          "weights in nf4 do not divide over {} tensor-parallel ranks: no software does that; "
          "choose tensor: 1 or base: full",
          parallelism_.tensor);
    }
    if (full_precision(training_.precision) || narrow(training_.precision)) {
      add(path, "weights in nf4 are made 16 bits wide, not {}; choose bf16",
          core::to_word(training_.precision));
    }
  }

  /// What the rest of a run does with weights that it takes to be trained.
  void check_both() {
    const std::string path = model_.adapters ? "model.adapters" : "model.frozen";
    if (model_.multi_token_prediction > 0) {
      add("model.multi_token_prediction",
          "prediction modules of a model that is trained in part are not simulated; write "
          "multi_token_prediction: 0");
    }
    if (owns_matrices(training_.optimizer_state)) {
      add("training.optimizer_state",
          "optimizer_state {} of a model that is trained in part is not simulated",
          core::to_word(training_.optimizer_state));
    }
    if (training_.local_steps) {
      add("training.local_steps",
          "sites that train apart with a model that is trained in part are not simulated");
    }
    if (parallelism_.offload != Offload::none) {
      add("parallelism.offload",
          "offload with a model that is trained in part is not simulated; choose none");
    }
    for (std::size_t i = 0; i < parallelism_.recompute_parts.size(); ++i) {
      if (parallelism_.recompute_parts[i] == RecomputePart::operators) {
        add(fmt::format("parallelism.recompute_parts[{}]", i),
            "recompute part operators of a model that is trained in part is not simulated: which "
            "products it leaves is known of whole layers");
      }
    }
    if (training_.framework.host.piece > core::Seconds(0)) {
      add(path,
          "framework '{}' copies weights piece by piece; with a model that is trained in part that "
          "is not simulated",
          training_.framework.name);
    }
  }

  const ModelSpec& model_;
  const TrainingSpec& training_;
  const ParallelismSpec& parallelism_;
  Violations out_;
};

}  // namespace

Violations trained_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism) {
  return TrainedComplaints(model, training, parallelism).take();
}

}  // namespace headway::workload
