// Jobs on nodes of several kinds: which nodes, and which stages of which replicas, are of which
// kind.
//
// Nodes of one kind stand side by side, in the order in which ranks fill nodes: with the ranks in
// the order tp-cp-dp-pp the last stages are on the last kind, in the order tp-cp-pp-dp the last
// replicas. docs/unequal_gpus.md.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/training/scenario.h"
#include "sim/training/step/program.h"

namespace headway::training {

/// Kinds of nodes: 0 is `cluster.node`, k is entry k - 1 of `cluster.other_nodes`.
int node_kinds(const ClusterSpec& cluster);
inline bool unequal(const ClusterSpec& cluster) { return !cluster.other_nodes.empty(); }

const NodeSpec& node_of_kind(const ClusterSpec& cluster, int kind);

/// The first node of a kind; of one kind behind the last, the number of nodes.
std::int64_t first_node(const ClusterSpec& cluster, int kind);
inline std::int64_t nodes_of_kind(const ClusterSpec& cluster, int kind) {
  return first_node(cluster, kind + 1) - first_node(cluster, kind);
}

/// The kind of the n-th node.
int kind_of_node(const ClusterSpec& cluster, std::int64_t node);

/// "12 nodes of DGX H100", "12 nodes (8 of DGX H100, 4 of DGX A100)".
std::string nodes_in_words(const ClusterSpec& cluster);

/// The scenario as if all its nodes were of one kind: what is asked of a GPU is asked of that.
Scenario of_one_kind(const Scenario& scenario, int kind);

/// Scores in memory where no GPU of the job has a fused kernel for the software's attention: these
/// need Ampere's instructions (README.md of Dao-AILab/flash-attention; support matrices of cuDNN
/// and Transformer Engine). PyTorch's scaled_dot_product_attention has one for older GPUs too.
/// `of_one_kind` does it for the kind alone.
void use_attention_of_gpus(Scenario& scenario);

/// Of each part the slowest or smallest that nodes of these kinds have: what a group waits for that
/// spans them. The GPU is the oldest, by which NCCL chooses (src/graph/tuning.cc: the least compute
/// capability of a communicator).
NodeSpec weakest_node(const ClusterSpec& cluster, const std::vector<int>& kinds);
/// The same of all kinds.
NodeSpec weakest_node(const ClusterSpec& cluster);

/// Rate of all GPUs at the precision of the run, divided by how many there are.
core::FlopsPerSecond mean_peak(const Scenario& scenario);

/// What the job's GPU-hours cost in the mean / `run.prices.gpu_hour`; 1 where no kind has a price
/// of its own.
double relative_price(const Scenario& scenario);

/// The kind of each stage, for one replica.
using StageKinds = std::vector<int>;

/// Replicas that differ in the kinds of their stages, each once. Packed placement, and the ranks of
/// a stage of a replica all on one kind.
std::vector<StageKinds> replicas_by_kind(const ClusterSpec& cluster,
                                         const workload::ParallelismSpec& layout,
                                         int data_parallel);

/// Kinds of the nodes that each stage has ranks on, rising.
std::vector<std::vector<int>> kinds_of_stages(const ClusterSpec& cluster,
                                              const workload::ParallelismSpec& layout,
                                              int data_parallel);

/// Memory that every rank of a stage has at least.
struct StageRoom {
  int kind = 0;      ///< of the node with the smallest GPU that it has ranks on
  core::Bytes gpu;   ///< of that GPU
  core::Bytes host;  ///< of a node
};
std::vector<StageRoom> room_of_stages(const ClusterSpec& cluster,
                                      const workload::ParallelismSpec& layout,
                                      int data_parallel);

/// Kernel speeds of every kind of GPU.
class KernelTimesOfKinds {
 public:
  explicit KernelTimesOfKinds(const Scenario& scenario);
  [[nodiscard]] const KernelTimes& of(int kind) const {
    return times_[static_cast<std::size_t>(kind)];
  }

 private:
  std::deque<Scenario> alone_;  ///< of one kind each; their GPUs are what `times_` point to
  std::vector<KernelTimes> times_;
};

}  // namespace headway::training
