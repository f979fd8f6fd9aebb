// Combinations that a training software refuses to start, though it has each part of them.
#pragma once

#include <array>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"
#include "sim/workload/framework/framework_words.h"
#include "sim/workload/usual_run.h"

namespace headway::workload {

/// What a layout has beside sharding, schedule, precision, offload and order of ranks.
enum class RefusedBeside {
  pipeline,       ///< several stages
  expert,         ///< several expert ranks
  accumulation,   ///< one stage that adds up gradients of several micro-batches
  uneven_stages,  ///< chunks with different numbers of layers
  recompute,      ///< some of the forward pass is computed again
  context,        ///< several context ranks
  /// The experts' data ranks are not the attention's: tensor x context is not expert x expert
  /// tensor, or, in a model without experts, context is not 1.
  other_data_ranks,
};
constexpr auto enum_words(RefusedBeside) {
  using R = RefusedBeside;
  using E = core::EnumWord<R>;
  return std::array{E{R::pipeline, "pipeline"},
                    E{R::expert, "expert"},
                    E{R::accumulation, "accumulation"},
                    E{R::uneven_stages, "uneven-stages"},
                    E{R::recompute, "recompute"},
                    E{R::context, "context"},
                    E{R::other_data_ranks, "other-data-ranks"}};
}

/// One combination: a layout that has one of each list that is not empty, and all of `beside`.
struct RefusalSpec {
  std::vector<Sharding> sharding;
  std::vector<ScheduleKind> schedule;
  std::vector<core::Precision> precision;
  std::vector<RefusedBeside> beside;
  std::vector<Offload> offload;
  std::vector<RankOrder> rank_order;
  template <class V>
  void fields(V& v) {
    v.optional("sharding", sharding, "Shardings, any of which is refused; empty: whatever it is.");
    v.optional("schedule", schedule,
               "Pipeline schedules, likewise; of layouts of several stages alone.");
    v.optional("precision", precision, "Formats of the matrix products, likewise.");
    v.optional("beside", beside,
               "What such a layout has too: pipeline: several stages; expert: several expert "
               "ranks; accumulation: one stage and several micro-batches; uneven-stages: chunks "
               "with different numbers of layers; recompute: of any kind; context: several context "
               "ranks; other-data-ranks: tensor x context is not expert x expert tensor (without "
               "experts: several context ranks).");
    v.optional("offload", offload, "What goes to the host, likewise.");
    v.optional("rank_order", rank_order,
               "Orders of ranks, likewise; of layouts of several stages alone.");
  }
  bool operator==(const RefusalSpec&) const = default;
};

}  // namespace headway::workload
