#include "sim/analytic/blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "sim/training/orbits/replica_orbits.h"
#include "sim/training/step/lower.h"
#include "sim/workload/layout.h"

namespace headway::analytic {

using training::KernelTimes;
using training::RankLayout;
using training::Scenario;

namespace {

using workload::Group;
using workload::Operation;
using workload::OperationKind;

TimedOperation timed(const Operation& o, double seconds, bool shares_network) {
  TimedOperation t;
  t.kind = o.kind;
  t.seconds = seconds;
  t.group = o.group;
  t.asynchronous = o.asynchronous;
  t.shares_network = shares_network;
  t.world = o.kind == OperationKind::collective && o.group == Group::world;
  t.ticket = o.ticket;
  t.channel = o.channel;
  t.waits = o.waits;
  t.await = o.await;
  return t;
}

/// Whether a rank is busy with anything but transfers.
bool takes_time(const workload::Block& block) {
  return std::any_of(block.operations.begin(), block.operations.end(), [](const Operation& o) {
    return !o.kernels.empty() || o.duration > core::Seconds(0);
  });
}

/// The shape of the group of the first GPUs, all of a machine or of a site: of those that fill
/// whole nodes and domains, as often as there are.
network::GroupShape shape_of_all(const network::Fabric& fabric, std::uint32_t gpus) {
  const std::uint32_t each = std::lcm(fabric.shape().gpus_per_node, fabric.shape().domain_gpus);
  const bool alike = fabric.shape().sites == 1 && gpus % each == 0;
  std::vector<core::GpuId> part;
  for (std::uint32_t gpu = 0; gpu < (alike ? each : gpus); ++gpu) {
    part.emplace_back(gpu);
  }
  return network::repeated(network::group_shape(fabric, part),
                           alike ? static_cast<int>(gpus / each) : 1);
}

}  // namespace

void TimedBlock::add(TimedOperation o) {
  const auto above = [](int ticket) { return static_cast<std::size_t>(ticket + 1); };
  tickets = std::max(tickets, above(o.ticket));
  for (const int ticket : o.await) {
    tickets = std::max(tickets, above(ticket));
  }
  inner = inner || !o.waits.empty() || o.kind == OperationKind::receive ||
          (o.asynchronous && o.ticket < 0);
  operations.push_back(std::move(o));
}

void Timeline::reset() {
  now = 0;
  network_free = 0;
  reduced.fill(0);
  known_ = 0;
}

/// When the message that a receive waits for is here. In a ring of equals all send what one sends,
/// so it is the oldest of the channel that this rank itself has sent; between stages the pipeline's
/// order counts, not the block's.
double Timeline::next_message(const TimedBlock& block, std::size_t receive) {
  const auto& operations = block.operations;
  received_.resize(operations.size(), false);
  for (std::size_t i = 0; i < receive; ++i) {
    if (operations[i].kind == OperationKind::send &&
        operations[i].channel == operations[receive].channel && !received_[i]) {
      received_[i] = true;
      return finish_[i];
    }
  }
  return 0;
}

void Timeline::run(const TimedBlock& block, std::size_t first, std::size_t end) {
  make_room(block.tickets);
  if (block.inner) {
    run_with_inner_waits(block, first, end);
    return;
  }
  for (std::size_t i = first; i < end; ++i) {
    await_tickets(block.operations[i]);
    step(block.operations[i]);
  }
}

void Timeline::run_with_inner_waits(const TimedBlock& block, std::size_t first, std::size_t end) {
  const auto& operations = block.operations;
  finish_.assign(operations.size(), 0);
  received_.clear();
  for (std::size_t i = first; i < end; ++i) {
    const TimedOperation& o = operations[i];
    for (const int earlier : o.waits) {
      now = std::max(now, finish_[static_cast<std::size_t>(earlier)]);
    }
    await_tickets(o);
    switch (o.kind) {
      case OperationKind::compute:
      case OperationKind::delay:
        now += o.seconds;
        break;
      case OperationKind::collective:
        finish_[i] = run_transfer(o);
        break;
      case OperationKind::send:
        finish_[i] = now + o.seconds;
        break;
      case OperationKind::receive:
        now = std::max(now, next_message(block, i));
        break;
      case OperationKind::copy:
        break;  // probes have none: CopyLine (offload.h) runs them
    }
  }
  for (std::size_t i = first; i < end; ++i) {
    now = operations[i].asynchronous && operations[i].ticket < 0 ? std::max(now, finish_[i]) : now;
  }
}

std::size_t BlockTimer::CallHash::operator()(const CallKey& key) const {
  const auto& s = key.shape;
  std::uint64_t hash = std::bit_cast<std::uint64_t>(key.bytes);
  for (const int part :
       {static_cast<int>(key.kind), s.ranks, s.ranks_per_domain, s.domains, s.ranks_per_rail}) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29U;
  }
  return static_cast<std::size_t>(hash);
}

BlockTimer::BlockTimer(const Scenario& scenario)
    : scenario_(scenario),
      fabric_(build_fabric(scenario.cluster)),
      parameters_(training::network_parameters(scenario, fabric_.input())),
      kernels_(kernel_times(scenario)) {
  // Sites that train apart meet in no step.
  const auto gpus =
      fabric_.shape().gpus / (scenario.training.local_steps ? fabric_.shape().sites : 1U);
  const auto domain = fabric_.shape().domain_gpus;
  const auto pair = [&](std::uint32_t other) {
    const std::array<core::GpuId, 2> ends{core::GpuId(0U), core::GpuId(std::min(other, gpus - 1))};
    return network::group_shape(fabric_, ends);
  };
  world_ = shape_of_all(fabric_, gpus);
  near_ = pair(1);
  far_ = pair(domain);
}

double BlockTimer::transfer(core::CollectiveKind kind,
                            core::Bytes bytes,
                            const network::GroupShape& shape) {
  const auto [place, fresh] = transfers_.try_emplace({kind, bytes.si(), shape}, 0.0);
  if (fresh) {
    place->second = alone(kind, bytes, shape, shape.sites > 1 ? shape.ranks : 0);
  }
  return place->second;
}

/// All groups of a kind cross between sites at the same time and have an equal part of the way.
/// @param ranks  of each of these groups; 0: this one is alone
double BlockTimer::alone(core::CollectiveKind kind,
                         core::Bytes bytes,
                         const network::GroupShape& shape,
                         int ranks) const {
  network::NetworkParameters machine = parameters_;
  machine.site_sharers = ranks > 0 ? static_cast<double>(fabric_.shape().gpus) / ranks : 1.0;
  return network::collective_time({kind, bytes, {}, {}}, shape, machine,
                                  scenario_.calibration.collectives)
      .total.si();
}

double BlockTimer::message(core::Bytes bytes, bool crosses) {
  return transfer(core::CollectiveKind::send_receive, bytes, crosses ? far_ : near_);
}

/// Groups of one kind may lie differently; the one over most domains is the slowest. Of groups that
/// span replicas one block is looked at: they lie in each as in the first.
network::GroupShape BlockTimer::widest_group(const RankLayout& layout,
                                             const workload::ParallelismSpec& p,
                                             Group group) const {
  const int block = training::data_of_block(p, fabric_.shape());
  const RankLayout of_block(p, block, 0, {}, 1, workload::encoder_stages(scenario_.model));
  const std::int64_t ranks = layout.ranks();
  const bool alike =
      training::spans_replicas(group) && !scenario_.cluster.sites && ranks % of_block.ranks() == 0;
  const RankLayout& few = alike ? of_block : layout;
  const std::int64_t domain = fabric_.shape().domain_gpus;
  network::GroupShape widest;
  for (const std::int64_t rank : {std::int64_t{0}, domain - 1, domain, ranks / 2, ranks - 1}) {
    auto at = layout.coordinates(core::Rank(static_cast<std::uint32_t>(std::min(rank, ranks - 1))));
    at.data = alike ? at.data % block : at.data;
    std::vector<core::GpuId> gpus;
    for (const core::Rank member : few.members(group, few.rank(at))) {
      gpus.push_back(few.gpu(member));
    }
    const auto shape = network::group_shape(fabric_, gpus);
    widest = rank == 0 || shape.domains > widest.domains ? shape : widest;
  }
  return network::repeated(widest, static_cast<int>(ranks / few.ranks()));
}

const network::GroupShape& BlockTimer::shape_of(const RankLayout& layout,
                                                const workload::ParallelismSpec& p,
                                                const GroupsKey& groups,
                                                Group group) {
  if (group == Group::world) {
    return world_;  // of the whole machine, however few ranks the graph at hand has
  }
  const auto [place, fresh] = shapes_.try_emplace({groups, group});
  if (fresh) {
    place->second = widest_group(layout, p, group);
  }
  return place->second;
}

RankLayout BlockTimer::ranks_of(const workload::ParallelismSpec& p, int data_parallel) const {
  const int domain = scenario_.cluster.node.scale_up.domain_gpus;
  if (!scenario_.cluster.sites || scenario_.training.local_steps) {
    return {p, data_parallel, domain, {}, 1, workload::encoder_stages(scenario_.model)};
  }
  // Which site a replica is on decides how long its groups take.
  return {p,
          data_parallel,
          domain,
          training::node_order(scenario_.cluster, p, data_parallel,
                               static_cast<std::uint64_t>(scenario_.run.seed)),
          1,
          workload::encoder_stages(scenario_.model)};
}

BlockTimer::GroupsKey BlockTimer::groups_of(const workload::ParallelismSpec& p, int data_parallel) {
  return {p.tensor,
          p.context,
          p.expert,
          p.expert_tensor,
          p.shard_group_size,
          p.pipeline,
          data_parallel,
          static_cast<int>(p.rank_order),
          workload::copies_of_layers(p)};
}

int BlockTimer::expert_domains(const workload::ParallelismSpec& p, int data_parallel) {
  const auto [place, fresh] = expert_domains_.try_emplace(groups_of(p, data_parallel), 1);
  if (fresh) {
    place->second = ranks_of(p, data_parallel).expert_domains();
  }
  return place->second;
}

int BlockTimer::pass_groups(const workload::ParallelismSpec& p, int data_parallel) {
  const GroupsKey key = groups_of(p, data_parallel);
  const auto [place, fresh] = pass_group_of_.try_emplace(key, 0);
  if (fresh) {
    constexpr std::array<Group, kPassGroups> kGroups{Group::tensor,      Group::context,
                                                     Group::expert,      Group::expert_domain,
                                                     Group::expert_rail, Group::expert_tensor};
    const RankLayout layout = ranks_of(p, data_parallel);
    PassGroups groups;
    for (std::size_t i = 0; i < kPassGroups; ++i) {
      groups.first[i] = shape_of(layout, p, key, kGroups[i]);
    }
    groups.second = expert_domains(p, data_parallel);
    const auto known = std::find(pass_groups_.begin(), pass_groups_.end(), groups);
    place->second = static_cast<int>(known - pass_groups_.begin());
    if (known == pass_groups_.end()) {
      pass_groups_.push_back(groups);
    }
  }
  return place->second;
}

double BlockTimer::host_copy(core::Bytes bytes) const {
  return host_copy_time(kernels_, bytes).si();
}

std::vector<TimedBlock> BlockTimer::time_blocks(const std::vector<workload::Block>& blocks,
                                                const workload::ParallelismSpec& p,
                                                int data_parallel,
                                                bool (*wanted)(const workload::Block&)) {
  const RankLayout layout = ranks_of(p, data_parallel);
  training::KernelTimes kernels = kernels_;
  kernels.launch = training::launch_model(scenario_, p);
  const GroupsKey groups = groups_of(p, data_parallel);
  const auto clock = core::Clock::step();
  std::array<const network::GroupShape*, static_cast<std::size_t>(Group::world) + 1> known{};
  const auto shape_of_group = [&](Group group) -> const network::GroupShape& {
    const network::GroupShape*& shape = known[static_cast<std::size_t>(group)];
    shape = shape != nullptr ? shape : &shape_of(layout, p, groups, group);
    return *shape;
  };
  std::vector<TimedBlock> timed_blocks(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    TimedBlock& block = timed_blocks[b];
    if (!wanted(blocks[b])) {
      continue;
    }
    const auto& operations = blocks[b].operations;
    const auto blocking = [&](const Operation& o) {
      return core::Seconds(transfer(o.collective, o.bytes, shape_of_group(o.group)));
    };
    const auto times = takes_time(blocks[b])
                           ? training::operation_times(blocks[b], kernels, {{}, blocking})
                           : std::vector<training::OperationTime>{};
    block.operations.reserve(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& o = operations[i];
      double seconds = times.empty() ? 0 : clock.to_seconds(times[i].ticks).si();
      double interference = 0;
      bool shares = false;
      if (o.kind == OperationKind::collective) {
        const auto& shape = shape_of_group(o.group);
        seconds = transfer(o.collective, o.bytes, shape);
        shares = o.activity == core::Activity::data && shape.domains > 1;
        if (shape.ranks > 1) {
          const double by_itself =
              shape.sites > 1 ? alone(o.collective, o.bytes, shape, 0) : seconds;
          interference = by_itself * interference_share(scenario_, o.activity);
        }
      } else if (o.kind == OperationKind::send && o.peer_stage < 0) {
        seconds = message(o.bytes, shape_of_group(o.group).domains > 1);
      }
      block.add(timed(o, seconds, shares));
      block.operations.back().interference = o.asynchronous ? interference : 0;
    }
  }
  return timed_blocks;
}

}  // namespace headway::analytic
