#include "sim/training/step/lower.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "sim/core/error.h"
#include "sim/network/fabric/route.h"
#include "sim/training/estimate.h"
#include "sim/training/orbits/group_members.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/unequal/group_machines.h"
#include "sim/training/unequal/node_kinds.h"
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
  add(Group::data, checked.synchronous_data());
  const workload::DataRanks alike = workload::data_ranks(p, checked.synchronous_data());
  add(Group::data_context, alike.shared);
  add(Group::embedding, p.pipeline - workload::encoder_stages(checked.scenario().model));
  if (p.shard_group_size > 0) {
    add(Group::shard, p.shard_group_size);
    add(Group::replica, checked.synchronous_data() * p.context / p.shard_group_size);
    add(Group::expert_shard, workload::expert_shard_ranks(p));
    add(Group::expert_replica, checked.synchronous_data() * p.context / p.shard_group_size);
  }
  add(Group::expert, p.expert);
  add(Group::expert_tensor, p.expert_tensor);
  add(Group::expert_data, alike.experts);
  add(Group::world, static_cast<int>(checked.gpus()));
  return groups;
}

constexpr std::uint32_t kNoUse = 0xffffffffU;  ///< in place of an entry in `collectives`

/// Which tensor index and which data index the ranks of a group have.
struct Reach {
  static constexpr int kAll = -1;  ///< in place of an index: all of them
  int tensor = kAll;
  int data = kAll;
};

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

/// A group that spans replicas, before it is known which of them are lowered.
struct Seen {
  network::Transfer transfer;  ///< without its links
  std::vector<UseRun> runs;
};

class Lowering {
 public:
  Lowering(const CheckedScenario& checked,
           const network::Fabric& fabric,
           const LowerOptions& options)
      : checked_(checked),
        fabric_(fabric),
        options_(options),
        orbits_(options.orbits != nullptr ? *options.orbits : RankOrbits{}),
        layout_(rank_layout(checked)),
        machines_(checked.scenario(), fabric.input()),
        members_(checked, fabric, layout_, orbits_, machines_),
        numbers_(fabric),
        kernels_(checked.scenario()) {}

  /// @returns nothing where what replicas stand for cannot be counted
  std::optional<LoweredStep> lower(const workload::StepGraph& graph) {
    const Scenario& s = checked_.scenario();
    CompileInput input{
        &graph, {}, groups_of_one(checked_), in_order_pairs(graph), options_.origins};
    input.loops_from = options_.loops_from;
    const auto kinds = kinds_of_stages(s.cluster, s.parallelism, checked_.data_parallel());
    for (int kind = 0; kind < node_kinds(s.cluster); ++kind) {
      input.times = times_on(kind, graph);
      for (int stage = 0; stage < static_cast<int>(graph.stages.size()); ++stage) {
        const auto& here = kinds[static_cast<std::size_t>(stage)];
        if (std::find(here.begin(), here.end(), kind) != here.end()) {
          add_program(input, {stage, kind});
        }
      }
    }
    tell_replicas_apart();
    for_each_stand_in([this](Rank rank, const RankCoordinates& at) {
      if (orbits_.tensor.keeps(at.tensor)) {
        add_actor(rank);
      }
    });
    if (beyond_count_) {
      return std::nullopt;
    }
    out_.fabric_links = numbers_.fabric_links();
    if (options_.contention) {
      out_.background = background_of(checked_.scenario().cluster, fabric_, out_.fabric_links);
    }
    count_links();
    out_.timed_bytes.resize(out_.problem.groups.size());
    out_.copied_bytes.resize(out_.problem.groups.size());
    return std::move(out_);
  }

 private:
  /// Calls `visit(rank, coordinates)` for the ranks, in order, whose replicas stand for others.
  template <class Visit>
  void for_each_stand_in(const Visit& visit) const {
    for (std::int64_t r = 0; r < layout_.ranks();) {
      const Rank rank(static_cast<std::uint32_t>(r));
      const RankCoordinates at = layout_.coordinates(rank);
      const int next = orbits_.replica.next_kept(at.data);
      if (next == at.data) {
        visit(rank, at);
      }
      r += next == at.data ? 1 : (next - at.data) * layout_.ranks_between_replicas();
    }
  }

  /// How long the blocks take on the GPUs of a kind of node.
  std::vector<std::vector<OperationTime>> times_on(int kind, const workload::StepGraph& graph) {
    const auto& cluster = checked_.scenario().cluster;
    const auto gpus = first_node(cluster, kind) * cluster.node.gpus;
    const Rank first(static_cast<std::uint32_t>(gpus));
    const TransferCosts transfers{
        [this, first](const workload::Operation& o) { return interference(o, first); },
        [this, first](const workload::Operation& o) { return time_alone(o, first); }};
    auto& stretches = out_.stretches.emplace_back();
    for (std::size_t b = 0; options_.origins && b < graph.blocks.size(); ++b) {
      stretches.push_back(block_stretch(graph.blocks[b], kernels_.of(kind), transfers));
    }
    return block_times(graph, kernels_.of(kind), transfers);
  }

  void add_program(const CompileInput& input, const ProgramOwner& owner) {
    stages_.push_back(compile_stage(input, owner.stage, out_.problem.names));
    number_slots(stages_.back());
    out_.problem.programs.push_back(std::move(stages_.back().steps));
    out_.launch.push_back(std::move(stages_.back().launch));
    out_.idle.push_back(std::move(stages_.back().idle));
    out_.origins.push_back(std::move(stages_.back().origins));
    out_.owners.push_back(owner);
  }

  /// The program that a rank runs.
  std::size_t program_of(Rank rank) const {
    const auto& cluster = checked_.scenario().cluster;
    const int stage = layout_.coordinates(rank).pipeline;
    if (!unequal(cluster)) {
      return static_cast<std::size_t>(stage);
    }
    const ProgramOwner owner{stage, machines_.kind_of(layout_.gpu(rank))};
    const auto found = std::find(out_.owners.begin(), out_.owners.end(), owner);
    HEADWAY_CHECK(found != out_.owners.end(), "stage {} has no program on kind {}", owner.stage,
                  owner.kind);
    return static_cast<std::size_t>(found - out_.owners.begin());
  }

  /// Kernels beside a collective lose SMs and memory bandwidth to it, in proportion to how long it
  /// lasts alone.
  core::Seconds interference(const workload::Operation& operation, Rank rank) {
    const double share = interference_share(checked_.scenario(), operation.activity);
    const GroupPlace& place = place_of(operation.group, rank);
    if (share == 0 || place.shape.ranks < 2) {
      return core::Seconds(0);
    }
    return time_of(operation.name, call_of(operation), place).total * share;
  }

  core::Seconds time_alone(const workload::Operation& operation, Rank rank) {
    return collective_time(call_of(operation), place_of(operation.group, rank)).total;
  }

  static network::CollectiveCall call_of(const workload::Operation& operation) {
    network::CollectiveCall call;
    call.kind = operation.collective;
    call.bytes = operation.bytes;
    return call;
  }

  network::CollectiveTime collective_time(const network::CollectiveCall& call,
                                          const GroupPlace& place) const {
    return network::collective_time(call, place.shape, machines_.parameters(place.machine),
                                    checked_.scenario().calibration.collectives);
  }

  /// The groups of the first rank on nodes of a kind stand for all of their kind.
  const GroupPlace& place_of(Group group, Rank rank) {
    return members_.of(group, layout_.leader(group, rank)).place;
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
    const RankCoordinates at = layout_.coordinates(rank);
    const int stage = at.pipeline;
    const std::size_t program = program_of(rank);
    const auto& slots = stages_[program].slots;
    const auto& numbers = slot_numbers_[program];
    network::Actor actor;
    actor.program = static_cast<std::uint32_t>(program);
    actor.multiplicity = orbits_.size_of(at);
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
    transfer.alone = host_copy_time(kernels_.of(machines_.kind_of(layout_.gpu(rank))), slot.bytes);
    transfer.delay = step_ticks(transfer.alone, slot.name);
    const std::uint32_t group = append(transfer, 1, slot, kNoUse);
    set_multiplicity(group, reach(slot.group, rank));
    out_.copied_bytes.resize(group + 1U);
    out_.copied_bytes[group] = slot.bytes;
    return group;
  }

  static GroupKey key_of(std::uint32_t number, Rank leader) {
    return {(std::uint64_t{number} << 32U) | leader.index(), 0};
  }

  std::uint32_t collective_group(const SlotKey& slot, std::uint32_t number, Rank rank) {
    const Rank leader = layout_.leader(slot.group, rank);
    const auto [place, fresh] = groups_.try_emplace(key_of(number, leader), 0U);
    if (fresh) {
      place->second = add_collective(slot, number, leader);
    }
    return place->second;
  }

  /// What the groups that span replicas put on the links decides which replicas are alike.
  void tell_replicas_apart() {
    if (orbits_.replica.empty()) {
      return;
    }
    for_each_stand_in([this](Rank rank, const RankCoordinates& at) {
      if (at.data < orbits_.replica.first_data() && orbits_.tensor.keeps(at.tensor)) {
        see_groups(rank, static_cast<std::size_t>(at.pipeline));
      }
    });
    orbits_.replica.classify();
  }

  void see_groups(Rank rank, std::size_t stage) {
    const auto& slots = stages_[stage].slots;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].kind != OperationKind::collective || !spans_replicas(slots[i].group)) {
        continue;
      }
      const Rank leader = layout_.leader(slots[i].group, rank);
      const GroupKey key = key_of(slot_numbers_[stage][i], leader);
      const auto [place, fresh] = seen_.try_emplace(key);
      if (fresh) {
        place->second = see(slots[i], leader, key.slot_and_rank);
      }
    }
  }

  /// Replicas in the middle are not followed where messages pass between neighbours.
  Seen see(const SlotKey& slot, Rank leader, std::uint64_t number) {
    const Members& members = members_.of(slot.group, leader);
    const network::CollectiveTime alone = time_of(slot.name, call_of(slot), members.place);
    std::vector<core::GpuId> gpus;
    if (timed(members)) {
      gpus = members.gpus;
    } else if (network::between_neighbours(call_of(slot), alone)) {
      gpus = members_.without_middle(slot.group, leader);
    }
    const bool middle = !timed(members) && !gpus.empty();
    if (gpus.empty()) {
      gpus = members_.all(slot.group, leader);
    }
    Seen seen{emit(slot, leader, gpus), {}};
    seen.runs = orbits_.replica.see(fabric_, number, seen.transfer.uses, middle);
    seen.transfer.uses = {};
    return seen;
  }

  network::Transfer of_stand_ins(const Seen& seen) const {
    network::Transfer transfer = seen.transfer;
    transfer.uses = orbits_.replica.of_stand_ins(seen.runs);
    return transfer;
  }

  static network::CollectiveCall call_of(const SlotKey& slot) {
    network::CollectiveCall call;
    call.kind = slot.collective;
    call.bytes = slot.bytes;
    return call;
  }

  bool timed(const Members& members) const {
    return members.place.shape.domains == 1 || !options_.contention;
  }

  network::Transfer emit(const SlotKey& slot, Rank leader, std::span<const core::GpuId> gpus) {
    const Members& members = members_.of(slot.group, leader);
    const network::CollectiveCall call = call_of(slot);
    const network::CollectiveTime alone = time_of(slot.name, call, members.place);
    network::EmitOptions options;
    options.timed = timed(members);
    options.label = leader.index();
    return network::emit_collective(fabric_, call, gpus, alone, options);
  }

  std::uint32_t add_collective(const SlotKey& slot, std::uint32_t number, Rank leader) {
    const auto seen = seen_.find(key_of(number, leader));
    const Members& members = members_.of(slot.group, leader);
    auto transfer =
        seen != seen_.end() ? of_stand_ins(seen->second) : emit(slot, leader, members.gpus);
    const network::CollectiveCall call = call_of(slot);
    const Reach of = reach(slot.group, leader);
    keep_links(of, transfer);
    const std::size_t need =
        members.kept *
        (spans_replicas(slot.group) ? static_cast<std::size_t>(orbits_.replica.kept_blocks()) : 1U);
    const std::uint32_t group =
        append(transfer, need, slot, use_of(slot.name, call, members.place));
    set_multiplicity(group, of);
    out_.timed_bytes.resize(group + 1U);
    out_.timed_bytes[group] =
        timed(members) ? time_of(slot.name, call, members.place).scale_up_bytes : core::Bytes(0);
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
    const GroupPlace place = members_.place_of(ends);
    const network::CollectiveTime alone = time_of(what, call, place);
    network::EmitOptions options;
    options.timed = !options_.contention;
    options.label = from.index();
    auto transfer = network::emit_send(fabric_, slot.bytes, ends[0], ends[1], alone, options);
    const Reach of = reach(slot.group, from);
    keep_links(of, transfer);
    const std::uint32_t group = append(transfer, 1, slot, use_of(what, call, place));
    set_multiplicity(group, of);
    return group;
  }

  /// Groups that hold whole tensor groups; all others lie in one tensor index.
  static bool spans_tensor_ranks(Group group) {
    return group == Group::tensor || group == Group::world || group == Group::expert_data ||
           group == Group::expert_shard;
  }

  Reach reach(Group group, Rank rank) const {
    const RankCoordinates at = layout_.coordinates(rank);
    return {spans_tensor_ranks(group) ? Reach::kAll : at.tensor,
            spans_replicas(group) ? Reach::kAll : at.data};
  }

  /// How many groups of this reach one stands for.
  std::uint32_t multiplicity_of(const Reach& of) const {
    return (of.tensor == Reach::kAll ? 1 : orbits_.tensor.size_of(of.tensor)) *
           (of.data == Reach::kAll ? 1 : orbits_.replica.size_of(of.data));
  }

  /// What a link is among those that are exchanged.
  struct Orbit {
    int tensor = TensorOrbits::kShared;
    std::uint32_t of_tensor = 1;          ///< links of so many tensor indices
    ReplicaOrbits::LinkOrbit of_replica;  ///< of so many nodes, leaves or pods
  };
  Orbit orbit(core::LinkId link) const {
    Orbit at;
    at.of_replica = orbits_.replica.of_link(fabric_, link);
    if (!orbits_.tensor.empty()) {
      at.tensor = orbits_.tensor.index_of(fabric_, link);
      at.of_tensor = at.tensor == TensorOrbits::kShared ? 1 : orbits_.tensor.size_of(at.tensor);
    }
    return at;
  }

  /// What the links that are kept see of a transfer: what all groups it stands for put on all links
  /// of the orbit, divided by these. A group that spans tensor ranks or replicas stands for itself
  /// and puts the same on all of them.
  void keep_links(const Reach& of, network::Transfer& transfer) {
    if (orbits_.empty() || transfer.flows.empty()) {
      return;
    }
    const std::uint64_t groups = multiplicity_of(of);
    std::vector<network::FlowOnLink> kept;
    for (network::FlowOnLink use : transfer.uses) {
      const Orbit at = orbit(core::LinkId(use.link));
      if (at.tensor != TensorOrbits::kShared && !orbits_.tensor.keeps(at.tensor)) {
        HEADWAY_CHECK(of.tensor == Reach::kAll,
                      "a transfer of tensor index {} uses a link of index {}", of.tensor,
                      at.tensor);
        continue;
      }
      HEADWAY_CHECK(at.of_replica.first.index() == use.link, "a transfer of data index {} uses {}",
                    of.data, fabric_.describe(core::LinkId(use.link)));
      const std::uint64_t links = std::uint64_t{of.tensor == Reach::kAll ? 1 : at.of_tensor} *
                                  (of.data == Reach::kAll ? 1 : at.of_replica.links);
      const std::uint64_t sum = groups * use.coefficient;
      HEADWAY_CHECK(sum % links == 0, "{} groups on {} links", groups, links);
      beyond_count_ = beyond_count_ || sum / links > UINT32_MAX;
      use.coefficient = static_cast<std::uint32_t>(sum / links);
      kept.push_back(use);
    }
    transfer.uses = std::move(kept);
    transfer.flows.front().uses = static_cast<std::uint32_t>(transfer.uses.size());
  }

  void set_multiplicity(std::uint32_t number, const Reach& of) {
    auto& group = out_.problem.groups[number];
    group.multiplicity = multiplicity_of(of);
    for (std::uint32_t f = group.first_flow; f < group.first_flow + group.flows; ++f) {
      out_.problem.flows[f].multiplicity = group.multiplicity;
    }
  }

  void count_links() {
    for (const core::LinkId link : out_.fabric_links) {
      const Orbit at = orbit(link);
      out_.link_multiplicity.push_back(at.of_tensor * at.of_replica.links);
    }
  }

  /// Index of the use in `collectives`, added if it is new.
  std::uint32_t use_of(const std::string& what,
                       const network::CollectiveCall& call,
                       const GroupPlace& place) {
    for (std::size_t i = 0; i < out_.collectives.size(); ++i) {
      const auto& use = out_.collectives[i];
      if (use.call.kind == call.kind && use.call.bytes == call.bytes && use.shape == place.shape &&
          use.machine == place.machine) {
        return static_cast<std::uint32_t>(i);
      }
    }
    out_.collectives.push_back(
        {what, call, place.shape, collective_time(call, place), place.machine});
    return static_cast<std::uint32_t>(out_.collectives.size() - 1);
  }

  network::CollectiveTime time_of(const std::string& what,
                                  const network::CollectiveCall& call,
                                  const GroupPlace& place) {
    const network::CollectiveTime& alone = out_.collectives[use_of(what, call, place)].alone;
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
  RankOrbits orbits_;
  RankLayout layout_;
  GroupMachines machines_;
  GroupMembers members_;
  network::LinkNumbers numbers_;
  KernelTimesOfKinds kernels_;
  std::vector<StageProgram> stages_;
  std::map<SlotKey, std::uint32_t> slot_number_;
  std::vector<std::vector<std::uint32_t>> slot_numbers_;  ///< per stage and slot
  std::unordered_map<GroupKey, std::uint32_t, GroupKeyHash>
      groups_;                                             ///< looked up only, never iterated
  std::unordered_map<GroupKey, Seen, GroupKeyHash> seen_;  ///< looked up only, never iterated
  bool beyond_count_ = false;  ///< so many replicas that a coefficient has no room for them
  LoweredStep out_;
};

}  // namespace

LoweredStep lower(const CheckedScenario& checked,
                  const workload::StepGraph& graph,
                  const network::Fabric& fabric,
                  const LowerOptions& options) {
  if (options.loops_from == 0 && checked.micro_batches() > kFewestLoops) {
    require_memory(estimate_step(checked), machine_memory());
  }
  if (auto step = Lowering(checked, fabric, options).lower(graph)) {
    return std::move(*step);
  }
  LowerOptions apart = options;
  const RankOrbits tensor_only{options.orbits->tensor, {}};
  apart.orbits = &tensor_only;
  auto step = Lowering(checked, fabric, apart).lower(graph);
  HEADWAY_CHECK(step.has_value(), "coefficients of '{}' have no room", checked.scenario().name);
  return std::move(*step);
}

}  // namespace headway::training
