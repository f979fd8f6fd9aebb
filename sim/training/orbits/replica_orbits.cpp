#include "sim/training/orbits/replica_orbits.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "sim/core/digest.h"
#include "sim/core/error.h"
#include "sim/workload/blocks/data_parallel_blocks.h"

namespace headway::training {

namespace {

using network::FabricShape;
using workload::Group;

/// The least k >= 1 such that k x step is a multiple of `unit`.
std::uint64_t times_to(std::uint64_t unit, std::uint64_t step) {
  return unit / std::gcd(unit, step);
}

/// Nodes that share a leaf, of each rail one; 0: leaves cut nodes.
std::uint32_t nodes_of_leaf(const FabricShape& s) {
  if (s.rail_leaves) {
    return s.ports_per_leaf;
  }
  if (s.leaves_per_tree == 1) {
    return s.nodes;
  }
  return s.ports_per_leaf % s.rails == 0 ? s.ports_per_leaf / s.rails : 0;
}

/// Nodes that share a pod; 0: pods cut the leaves of a node's rails apart.
std::uint32_t nodes_of_pod(const FabricShape& s) {
  if (s.pods_per_tree == 1) {
    return s.nodes;
  }
  const std::uint32_t leaves = s.rail_leaves && s.trees == s.planes ? s.rails : 1;
  return s.leaves_per_pod % leaves == 0 ? nodes_of_leaf(s) * (s.leaves_per_pod / leaves) : 0;
}

using Firsts = std::vector<std::uint32_t>;  ///< per unit: the first of its class
using Colour = std::uint64_t;

/// Whether two nodes of a stage are in one zone of so many nodes, in every stage.
bool together(const BlockPlan& plan, std::uint32_t a, std::uint32_t b, std::uint32_t zone) {
  for (std::uint32_t p = 0; p < plan.stages; ++p) {
    if ((p * plan.stage + a) / zone != (p * plan.stage + b) / zone) {
      return false;
    }
  }
  return true;
}

/// Units in a row that are together in a zone, in every stage.
Firsts runs(const BlockPlan& plan, std::uint32_t units, std::uint32_t unit, std::uint32_t zone) {
  Firsts first(units);
  for (std::uint32_t u = 0; u < units; ++u) {
    const bool joined = u > 0 && together(plan, (u - 1) * unit, (u + 1) * unit - 1, zone);
    first[u] = joined ? first[u - 1] : u;
  }
  return first;
}

/// Whether zones of so many nodes hold whole units, or units whole zones, each of one stage.
bool fits(const BlockPlan& plan, std::uint32_t unit, std::uint32_t zone) {
  return std::max(unit, zone) % std::min(unit, zone) == 0 &&
         (plan.stages == 1 || plan.stage % zone == 0);
}

/// How many units each first stands for.
std::vector<std::uint32_t> count(const Firsts& first) {
  std::vector<std::uint32_t> size(first.size(), 0);
  for (const std::uint32_t f : first) {
    ++size[f];
  }
  return size;
}

/// The first with each key.
class FirstOf {
 public:
  std::uint32_t operator()(Colour key, std::uint32_t index) {
    return first_.try_emplace(key, index).first->second;
  }

 private:
  std::unordered_map<Colour, std::uint32_t> first_;  ///< looked up only, never iterated
};

Colour both(Colour a, Colour b) { return core::mix(core::mix(a) + b); }

/// Colours of parts, whatever their order.
Colour of_all(std::span<const Colour> parts) {
  Colour sum = 0;
  for (const Colour part : parts) {
    sum += core::mix(part);
  }
  return sum;
}

}  // namespace

double ReplicaOrbits::kept_share() const {
  return empty() ? 1 : kept_blocks() / static_cast<double>(block_of_.size());
}

int ReplicaOrbits::kept_blocks() const {
  return empty() ? 1
                 : static_cast<int>(std::count_if(size_.begin(), size_.end(),
                                                  [](std::uint32_t n) { return n > 0; }));
}

int ReplicaOrbits::next_kept(int data) const {
  std::uint32_t b = block(data);
  if (empty() || (b < plan_.blocks && block_of_[b] == b)) {
    return data;
  }
  while (b < plan_.blocks && block_of_[b] != b) {
    ++b;
  }
  return static_cast<int>(b * plan_.data);
}

std::vector<int> ReplicaOrbits::without_middle() const {
  std::vector<int> data;
  for (std::uint32_t b = 0; plan_.middle_end > 0 && b < plan_.blocks; ++b) {
    b = b == plan_.middle ? plan_.middle_end : b;
    for (std::uint32_t d = 0; d < plan_.data; ++d) {
      data.push_back(static_cast<int>(b * plan_.data + d));
    }
  }
  return data;
}

std::uint32_t ReplicaOrbits::nodes(UseRun::Of of) const {
  return of == UseRun::Of::block ? plan_.block : (of == UseRun::Of::unit ? plan_.unit : plan_.zone);
}

void ReplicaOrbits::add_middle(std::vector<UseRun>& runs) const {
  const std::uint32_t first_zone = plan_.middle * plan_.block / plan_.zone;
  const std::uint32_t end_zone = plan_.middle_end * plan_.block / plan_.zone;
  const std::size_t seen = runs.size();
  for (std::size_t r = 0; r < seen; ++r) {
    UseRun run = runs[r];
    const std::uint32_t each = run.of == UseRun::Of::fixed ? 1 : plan_.zone / nodes(run.of);
    const std::uint32_t second = (first_zone - 1) * each;
    run.first = std::max(run.first, second);
    run.end = std::min(run.end, second + each);
    if (run.of == UseRun::Of::fixed || run.first >= run.end) {
      continue;
    }
    if (run.end - run.first == each) {
      runs[r].end = end_zone * each;
      continue;
    }
    for (std::uint32_t zone = first_zone; zone < end_zone; ++zone) {
      run.first += each;
      run.end += each;
      runs.push_back(run);
    }
  }
}

ReplicaOrbits::Place ReplicaOrbits::place(const network::Fabric& fabric, core::LinkId link) const {
  using Of = UseRun::Of;
  const FabricShape& s = fabric.shape();
  const network::LinkOwner at = fabric.owner(link);
  const Place fixed{Of::fixed, 0, link.index(), 1};
  /// @param first  link of the node
  const auto of_node = [&](std::uint32_t node, core::LinkId first, std::uint32_t links) -> Place {
    const std::uint32_t here = node % plan_.stage;
    return {Of::block, here / plan_.block, first.index() - here % plan_.block * links,
            plan_.block * links};
  };
  /// @param first  link of the zone
  /// @param links  of a zone
  const auto of_zone = [&](std::uint32_t zone, std::uint32_t nodes, core::LinkId first,
                           std::uint32_t links) -> Place {
    const std::uint32_t here = zone * nodes % plan_.stage;
    if (nodes > plan_.unit) {
      return here / nodes < plan_.pods ? Place{Of::pod, here / nodes, first.index(), links} : fixed;
    }
    return here / plan_.unit < plan_.units
               ? Place{Of::unit, here / plan_.unit,
                       first.index() - here % plan_.unit / nodes * links,
                       plan_.unit / nodes * links}
               : fixed;
  };
  const bool mesh = fabric.input().scale_up.kind == network::ScaleUpKind::mesh;
  const std::uint32_t gpus = s.gpus_per_node;
  const std::uint32_t joined = s.rail_leaves && s.trees == s.planes ? s.rails : 1;
  switch (at.tier) {
    case network::Tier::scale_up: {
      const std::uint32_t each = mesh ? s.domain_gpus - 1 : 2;
      const std::uint32_t node = at.index / gpus;
      return of_node(node, core::LinkId(node * gpus * each), gpus * each);
    }
    case network::Tier::host:
      return of_node(at.index / gpus, fabric.host_link(at.index / gpus * gpus, true), gpus * 2);
    case network::Tier::nic: {
      const std::uint32_t node = at.index / s.planes / s.rails;
      return of_node(node, fabric.nic_link(node, 0, 0, true), s.rails * s.planes * 2);
    }
    case network::Tier::leaf_spine: {
      const std::uint32_t in_tree = at.index % s.leaves_per_tree;
      const core::LinkId first = fabric.leaf_link(at.index - in_tree % joined, 0, true);
      return of_zone(in_tree / joined, plan_.leaf, first, joined * 2);
    }
    case network::Tier::spine_core:
      return plan_.unit <= plan_.pod || plan_.unit % plan_.pod == 0
                 ? of_zone(at.index % s.pods_per_tree, plan_.pod,
                           fabric.spine_link(at.index, 0, 0, true), 2)
                 : fixed;
    default:
      return fixed;
  }
}

/// Of those that are exchanged; of fixed links none.
const std::vector<std::uint32_t>& ReplicaOrbits::classes(UseRun::Of of) const {
  return of == UseRun::Of::block ? block_of_ : (of == UseRun::Of::unit ? unit_of_ : pod_of_);
}

ReplicaOrbits::LinkOrbit ReplicaOrbits::of_link(const network::Fabric& fabric,
                                                core::LinkId link) const {
  if (empty()) {
    return {link, 1};
  }
  using Of = UseRun::Of;
  const Place at = place(fabric, link);
  if (at.of == Of::fixed) {
    return {link, 1};
  }
  const std::uint32_t first = classes(at.of)[at.index];
  const auto& size = at.of == Of::block ? size_ : (at.of == Of::unit ? unit_size_ : pod_size_);
  return {core::LinkId(link.index() - (at.index - first) * at.apart), size[first]};
}

std::vector<UseRun> ReplicaOrbits::see(const network::Fabric& fabric,
                                       std::uint64_t group,
                                       std::span<const network::FlowOnLink> uses,
                                       bool middle) {
  std::vector<UseRun> runs;
  std::unordered_map<std::uint32_t, std::size_t> last;  // the last run of a link; looked up only
  Place at;
  std::size_t run = 0;
  for (const network::FlowOnLink& use : uses) {
    if (use.link - at.begin >= at.apart || at.of == UseRun::Of::fixed) {
      at = place(fabric, core::LinkId(use.link));
    }
    const std::uint32_t like = use.link - at.index * at.apart;
    // Blocks use their links in the same order, mostly.
    run = run + 1 < runs.size() && runs[run + 1].like == like && runs[run + 1].end == at.index
              ? run + 1
              : last.try_emplace(like, runs.size()).first->second;
    const bool goes_on =
        run < runs.size() && runs[run].end == at.index && runs[run].coefficient == use.coefficient;
    if (goes_on) {
      ++runs[run].end;
      continue;
    }
    run = last[like] = runs.size();
    runs.push_back({at.of, like, at.apart, use.coefficient, at.index, at.index + 1});
  }
  if (middle) {
    add_middle(runs);
  }
  for (const UseRun& r : runs) {
    const Colour colour = core::mix(both(group, (Colour{r.like} << 32U) | r.coefficient));
    auto& colours = r.of == UseRun::Of::block
                        ? block_colour_
                        : (r.of == UseRun::Of::unit ? unit_colour_ : pod_colour_);
    for (std::uint32_t i = r.first; r.of != UseRun::Of::fixed && i < r.end; ++i) {
      colours[i] += colour;
    }
  }
  return runs;
}

std::vector<network::FlowOnLink> ReplicaOrbits::of_stand_ins(std::span<const UseRun> runs) const {
  std::map<std::uint32_t, std::vector<const UseRun*>> by_link;
  std::vector<network::FlowOnLink> kept;
  for (const UseRun& run : runs) {
    if (run.of == UseRun::Of::fixed) {
      kept.push_back({run.like, run.coefficient});
    } else {
      by_link[run.like].push_back(&run);
    }
  }
  std::vector<std::uint32_t> taken;  // of this link's like in each block, leaf or pod
  for (const auto& [like, list] : by_link) {
    const std::vector<std::uint32_t>& first = classes(list.front()->of);
    taken.assign(first.size(), 0);
    for (const UseRun* run : list) {
      std::fill(taken.begin() + run->first, taken.begin() + run->end, run->coefficient);
    }
    for (std::uint32_t i = 0; i < first.size(); ++i) {
      // Colours are hashes: this is what they stand for.
      HEADWAY_CHECK(taken[i] == taken[first[i]], "blocks {} and {} are not alike", i, first[i]);
      if (first[i] == i && taken[i] > 0) {
        kept.push_back({like + i * list.front()->apart, taken[i]});
      }
    }
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.link < b.link; });
  return kept;
}

void ReplicaOrbits::classify() {
  // 1. on one leaf
  block_of_.resize(plan_.blocks);
  FirstOf first;
  for (std::uint32_t b = 0; b < plan_.blocks; ++b) {
    block_of_[b] = first(both(run_of_block_[b], block_colour_[b]), b);
  }
  classify_units();
  size_ = count(block_of_);
  unit_size_ = count(unit_of_);
  pod_size_ = count(pod_of_);
}

void ReplicaOrbits::classify_units() {
  const std::uint32_t each = std::max(1U, plan_.unit / plan_.block);
  std::vector<Colour> whole(plan_.units);  // of a unit and all that hangs on it
  for (std::uint32_t u = 0; u < plan_.units; ++u) {
    whole[u] = both(unit_colour_[u], of_all(std::span(block_colour_).subspan(u * each, each)));
  }
  // 2. in one pod
  FirstOf first_unit;
  unit_of_.resize(plan_.units);
  for (std::uint32_t u = 0; u < plan_.units; ++u) {
    unit_of_[u] = first_unit(both(run_of_unit_[u], whole[u]), u);
  }
  // 3. whole pods
  const std::uint32_t of_pod = std::max(1U, plan_.pod / plan_.unit);
  FirstOf first_pod, in_pod;
  pod_of_.resize(plan_.pods);
  for (std::uint32_t p = 0; p < plan_.pods; ++p) {
    pod_of_[p] =
        first_pod(both(pod_colour_[p], of_all(std::span(whole).subspan(p * of_pod, of_pod))), p);
    for (std::uint32_t u = p * of_pod; u < (p + 1) * of_pod; ++u) {
      unit_of_[u] = in_pod(both(pod_of_[p], whole[u]), u);
    }
  }
  FirstOf in_unit;
  for (std::uint32_t b = 0; b < plan_.units * each; ++b) {
    block_of_[b] = in_unit(both(unit_of_[b / each], block_colour_[b]), b);
  }
}

ReplicaOrbits replica_orbits(const CheckedScenario& checked,
                             const network::FabricInput& input,
                             const FabricShape& s) {
  const auto& p = checked.scenario().parallelism;
  const bool plain = input.fabric.routing == network::Routing::adaptive && !s.dragonfly &&
                     s.storage_targets == 0 && s.sites == 1 &&
                     checked.scenario().cluster.placement == Placement::packed &&
                     !checked.scenario().cluster.occupancy;
  const auto each = static_cast<std::uint64_t>(data_of_block(p, s));
  const auto data = static_cast<std::uint64_t>(checked.data_parallel());
  BlockPlan plan;
  plan.leaf = nodes_of_leaf(s);
  plan.pod = nodes_of_pod(s);
  if (!plain || data % each != 0 || plan.leaf == 0 || plan.pod == 0) {
    return {};
  }
  const bool whole_models = p.rank_order == workload::RankOrder::pipeline_first;
  plan.data = static_cast<std::uint32_t>(each);
  plan.stages = whole_models ? 1 : static_cast<std::uint32_t>(p.pipeline);
  plan.blocks = static_cast<std::uint32_t>(data / each);
  plan.stage = s.nodes / plan.stages;
  plan.block = plan.stage / plan.blocks;
  plan.unit = std::max(plan.block, plan.leaf);
  plan.units = fits(plan, plan.block, plan.leaf) ? plan.stage / plan.unit : 0;
  const bool pods = plan.units > 0 && plan.pod < s.nodes && fits(plan, plan.unit, plan.pod);
  plan.pods = pods ? plan.stage / std::max(plan.pod, plan.unit) : 0;
  plan.zone = pods ? std::max(plan.pod, plan.unit) : plan.unit;
  // Two zones at each end: the first and the last close the ring, the second speaks for the rest.
  constexpr std::uint32_t kEnds = 2;
  const std::uint32_t zones = plan.stage / plan.zone;
  if (plan.units > 0 && (pods || plan.pod >= s.nodes) && zones > 2 * kEnds + 1) {
    plan.middle = kEnds * plan.zone / plan.block;
    plan.middle_end = (zones - kEnds) * plan.zone / plan.block;
  }

  ReplicaOrbits out;
  out.plan_ = plan;
  out.run_of_block_ = runs(plan, plan.blocks, plan.block, plan.leaf);
  out.run_of_unit_ = runs(plan, plan.units, plan.unit, plan.pod);
  out.block_colour_.resize(plan.blocks);
  out.unit_colour_.resize(plan.units);
  out.pod_colour_.resize(plan.pods);
  out.classify();
  return out.kept_share() < 1 ? out : ReplicaOrbits();
}

int data_of_block(const workload::ParallelismSpec& p, const FabricShape& s) {
  const auto ranks = static_cast<std::uint64_t>(p.tensor) * static_cast<std::uint64_t>(p.context);
  const bool whole_models = p.rank_order == workload::RankOrder::pipeline_first;
  const std::uint64_t in_a_row = ranks * static_cast<std::uint64_t>(whole_models ? p.pipeline : 1);
  const auto experts = static_cast<std::uint64_t>(p.expert) *
                       static_cast<std::uint64_t>(p.expert_tensor) *
                       static_cast<std::uint64_t>(std::max(1, workload::expert_shard_ranks(p)));
  const std::uint64_t shards = static_cast<std::uint64_t>(std::max(1, p.shard_group_size));
  std::uint64_t data = times_to(s.gpus_per_node, in_a_row);
  data = std::lcm(data, times_to(s.domain_gpus, in_a_row));
  data = std::lcm(data, times_to(experts, ranks));
  return static_cast<int>(std::lcm(data, times_to(shards, static_cast<std::uint64_t>(p.context))));
}

bool spans_replicas(Group group) {
  switch (group) {
    case Group::data:
    case Group::data_context:
    case Group::replica:
    case Group::expert_data:
    case Group::expert_replica:
    case Group::world:
      return true;
    default:
      return false;
  }
}

}  // namespace headway::training
