// Which weights of a model are trained, where not all are: low-rank adapters beside frozen ones,
// and layers that stay as they are.
#pragma once

#include <array>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"

namespace headway::workload {

/// A matrix that adapters can stand beside.
enum class AdaptedProduct { query, key, value, output, gate, up, down, experts };
constexpr auto enum_words(AdaptedProduct) {
  using A = AdaptedProduct;
  using E = core::EnumWord<A>;
  return std::array{E{A::query, "query"},   E{A::key, "key"},        E{A::value, "value"},
                    E{A::output, "output"}, E{A::gate, "gate"},      E{A::up, "up"},
                    E{A::down, "down"},     E{A::experts, "experts"}};
}

/// How the frozen matrices beside adapters lie in memory.
enum class BaseWeights { full, nf4 };
constexpr auto enum_words(BaseWeights) {
  using E = core::EnumWord<BaseWeights>;
  return std::array{E{BaseWeights::full, "full"}, E{BaseWeights::nf4, "nf4"}};
}

/// Low-rank adapters. Sources: Hu et al. 2021 (arXiv 2106.09685, LoRA), Dettmers et al. 2023 (arXiv
/// 2305.14314, QLoRA).
struct AdaptersSpec {
  int rank = 16;
  std::vector<AdaptedProduct> products;
  BaseWeights base = BaseWeights::full;
  bool dropout = false;
  template <class V>
  void fields(V& v) {
    v.required("rank", rank, "Columns of the first matrix of an adapter, rows of the second.",
               core::from_one_to_64k);
    v.optional(
        "products", products,
        "Matrices that have an adapter: query, key, value and output of attention; gate, up "
        "and down of dense MLPs and shared experts; experts: all matrices of routed experts, "
        "each with its own. Empty: all that a model has.");
    v.optional(
        "base", base,
        "The frozen matrices of layers in memory. full: in the format of other weights; nf4: "
        "in 4.127 bits each (QLoRA with double quantization), made 16 bits wide before each "
        "product.");
    v.optional("dropout", dropout,
               "Dropout of each adapter's input, of which each keeps a copy of its own.");
  }
  bool operator==(const AdaptersSpec&) const = default;
};

/// Weights that stay as they are.
struct FrozenSpec {
  int layers = 0;
  bool embedding = true;
  bool head = false;
  template <class V>
  void fields(V& v) {
    v.optional("layers", layers, "Decoder layers at the front that are not trained.",
               core::up_to_10k);
    v.optional("embedding", embedding,
               "The embedding is not trained; false: it is, and gradients pass through frozen "
               "layers.");
    v.optional(
        "head", head,
        "The last norm and the output matrix are not trained; beside adapters they never are.");
  }
  bool operator==(const FrozenSpec&) const = default;
};

}  // namespace headway::workload
