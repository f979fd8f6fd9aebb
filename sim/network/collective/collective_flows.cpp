#include "sim/network/collective/collective_flows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/core/error.h"

namespace headway::network {
namespace {

using core::GpuId;
using core::LinkId;

/// A single hashed cable that is overloaded is contention, and a measurement of another group says
/// nothing of what this one crosses above its NICs; all else must carry a measured time.
bool held_against(const Fabric& fabric, const Link& link, TimeSource source) {
  const bool above_nics = link.tier == Tier::leaf_spine || link.tier == Tier::spine_core ||
                          link.tier == Tier::local || link.tier == Tier::global ||
                          link.tier == Tier::site;
  return !above_nics || (fabric.pooled() && source == TimeSource::measured_curve);
}

void check_calibration(const Fabric& fabric,
                       const CollectiveCall& call,
                       const Footprint& footprint,
                       const CollectiveTime& alone) {
  const auto bytes = footprint.on_tightest * (call.bytes / footprint.call);
  const auto busy = alone.total - alone.alpha;
  if (footprint.tightest &&
      bytes.si() > fabric.link(*footprint.tightest).nominal.si() * busy.si() * (1 + 1e-6)) {
    throw core::Error(fmt::format(
        "the measured time of {} ({:.6g} bytes: {:.6g} us) needs {:.4g} GB/s on {}, which carries "
        "{:.4g} GB/s",
        core::to_word(call.kind), call.bytes.si(), alone.total.si() * 1e6,
        (bytes / busy).si() / 1e9, fabric.describe(*footprint.tightest),
        fabric.link(*footprint.tightest).nominal.si() / 1e9));
  }
}

/// The bytes whose coefficient is 1: those of the busiest link. If a link that takes a hundredth of
/// the slowest one's time would then have a coefficient of few units (a NIC beside a pool of a
/// thousand cables), those of that link, as far as coefficients leave room for multiplicities.
core::Bytes reference_bytes(const Fabric& fabric, const LinkLoads& loads) {
  // Source: chosen, so that coefficients err by half a percent at most where they count.
  constexpr double kCounts = 0.01;
  constexpr double kLeastUnits = 100;  // rounding to a whole unit errs by half a percent
  constexpr double kMostUnits = 1U << 24U;
  core::Bytes busiest;
  core::Seconds longest;
  loads.for_each([&](LinkId link, core::Bytes bytes) {
    busiest = std::max(busiest, bytes);
    longest = std::max(longest, bytes / fabric.link(link).capacity);
  });
  core::Bytes least = busiest;
  loads.for_each([&](LinkId link, core::Bytes bytes) {
    const bool counts = bytes / fabric.link(link).capacity >= longest * kCounts;
    least = counts ? std::min(least, bytes) : least;
  });
  return least / busiest * kCoefficientUnit >= kLeastUnits
             ? busiest
             : std::max(least, busiest * (kCoefficientUnit / kMostUnits));
}

Footprint make_footprint(const Fabric& fabric,
                         const LinkLoads& loads,
                         core::Bytes call,
                         TimeSource source) {
  Footprint print;
  print.call = call;
  print.flow = reference_bytes(fabric, loads);
  core::Seconds longest, longest_healthy;
  print.uses.reserve(loads.size());
  loads.for_each([&](LinkId id, core::Bytes bytes) {
    const auto& link = fabric.link(id);
    const core::Seconds busy = bytes / link.capacity;
    if (busy > longest) {
      longest = busy;
      print.slowest = id;
    }
    if (held_against(fabric, link, source) && bytes / link.nominal > longest_healthy) {
      longest_healthy = bytes / link.nominal;
      print.tightest = id;
      print.on_tightest = bytes;
    }
    const auto coefficient =
        static_cast<std::uint32_t>(std::lround(bytes / print.flow * kCoefficientUnit));
    if (coefficient > 0) {
      print.uses.push_back({id.index(), coefficient});
    }
  });
  return print;
}

Transfer timed_event(const CollectiveTime& alone, const core::Clock& clock) {
  Transfer transfer;
  transfer.alone = alone.total;
  transfer.delay = clock.to_ticks(alone.total);
  return transfer;
}

}  // namespace

Transfer emit_collective(const Fabric& fabric,
                         const CollectiveCall& call,
                         std::span<const GpuId> members,
                         const CollectiveTime& alone,
                         const EmitOptions& options) {
  if (options.timed || members.size() < 2 || alone.total.si() <= 0) {
    return timed_event(alone, options.clock);
  }
  if (call.kind == core::CollectiveKind::send_receive) {
    HEADWAY_CHECK(members.size() == 2, "send/receive between {} GPUs", members.size());
    return emit_send(fabric, call.bytes, members[0], members[1], alone, options);
  }
  return emit_collective(fabric, call, footprint(fabric, call, members, alone, options), alone,
                         options.clock);
}

/// One flow whose rate is that of the busiest link; the others follow in lockstep.
Transfer emit_collective(const Fabric& fabric,
                         const CollectiveCall& call,
                         Footprint footprint,
                         const CollectiveTime& alone,
                         const core::Clock& clock) {
  if (alone.source == TimeSource::measured_curve || alone.source == TimeSource::fitted_bounds) {
    check_calibration(fabric, call, footprint, alone);
  }
  Transfer transfer;
  transfer.alone = alone.total;
  const core::Tick total = clock.to_ticks(alone.total);
  transfer.delay = std::min(total, clock.to_ticks(alone.alpha));
  const core::Tick moving = total - transfer.delay;
  if (footprint.flow.si() <= 0 || moving == 0) {
    transfer.delay = total;
    return transfer;
  }
  Flow flow;
  flow.size = footprint.flow * (call.bytes / footprint.call);
  flow.bound = flow.size / clock.to_seconds(moving);
  flow.uses = static_cast<std::uint32_t>(footprint.uses.size());
  transfer.uses = std::move(footprint.uses);
  transfer.flows.push_back(flow);
  return transfer;
}

Footprint footprint(const Fabric& fabric,
                    const CollectiveCall& call,
                    std::span<const GpuId> members,
                    const CollectiveTime& alone,
                    const EmitOptions& options) {
  const auto loads = link_loads(fabric, call, members, alone, options.label);
  return make_footprint(fabric, loads, call.bytes, alone.source);
}

Transfer emit_send(const Fabric& fabric,
                   core::Bytes bytes,
                   GpuId from,
                   GpuId to,
                   const CollectiveTime& alone,
                   const EmitOptions& options) {
  if (options.timed || from == to) {
    return timed_event(alone, options.clock);
  }
  const CollectiveCall call{core::CollectiveKind::send_receive, bytes, {}, {}};
  const std::array ends{from, to};
  return emit_collective(fabric, call, footprint(fabric, call, ends, alone, options), alone,
                         options.clock);
}

LinkNumbers::LinkNumbers(const Fabric& fabric) : fabric_(&fabric), number_(fabric.link_count()) {}

LinkNumbers::LinkNumbers(const Fabric& fabric, std::vector<LinkId> fabric_links)
    : LinkNumbers(fabric) {
  fabric_links_ = std::move(fabric_links);
  for (std::size_t l = 0; l < fabric_links_.size(); ++l) {
    number_[fabric_links_[l]] = static_cast<std::uint32_t>(l);
  }
}

std::uint32_t LinkNumbers::number(LinkId link, Problem& problem) {
  auto& number = number_[link];
  if (number == LinkTable::kNone) {
    number = static_cast<std::uint32_t>(problem.links.size());
    problem.links.push_back({fabric_->link(link).capacity});
    fabric_links_.push_back(link);
  }
  return number;
}

std::uint32_t append(const Transfer& transfer,
                     std::uint32_t need,
                     core::Activity activity,
                     std::uint16_t name,
                     LinkNumbers& numbers,
                     Problem& problem) {
  HEADWAY_CHECK(problem.coefficient_unit == kCoefficientUnit || problem.uses.empty(),
                "coefficient unit {}", problem.coefficient_unit);
  problem.coefficient_unit = kCoefficientUnit;
  const auto index = static_cast<std::uint32_t>(problem.groups.size());
  TransferGroup group;
  group.need = need;
  group.delay = transfer.delay;
  group.first_flow = static_cast<std::uint32_t>(problem.flows.size());
  group.flows = static_cast<std::uint32_t>(transfer.flows.size());
  group.activity = activity;
  group.name = name;
  for (Flow flow : transfer.flows) {
    flow.group = index;
    flow.first_use += static_cast<std::uint32_t>(problem.uses.size());
    problem.flows.push_back(flow);
  }
  for (const auto& use : transfer.uses) {
    problem.uses.push_back({numbers.number(LinkId(use.link), problem), use.coefficient});
  }
  problem.groups.push_back(group);
  return index;
}

}  // namespace headway::network
