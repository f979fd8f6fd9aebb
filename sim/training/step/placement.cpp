#include "sim/training/step/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/training/constants.h"
#include "sim/training/occupancy/occupancy.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/layout.h"

namespace headway::training {

using core::Rank;
using workload::Group;

namespace {

/// Nodes that a scheduler finds free together in a cluster full of other jobs. Assumed.
constexpr std::size_t kFragment = 4;

/// Fisher-Yates on runs of `run` nodes; a last, shorter run stays whole.
std::vector<std::uint32_t> shuffled_runs(std::size_t nodes, std::size_t run, std::uint64_t seed) {
  std::vector<std::size_t> runs((nodes + run - 1) / run);
  std::iota(runs.begin(), runs.end(), std::size_t{0});
  const core::RandomStream stream(seed, "placement");
  for (std::size_t i = runs.size(); i > 1; --i) {
    std::swap(runs[i - 1], runs[stream.index(i, 0, i)]);
  }
  std::vector<std::uint32_t> order;
  order.reserve(nodes);
  for (const std::size_t first : runs) {
    for (std::size_t n = first * run; n < std::min(nodes, (first + 1) * run); ++n) {
      order.push_back(static_cast<std::uint32_t>(n));
    }
  }
  return order;
}

/// The n-th node's worth of ranks goes to the place that its (replica, stage) has among all.
std::vector<std::uint32_t> replica_by_replica(const ClusterSpec& cluster,
                                              const RankLayout& layout) {
  std::vector<std::uint32_t> slots(static_cast<std::size_t>(cluster.nodes));
  std::iota(slots.begin(), slots.end(), 0U);
  const auto place = [&](std::uint32_t slot) {
    const RankCoordinates at =
        layout.coordinates(Rank(slot * static_cast<std::uint32_t>(cluster.node.gpus)));
    return std::pair(at.data, at.pipeline);
  };
  std::stable_sort(slots.begin(), slots.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  std::vector<std::uint32_t> order(slots.size());
  for (std::uint32_t node = 0; node < slots.size(); ++node) {
    order[slots[node]] = node;
  }
  return order;
}

/// Groups of `group` ranks in a row, in domains of `domain` GPUs, never lie askew.
bool aligned(std::int64_t group, std::int64_t domain) {
  return domain % group == 0 || group % domain == 0;
}

}  // namespace

int filled_domain(const ClusterSpec& cluster, const workload::ParallelismSpec& parallelism) {
  const int domain = cluster.node.scale_up.domain_gpus;
  const int node = cluster.node.gpus;
  if (domain <= node || std::int64_t{cluster.nodes} * node <= domain) {
    return domain;
  }
  const std::int64_t experts = std::int64_t{parallelism.expert} * parallelism.expert_tensor;
  for (int gpus = domain / node * node; gpus > node; gpus -= node) {
    if (aligned(parallelism.tensor, gpus) && aligned(experts, gpus)) {
      return gpus;
    }
  }
  return domain;
}

namespace {

/// Of a fabric that holds the job's nodes alone.
NodeOrder order_of_job(const ClusterSpec& cluster,
                       const workload::ParallelismSpec& parallelism,
                       int data_parallel,
                       std::uint64_t seed) {
  const auto nodes = static_cast<std::size_t>(cluster.nodes);
  switch (cluster.placement) {
    case Placement::packed:
      return {};
    case Placement::rack:
      return {replica_by_replica(cluster, RankLayout(parallelism, data_parallel)),
              cluster.node.gpus};
    case Placement::random:
      return {shuffled_runs(nodes, 1, seed), cluster.node.gpus};
    case Placement::fragmented:
      return {shuffled_runs(nodes, kFragment, seed), cluster.node.gpus};
  }
  HEADWAY_CHECK(false, "placement {}", static_cast<int>(cluster.placement));
}

}  // namespace

NodeOrder node_order(const ClusterSpec& cluster,
                     const workload::ParallelismSpec& parallelism,
                     int data_parallel,
                     std::uint64_t seed) {
  NodeOrder order = order_of_job(cluster, parallelism, data_parallel, seed);
  const auto taken = taken_nodes(cluster);
  if (taken.empty()) {
    return order;
  }
  if (order.node.empty()) {
    return {taken, cluster.node.gpus};
  }
  std::transform(order.node.begin(), order.node.end(), order.node.begin(),
                 [&taken](std::uint32_t place) { return taken[place]; });
  return order;
}

RankLayout::RankLayout(const workload::ParallelismSpec& p,
                       int data_parallel,
                       int domain_gpus,
                       NodeOrder order,
                       int islands,
                       int embedding_stage)
    : tensor_(p.tensor),
      context_(p.context),
      data_(data_parallel),
      pipeline_(p.pipeline),
      expert_(p.expert),
      expert_tensor_(p.expert_tensor),
      shard_group_(std::max(1, p.shard_group_size)),
      expert_shards_(std::max(1, workload::expert_shard_ranks(p))),
      domain_gpus_(domain_gpus),
      pipeline_first_(p.rank_order == workload::RankOrder::pipeline_first),
      mirrored_(workload::copies_of_layers(p) > 1),
      order_(std::move(order)),
      island_data_(data_parallel / islands),
      embedding_stage_(embedding_stage) {}

RankLayout::DataRange RankLayout::island(int data) const {
  const int first = data / island_data_ * island_data_;
  return {first, first + island_data_};
}

core::GpuId RankLayout::gpu(Rank rank) const {
  if (order_.node.empty()) {
    return core::GpuId(rank.index());
  }
  const auto per_node = static_cast<std::uint32_t>(order_.gpus_per_node);
  return core::GpuId(order_.node[rank.index() / per_node] * per_node + rank.index() % per_node);
}

RankCoordinates RankLayout::coordinates(Rank rank) const {
  int rest = static_cast<int>(rank.index());
  const auto take = [&rest](int degree) {
    const int here = rest % degree;
    rest /= degree;
    return here;
  };
  RankCoordinates at;
  at.tensor = take(tensor_);
  at.context = take(context_);
  if (pipeline_first_) {
    at.pipeline = take(pipeline_);
    at.data = take(data_);
  } else {
    at.data = take(data_);
    at.pipeline = take(pipeline_);
  }
  return at;
}

Rank RankLayout::rank(const RankCoordinates& at) const {
  const int outer =
      pipeline_first_ ? at.pipeline + pipeline_ * at.data : at.data + data_ * at.pipeline;
  return Rank(at.tensor + tensor_ * (at.context + context_ * outer));
}

Rank RankLayout::leader(Group group, Rank of) const {
  RankCoordinates at = coordinates(of);
  switch (group) {
    case Group::tensor:
      at.tensor = 0;
      return rank(at);
    case Group::context:
      at.context = 0;
      return rank(at);
    case Group::data:
      at.data = island(at.data).first;
      return rank(at);
    case Group::data_context:
      at.data = island(at.data).first;
      at.context = 0;
      at.pipeline = stages_alike(at.pipeline).front();
      return rank(at);
    case Group::embedding:
      at.pipeline = embedding_stage_;
      return rank(at);
    case Group::world:
      return rank({.data = island(at.data).first});
    case Group::pipeline_next:
    case Group::pipeline_previous:
      return of;
    case Group::shard:
    case Group::replica:
      return shard_members(group, of).front();
    case Group::expert:
    case Group::expert_domain:
    case Group::expert_rail:
    case Group::expert_tensor:
    case Group::expert_data:
    case Group::expert_shard:
    case Group::expert_replica:
      return expert_members(group, of).front();
  }
  HEADWAY_CHECK(false, "group {} has no placement", static_cast<int>(group));
}

RankLayout::ExpertPlace RankLayout::expert_place(Rank rank) const {
  const RankCoordinates at = coordinates(rank);
  int rest = at.tensor + tensor_ * (at.context + context_ * at.data);
  const int tensor = rest % expert_tensor_;
  rest /= expert_tensor_;
  return {tensor, rest % expert_, rest / expert_};
}

Rank RankLayout::rank_at(const ExpertPlace& place, int pipeline) const {
  const int linear = place.tensor + expert_tensor_ * (place.expert + expert_ * place.data);
  RankCoordinates at;
  at.tensor = linear % tensor_;
  at.context = linear / tensor_ % context_;
  at.data = linear / tensor_ / context_;
  at.pipeline = pipeline;
  return rank(at);
}

std::vector<int> RankLayout::stages_alike(int pipeline) const {
  if (!mirrored_) {
    return {pipeline};
  }
  const int mirror = pipeline_ - 1 - pipeline;
  return {std::min(pipeline, mirror), std::max(pipeline, mirror)};
}

int RankLayout::domain(Rank rank) const {
  return domain_gpus_ > 0 ? static_cast<int>(gpu(rank).index()) / domain_gpus_ : 0;
}

std::vector<Rank> RankLayout::shard_members(Group group, Rank of) const {
  RankCoordinates at = coordinates(of);
  const int own = at.context + context_ * at.data;  // place among the ranks with the same weights
  std::vector<Rank> ranks;
  const DataRange here = island(at.data);
  const int low = context_ * here.first;
  const int high = context_ * here.end;
  // Shards are in a row, replicas of a shard every so many.
  const bool in_a_row = group == Group::shard;
  const int row = own - own % shard_group_;
  const int end = in_a_row ? std::min(high, row + shard_group_) : high;
  for (int place = in_a_row ? std::max(low, row) : own - (own - low) / shard_group_ * shard_group_;
       place < end; place += in_a_row ? 1 : shard_group_) {
    at.context = place % context_;
    at.data = place / context_;
    ranks.push_back(rank(at));
  }
  return ranks;
}

std::vector<Rank> RankLayout::expert_members(Group group, Rank of) const {
  int pipeline = coordinates(of).pipeline;
  ExpertPlace place = expert_place(of);
  std::vector<Rank> ranks;
  const auto visit = [&](int& along, int end, int first = 0, int stride = 1) {
    for (along = first; along < end; along += stride) {
      ranks.push_back(rank_at(place, pipeline));
    }
  };
  if (group == Group::expert_tensor) {
    visit(place.tensor, expert_tensor_);
    return ranks;
  }
  // Ranks with the same experts; of one copy (hsdp) those in a row, of the same shard every so
  // many.
  const int same = tensor_ * context_ * island_data_ / (expert_ * expert_tensor_);
  const int first = place.data / same * same;  // of the island
  const int in_copy = place.data % expert_shards_;
  switch (group) {
    case Group::expert_data:
      for (const int stage : stages_alike(pipeline)) {
        pipeline = stage;
        visit(place.data, first + same, first);
      }
      return ranks;
    case Group::expert_shard:
      visit(place.data, place.data - in_copy + expert_shards_, place.data - in_copy);
      return ranks;
    case Group::expert_replica:
      visit(place.data, first + same, first + in_copy, expert_shards_);
      return ranks;
    default:
      break;
  }
  visit(place.expert, expert_);
  if (group == Group::expert) {
    return ranks;
  }
  // Members of one domain are neighbours in the group; those of a rail have the same place in their
  // domains.
  const auto in_domain = [&](Rank rank) { return domain(rank) == domain(of); };
  const auto each = std::count_if(ranks.begin(), ranks.end(), in_domain);
  const auto own = std::find(ranks.begin(), ranks.end(), of) - ranks.begin();
  std::vector<Rank> part;
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(ranks.size()); ++i) {
    const bool member = group == Group::expert_domain
                            ? in_domain(ranks[static_cast<std::size_t>(i)])
                            : i % each == own % each;
    if (member) {
      part.push_back(ranks[static_cast<std::size_t>(i)]);
    }
  }
  return part;
}

int RankLayout::expert_domains() const {
  if (expert_ == 1 || domain_gpus_ == 0) {
    return 1;
  }
  const int same = tensor_ * context_ * data_ / (expert_ * expert_tensor_);
  int domains = 0;
  for (int pipeline = 0; pipeline < pipeline_; ++pipeline) {
    for (int group = 0; group < expert_tensor_ * same; ++group) {
      ExpertPlace place{group % expert_tensor_, 0, group / expert_tensor_};
      std::map<int, int> held;
      for (place.expert = 0; place.expert < expert_; ++place.expert) {
        ++held[domain(rank_at(place, pipeline))];
      }
      const auto even = [&](const auto& entry) { return entry.second == held.begin()->second; };
      if (!std::all_of(held.begin(), held.end(), even) ||
          (domains != 0 && domains != static_cast<int>(held.size()))) {
        return 1;
      }
      domains = static_cast<int>(held.size());
    }
  }
  return domains;
}

Rank RankLayout::context_neighbour(Rank rank, int distance) const {
  RankCoordinates at = coordinates(rank);
  at.context = ((at.context + distance) % context_ + context_) % context_;
  return this->rank(at);
}

std::vector<Rank> RankLayout::same_weights(RankCoordinates at) const {
  std::vector<Rank> ranks;
  const DataRange here = island(at.data);
  for (const int stage : stages_alike(at.pipeline)) {
    at.pipeline = stage;
    for (at.data = here.first; at.data < here.end; ++at.data) {
      for (at.context = 0; at.context < context_; ++at.context) {
        ranks.push_back(rank(at));
      }
    }
  }
  return ranks;
}

std::vector<Rank> RankLayout::of_island(int data) const {
  std::vector<Rank> ranks;
  const DataRange here = island(data);
  for (std::int64_t r = 0; r < this->ranks(); ++r) {
    const Rank next(static_cast<std::uint32_t>(r));
    const int of = island_data_ < data_ ? coordinates(next).data : here.first;
    if (of >= here.first && of < here.end) {
      ranks.push_back(next);
    }
  }
  return ranks;
}

std::vector<Rank> RankLayout::members(Group group, Rank of) const {
  std::vector<Rank> ranks;
  RankCoordinates at = coordinates(of);
  const auto along = [&](int& coordinate, int size) {
    for (coordinate = 0; coordinate < size; ++coordinate) {
      ranks.push_back(rank(at));
    }
    return ranks;
  };
  switch (group) {
    case Group::tensor:
      return along(at.tensor, tensor_);
    case Group::context:
      return along(at.context, context_);
    case Group::data: {
      const DataRange here = island(at.data);
      for (at.data = here.first; at.data < here.end; ++at.data) {
        ranks.push_back(rank(at));
      }
      return ranks;
    }
    case Group::data_context:
      return same_weights(at);
    case Group::embedding:
      at.pipeline = embedding_stage_;
      ranks.push_back(rank(at));
      at.pipeline = pipeline_ - 1;
      if (pipeline_ - 1 > embedding_stage_) {
        ranks.push_back(rank(at));
      }
      return ranks;
    case Group::world:
      return of_island(at.data);
    case Group::pipeline_next:
    case Group::pipeline_previous: {
      const int shift = group == Group::pipeline_next ? 1 : pipeline_ - 1;
      ranks.push_back(of);
      at.pipeline = (at.pipeline + shift) % pipeline_;
      ranks.push_back(rank(at));
      return ranks;
    }
    case Group::shard:
    case Group::replica:
      return shard_members(group, of);
    case Group::expert:
    case Group::expert_domain:
    case Group::expert_rail:
    case Group::expert_tensor:
    case Group::expert_data:
    case Group::expert_shard:
    case Group::expert_replica:
      return expert_members(group, of);
  }
  HEADWAY_CHECK(false, "group {} has no placement", static_cast<int>(group));
}

std::vector<core::ModelConstant> placement_constants() {
  return {
      {"training.fragment_nodes", static_cast<double>(kFragment), "nodes", 0,
       "round value, assumed: nodes that stay together in a cluster that is never quite empty"}};
}

}  // namespace headway::training
