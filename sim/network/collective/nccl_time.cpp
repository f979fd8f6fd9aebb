#include "sim/network/collective/nccl_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/core/error.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_wire.h"
#include "sim/network/collective/nccl_measured.h"

namespace headway::network {

using namespace core::literals;
namespace {

/// (a^q + b^q)^(1/q).
core::Seconds combine(core::Seconds a, core::Seconds b, double q) {
  return core::Seconds{std::pow(std::pow(a.si(), q) + std::pow(b.si(), q), 1 / q)};
}

/// Messages that a rank of a ring sends one after the other.
double ring_steps(core::CollectiveKind kind, int n) {
  return kind == core::CollectiveKind::all_reduce
             ? 2.0 * (n - 1)
             : (kind == core::CollectiveKind::broadcast ? n : n - 1.0);
}

/// NVLS and its tree: the part inside the domain fills its channels slowly.
TimeEstimate switch_time(const NcclCandidate& choice,
                         const CollectiveCall& call,
                         const GroupShape& group,
                         const NetworkParameters& machine) {
  const double inside_us =
      nccl::of(nccl::kNvlsBase, machine.generation) +
      nccl::of(nccl::kNvlsPerRank, machine.generation) * group.ranks_per_domain;
  const core::Seconds inside = inside_us * 1_us;
  return {combine(inside, call.bytes / choice.bandwidth, nccl::kNvlsExponent) + choice.network,
          inside + choice.network};
}

/// Rails that one rank's bytes are spread over: r ranks share those of their domain.
double rails_of_rank(const GroupShape& group) {
  const double r = group.ranks_per_domain;
  return std::max(1.0, r / group.ranks_per_rail) / r;
}

std::optional<core::Seconds> hierarchical_time(
    core::CollectiveKind kind, core::Bytes bytes, const GroupShape& group, Hop nvlink, Hop nics) {
  const int n = group.ranks;
  const int r = group.ranks_per_domain;
  switch (kind) {
    case core::CollectiveKind::all_reduce:
      return hierarchical_all_reduce(bytes, n, r, nvlink, nics);
    case core::CollectiveKind::all_gather:
    case core::CollectiveKind::reduce_scatter:
      return hierarchical_all_gather(bytes, n, r, nvlink, nics);
    case core::CollectiveKind::all_to_all:
      return staged_all_to_all(bytes, n, r, nvlink, nics);
    default:
      return std::nullopt;
  }
}

std::optional<core::Seconds> recursive_time(core::CollectiveKind kind,
                                            core::Bytes bytes,
                                            int ranks,
                                            Hop hop) {
  switch (kind) {
    case core::CollectiveKind::all_reduce:
      return halving_doubling_all_reduce(bytes, ranks, hop);
    case core::CollectiveKind::all_gather:
      return recursive_doubling_all_gather(bytes, ranks, hop);
    case core::CollectiveKind::reduce_scatter:
      return recursive_halving_reduce_scatter(bytes, ranks, hop);
    default:
      return std::nullopt;
  }
}

/// What a GPU puts on the lanes that join it to its node.
core::Bytes lane_bytes(const CollectiveCall& call,
                       const GroupShape& group,
                       const NetworkParameters& machine,
                       const WireBytes& wire) {
  // Where GPUs are joined by PCIe, what goes to the NIC takes the same lanes.
  const bool pcie = machine.scale_up_kind == ScaleUpKind::pcie;
  if (call.kind == core::CollectiveKind::send_receive) {
    // Each rank sends to the next: all but the last of a domain send inside.
    return pcie || group.ranks_per_domain > 1 ? call.bytes : core::Bytes{};
  }
  const auto shared = pcie ? wire.nic * rails_of_rank(group) : core::Bytes{};
  const auto own = call.bytes / group.ranks * nccl::of(nccl::kOwnPart, machine.generation);
  return wire.scale_up + shared + own;
}

}  // namespace

TimeEstimate nccl_time(const NcclCandidate& choice,
                       const CollectiveCall& call,
                       const GroupShape& group,
                       const NetworkParameters& machine) {
  if (choice.algorithm == Algorithm::nvls || choice.algorithm == Algorithm::nvls_tree) {
    return switch_time(choice, call, group, machine);
  }
  const auto latency =
      choice.base * nccl::of(nccl::kBaseRatio, machine.generation)[choice.protocol] +
      choice.inside * nccl::of(nccl::kHopRatio, machine.generation)[choice.protocol] +
      choice.network;
  double copies = 1;
  if (choice.algorithm == Algorithm::ring && choice.protocol == Protocol::simple) {
    copies += nccl::kRingCopies / ring_steps(call.kind, group.ranks);
  }
  return {latency + call.bytes / choice.bandwidth * copies, latency};
}

TimeEstimate nccl_least_time(const CollectiveCall& call,
                             const GroupShape& group,
                             const NetworkParameters& machine) {
  TimeEstimate least{core::Seconds{std::numeric_limits<double>::infinity()}, {}};
  for (const NcclCandidate& candidate : nccl_choices_from(call, group, machine)) {
    const TimeEstimate time = nccl_time(candidate, call, group, machine);
    least = time.total < least.total ? time : least;
  }
  return least;
}

bool has_closed_form(const CollectiveCall& call) {
  return call.algorithm == Algorithm::hierarchical || call.algorithm == Algorithm::recursive;
}

TimeEstimate closed_form_time(const CollectiveCall& call,
                              const GroupShape& group,
                              const NetworkParameters& machine) {
  const Hop nvlink{nccl::kNvlinkRing.simple * 1_us + extra_scale_up_latency(machine),
                   nccl_nvlink_rate(machine)};
  const Hop nics{nccl::kNetRing.simple * 1_us, machine.nic_bandwidth / group.ranks_per_rail};
  const auto time = [&](core::Bytes bytes) {
    const auto found =
        call.algorithm == Algorithm::hierarchical
            ? hierarchical_time(call.kind, bytes, group, nvlink, nics)
            : recursive_time(call.kind, bytes, group.ranks, group.domains > 1 ? nics : nvlink);
    if (!found) {
      throw core::Error(fmt::format("there is no {} {}", core::to_word(*call.algorithm),
                                    core::to_word(call.kind)));
    }
    return *found;
  };
  return {time(call.bytes), time(core::Bytes{})};
}

TimeEstimate exchange_time(const CollectiveCall& call,
                           const GroupShape& group,
                           const NetworkParameters& machine) {
  const bool all = call.kind == core::CollectiveKind::all_to_all;
  const auto wire =
      wire_bytes(call.kind, all ? Algorithm::pairwise : Algorithm::direct, call.bytes, group);
  const auto part = all ? call.bytes / group.ranks : call.bytes;
  const auto g = machine.generation;
  const double base =
      part.si() <= nccl::kPeerLlBytes ? nccl::of(nccl::kPeerLl, g) : nccl::of(nccl::kPeerSimple, g);
  const auto nvlink =
      lane_bytes(call, group, machine, wire) / (nccl_nvlink_rate(machine) * nccl::kPeerShare);
  // A proxy posts one message to every peer behind the NIC while earlier ones are on the wire.
  const core::Seconds post =
      all ? (group.ranks - group.ranks_per_domain) * nccl::kNetPostOverhead * 1_us
          : core::Seconds{};
  const auto nics = std::max(post, wire.nic / machine.nic_bandwidth);
  const bool inside = all ? group.ranks_per_domain > 1 : group.domains == 1;
  const core::Seconds alpha = base * 1_us +
                              (group.domains > 1 ? machine.network_latency : core::Seconds{}) +
                              (inside ? extra_scale_up_latency(machine) : core::Seconds{});
  // NVLink and the NICs work at the same time; NICs are fed by proxies and fill at once.
  return {std::max(combine(alpha, nvlink, nccl::kPeerExponent), alpha + nics), alpha};
}

}  // namespace headway::network
