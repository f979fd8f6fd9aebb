// Blocks of the step graph with the time of every operation, each transfer alone on the fabric.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/collective/collective.h"
#include "sim/network/fabric/fabric.h"
#include "sim/training/scenario.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/program.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/step_graph.h"

namespace headway::analytic {

/// What a rank does, and how long it takes.
struct TimedStep {
  double seconds = 0;       ///< compute and delay: on the compute stream; else the transfer
  double interference = 0;  ///< asynchronous collective: what it takes from the kernels beside it
  int ticket = -1;
  workload::OperationKind kind = workload::OperationKind::compute;
  workload::Group group = workload::Group::tensor;
  bool asynchronous = false;
  bool shares_network =
      false;  ///< runs one after another with its like: gradients and parameters over the NICs
};

/// One operation of a block.
struct TimedOperation : TimedStep {
  bool world = false;  ///< all ranks of the job meet here
  int channel = 0;
  workload::FewNumbers waits, await;
};

/// The operations of a block in order.
struct TimedBlock {
  std::vector<TimedOperation> operations;
  std::size_t tickets = 0;  ///< more than the largest that it launches or awaits
  bool inner = false;       ///< what ends inside the block depends on when its transfers complete

  void add(TimedOperation operation);
};

/// A part of a flat list of steps, for blocks inside which nothing waits: after all launches of a
/// ticket.
struct TicketStep : TimedStep {
  int awaits = -1;  ///< the ticket; -1: none
};

/// Where a rank stands while blocks run on it.
struct Timeline {
  double now = 0;           ///< of the compute stream [s]
  double network_free = 0;  ///< when the NICs have sent what was launched
  /// When the reductions of gradients inside an NVLink domain are complete, by group: those of one
  /// follow one another.
  std::array<double, static_cast<std::size_t>(workload::Group::world) + 1> reduced{};

  /// Runs operations first .. end of a block.
  void run(const TimedBlock& block, std::size_t first, std::size_t end);
  void run(const TimedBlock& block) {
    if (block.inner) {
      run(block, 0, block.operations.size());
      return;
    }
    make_room(block.tickets);
    for (const TimedOperation& operation : block.operations) {
      await_tickets(operation);
      step(operation);
    }
  }
  /// Runs steps after `make_room` for their tickets.
  void run(std::span<const TicketStep> steps) {
    for (const TicketStep& one : steps) {
      if (one.awaits >= 0) {
        now = std::max(now, tickets_[static_cast<std::size_t>(one.awaits)]);
      }
      step(one);
    }
  }
  /// Knows so many tickets.
  void make_room(std::size_t tickets) {
    if (tickets_.size() < tickets) {
      tickets_.resize(tickets);
    }
    for (; known_ < tickets; ++known_) {
      tickets_[known_] = 0;
    }
  }
  /// When the last launch of a ticket is complete [s].
  [[nodiscard]] double ticket(std::size_t number) const {
    return number < known_ ? tickets_[number] : 0;
  }
  /// Waits for all that was launched.
  void await_all() {
    for (std::size_t number = 0; number < known_; ++number) {
      now = std::max(now, tickets_[number]);
    }
  }
  /// Back to the start of time, keeping memory.
  void reset();

 private:
  void run_with_inner_waits(const TimedBlock& block, std::size_t first, std::size_t end);
  void await_tickets(const TimedOperation& operation) {
    for (const int number : operation.await) {
      now = std::max(now, tickets_[static_cast<std::size_t>(number)]);
    }
  }
  /// @returns when the transfer is complete
  double run_transfer(const TimedStep& one);
  /// One that nothing inside the block waits for.
  void step(const TimedStep& one);
  double next_message(const TimedBlock& block, std::size_t receive);

  std::vector<double> tickets_;  ///< see `ticket`; of those that blocks so far know, `known_`
  std::size_t known_ = 0;
  /// Scratch: per operation of the block, when its transfer is complete.
  std::vector<double> finish_;
  std::vector<bool> received_;  ///< scratch: per send of the block
};

[[gnu::always_inline]] inline double Timeline::run_transfer(const TimedStep& o) {
  double& free = o.shares_network ? network_free : reduced[static_cast<std::size_t>(o.group)];
  const bool queues = o.shares_network || o.ticket == workload::kGradientTicket;
  const double done = (queues ? std::max(now, free) : now) + o.seconds;
  free = queues ? done : free;
  now = o.asynchronous ? now + o.interference : done;
  if (o.ticket >= 0) {
    double& ticket = tickets_[static_cast<std::size_t>(o.ticket)];
    ticket = std::max(ticket, done);
  }
  return done;
}

inline void Timeline::step(const TimedStep& o) {
  if (o.kind == workload::OperationKind::collective) {
    run_transfer(o);
  } else if (o.kind != workload::OperationKind::send) {
    now += o.seconds;
  }
}

/// Times blocks on one machine.
class BlockTimer {
 public:
  explicit BlockTimer(const training::Scenario& scenario);

  /// Ranks of a layout on the cluster's GPUs.
  [[nodiscard]] training::RankLayout ranks_of(const workload::ParallelismSpec& p,
                                              int data_parallel) const;

  /// `RankLayout::expert_domains` of them.
  int expert_domains(const workload::ParallelismSpec& p, int data_parallel);

  /// A number that layouts share whose passes communicate alike: their groups of tensor, context
  /// and expert ranks have the same shapes, and experts lie in as many domains.
  int pass_groups(const workload::ParallelismSpec& p, int data_parallel);

  /// The blocks that are `wanted`; the others stay empty.
  /// @param layout  whose groups communicate; the blocks may be those of a smaller one with the
  ///                same groups
  std::vector<TimedBlock> time_blocks(const std::vector<workload::Block>& blocks,
                                      const workload::ParallelismSpec& layout,
                                      int data_parallel,
                                      bool (*wanted)(const workload::Block&));

  /// A message between GPUs of one NVLink domain, or of two. [s]
  double message(core::Bytes bytes, bool crosses);

  /// A copy of activations between GPU and host memory [s].
  [[nodiscard]] double host_copy(core::Bytes bytes) const;

  [[nodiscard]] const network::Fabric& fabric() const { return fabric_; }

 private:
  struct CallKey {
    core::CollectiveKind kind{};
    double bytes = 0;
    network::GroupShape shape;
    bool operator==(const CallKey&) const = default;
  };
  static constexpr std::size_t kPassGroups = 6;
  using PassGroups = std::pair<std::array<network::GroupShape, kPassGroups>, int>;
  /// All that the members of groups depend on.
  using GroupsKey = std::array<int, 9>;
  static GroupsKey groups_of(const workload::ParallelismSpec& p, int data_parallel);

  struct CallHash {
    std::size_t operator()(const CallKey& key) const;
  };

  double transfer(core::CollectiveKind kind, core::Bytes bytes, const network::GroupShape& shape);
  [[nodiscard]] double alone(core::CollectiveKind kind,
                             core::Bytes bytes,
                             const network::GroupShape& shape,
                             int ranks) const;
  const network::GroupShape& shape_of(const training::RankLayout& layout,
                                      const workload::ParallelismSpec& p,
                                      const GroupsKey& groups,
                                      workload::Group group);
  network::GroupShape widest_group(const training::RankLayout& layout,
                                   const workload::ParallelismSpec& p,
                                   workload::Group group) const;

  const training::Scenario& scenario_;
  network::Fabric fabric_;
  network::NetworkParameters parameters_;
  training::KernelTimes kernels_;
  network::GroupShape near_, far_, world_;                   ///< of two GPUs, of all
  std::unordered_map<CallKey, double, CallHash> transfers_;  ///< looked up only, never iterated
  std::map<std::pair<GroupsKey, workload::Group>, network::GroupShape> shapes_;
  std::map<GroupsKey, int> expert_domains_;
  std::vector<PassGroups> pass_groups_;     ///< by number
  std::map<GroupsKey, int> pass_group_of_;  ///< numbers
};

}  // namespace headway::analytic
