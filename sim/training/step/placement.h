// Which rank sits on which GPU, and which ranks form which group.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/ids.h"
#include "sim/training/cluster_spec.h"
#include "sim/workload/spec.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// Where a rank stands in each parallel dimension.
struct RankCoordinates {
  int tensor = 0, context = 0, data = 0, pipeline = 0;
  bool operator==(const RankCoordinates&) const = default;
};

/// Which node of the fabric takes the ranks of the n-th node's worth of ranks.
struct NodeOrder {
  std::vector<std::uint32_t> node;  ///< empty: n takes n
  int gpus_per_node = 1;
};

/// packed: in the order of the fabric, so that nodes of one stage stand side by side where ranks
/// count data before pipeline; rack: the nodes of one model replica stand side by side, so that a
/// rack holds parts of as few replicas as can be; random: shuffled; fragmented: runs of four nodes
/// that stay together, in random order, as a cluster leaves them that is never quite empty. Draws
/// depend on the seed alone. On a partly occupied fabric all this is of the nodes that the job
/// takes.
NodeOrder node_order(const ClusterSpec& cluster,
                     const workload::ParallelismSpec& parallelism,
                     int data_parallel,
                     std::uint64_t seed);

/// GPUs of each NVLink domain that a job fills. Where a domain spans nodes and the job several
/// domains, it takes as many whole nodes of each as keep tensor and expert groups within one
/// domain, or wider ones in equal parts: of an NVL72 rack 64 GPUs for 64 ranks of experts, as
/// schedulers allot segments of racks. Else the whole domain.
int filled_domain(const ClusterSpec& cluster, const workload::ParallelismSpec& parallelism);

/// The layout of all ranks: rank <-> coordinates <-> GPU. Ranks fill nodes in order; which node
/// that is, the order says.
class RankLayout {
 public:
  /// @param domain_gpus  GPUs of one NVLink domain; 0: all are in one
  /// @param islands      equal parts of the data ranks that do not meet in a step (local steps)
  /// @param embedding_stage  of the pipeline, that has the embedding
  RankLayout(const workload::ParallelismSpec& parallelism,
             int data_parallel,
             int domain_gpus = 0,
             NodeOrder order = {},
             int islands = 1,
             int embedding_stage = 0);

  [[nodiscard]] std::int64_t ranks() const {
    return std::int64_t{tensor_} * context_ * data_ * pipeline_;
  }
  /// How far apart in number ranks are that differ in a data index next to the other alone.
  [[nodiscard]] std::int64_t ranks_between_replicas() const {
    return std::int64_t{tensor_} * context_ * (pipeline_first_ ? pipeline_ : 1);
  }
  [[nodiscard]] RankCoordinates coordinates(core::Rank rank) const;
  [[nodiscard]] core::Rank rank(const RankCoordinates& at) const;
  [[nodiscard]] core::GpuId gpu(core::Rank rank) const;

  /// First of `members`, without listing them.
  [[nodiscard]] core::Rank leader(workload::Group group, core::Rank rank) const;

  /// NVLink domains that an expert group lies in, if each holds equally many of its ranks and all
  /// expert groups lie alike; otherwise 1.
  [[nodiscard]] int expert_domains() const;

  /// The rank `distance` places further round the context ring of `rank`.
  [[nodiscard]] core::Rank context_neighbour(core::Rank rank, int distance) const;

  /// Ranks of the group of kind `group` that `rank` belongs to, in ring order; for neighbour groups
  /// the two ends. Under the bidirectional schedule the ranks with the same weights are those of a
  /// stage, then those of its mirror.
  [[nodiscard]] std::vector<core::Rank> members(workload::Group group, core::Rank rank) const;

 private:
  /// Where a rank stands among the tensor x context x data ranks of its stage, divided over
  /// experts: expert tensor ranks are neighbours, then expert ranks (Megatron-Core's order).
  struct ExpertPlace {
    int tensor = 0, expert = 0, data = 0;
  };
  [[nodiscard]] ExpertPlace expert_place(core::Rank rank) const;
  [[nodiscard]] core::Rank rank_at(const ExpertPlace& place, int pipeline) const;
  [[nodiscard]] int domain(core::Rank rank) const;
  /// Stages that hold the layers of this one, in order: itself, and its mirror where there are two
  /// copies.
  [[nodiscard]] std::vector<int> stages_alike(int pipeline) const;
  [[nodiscard]] std::vector<core::Rank> shard_members(workload::Group group, core::Rank rank) const;
  [[nodiscard]] std::vector<core::Rank> expert_members(workload::Group group,
                                                       core::Rank rank) const;

  /// Data ranks of the island of this one: the first, and the one behind the last.
  struct DataRange {
    int first = 0, end = 0;
  };
  [[nodiscard]] DataRange island(int data) const;
  [[nodiscard]] std::vector<core::Rank> same_weights(RankCoordinates at) const;
  [[nodiscard]] std::vector<core::Rank> of_island(int data) const;

  int tensor_, context_, data_, pipeline_;
  int expert_, expert_tensor_, shard_group_, expert_shards_, domain_gpus_;
  bool pipeline_first_;
  bool mirrored_;  ///< the schedule is bidirectional: stage p-1-i holds what stage i holds
  NodeOrder order_;
  int island_data_;  ///< data ranks of one island
  int embedding_stage_;
};

}  // namespace headway::training
