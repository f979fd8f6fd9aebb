// What a search for a layout may vary, and with which values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"
#include "sim/core/ranges.h"
#include "sim/training/sweep_spec.h"
#include "sim/workload/spec.h"

namespace headway::training {

/// A dimension of the search, named as its field of `parallelism`; stage_layers is the layers of
/// the first and the last stage, recompute includes its parts and its period.
enum class SearchAxis {
  tensor,
  sequence,
  pipeline,
  virtual_stages,
  schedule,
  stage_layers,
  context,
  context_kind,
  expert,
  expert_tensor,
  micro_batch,
  sharding,
  shard_group_size,
  reshard,
  recompute,
  offload,
  rank_order
};
constexpr auto enum_words(SearchAxis) {
  using A = SearchAxis;
  using E = core::EnumWord<A>;
  return std::array{E{A::tensor, "tensor"},
                    E{A::sequence, "sequence"},
                    E{A::pipeline, "pipeline"},
                    E{A::virtual_stages, "virtual"},
                    E{A::schedule, "schedule"},
                    E{A::stage_layers, "stage_layers"},
                    E{A::stage_layers, "first_stage_layers"},  // read only, as the next
                    E{A::stage_layers, "last_stage_layers"},
                    E{A::context, "context"},
                    E{A::context_kind, "context_kind"},
                    E{A::expert, "expert"},
                    E{A::expert_tensor, "expert_tensor"},
                    E{A::micro_batch, "micro_batch"},
                    E{A::sharding, "sharding"},
                    E{A::shard_group_size, "shard_group_size"},
                    E{A::reshard, "reshard"},
                    E{A::recompute, "recompute"},
                    E{A::offload, "offload"},
                    E{A::rank_order, "rank_order"}};
}

/// What a search chooses by what the run teaches, not by trying values.
enum class SearchAdvice { automatic };
constexpr auto enum_words(SearchAdvice) {
  using E = core::EnumWord<SearchAdvice>;
  return std::array{E{SearchAdvice::automatic, "auto"}};
}

/// Empty lists: all values of an axis that is varied; of nodes, batch, sequence and precision, and
/// of what is not named here, the scenario's own.
struct SearchSpec {
  std::vector<SearchAxis> vary, hold;
  std::vector<int> tensor, pipeline, virtual_stages;
  std::vector<workload::ScheduleKind> schedule;
  std::vector<int> context;
  std::vector<workload::ContextKind> context_kind;
  std::vector<int> expert, expert_tensor, micro_batch;
  std::vector<workload::Sharding> sharding;
  std::vector<int> shard_group_size;
  std::vector<workload::Recompute> recompute;
  std::vector<workload::Offload> offload;
  std::vector<workload::RankOrder> rank_order;
  std::vector<int> nodes, global_batch, sequence_length;
  std::vector<core::Precision> precision;
  std::vector<SweepAxisSpec> over;
  std::vector<std::string> machines;
  std::optional<SearchAdvice> spares;
  template <class V>
  void fields(V& v) {  // NOLINT(readability-function-size): a list
    v.optional("vary", vary,
               "Fields of parallelism that a search varies, all others being held as the scenario "
               "has them; empty: all.");
    v.optional("hold", hold, "Fields of parallelism that it holds as the scenario has them.");
    v.optional("tensor", tensor, "Tensor-parallel degrees; empty: divisors up to NVLink's domain.",
               core::from_one_to_16m);
    v.optional("pipeline", pipeline, "Pipeline stages; empty: all that divide the GPUs.",
               core::from_one_to_10k);
    v.optional(
        "virtual", virtual_stages,
        "Chunks a stage of the interleaved schedule; empty: to 8, and what divides its layers.",
        core::from_one_to_10k);
    v.optional("schedule", schedule, "Schedules; empty: those of the framework.");
    v.optional("context", context,
               "Context-parallel degrees; empty: while 1,024 tokens a rank are left.",
               core::from_one_to_16m);
    v.optional("context_kind", context_kind,
               "Kinds of context parallelism; empty: those of the framework.");
    v.optional("expert", expert, "Expert-parallel degrees; empty: divisors of the experts.",
               core::from_one_to_16m);
    v.optional("expert_tensor", expert_tensor,
               "Tensor-parallel degrees of experts; empty: divisors of the tensor degree.",
               core::from_one_to_16m);
    v.optional("micro_batch", micro_batch,
               "Sequences of a micro-batch; empty: 1, 2, 3, 4, 6, 8, 12, ... that divide the batch "
               "of a replica.",
               core::from_one_to_16m);
    v.optional("sharding", sharding,
               "What data-parallel ranks shard; empty: what the framework can.");
    v.optional("shard_group_size", shard_group_size,
               "Ranks that hold one copy with hsdp; empty: an NVLink domain, and doublings.",
               core::from_one_to_16m);
    v.optional("recompute", recompute, "Kinds of recomputation; empty: all.");
    v.optional("offload", offload, "What goes to host memory; empty: all kinds.");
    v.optional("rank_order", rank_order, "Orders of ranks over GPUs; empty: both.");
    v.optional("nodes", nodes, "Cluster sizes; empty: cluster.nodes.", core::from_one_to_16m);
    v.optional("global_batch", global_batch, "Sequences of a step; empty: the scenario's.",
               core::at_least_one);
    v.optional("sequence_length", sequence_length, "Tokens of a sequence; empty: the scenario's.",
               core::sequence_tokens);
    v.optional("precision", precision, "Formats of the matrix products; empty: the scenario's.");
    v.optional("over", over,
               "Further fields of the scenario and what each is tried with: every combination is a "
               "candidate machine. A path as a key says the same, `cluster.node: [dgx-h100, "
               "dgx-b200]`, or nested keys, `cluster: {node: [dgx-h100, dgx-b200]}`.");
    v.optional("machines", machines,
               "Candidate machines one by one, as \"cluster.node=dgx-b200; "
               "run.prices=b200-on-demand-2026-06\".");
    v.optional(
        "spares", spares,
        "auto: of each plan as many spare nodes as its run is found to need, or fewer where the "
        "objective, one of the run, is the better for it.");
  }
  bool operator==(const SearchSpec&) const = default;
};

}  // namespace headway::training
