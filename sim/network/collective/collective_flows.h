// From a collective to flows: one lockstep flow over all the links of its ring, tree or exchange.
//
// The law: a collective alone on the fabric takes exactly its calibrated time; contention stretches
// it. Latency is the group's delay, the calibrated rate is the flow's private bound, and the flow
// sits on its links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/tick.h"
#include "sim/network/collective/collective.h"
#include "sim/network/collective/link_loads.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"
#include "sim/network/flow/problem.h"

namespace headway::network {

/// A transfer in the vocabulary of the flow engine. `uses` name fabric links; `append` renumbers
/// them.
struct Transfer {
  core::Tick delay = 0;     ///< launch to first byte
  std::vector<Flow> flows;  ///< first_use counts from 0; empty: a timed event of `delay`
  std::vector<FlowOnLink> uses;
  core::Seconds alone;  ///< its time with the machine to itself
};

/// What a call puts on the links as shares of one flow; the same for every size of the call.
struct Footprint {
  core::Bytes call;                     ///< size of the call that it was taken from
  core::Bytes flow;                     ///< size of the flow; 0: no link can bind
  std::vector<FlowOnLink> uses;         ///< fabric links
  std::optional<core::LinkId> slowest;  ///< takes longest at the capacity it has now
  /// Healthy, the one that a measured time is held against, and its bytes.
  std::optional<core::LinkId> tightest;
  core::Bytes on_tightest;
};

struct EmitOptions {
  core::Clock clock = core::Clock::step();
  bool timed = false;       ///< no flows: nobody else uses its links, by construction
  std::uint64_t label = 0;  ///< hashed by ecmp
};

/// @param alone  from `collective_time`, the same call
/// @throws core::Error if the algorithm needs a path that is not there
Footprint footprint(const Fabric& fabric,
                    const CollectiveCall& call,
                    std::span<const core::GpuId> members,
                    const CollectiveTime& alone,
                    const EmitOptions& options = {});

/// One lockstep flow over every link that the algorithm's steady state loads, with integer
/// coefficients. The flow's rate is bytes a second of the busiest link; links that never bind are
/// left out.
/// @param members  in ring order
/// @param alone    from `collective_time`, the same call
/// @throws core::Error if a measured time asks more of a healthy link than it carries; the message
/// has both rates
Transfer emit_collective(const Fabric& fabric,
                         const CollectiveCall& call,
                         std::span<const core::GpuId> members,
                         const CollectiveTime& alone,
                         const EmitOptions& options = {});

/// The same from a footprint of the call's algorithm, taken at this or another size.
Transfer emit_collective(const Fabric& fabric,
                         const CollectiveCall& call,
                         Footprint footprint,
                         const CollectiveTime& alone,
                         const core::Clock& clock);

/// One message over its route.
Transfer emit_send(const Fabric& fabric,
                   core::Bytes bytes,
                   core::GpuId from,
                   core::GpuId to,
                   const CollectiveTime& alone,
                   const EmitOptions& options = {});

/// Puts fabric links into a problem when they are first used.
class LinkNumbers {
 public:
  explicit LinkNumbers(const Fabric& fabric);
  /// Goes on where another has stopped.
  /// @param fabric_links  of the problem's links, in order
  LinkNumbers(const Fabric& fabric, std::vector<core::LinkId> fabric_links);
  /// The problem's index of a fabric link; appended to `problem.links` on first use.
  std::uint32_t number(core::LinkId link, Problem& problem);
  /// Fabric link of each problem link, in order.
  [[nodiscard]] const std::vector<core::LinkId>& fabric_links() const { return fabric_links_; }

 private:
  const Fabric* fabric_;
  LinkTable number_;
  std::vector<core::LinkId> fabric_links_;
};

/// Appends the transfer as a new group (`need`, activity and name are the caller's); sets
/// problem.coefficient_unit.
/// @returns index of the group
std::uint32_t append(const Transfer& transfer,
                     std::uint32_t need,
                     core::Activity activity,
                     std::uint16_t name,
                     LinkNumbers& numbers,
                     Problem& problem);

}  // namespace headway::network
