// The programs of one endpoint's actors: which messages set out when.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/core/tick.h"
#include "sim/network/packet/packet.h"

namespace headway::network {

/// What an actor asks of its endpoint.
struct ActorRequests {
  std::vector<std::uint32_t> posts;                            ///< flows: one message each
  std::vector<std::pair<std::uint32_t, core::Tick>> computes;  ///< actor, time
};

/// Runs programs (flow/problem.h) until each waits or ends. An endpoint's own view: a message it
/// sends is done when the receiver has it all and said so, one it receives when all is here.
class PacketActors {
 public:
  PacketActors(const PacketTraffic& traffic, std::uint32_t endpoint);

  /// @param actor  its number here, 0 to size() - 1
  void advance(std::uint32_t actor, core::Tick now, ActorRequests& requests);
  /// A message of the flow is done. All actors that wait for it go on.
  void message_done(std::uint32_t flow, core::Tick now, ActorRequests& requests);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(running_.size()); }
  /// When the last one was done; -1 while one runs.
  [[nodiscard]] core::Tick end() const;
  /// Whether some actor here waits for messages of the flow.
  [[nodiscard]] bool waits_for(std::uint32_t flow) const;
  /// Number in the traffic of the first actor that is not done; kNowhere: none.
  [[nodiscard]] std::uint32_t first_unfinished() const;

 private:
  struct Loop {
    std::size_t begin = 0;
    std::int64_t left = 0;
  };
  struct Running {
    std::uint32_t actor = 0;
    std::size_t next = 0;  ///< instruction
    std::vector<Loop> loops;
    std::vector<std::uint64_t> done, waited;  ///< by slot: messages, waits
    std::vector<std::uint64_t> awaited;       ///< by slot: messages of one wait
    core::Tick end = -1;
  };
  struct Listener {
    std::uint32_t flow = 0, actor = 0, slot = 0;
  };
  /// Of a slot's flows those that end here; if none does, those that begin here.
  [[nodiscard]] std::vector<std::uint32_t> awaited_of(
      const std::vector<std::uint32_t>& flows) const;
  [[nodiscard]] const PacketActor& of(const Running& running) const {
    return traffic_.actors[running.actor];
  }
  /// Runs one instruction. @returns whether the next may run
  bool step(std::uint32_t actor, const ProgramStep& step, ActorRequests& requests);

  const PacketTraffic& traffic_;
  std::uint32_t endpoint_;
  std::vector<Running> running_;
  std::vector<Listener> listeners_;  ///< by flow
};

}  // namespace headway::network
