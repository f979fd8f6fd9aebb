#include "sim/training/step/lower.h"

#include <algorithm>
#include <unordered_map>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/gpu/closed_form.h"
#include "sim/network/fabric/route.h"
#include "sim/training/compute_fabric.h"
#include "sim/training/constants.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/step_clock.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/layout.h"

namespace headway::training {

namespace {

using core::Rank;
using workload::Group;
using workload::OperationKind;

std::vector<Group> groups_of_one(const CheckedScenario& checked) {
  const auto& p = checked.scenario().parallelism;
  std::vector<Group> groups;
  const auto add = [&groups](Group group, int degree) {
    if (degree == 1) {
      groups.push_back(group);
    }
  };
  add(Group::tensor, p.tensor);
  add(Group::context, p.context);
  add(Group::data, checked.data_parallel());
  const workload::DataRanks alike = workload::data_ranks(p, checked.data_parallel());
  add(Group::data_context, alike.shared);
  add(Group::embedding, p.pipeline);
  if (p.shard_group_size > 0) {
    add(Group::shard, p.shard_group_size);
    add(Group::replica, checked.data_parallel() * p.context / p.shard_group_size);
    add(Group::expert_shard, workload::expert_shard_ranks(p));
    add(Group::expert_replica, checked.data_parallel() * p.context / p.shard_group_size);
  }
  add(Group::expert, p.expert);
  add(Group::expert_tensor, p.expert_tensor);
  add(Group::expert_data, alike.experts);
  add(Group::world, static_cast<int>(checked.gpus()));
  return groups;
}

constexpr std::uint32_t kNoUse = 0xffffffffU;  ///< in place of an entry in `collectives`
constexpr int kSpans = -1;                     ///< in place of a tensor index: all of them

/// What two ranks must share to be in one group: the slot (by number) and who leads it.
struct GroupKey {
  std::uint64_t slot_and_rank = 0;
  std::uint64_t peer = 0;  ///< messages: the receiving rank + 1; collectives: 0
  bool operator==(const GroupKey&) const = default;
};

struct GroupKeyHash {
  std::size_t operator()(const GroupKey& key) const {
    return static_cast<std::size_t>(
        (key.slot_and_rank ^ (key.peer * 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL >> 16U);
  }
};

class Lowering {
 public:
  Lowering(const CheckedScenario& checked,
           const network::Fabric& fabric,
           const LowerOptions& options)
      : checked_(checked),
        fabric_(fabric),
        options_(options),
        orbits_(options.orbits != nullptr ? *options.orbits : none_),
        layout_(rank_layout(checked)),
        parameters_(network::make_parameters(
            fabric.input(), nccl_generation(checked.scenario().cluster.node.gpu.architecture))),
        numbers_(fabric),
        kernels_(kernel_times(checked.scenario())) {}

  LoweredStep lower(const workload::StepGraph& graph) {
    const TransferCosts transfers{[this](const workload::Operation& o) { return interference(o); },
                                  [this](const workload::Operation& o) { return time_alone(o); }};
    const CompileInput input{&graph, block_times(graph, kernels_, transfers),
                             groups_of_one(checked_), in_order_pairs(graph), options_.origins};
    if (options_.origins) {
      for (const auto& block : graph.blocks) {
        out_.stretches.push_back(block_stretch(block, kernels_, transfers));
      }
    }
    for (int stage = 0; stage < static_cast<int>(graph.stages.size()); ++stage) {
      stages_.push_back(compile_stage(input, stage, out_.problem.names));
      number_slots(stages_.back());
      out_.problem.programs.push_back(std::move(stages_.back().steps));
      out_.launch.push_back(std::move(stages_.back().launch));
      out_.origins.push_back(std::move(stages_.back().origins));
    }
    for (std::int64_t r = 0; r < layout_.ranks(); ++r) {
      const Rank rank(static_cast<std::uint32_t>(r));
      if (orbits_.keeps(layout_.coordinates(rank).tensor)) {
        add_actor(rank);
      }
    }
    out_.fabric_links = numbers_.fabric_links();
    count_links();
    out_.timed_bytes.resize(out_.problem.groups.size());
    out_.copied_bytes.resize(out_.problem.groups.size());
    return std::move(out_);
  }

 private:
  /// Kernels beside a collective lose SMs and memory bandwidth to it, in proportion to how long it
  /// lasts alone.
  core::Seconds interference(const workload::Operation& operation) {
    const double share = interference_share(checked_.scenario(), operation.activity);
    const network::GroupShape shape = shape_of(operation.group);
    if (share == 0 || shape.ranks < 2) {
      return core::Seconds(0);
    }
    return time_of(operation.name, call_of(operation), shape).total * share;
  }

  core::Seconds time_alone(const workload::Operation& operation) const {
    return network::collective_time(call_of(operation), shape_of(operation.group), parameters_,
                                    checked_.scenario().calibration.collectives)
        .total;
  }

  static network::CollectiveCall call_of(const workload::Operation& operation) {
    network::CollectiveCall call;
    call.kind = operation.collective;
    call.bytes = operation.bytes;
    return call;
  }

  /// The groups of rank 0 stand for all of their kind.
  network::GroupShape shape_of(Group group) const {
    std::vector<core::GpuId> members;
    for (const Rank member : layout_.members(group, Rank(0))) {
      members.push_back(layout_.gpu(member));
    }
    return network::group_shape(fabric_, members);
  }

  /// Equal slots of different stages get one number; sends and receives of one size and channel
  /// too.
  void number_slots(const StageProgram& stage) {
    std::vector<std::uint32_t>& numbers = slot_numbers_.emplace_back();
    for (SlotKey slot : stage.slots) {
      if (slot.kind == OperationKind::send || slot.kind == OperationKind::receive) {
        slot.kind = OperationKind::send;
        slot.peer_stage = -1;
        slot.name.clear();
      }
      numbers.push_back(
          slot_number_.try_emplace(slot, static_cast<std::uint32_t>(slot_number_.size()))
              .first->second);
    }
  }

  void add_actor(Rank rank) {
    const int stage = layout_.coordinates(rank).pipeline;
    const auto& slots = stages_[static_cast<std::size_t>(stage)].slots;
    const auto& numbers = slot_numbers_[static_cast<std::size_t>(stage)];
    network::Actor actor;
    actor.program = static_cast<std::uint32_t>(stage);
    actor.multiplicity = orbits_.size_of(layout_.coordinates(rank).tensor);
    actor.groups.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      actor.groups.push_back(group_of(slots[i], numbers[i], rank, stage));
    }
    out_.problem.actors.push_back(std::move(actor));
  }

  std::uint32_t group_of(const SlotKey& slot, std::uint32_t number, Rank rank, int stage) {
    switch (slot.kind) {
      case OperationKind::collective:
        return collective_group(slot, number, rank);
      case OperationKind::copy:
        return add_copy(slot, rank);
      default:
        return message_group(slot, number, rank, stage);
    }
  }

  /// A rank's copies in one direction follow one another, and nobody else uses its way to the host.
  std::uint32_t add_copy(const SlotKey& slot, Rank rank) {
    network::Transfer transfer;
    transfer.alone = host_copy_time(kernels_, slot.bytes);
    transfer.delay = step_ticks(transfer.alone, slot.name);
    const std::uint32_t group = append(transfer, 1, slot, kNoUse);
    set_multiplicity(group, layout_.coordinates(rank).tensor);
    out_.copied_bytes.resize(group + 1U);
    out_.copied_bytes[group] = slot.bytes;
    return group;
  }

  std::uint32_t collective_group(const SlotKey& slot, std::uint32_t number, Rank rank) {
    const Rank leader = layout_.leader(slot.group, rank);
    const GroupKey key{(std::uint64_t{number} << 32U) | leader.index(), 0};
    const auto [place, fresh] = groups_.try_emplace(key, 0U);
    if (fresh) {
      place->second = add_collective(slot, leader);
    }
    return place->second;
  }

  /// The ranks that communicate in a group, and how they lie: the same for all its slots.
  struct Members {
    std::vector<core::GpuId> gpus;
    network::GroupShape shape;
    network::RouteCache routes;
  };

  Members& members_of(Group group, Rank leader) {
    const std::uint64_t key =
        (std::uint64_t{static_cast<std::uint8_t>(group)} << 32U) | leader.index();
    const auto [place, fresh] = members_.try_emplace(key);
    if (fresh) {
      for (const Rank member : layout_.members(group, leader)) {
        place->second.gpus.push_back(layout_.gpu(member));
      }
      place->second.shape = network::group_shape(fabric_, place->second.gpus);
    }
    return place->second;
  }

  std::uint32_t add_collective(const SlotKey& slot, Rank leader) {
    Members& members = members_of(slot.group, leader);
    network::CollectiveCall call;
    call.kind = slot.collective;
    call.bytes = slot.bytes;
    const network::CollectiveTime alone = time_of(slot.name, call, members.shape);
    network::EmitOptions options;
    options.timed = members.shape.domains == 1 || !options_.contention;
    options.label = leader.index();
    options.routes = &members.routes;
    auto transfer = network::emit_collective(fabric_, call, members.gpus, alone, options);
    const bool spans = spans_tensor_ranks(slot.group);
    const int index = spans ? kSpans : layout_.coordinates(leader).tensor;
    keep_links(index, transfer);
    const std::size_t need = spans ? orbits_.kept_of(members.gpus.size()) : members.gpus.size();
    const std::uint32_t group =
        append(transfer, need, slot, use_of(slot.name, call, members.shape));
    set_multiplicity(group, index);
    out_.timed_bytes.resize(group + 1U);
    out_.timed_bytes[group] = options.timed ? alone.scale_up_bytes : core::Bytes(0);
    return group;
  }

  /// Sender and receiver meet in the group of (sending rank, receiving rank, channel, size).
  std::uint32_t message_group(const SlotKey& slot, std::uint32_t number, Rank rank, int stage) {
    const bool sends = slot.kind == OperationKind::send;
    const Rank other = slot.group == Group::context
                           ? layout_.context_neighbour(rank, sends ? slot.distance : -slot.distance)
                           : at_stage(rank, slot.peer_stage);
    const Rank from = sends ? rank : other;
    const Rank to = sends ? other : rank;
    HEADWAY_CHECK(from != to, "a rank of stage {} sends to itself", stage);
    const GroupKey key{(std::uint64_t{number} << 32U) | from.index(),
                       std::uint64_t{to.index()} + 1};
    const auto [place, fresh] = groups_.try_emplace(key, 0U);
    if (fresh) {
      place->second = add_message(slot, from, to);
    }
    return place->second;
  }

  Rank at_stage(Rank rank, int stage) const {
    RankCoordinates at = layout_.coordinates(rank);
    at.pipeline = stage;
    return layout_.rank(at);
  }

  std::uint32_t add_message(const SlotKey& slot, Rank from, Rank to) {
    const char* what = slot.group == Group::context ? "context message" : "pipeline message";
    const std::vector<core::GpuId> ends{layout_.gpu(from), layout_.gpu(to)};
    const network::CollectiveCall call{core::CollectiveKind::send_receive, slot.bytes, {}, {}};
    const network::GroupShape shape = network::group_shape(fabric_, ends);
    const network::CollectiveTime alone = time_of(what, call, shape);
    network::EmitOptions options;
    options.timed = !options_.contention;
    options.label = from.index();
    auto transfer = network::emit_send(fabric_, slot.bytes, ends[0], ends[1], alone, options);
    const int index = layout_.coordinates(from).tensor;
    keep_links(index, transfer);
    const std::uint32_t group = append(transfer, 1, slot, use_of(what, call, shape));
    set_multiplicity(group, index);
    return group;
  }

  /// Groups that hold whole tensor groups; all others lie in one tensor index.
  static bool spans_tensor_ranks(Group group) {
    return group == Group::tensor || group == Group::world || group == Group::expert_data ||
           group == Group::expert_shard;
  }

  /// What the links that are kept see of a transfer: of one tensor index, that of all it stands
  /// for; of one that spans tensor ranks, what it puts on them itself.
  void keep_links(int index, network::Transfer& transfer) const {
    if (orbits_.empty() || transfer.flows.empty()) {
      return;
    }
    std::vector<network::FlowOnLink> kept;
    for (network::FlowOnLink use : transfer.uses) {
      const int of_link = orbits_.link_index[use.link];
      if (of_link == TensorOrbits::kShared) {
        use.coefficient *= index == kSpans ? 1 : orbits_.size_of(index);
      } else if (!orbits_.keeps(of_link)) {
        HEADWAY_CHECK(index == kSpans, "a transfer of tensor index {} uses a link of index {}",
                      index, of_link);
        continue;
      }
      kept.push_back(use);
    }
    transfer.uses = std::move(kept);
    transfer.flows.front().uses = static_cast<std::uint32_t>(transfer.uses.size());
  }

  /// Of a group of one tensor index, or of one that spans them.
  void set_multiplicity(std::uint32_t number, int index) {
    const std::uint32_t multiplicity = index == kSpans ? 1 : orbits_.size_of(index);
    auto& group = out_.problem.groups[number];
    group.multiplicity = multiplicity;
    for (std::uint32_t f = group.first_flow; f < group.first_flow + group.flows; ++f) {
      out_.problem.flows[f].multiplicity = multiplicity;
    }
  }

  void count_links() {
    for (const core::LinkId link : out_.fabric_links) {
      const int index = orbits_.empty() ? TensorOrbits::kShared : orbits_.link_index[link.index()];
      out_.link_multiplicity.push_back(index == TensorOrbits::kShared ? 1 : orbits_.size_of(index));
    }
  }

  /// Index of the use in `collectives`, added if it is new.
  std::uint32_t use_of(const std::string& what,
                       const network::CollectiveCall& call,
                       const network::GroupShape& shape) {
    for (std::size_t i = 0; i < out_.collectives.size(); ++i) {
      const auto& use = out_.collectives[i];
      if (use.call.kind == call.kind && use.call.bytes == call.bytes && use.shape == shape) {
        return static_cast<std::uint32_t>(i);
      }
    }
    out_.collectives.push_back(
        {what, call, shape,
         network::collective_time(call, shape, parameters_,
                                  checked_.scenario().calibration.collectives)});
    return static_cast<std::uint32_t>(out_.collectives.size() - 1);
  }

  network::CollectiveTime time_of(const std::string& what,
                                  const network::CollectiveCall& call,
                                  const network::GroupShape& shape) {
    const network::CollectiveTime& alone = out_.collectives[use_of(what, call, shape)].alone;
    step_ticks(alone.total, what);  // refused here, where it has a name
    return alone;
  }

  /// Appends the transfer as a group of this use.
  std::uint32_t append(const network::Transfer& transfer,
                       std::size_t need,
                       const SlotKey& slot,
                       std::uint32_t use) {
    const std::uint32_t group =
        network::append(transfer, static_cast<std::uint32_t>(need), slot.activity, name(slot.name),
                        numbers_, out_.problem);
    out_.use_of_group.resize(group + 1U);
    out_.use_of_group[group] = use;
    out_.problem.groups[group].across_stages = across_stages(slot.group);
    return group;
  }

  /// Whether some of a group's ranks are on another stage, so that who arrives first waits for a
  /// stage.
  bool across_stages(Group group) const {
    const bool same_weights = group == Group::data_context || group == Group::expert_data;
    return group == Group::world || group == Group::embedding ||
           (same_weights && workload::copies_of_layers(checked_.scenario().parallelism) > 1);
  }

  std::uint16_t name(const std::string& text) {
    auto& names = out_.problem.names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) {
        return static_cast<std::uint16_t>(i);
      }
    }
    names.push_back(text);
    return static_cast<std::uint16_t>(names.size() - 1);
  }

  const CheckedScenario& checked_;
  const network::Fabric& fabric_;
  LowerOptions options_;
  const TensorOrbits none_;
  const TensorOrbits& orbits_;
  RankLayout layout_;
  network::NetworkParameters parameters_;
  network::LinkNumbers numbers_;
  KernelTimes kernels_;
  std::vector<StageProgram> stages_;
  std::map<SlotKey, std::uint32_t> slot_number_;
  std::vector<std::vector<std::uint32_t>> slot_numbers_;  ///< per stage and slot
  std::unordered_map<GroupKey, std::uint32_t, GroupKeyHash>
      groups_;  ///< looked up only, never iterated
  std::unordered_map<std::uint64_t, Members>
      members_;  ///< by kind and leader; looked up only, never iterated
  LoweredStep out_;
};

}  // namespace

network::NcclGeneration nccl_generation(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::volta:
    case gpu::Architecture::turing:
      return network::NcclGeneration::volta;
    case gpu::Architecture::ampere:
    case gpu::Architecture::ada:
      return network::NcclGeneration::ampere;
    case gpu::Architecture::hopper:
    case gpu::Architecture::cdna2:
    case gpu::Architecture::cdna3:
      return network::NcclGeneration::hopper;
    case gpu::Architecture::blackwell:
    case gpu::Architecture::cdna4:
      return network::NcclGeneration::blackwell;
  }
  HEADWAY_CHECK(false, "architecture {}", static_cast<int>(architecture));
}

RankLayout rank_layout(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  return {s.parallelism, checked.data_parallel(), s.cluster.node.scale_up.domain_gpus,
          node_order(s.cluster, s.parallelism, checked.data_parallel(),
                     static_cast<std::uint64_t>(s.run.seed))};
}

workload::StepGraph step_graph(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  return workload::build_step_graph(s.model, s.training, s.parallelism, checked.data_parallel(),
                                    checked.micro_batches(), rank_layout(checked).expert_domains());
}

std::uint64_t hash_seed(const Scenario& scenario, std::uint64_t draw) {
  const core::RandomStream stream(static_cast<std::uint64_t>(scenario.run.seed), "ecmp hash");
  return stream.bits(draw)[0];
}

network::FabricInput fabric_input(const ClusterSpec& cluster) {
  network::FabricInput input = compute_fabric(cluster);
  if (cluster.storage.path == storage::StoragePath::shared) {
    // One target stands for all servers of a leaf.
    const int leaves = static_cast<int>(network::make_shape(input).leaves_per_tree);
    const int targets = storage_targets(*cluster.storage.servers, leaves);
    input.storage = {targets, cluster.storage.read_bandwidth / targets,
                     cluster.storage.write_bandwidth / targets};
  }
  return input;
}

network::Fabric build_fabric(const ClusterSpec& cluster, std::uint64_t hash_seed) {
  network::FabricInput input = fabric_input(cluster);
  input.hash_seed = hash_seed;
  return network::Fabric(input);
}

int storage_targets(int servers, int leaves) {
  int targets = std::min({servers, leaves, static_cast<int>(network::kCoefficientUnit)});
  while (static_cast<int>(network::kCoefficientUnit) % targets != 0) {
    --targets;
  }
  return targets;
}

double interference_share(const Scenario& scenario, core::Activity activity) {
  const auto& framework = scenario.training.framework;
  switch (activity) {
    case core::Activity::tensor:
      return framework.tensor_interference;
    case core::Activity::expert:
      return framework.expert_overlap ? framework.expert_interference : 0;
    case core::Activity::pipeline_p2p:
      return 0;  // one or two channels between two GPUs
    default:
      return scenario.calibration.data_interference.value_or(framework.data_interference);
  }
}

/// Of the bandwidth of the host's memory channels, what streams reach.
constexpr double kStreamShare = 0.8;

/// The CPUs' updates share the host's memory.
gpu::LaunchModel launch_model(const Scenario& scenario,
                              const workload::ParallelismSpec& parallelism) {
  const auto& framework = scenario.training.framework;
  const auto& node = scenario.cluster.node;
  gpu::LaunchModel launch;
  launch.cpu_launch = framework.host.launch;
  launch.loop_launch = framework.host.loop_launch;
  launch.collective = framework.host.collective;
  launch.layer = framework.host.layer;
  const std::int64_t gpus = std::int64_t{scenario.cluster.nodes} * node.gpus;
  if (parallelism.pipeline > 1 && gpus > node.scale_up.domain_gpus) {
    launch.slowdown = 1 + framework.host.stall * parallelism.tensor;
  }
  launch.cuda_graphs = framework.cuda_graphs;
  launch.host_memory = node.host_memory_bandwidth * (kStreamShare / node.gpus);
  return launch;
}

bool runs_flash2(const Scenario& scenario) {
  using workload::AttentionKernels;
  const auto& gpu = scenario.cluster.node.gpu;
  const AttentionKernels kernels = scenario.training.framework.attention_kernels;
  const bool chosen =
      kernels == AttentionKernels::sdpa && gpu.architecture != gpu::Architecture::blackwell;
  const auto& shares = scenario.calibration.kernels.value_or(gpu.sustained);
  return (chosen || kernels == AttentionKernels::flash2) && shares.attention_flash2 > 0;
}

KernelTimes kernel_times(const Scenario& scenario) {
  return kernel_times(scenario, scenario.parallelism);
}

KernelTimes kernel_times(const Scenario& scenario, const workload::ParallelismSpec& parallelism) {
  const auto& gpu = scenario.cluster.node.gpu;
  const auto& framework = scenario.training.framework;
  gpu::SustainedShares shares = scenario.calibration.kernels.value_or(gpu.sustained);
  if (runs_flash2(scenario)) {
    shares.attention_forward = shares.attention_flash2;
    shares.attention_backward = shares.attention_flash2;
  }
  for (double* share : {&shares.gemm_16bit, &shares.gemm_8bit, &shares.gemm_4bit, &shares.gemm_tf32,
                        &shares.gemm_fp32}) {
    *share *= framework.gemm_share;
  }
  shares.attention_forward *= framework.attention_share;
  shares.attention_backward *= framework.attention_share;
  // A synchronous step waits for the slowest GPU at every collective.
  const std::int64_t gpus = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  return {&gpu, gpu::shares_of_slowest(shares, gpus), launch_model(scenario, parallelism)};
}

std::vector<core::ModelConstant> host_constants() {
  return {{"training.host_stream_share", kStreamShare, "", 0,
           "round value, assumed: streams of several sockets reach about four fifths of the "
           "channels' peak"}};
}

LoweredStep lower(const CheckedScenario& checked,
                  const workload::StepGraph& graph,
                  const network::Fabric& fabric,
                  const LowerOptions& options) {
  return Lowering(checked, fabric, options).lower(graph);
}

}  // namespace headway::training
