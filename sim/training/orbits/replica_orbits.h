// Blocks of replicas that differ in nothing but where they stand: one of them is lowered for all.
//
// Ranks count tensor, context, then data (or pipeline, then data), so some data indices in a row
// fill whole nodes, in each stage a row of its own: a block. Where the fabric is healthy, balances
// adaptively and is filled in order, exchanging the nodes of two blocks changes only names
//   1. if the blocks hang on one leaf, in every stage;
//   2. if they are parts of whole leaves of one pod, in every stage, and all blocks of the two
//   leaves
//      are exchanged;
//   3. if they are parts of whole pods, and all blocks of the two pods are exchanged.
// Groups that lie in a block go where it goes. Those that reach over all replicas stay what they
// are only if they put the same on all links that are exchanged: a ring does, a tree loads its root
// less. So what they put on the links is a colour of blocks, leaves and pods, and only equal
// colours are exchanged. The classes of blocks are then classes that folding the whole problem
// would find (docs/models/network.md), and what is equal is never lowered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"
#include "sim/training/check.h"
#include "sim/training/step/placement.h"

namespace headway::training {

/// How the blocks of all stages lie on the nodes. Counts of nodes, unless said otherwise.
struct BlockPlan {
  std::uint32_t data = 1;  ///< data indices of a block
  std::uint32_t stages = 1;
  std::uint32_t blocks = 1;  ///< of a stage
  std::uint32_t block = 1, stage = 1;
  std::uint32_t leaf = 1, pod = 1;    ///< that share a leaf of each rail, a pod of each rail
  std::uint32_t unit = 1;             ///< a leaf, or a block that fills several: what pods exchange
  std::uint32_t units = 0, pods = 0;  ///< whole ones of a stage that can be exchanged
  std::uint32_t zone = 1;             ///< a pod, or a unit where there is one pod
  /// Blocks of whole zones in the middle of a stage: what passes between neighbours puts on the
  /// links of each of these zones what it puts on the second zone's. None: the same.
  std::uint32_t middle = 0, middle_end = 0;
};

/// What a group that spans replicas takes of links that are alike: the same coefficient of those of
/// some blocks, leaves or pods in a row.
struct UseRun {
  enum class Of : std::uint8_t { fixed, block, unit, pod } of = Of::fixed;
  std::uint32_t like = 0;   ///< the link of the first block, leaf or pod
  std::uint32_t apart = 0;  ///< how far apart in number its like in the next is
  std::uint32_t coefficient = 0;
  std::uint32_t first = 0, end = 0;
};

/// Which blocks of data indices stand for which. Empty: every rank stands for itself.
class ReplicaOrbits {
 public:
  ReplicaOrbits() = default;

  [[nodiscard]] bool empty() const { return block_of_.empty(); }
  /// Whether a rank of this data index is lowered.
  [[nodiscard]] bool keeps(int data) const {
    return empty() || block_of_[block(data)] == block(data);
  }
  /// How many blocks that of this data index, which is kept, stands for.
  [[nodiscard]] std::uint32_t size_of(int data) const { return empty() ? 1 : size_[block(data)]; }
  /// Data indices of the first block, which has ranks of every group that spans replicas.
  [[nodiscard]] int first_data() const { return static_cast<int>(plan_.data); }
  /// Of a stage.
  [[nodiscard]] int blocks() const { return empty() ? 1 : static_cast<int>(plan_.blocks); }
  [[nodiscard]] int kept_blocks() const;
  /// The next data index, this included, whose ranks are lowered; behind the last, how many there
  /// are.
  [[nodiscard]] int next_kept(int data) const;
  /// Blocks that are lowered, of all.
  [[nodiscard]] double kept_share() const;

  /// The link that stands for this one, the first of its class, and for how many.
  struct LinkOrbit {
    core::LinkId first;
    std::uint32_t links = 1;
  };
  [[nodiscard]] LinkOrbit of_link(const network::Fabric& fabric, core::LinkId link) const;

  /// Data indices without those in the middle. A ring over these puts on their links what the ring
  /// over all does: where it leaves a zone, it goes up in this one and down in the next, whichever
  /// that is. Empty: there is no middle.
  [[nodiscard]] std::vector<int> without_middle() const;

  /// A group that spans replicas takes these links, which rise: told apart is what they differ for.
  /// @param group  its number
  /// @param middle  whether `uses` are without the middle
  std::vector<UseRun> see(const network::Fabric& fabric,
                          std::uint64_t group,
                          std::span<const network::FlowOnLink> uses,
                          bool middle = false);
  /// Classes of equal colours, after all groups were seen.
  void classify();
  /// Of what a group takes, what it takes of stand-ins.
  [[nodiscard]] std::vector<network::FlowOnLink> of_stand_ins(std::span<const UseRun> runs) const;

 private:
  friend ReplicaOrbits replica_orbits(const CheckedScenario& checked,
                                      const network::FabricInput& input,
                                      const network::FabricShape& shape);

  /// What a link belongs to that is exchanged: its links are numbered in a row from `begin`, those
  /// of the next from `begin` + `apart`.
  struct Place {
    UseRun::Of of = UseRun::Of::fixed;
    std::uint32_t index = 0, begin = 0, apart = 1;
  };
  [[nodiscard]] Place place(const network::Fabric& fabric, core::LinkId link) const;
  [[nodiscard]] const std::vector<std::uint32_t>& classes(UseRun::Of of) const;
  /// Nodes of a block, leaf or pod that is exchanged.
  [[nodiscard]] std::uint32_t nodes(UseRun::Of of) const;
  /// Adds what the zones in the middle have, as the second zone has it.
  void add_middle(std::vector<UseRun>& runs) const;
  [[nodiscard]] std::uint32_t block(int data) const {
    return static_cast<std::uint32_t>(data) / plan_.data;
  }
  /// 2. and 3.: what leaves and pods exchange with all their blocks.
  void classify_units();

  BlockPlan plan_;
  std::vector<std::uint32_t> run_of_block_, run_of_unit_;  ///< on one leaf, in one pod, everywhere
  std::vector<std::uint64_t> block_colour_, unit_colour_, pod_colour_;
  std::vector<std::uint32_t> block_of_, unit_of_, pod_of_;  ///< the first of the class
  std::vector<std::uint32_t> size_, unit_size_, pod_size_;  ///< of the class, at its first
};

/// The orbits of a healthy cluster; empty where blocks are not interchangeable: hashed or modulo
/// routing, dragonflies, storage on the fabric, another order of nodes than the fabric's, leaves
/// that cut blocks.
/// @param shape  of `input`
ReplicaOrbits replica_orbits(const CheckedScenario& checked,
                             const network::FabricInput& input,
                             const network::FabricShape& shape);

/// Data indices in a row that fill whole nodes and NVLink domains and hold whole groups of experts
/// and of shards: groups that span replicas lie in each such row as in the next, where ranks fill
/// nodes in order.
int data_of_block(const workload::ParallelismSpec& parallelism, const network::FabricShape& shape);

/// Groups with ranks of every replica; all others lie in a block.
bool spans_replicas(workload::Group group);

}  // namespace headway::training
