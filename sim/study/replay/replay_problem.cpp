#include "sim/study/replay/replay_problem.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/core/error.h"
#include "sim/network/flow/program_steps.h"
#include "sim/study/replay/rank_lanes.h"
#include "sim/training/step/step_clock.h"

namespace headway::study {

namespace {

using core::CollectiveKind;
using import::ChakraCollective;
using import::ChakraKind;
using import::ChakraNode;

/// What ranks meet in: a communicator, or sender and receiver.
struct TransferKey {
  std::uint32_t communicator = 0;  ///< of a message: kMessage
  std::int64_t from = 0, to = 0, tag = 0;
  CollectiveKind kind = CollectiveKind::send_receive;
  std::int64_t bytes = 0;
  auto operator<=>(const TransferKey&) const = default;
};
constexpr std::uint32_t kMessage = 0xffffffffU;

/// What a slot of a lane's actor stands for, before its group is known.
struct SlotUse {
  enum class Kind : std::uint8_t { waits, tells, transfer };
  Kind kind = Kind::transfer;
  std::uint32_t number = 0;  ///< the other lane, or the group
  auto operator<=>(const SlotUse&) const = default;
};

std::size_t hash_of(const network::Program& program) {
  std::uint64_t hash = program.size();
  for (const auto& step : program) {
    hash = (hash ^ (static_cast<std::uint64_t>(step.ticks) << 8U) ^
            (std::uint64_t{step.slot} << 3U) ^ static_cast<std::uint64_t>(step.code)) *
           0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29U;
  }
  return static_cast<std::size_t>(hash);
}

class Lowering {
 public:
  Lowering(const import::ChakraJob& job, const ReplayFabric& on)
      : job_(job), on_(on), numbers_(*on.fabric) {}

  ReplayProblem lower() {
    for (std::size_t rank = 0; rank < job_.traces.size(); ++rank) {
      add_rank(rank);
    }
    out_.fabric_links = numbers_.fabric_links();
    return std::move(out_);
  }

 private:
  void add_rank(std::size_t rank) {
    const std::vector<RankLane> lanes = lanes_of(job_, rank);
    words_.clear();
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
      add_lane(rank, l, lanes[l]);
    }
  }

  void add_lane(std::size_t rank, std::uint32_t number, const RankLane& lane) {
    steps_.clear();
    slots_.clear();
    ReplayLane out{static_cast<std::uint32_t>(rank), {}};
    network::Actor actor;
    for (const LaneNode& at : lane.nodes) {
      for (const std::uint32_t other : at.waits) {
        emit(network::wait(slot({SlotUse::Kind::waits, other})));
      }
      run(rank, job_.traces[rank].nodes[at.node]);
      for (const std::uint32_t other : at.tells) {
        emit(network::arrive(slot({SlotUse::Kind::tells, other})));
      }
      out.node_of_step.resize(steps_.size(), at.node);
    }
    actor.groups.resize(slots_.size());
    for (const auto& [use, index] : slots_) {
      actor.groups[index] = group_of(use, number);
    }
    actor.program = program();
    out_.problem.actors.push_back(std::move(actor));
    out_.lanes.push_back(std::move(out));
  }

  void emit(const network::ProgramStep& step) { steps_.push_back(step); }

  std::uint32_t slot(const SlotUse& use) {
    return slots_.try_emplace(use, static_cast<std::uint32_t>(slots_.size())).first->second;
  }

  void run(std::size_t rank, const ChakraNode& node) {
    if (!import::communicates(node)) {
      if (node.picoseconds() > 0) {
        emit({network::StepCode::compute, core::Activity::compute, 0, 0, node.picoseconds()});
      }
      return;
    }
    const std::uint32_t group = transfer(rank, node);
    if (group == kNothing) {
      return;
    }
    const std::uint32_t at = slot({SlotUse::Kind::transfer, group});
    if (node.kind != ChakraKind::receive) {
      emit(network::arrive(at));
    }
    emit(network::wait(at));
  }

  /// The group of a node's transfer, added when it is first met; kNothing: of a rank with itself.
  std::uint32_t transfer(std::size_t rank, const ChakraNode& node) {
    const auto own = static_cast<std::int64_t>(rank);
    TransferKey key{kMessage, 0, 0, node.tag, kind_of(node), node.bytes.value_or(0)};
    if (node.kind == ChakraKind::collective) {
      key.communicator = job_.of_name[rank].at(node.group);
      key.tag = 0;
      if (job_.communicators[key.communicator].ranks.size() < 2) {
        return kNothing;
      }
    } else {
      key.from = node.kind == ChakraKind::send ? own : *node.source;
      key.to = node.kind == ChakraKind::send ? *node.destination : own;
    }
    const auto [place, fresh] = groups_.try_emplace(key, Group{});
    if (fresh) {
      place->second = add_transfer(key);
    }
    Group& group = place->second;
    const bool counts = node.kind == ChakraKind::send || own == group.first_rank;
    out_.transfers[group.use].calls += counts ? 1 : 0;
    return group.index;
  }

  struct Group {
    std::uint32_t index = 0, use = 0;
    std::int64_t first_rank = -1;  ///< whose calls of a collective are counted
  };

  Group add_transfer(const TransferKey& key) {
    const bool message = key.communicator == kMessage;
    std::vector<core::GpuId> members;
    if (message) {
      members = {core::GpuId(static_cast<std::uint32_t>(key.from)),
                 core::GpuId(static_cast<std::uint32_t>(key.to))};
    } else {
      for (const std::int64_t rank : job_.communicators[key.communicator].ranks) {
        members.emplace_back(static_cast<std::uint32_t>(rank));
      }
    }
    const core::Bytes bytes = call_bytes(key.kind, key.bytes, members.size());
    const network::CollectiveCall call{key.kind, bytes, {}, {}};
    const network::GroupShape shape = network::group_shape(*on_.fabric, members);
    Group group;
    group.use = use_of(call, shape);
    const network::CollectiveTime& alone = out_.transfers[group.use].alone;
    network::EmitOptions options;
    options.timed = !message && shape.domains == 1;  // as in a step: nobody else uses its links
    options.label = members.front().index();
    const auto transfer =
        message ? network::emit_send(*on_.fabric, bytes, members[0], members[1], alone, options)
                : network::emit_collective(*on_.fabric, call, members, alone, options);
    const auto activity = message ? core::Activity::pipeline_p2p : core::Activity::data;
    const auto need = static_cast<std::uint32_t>(message ? 1 : members.size());
    group.index = network::append(transfer, need, activity, 0, numbers_, out_.problem);
    if (!message) {
      group.first_rank = std::int64_t{members.front().index()};
    }
    return group;
  }

  std::uint32_t use_of(const network::CollectiveCall& call, const network::GroupShape& shape) {
    auto& uses = out_.transfers;
    const auto found = std::find_if(uses.begin(), uses.end(), [&](const auto& use) {
      return use.kind == call.kind && use.bytes == call.bytes && use.shape == shape;
    });
    if (found != uses.end()) {
      return static_cast<std::uint32_t>(found - uses.begin());
    }
    const auto alone = network::collective_time(call, shape, on_.parameters, on_.curves);
    training::step_ticks(alone.total, core::to_word(call.kind));  // refused here, by name
    uses.push_back({call.kind, call.bytes, shape, alone, 0});
    return static_cast<std::uint32_t>(uses.size() - 1);
  }

  /// The group of a slot; lanes of the rank that wait for each other share one.
  std::uint32_t group_of(const SlotUse& use, std::uint32_t lane) {
    if (use.kind == SlotUse::Kind::transfer) {
      return use.number;
    }
    const bool waits = use.kind == SlotUse::Kind::waits;
    const std::pair from_to = waits ? std::pair{use.number, lane} : std::pair{lane, use.number};
    const auto [place, fresh] = words_.try_emplace(from_to, 0U);
    if (fresh) {
      place->second = network::append({}, 1, core::Activity::other, 0, numbers_, out_.problem);
    }
    return place->second;
  }

  /// Equal programs are one, so that ranks that do the same can be folded.
  std::uint32_t program() {
    auto& programs = out_.problem.programs;
    std::vector<std::uint32_t>& alike = programs_[hash_of(steps_)];
    for (const std::uint32_t p : alike) {
      if (programs[p] == steps_) {
        return p;
      }
    }
    alike.push_back(static_cast<std::uint32_t>(programs.size()));
    programs.push_back(steps_);
    return alike.back();
  }

  static constexpr std::uint32_t kNothing = 0xffffffffU;

  const import::ChakraJob& job_;
  ReplayFabric on_;
  network::LinkNumbers numbers_;
  ReplayProblem out_;
  std::map<TransferKey, Group> groups_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> programs_;
  /// Of the rank that is added: groups by the lane that tells and the lane that waits.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> words_;
  network::Program steps_;                  ///< of the lane that is added
  std::map<SlotUse, std::uint32_t> slots_;  ///< of the lane that is added, by first use
};

}  // namespace

core::Bytes call_bytes(core::CollectiveKind kind, std::int64_t input, std::size_t ranks) {
  const auto bytes = core::Bytes(static_cast<double>(std::max<std::int64_t>(input, 1)));
  return kind == CollectiveKind::all_gather ? bytes * static_cast<double>(ranks) : bytes;
}

core::CollectiveKind kind_of(const ChakraNode& node) {
  if (node.kind != ChakraKind::collective) {
    return CollectiveKind::send_receive;
  }
  switch (*node.collective) {
    case ChakraCollective::all_gather:
      return CollectiveKind::all_gather;
    case ChakraCollective::reduce_scatter:
    case ChakraCollective::reduce_scatter_block:
      return CollectiveKind::reduce_scatter;
    case ChakraCollective::all_to_all:
      return CollectiveKind::all_to_all;
    case ChakraCollective::broadcast:
      return CollectiveKind::broadcast;
    default:
      return CollectiveKind::all_reduce;
  }
}

ReplayProblem replay_problem(const import::ChakraJob& job, const ReplayFabric& on) {
  return Lowering(job, on).lower();
}

}  // namespace headway::study
