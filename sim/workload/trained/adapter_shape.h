// Sizes of low-rank adapters on one rank, and their parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/rank_shape.h"

namespace headway::workload {

/// The products of a layer whose adapters read one input.
enum class AdapterPlace : std::uint8_t {
  attention_in,   ///< query, key, value: split by columns
  attention_out,  ///< output: split by rows
  mlp_in,         ///< gate, up
  mlp_out,        ///< down
  shared_in,      ///< the same of shared experts
  shared_out,
  experts_in,  ///< of routed experts, whole on a rank
  experts_out,
};

/// An adapter beside a product of `inputs` by `outputs` on this rank: A of inputs x r and B of r x
/// outputs, whose result is added to the product's (Hu et al. 2021, section 4.1). Over t tensor
/// ranks the adapter of a product split by columns has r / t columns of A and its own columns of B;
/// that of one split by rows has its own rows of A and 1 / t of the columns of B. Source:
/// NVIDIA-NeMo/Megatron-Bridge, peft/utils.py (ParallelLinearAdapter), 2026.
struct Adapter {
  std::int64_t inputs = 0, outputs = 0;
  bool columns = true;      ///< the product is split by columns, or not at all
  std::int64_t groups = 1;  ///< of one adapter each: routed experts of this rank

  /// Columns of A and of B on this rank.
  [[nodiscard]] std::int64_t down_columns(std::int64_t rank, int tensor) const {
    return columns ? rank / tensor : rank;
  }
  [[nodiscard]] std::int64_t up_columns(int tensor) const {
    return columns ? outputs : outputs / tensor;
  }
  [[nodiscard]] double parameters(std::int64_t rank, int tensor) const;
};

/// Widths of a layer's products on one rank.
struct AdapterWidths {
  std::int64_t hidden = 0, queries = 0, keys = 0, values = 0;
  std::int64_t attended = 0;            ///< attention's output
  std::int64_t ffn = 0;                 ///< dense MLP
  std::int64_t shared = 0, expert = 0;  ///< shared experts, one routed expert
  std::int64_t routed = 0;              ///< of what routed experts read and write
  std::int64_t local_experts = 0;       ///< routed ones on this rank
};
AdapterWidths adapter_widths(const ModelSpec& model, const ParallelismSpec& parallelism);

/// The adapters at a place; none where the model has none there.
std::vector<Adapter> adapters_at(const ModelSpec& model,
                                 const AdapterWidths& widths,
                                 AdapterPlace place);

/// The places of a layer of a kind.
std::vector<AdapterPlace> adapter_places(const LayerKind& kind);

/// Parameters of a layer's adapters on one rank.
RankParameters adapter_parameters_per_rank(const ModelSpec& model,
                                           const ParallelismSpec& parallelism,
                                           const LayerKind& kind);

/// Weights of adapters that one token is multiplied with in a layer, whole model.
double active_adapter_weights(const ModelSpec& model, const LayerKind& kind);

/// What the adapters of a layer keep for backward beside inputs that they share with the layer's
/// own products [B]: A's output and, with dropout, a copy of the input and its mask.
double kept_by_adapters(const ModelSpec& model,
                        const ParallelismSpec& parallelism,
                        const RankShape& shape,
                        const ExpertShape* experts,
                        const LayerKind& kind);

}  // namespace headway::workload
