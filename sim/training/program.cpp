#include "sim/training/program.h"

#include <algorithm>
#include <map>

#include "sim/core/error.h"

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
};

class StageCompiler {
 public:
  StageCompiler(const CompileInput& input, int stage, std::vector<std::string>& names)
      : graph_(*input.graph),
        times_(input.times),
        groups_of_one_(input.groups_of_one),
        in_order_(input.in_order),
        stage_(stage),
        names_(names) {}

  StageProgram compile() {
    for (const auto& call : graph_.stages[static_cast<std::size_t>(stage_)].calls) {
      const auto& block = graph_.blocks[static_cast<std::size_t>(call.block)];
      const std::vector<core::Tick>& durations = block_durations(call.block);
      for (int i = 0; i < call.repeat; ++i) {
        run_block(block, durations);
      }
    }
    wait_for_all();
    return std::move(program_);
  }

 private:
  /// Duration of every compute operation of a block. The CPU launches ahead within a block, so where launching
  /// is slower than computing, all of the block's kernels are stretched by the same factor.
  const std::vector<core::Tick>& block_durations(int index) {
    auto [place, fresh] = durations_.try_emplace(index);
    if (!fresh) {
      return place->second;
    }
    const auto& block = graph_.blocks[static_cast<std::size_t>(index)];
    core::Seconds on_gpu;
    std::int64_t launches = 0;
    std::vector<core::Seconds> seconds;
    for (const auto& operation : block.operations) {
      seconds.push_back(gpu::kernels_time(*times_.gpu, times_.shares, operation.kernels, times_.launch));
      on_gpu += seconds.back();
      launches += gpu::launch_count(operation.kernels);
    }
    const double stretch = gpu::launch_stretch(on_gpu, launches, times_.launch);
    const auto clock = core::Clock::step();
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const bool delay = block.operations[i].kind == OperationKind::delay;
      place->second.push_back(clock.to_ticks(delay ? block.operations[i].duration : seconds[i] * stretch));
    }
    return place->second;
  }

  void run_block(const workload::Block& block, const std::vector<core::Tick>& durations) {
    std::vector<Launch> launched(block.operations.size(), Launch{kNoSlot, 0});
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      const Operation& operation = block.operations[i];
      for (const int earlier : operation.waits) {
        wait_for(launched[static_cast<std::size_t>(earlier)]);
      }
      for (const int ticket : operation.await) {
        wait_for_ticket(ticket);
      }
      launched[i] = run_operation(operation, durations[i]);
    }
    // A transfer without a ticket ends inside its block.
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
      if (block.operations[i].asynchronous && block.operations[i].ticket < 0) {
        wait_for(launched[i]);
      }
    }
  }

  Launch run_operation(const Operation& operation, core::Tick duration) {
    switch (operation.kind) {
      case OperationKind::compute:
      case OperationKind::delay:
        emit({StepCode::compute, operation.activity, name(operation.name), 0, duration});
        return {kNoSlot, 0};
      case OperationKind::collective: {
        if (std::find(groups_of_one_.begin(), groups_of_one_.end(), operation.group) != groups_of_one_.end()) {
          return {kNoSlot, 0};
        }
        const Launch launch = arrive(operation);
        if (!operation.asynchronous) {
          wait_for(launch);
        } else if (operation.ticket >= 0) {
          tickets_[operation.ticket].push_back(launch);
        }
        return launch;
      }
      case OperationKind::send:
        return arrive(operation);
      case OperationKind::receive: {
        const std::uint32_t slot = slot_of(operation);
        const Launch launch{slot, launches_[slot]++};
        wait_for(launch);
        return launch;
      }
    }
    HEADWAY_CHECK(false, "operation kind {}", static_cast<int>(operation.kind));
  }

  Launch arrive(const Operation& operation) {
    const std::uint32_t slot = slot_of(operation);
    emit({StepCode::arrive, operation.activity, name(operation.name), slot, 0});
    return {slot, launches_[slot]++};
  }

  /// Instances of a slot complete in order, so waiting for one waits for all before it.
  void wait_for(const Launch& launch) {
    if (launch.slot == kNoSlot) {
      return;
    }
    for (; waited_[launch.slot] <= launch.instance; ++waited_[launch.slot]) {
      const SlotKey& key = program_.slots[launch.slot];
      emit({StepCode::wait, key.activity, name(key.name), launch.slot, 0});
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
    // Messages between stages meet whichever way they go; those of a context ring have their own group.
    const bool own_group = collective || o.group == workload::Group::context;
    SlotKey key{o.kind, own_group ? o.group : workload::Group::pipeline_next, o.collective, o.activity, o.bytes,
                o.peer_stage, o.channel, o.name};
    if (!collective && key.peer_stage >= 0) {
      const bool sends = o.kind == OperationKind::send;
      const std::pair<int, int> pair = sends ? std::pair{stage_, o.peer_stage} : std::pair{o.peer_stage, stage_};
      key.channel = in_order_.contains(pair) ? 0 : o.channel;
    }
    const auto [place, fresh] = slots_.try_emplace(key, static_cast<std::uint32_t>(program_.slots.size()));
    if (fresh) {
      program_.slots.push_back(key);
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

  void emit(const ProgramStep& step) { program_.steps.push_back(step); }

  static constexpr std::uint32_t kNoSlot = 0xffffffffU;

  const workload::StepGraph& graph_;
  const KernelTimes& times_;
  const std::vector<workload::Group>& groups_of_one_;
  const std::set<std::pair<int, int>>& in_order_;
  int stage_;
  std::vector<std::string>& names_;
  std::map<std::string, std::uint16_t, std::less<>> name_index_;
  std::map<int, std::vector<core::Tick>> durations_;
  std::map<SlotKey, std::uint32_t> slots_;
  std::map<int, std::vector<Launch>> tickets_;
  std::vector<std::int64_t> launches_, waited_;  ///< per slot
  StageProgram program_;
};

}  // namespace

std::set<std::pair<int, int>> in_order_pairs(const workload::StepGraph& graph) {
  // For each pair of stages the channels of its messages, in the order sent and in the order received.
  std::map<std::pair<int, int>, std::vector<int>> sent;
  std::map<std::pair<int, int>, std::vector<int>> received;
  for (int stage = 0; stage < static_cast<int>(graph.stages.size()); ++stage) {
    for (const auto& call : graph.stages[static_cast<std::size_t>(stage)].calls) {
      for (int i = 0; i < call.repeat; ++i) {
        for (const Operation& o : graph.blocks[static_cast<std::size_t>(call.block)].operations) {
          if (o.kind == OperationKind::send && o.peer_stage >= 0) {
            sent[{stage, o.peer_stage}].push_back(o.channel);
          } else if (o.kind == OperationKind::receive && o.peer_stage >= 0) {
            received[{o.peer_stage, stage}].push_back(o.channel);
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
