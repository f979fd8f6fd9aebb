#include "sim/training/step/program.h"

#include <algorithm>
#include <map>
#include <span>

#include "sim/core/error.h"
#include "sim/training/estimate.h"
#include "sim/training/step/step_clock.h"

namespace headway::training {

namespace {

using network::ProgramStep;
using network::StepCode;
using workload::Operation;
using workload::OperationKind;

/// One launch of a transfer: the `instance`-th of its slot (0 is the first).
struct Launch {
  std::uint32_t slot = 0;
  std::int64_t instance = 0;
  bool operator==(const Launch&) const = default;
};

/// Calls in a row that come again and again. `times` is 0 where they do not.
struct RepeatedCalls {
  std::size_t length = 0;
  std::int64_t times = 0;
};

/// What repeats from `begin` on at least so often; `least` 0: nothing.
RepeatedCalls repeated_calls(const std::vector<workload::Call>& calls,
                             std::size_t begin,
                             std::int64_t least) {
  constexpr std::size_t kLongest =
      512;  // calls of a micro-batch, of all chunks and kinds of layers
  const auto same = [&calls](std::size_t a, std::size_t b) {
    return calls[a].block == calls[b].block && calls[a].repeat == calls[b].repeat;
  };
  const std::size_t left = calls.size() - begin;
  for (std::size_t length = 1; least > 0 && length <= kLongest; ++length) {
    if (left / length < static_cast<std::size_t>(least)) {
      break;
    }
    std::size_t end = begin + length;
    while (end < calls.size() && same(end, end - length)) {
      ++end;
    }
    if (const auto times = static_cast<std::int64_t>((end - begin) / length); times >= least) {
      return {length, times};
    }
  }
  return {};
}

class StageCompiler {
 public:
  StageCompiler(const CompileInput& input, int stage, std::vector<std::string>& names)
      : graph_(*input.graph),
        groups_of_one_(input.groups_of_one),
        in_order_(input.in_order),
        stage_(stage),
        names_(names),
        times_(&input.times),
        keeps_origins_(input.origins),
        loops_from_(input.origins ? 0 : input.loops_from),
        plans_(graph_.blocks.size()) {}

  StageProgram compile() {
    const auto& calls = graph_.stages[static_cast<std::size_t>(stage_)].calls;
    for (std::size_t i = 0; i < calls.size();) {
      const RepeatedCalls repeated = repeated_calls(calls, i, loops_from_);
      if (repeated.times > 0) {
        run_repeated(std::span(calls).subspan(i, repeated.length), repeated.times);
      } else {
        run_call(calls[i]);
      }
      i += repeated.times > 0 ? repeated.length * static_cast<std::size_t>(repeated.times) : 1;
    }
    call_ = -1;
    wait_for_all();
    return std::move(program_);
  }

 private:
  /// What every run of a block emits, found once: a stage calls its blocks thousands of times.
  struct BlockPlan {
    const std::vector<OperationTime>* times = nullptr;
    std::int32_t block = -1;
    std::vector<std::uint32_t> slots;  ///< per operation; kNoSlot: it moves nothing
    std::vector<std::uint16_t> names;  ///< per operation
  };

  /// Launches that somebody still has to wait for, counted back from the last of their slots.
  std::map<int, std::vector<Launch>> open_tickets() const {
    auto tickets = tickets_;
    for (auto& [ticket, launches] : tickets) {
      for (Launch& launch : launches) {
        launch.instance -= launches_[launch.slot];
      }
    }
    return tickets;
  }

  void run_call(const workload::Call& call) {
    ++call_;
    if (program_.steps.size() > told_) {  // no loop was found where one was counted on
      require_room_for_steps(program_.steps.size());
      told_ = 2 * program_.steps.size();
    }
    const auto& block = graph_.blocks[static_cast<std::size_t>(call.block)];
    const BlockPlan& plan = plan_of(call.block);
    for (int i = 0; i < call.repeat; ++i) {
      run_block(block, plan);
    }
  }

  /// Calls so many times over. The first time makes the slots; if the second leaves all as the
  /// first did, so do the others, and they are one loop. What is waited for in it must be all that
  /// is launched there: what is only launched, such as messages and reductions that the end of the
  /// step waits for, decides nothing in it.
  void run_repeated(std::span<const workload::Call> calls, std::int64_t times) {
    const auto run_once = [&] {
      for (const auto& call : calls) {
        run_call(call);
      }
    };
    run_once();
    const auto tickets = open_tickets();
    const auto launches = launches_;
    const auto waited = waited_;
    const std::size_t loop = program_.steps.size();
    emit({StepCode::loop, core::Activity::other, 0, 0, times - 1});
    run_once();
    emit({StepCode::end_loop, core::Activity::other, 0, 0, 0});
    bool same = launches.size() == launches_.size() && tickets == open_tickets();
    for (std::size_t slot = 0; same && slot < launches.size(); ++slot) {
      const std::int64_t more = waited_[slot] - waited[slot];
      same = more == 0 || more == launches_[slot] - launches[slot];
    }
    if (!same) {
      program_.steps[loop].ticks = 1;
      for (std::int64_t i = 2; i < times; ++i) {
        run_once();
      }
      return;
    }
    for (std::size_t slot = 0; slot < launches.size(); ++slot) {
      const std::int64_t more = (launches_[slot] - launches[slot]) * (times - 2);
      waited_[slot] += (waited_[slot] - waited[slot]) * (times - 2);
      launches_[slot] += more;
      for (auto& [ticket, open] : tickets_) {
        for (Launch& launch : open) {
          launch.instance += launch.slot == slot ? more : 0;
        }
      }
    }
  }

  /// Slots and names are numbered in the order in which blocks first use them.
  const BlockPlan& plan_of(int index) {
    BlockPlan& plan = plans_[static_cast<std::size_t>(index)];
    if (plan.times != nullptr) {
      return plan;
    }
    plan.times = &(*times_)[static_cast<std::size_t>(index)];
    plan.block = index;
    for (const Operation& o : graph_.blocks[static_cast<std::size_t>(index)].operations) {
      const bool moves =
          o.kind != OperationKind::compute && o.kind != OperationKind::delay && !alone(o);
      plan.slots.push_back(moves ? slot_of(o) : kNoSlot);
      plan.names.push_back(o.kind == OperationKind::collective && !moves ? std::uint16_t{0}
                                                                         : name(o.name));
    }
    return plan;
  }

  /// A collective of one rank: nothing to do.
  bool alone(const Operation& o) const {
    return o.kind == OperationKind::collective &&
           std::find(groups_of_one_.begin(), groups_of_one_.end(), o.group) != groups_of_one_.end();
  }

  void run_block(const workload::Block& block, const BlockPlan& plan) {
    std::vector<Launch>& launched = launched_;
    launched.assign(block.operations.size(), Launch{kNoSlot, 0});
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      const Operation& operation = block.operations[i];
      for (const int earlier : operation.waits) {
        wait_for(launched[static_cast<std::size_t>(earlier)]);
      }
      for (const int ticket : operation.await) {
        wait_for_ticket(ticket);
      }
      here_ = {plan.block, static_cast<std::int32_t>(i)};
      launched[i] = run_operation(operation, plan.slots[i], plan.names[i], (*plan.times)[i]);
    }
    // A transfer without a ticket ends inside its block.
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      if (block.operations[i].asynchronous && block.operations[i].ticket < 0) {
        wait_for(launched[i]);
      }
    }
  }

  Launch run_operation(const Operation& operation,
                       std::uint32_t slot,
                       std::uint16_t name,
                       OperationTime time) {
    switch (operation.kind) {
      case OperationKind::compute:
      case OperationKind::delay: {
        const core::Tick idle = operation.kind == OperationKind::delay ? time.ticks : time.launch;
        emit({StepCode::compute, operation.activity, name, 0, time.ticks}, here_, time.launch,
             idle);
        return {kNoSlot, 0};
      }
      case OperationKind::collective: {
        if (slot == kNoSlot) {
          return {kNoSlot, 0};
        }
        const Launch launch = arrive(operation.activity, slot, name);
        if (time.ticks > 0) {
          emit({StepCode::compute, operation.activity, interference_name(), 0, time.ticks}, here_);
        }
        if (!operation.asynchronous) {
          wait_for(launch);
        } else if (operation.ticket >= 0) {
          tickets_[operation.ticket].push_back(launch);
        }
        return launch;
      }
      case OperationKind::send:
        return arrive(operation.activity, slot, name);
      case OperationKind::receive: {
        const Launch launch{slot, launches_[slot]++};
        wait_for(launch);
        return launch;
      }
      case OperationKind::copy: {
        const Launch launch = arrive(operation.activity, slot, name);
        tickets_[operation.ticket].push_back(launch);
        return launch;
      }
    }
    HEADWAY_CHECK(false, "operation kind {}", static_cast<int>(operation.kind));
  }

  Launch arrive(core::Activity activity, std::uint32_t slot, std::uint16_t name) {
    emit({StepCode::arrive, activity, name, slot, 0});
    return {slot, launches_[slot]++};
  }

  /// Instances of a slot complete in order, so waiting for one waits for all before it.
  void wait_for(const Launch& launch) {
    if (launch.slot == kNoSlot) {
      return;
    }
    const ProgramStep wait{StepCode::wait, program_.slots[launch.slot].activity,
                           slot_names_[launch.slot], launch.slot, 0};
    std::int64_t& waited = waited_[launch.slot];
    if (loops_from_ > 0 && launch.instance + 1 - waited >= loops_from_) {
      emit({StepCode::loop, core::Activity::other, 0, 0, launch.instance + 1 - waited});
      emit(wait);
      emit({StepCode::end_loop, core::Activity::other, 0, 0, 0});
      waited = launch.instance + 1;
    }
    for (; waited <= launch.instance; ++waited) {
      emit(wait);
    }
  }

  void wait_for_ticket(int ticket) {
    if (auto found = tickets_.find(ticket); found != tickets_.end()) {
      for (const Launch& launch : found->second) {
        wait_for(launch);
      }
      tickets_.erase(found);
    }
  }

  /// A step ends when all its transfers have; a sent message is the receiver's to wait for.
  void wait_for_all() {
    for (std::uint32_t slot = 0; slot < program_.slots.size(); ++slot) {
      if (program_.slots[slot].kind == OperationKind::collective && launches_[slot] > 0) {
        wait_for({slot, launches_[slot] - 1});
      }
    }
  }

  std::uint32_t slot_of(const Operation& o) {
    const bool collective = o.kind == OperationKind::collective;
    // Messages between stages meet whichever way they go; those of a context ring have their own
    // group.
    const bool own_group = collective || o.group == workload::Group::context;
    SlotKey key{o.kind,       own_group ? o.group : workload::Group::pipeline_next,
                o.collective, o.activity,
                o.bytes,      o.peer_stage,
                o.channel,    o.distance,
                o.name};
    if (!collective && key.peer_stage >= 0) {
      const bool sends = o.kind == OperationKind::send;
      const std::pair<int, int> pair =
          sends ? std::pair{stage_, o.peer_stage} : std::pair{o.peer_stage, stage_};
      key.channel = in_order_.contains(pair) ? 0 : o.channel;
    }
    const auto [place, fresh] =
        slots_.try_emplace(key, static_cast<std::uint32_t>(program_.slots.size()));
    if (fresh) {
      program_.slots.push_back(key);
      slot_names_.push_back(name(key.name));
      launches_.push_back(0);
      waited_.push_back(0);
    }
    return place->second;
  }

  std::uint16_t name(const std::string& text) {
    const auto [place, fresh] = name_index_.try_emplace(text, static_cast<std::uint16_t>(0));
    if (fresh) {
      const auto found = std::find(names_.begin(), names_.end(), text);
      place->second = static_cast<std::uint16_t>(found - names_.begin());
      if (found == names_.end()) {
        names_.push_back(text);
      }
    }
    return place->second;
  }

  std::uint16_t interference_name() { return name("interference"); }

  void emit(const ProgramStep& step,
            StepOrigin origin = {},
            core::Tick launch = 0,
            core::Tick idle = 0) {
    program_.steps.push_back(step);
    program_.launch.push_back(launch);
    program_.idle.push_back(idle);
    if (keeps_origins_) {
      origin.call = call_;
      program_.origins.push_back(origin);
    }
  }

  static constexpr std::uint32_t kNoSlot = 0xffffffffU;

  const workload::StepGraph& graph_;
  const std::vector<workload::Group>& groups_of_one_;
  const std::set<std::pair<int, int>>& in_order_;
  int stage_;
  std::vector<std::string>& names_;
  std::map<std::string, std::uint16_t, std::less<>> name_index_;
  const std::vector<std::vector<OperationTime>>* times_;
  bool keeps_origins_;
  std::int64_t loops_from_;
  StepOrigin here_;
  std::int32_t call_ = -1;                    ///< of the stage, that is being compiled
  std::size_t told_ = std::size_t{1} << 24U;  ///< steps for which nobody asked whether they fit
  std::vector<BlockPlan> plans_;              ///< per block
  std::vector<Launch> launched_;              ///< scratch of run_block
  std::vector<std::uint16_t> slot_names_;
  std::map<SlotKey, std::uint32_t> slots_;
  std::map<int, std::vector<Launch>> tickets_;
  std::vector<std::int64_t> launches_, waited_;  ///< per slot
  StageProgram program_;
};

/// GPU time of each operation's kernels.
std::vector<core::Seconds> gpu_times(const workload::Block& block, const KernelTimes& times) {
  std::vector<core::Seconds> seconds;
  seconds.reserve(block.operations.size());
  for (const auto& operation : block.operations) {
    seconds.push_back(gpu::kernels_time(*times.gpu, times.shares, operation.kernels, times.launch));
  }
  return seconds;
}

/// The CPU launches ahead within a block, so where launching is slower than computing, all of the
/// block's kernels are stretched by the same factor.
double stretch_of(const workload::Block& block,
                  const std::vector<core::Seconds>& on_gpu,
                  const KernelTimes& times,
                  const TransferCosts& transfers) {
  core::Seconds kernels, exposed, launches;
  int collectives = 0;
  for (std::size_t i = 0; i < on_gpu.size(); ++i) {
    const Operation& o = block.operations[i];
    kernels += on_gpu[i];
    launches += gpu::launch_time(o.kernels, times.launch);
    if (o.kind == OperationKind::collective) {
      ++collectives;
      exposed += !o.asynchronous && transfers.blocking ? transfers.blocking(o) : core::Seconds(0);
    }
  }
  return gpu::host_stretch(kernels, exposed,
                           gpu::host_time(launches, collectives, block.layer_passes, times.launch));
}

}  // namespace

double block_stretch(const workload::Block& block,
                     const KernelTimes& times,
                     const TransferCosts& transfers) {
  return stretch_of(block, gpu_times(block, times), times, transfers);
}

std::vector<OperationTime> operation_times(const workload::Block& block,
                                           const KernelTimes& times,
                                           const TransferCosts& transfers) {
  const std::vector<core::Seconds> seconds = gpu_times(block, times);
  const double stretch = stretch_of(block, seconds, times, transfers);
  std::vector<OperationTime> list;
  list.reserve(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const Operation& o = block.operations[i];
    if (o.kind == OperationKind::collective && o.asynchronous && transfers.interference) {
      list.push_back({step_ticks(transfers.interference(o), o.name), 0});
    } else if (o.kind == OperationKind::delay) {
      list.push_back({step_ticks(o.duration, o.name), 0});
    } else {
      const core::Tick ticks = step_ticks(seconds[i] * stretch, o.name);
      list.push_back({ticks, ticks - step_ticks(seconds[i], o.name)});
    }
  }
  return list;
}

core::Seconds host_copy_time(const KernelTimes& times, core::Bytes bytes) {
  core::Kernel copy;
  copy.kind = core::KernelKind::host_copy;
  copy.traffic = bytes;
  return gpu::kernel_time(*times.gpu, times.shares, copy, times.launch);
}

std::vector<std::vector<OperationTime>> block_times(const workload::StepGraph& graph,
                                                    const KernelTimes& times,
                                                    const TransferCosts& transfers) {
  std::vector<std::vector<OperationTime>> list;
  list.reserve(graph.blocks.size());
  for (const auto& block : graph.blocks) {
    list.push_back(operation_times(block, times, transfers));
  }
  return list;
}

std::set<std::pair<int, int>> in_order_pairs(const workload::StepGraph& graph) {
  // For each pair of stages the channels of its messages, in the order sent and in the order
  // received.
  std::map<std::pair<int, int>, std::vector<int>> sent;
  std::map<std::pair<int, int>, std::vector<int>> received;
  std::vector<std::vector<const Operation*>> messages;  // per block
  for (const auto& block : graph.blocks) {
    auto& here = messages.emplace_back();
    for (const Operation& o : block.operations) {
      const bool message = o.kind == OperationKind::send || o.kind == OperationKind::receive;
      if (message && o.peer_stage >= 0) {
        here.push_back(&o);
      }
    }
  }
  for (int stage = 0; stage < static_cast<int>(graph.stages.size()); ++stage) {
    for (const auto& call : graph.stages[static_cast<std::size_t>(stage)].calls) {
      for (int i = 0; i < call.repeat; ++i) {
        for (const Operation* o : messages[static_cast<std::size_t>(call.block)]) {
          if (o->kind == OperationKind::send) {
            sent[{stage, o->peer_stage}].push_back(o->channel);
          } else {
            received[{o->peer_stage, stage}].push_back(o->channel);
          }
        }
      }
    }
  }
  std::set<std::pair<int, int>> pairs;
  for (const auto& [pair, channels] : sent) {
    if (received[pair] == channels) {
      pairs.insert(pair);
    }
  }
  return pairs;
}

StageProgram compile_stage(const CompileInput& input, int stage, std::vector<std::string>& names) {
  return StageCompiler(input, stage, names).compile();
}

}  // namespace headway::training
