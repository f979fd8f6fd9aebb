#include "sim/network/collective/nccl_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/static_vector.hpp>
#include <cmath>

#include "sim/core/error.h"
#include "sim/network/collective/collective_wire.h"
#include "sim/network/collective/nccl_tables.h"

namespace headway::network {

using namespace core::literals;
namespace {

using core::CollectiveKind;

constexpr double kGiga = 1e9;
constexpr std::array kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};

/// Trees of medium size fall short of the model; powers of two from 64 B up
/// (`treeCorrectionFactor`).
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection{{
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6,  .5,
     .4,  .4,  .5,  .6,  .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
     .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0, 1.0},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

double tree_correction(Protocol protocol, core::Bytes bytes) {
  const auto sixty_fours = static_cast<std::uint64_t>(std::max(1.0, bytes.si() / 64));
  const auto size = static_cast<std::size_t>(std::bit_width(sixty_fours) - 1);
  const auto& row = kTreeCorrection[static_cast<std::size_t>(protocol) - 1];
  return size < row.size() ? row[size] : 1.0;
}

core::Seconds time_at_size(const NcclCandidate& c, core::Bytes bytes) {
  const double correction =
      c.algorithm == Algorithm::tree ? tree_correction(c.protocol, bytes) : 1.0;
  return c.latency() + bytes / (c.bandwidth * correction);
}

/// Everything the formulas of one call share.
struct Model {
  const CollectiveCall& call;
  const GroupShape& group;
  const NetworkParameters& machine;
  int steps = 0;        ///< messages that one rank sends one after the other round the ring
  int inter_steps = 0;  ///< of these, across domains
  double bus = 0;       ///< GB/s of a ring
  int channels = 0;
  double extra_hop = 0;  ///< network latency beyond the fabric NCCL's constants were taken on [us]
  double extra_inside = 0;  ///< of a hop inside a domain, likewise [us]
};

/// GPU to GPU over two NICs and three switches of 2020-25 InfiniBand, which `kNet*` already contain
/// [us]. Source: round value, assumed.
constexpr double kReferencePath = 4.0;
/// GPU to GPU inside a domain, which the hops of `kNvlink*` and `kPcie*` already contain [us].
constexpr double kReferenceHop = 1.0;

Model prepare(const CollectiveCall& call,
              const GroupShape& group,
              const NetworkParameters& machine) {
  Model m{call, group, machine};
  const int n = group.ranks;
  const int domains = group.domains;
  const bool twice = call.kind == CollectiveKind::all_reduce;
  const bool pipeline = call.kind == CollectiveKind::broadcast;
  m.steps = pipeline ? n : (twice ? 2 : 1) * (n - 1);
  m.inter_steps = domains == 1 ? 0 : (pipeline ? domains : (twice ? 2 : 1) * (domains - 1));
  m.channels = nccl::of(nccl::kChannels, machine.generation);
  m.bus = nccl_nvlink_rate(machine).si() / kGiga;
  m.extra_inside = extra_scale_up_latency(machine) / 1_us;
  if (domains > 1) {
    const double out = boundary_rate(group, machine).si() / kGiga;
    m.bus = group.ranks_per_domain > 1 ? std::min(m.bus, out) : out;
    m.extra_hop = std::max(0.0, machine.network_latency / 1_us - kReferencePath);
  }
  return m;
}

/// Latencies of one candidate [us].
struct Latency {
  double base = 0, inside = 0, network = 0;
};

NcclCandidate candidate(const Model& m, Algorithm a, Protocol p, Latency us, double algorithm_gb) {
  NcclCandidate c;
  c.algorithm = a;
  c.protocol = p;
  c.base = us.base * 1_us;
  c.inside = us.inside * 1_us;
  c.network = us.network * 1_us;
  c.bandwidth = core::BytesPerSecond{algorithm_gb * kGiga};
  c.time = time_at_size(c, m.call.bytes);
  return c;
}

/// From here on a ring of several domains pays more latency.
core::Bytes plateau_bytes(const Model& m) { return core::Bytes(64.0 * m.channels * m.group.ranks); }

NcclCandidate ring(const Model& m, Protocol p) {
  const bool pcie = m.machine.scale_up_kind == ScaleUpKind::pcie;
  double bus = m.bus;
  if (p == Protocol::ll) {
    const double most = m.group.domains == 1 ? nccl::of(nccl::kLlMaxOneNode, m.machine.generation)
                                             : nccl::kLlMaxNodes.at(m.group.domains);
    bus = std::min(bus * nccl::kRingLlShare, most);
  } else if (p == Protocol::ll128) {
    const double channel =
        nccl::of(nccl::kLl128RingChannel, m.machine.generation).at(m.group.domains);
    bus = std::min(bus * nccl::kRingLl128Share, channel * m.channels);
  }
  const double hop = (pcie ? nccl::kPcieRing : nccl::kNvlinkRing)[p];
  const double post = nccl::kNetPostOverhead * (p == Protocol::simple ? 3 : 1);
  const double inside = m.group.domains > 1 ? std::max(hop, post) : hop;
  const double net = nccl::kNetRing[p] + m.extra_hop * (p == Protocol::simple ? 2 : 1);
  Latency latency{nccl::kBaseRing[p], (m.steps - m.inter_steps) * inside,
                  m.inter_steps * net + (m.steps - m.inter_steps) * m.extra_inside};
  if (p == Protocol::simple && m.group.domains > 1 && m.call.kind == CollectiveKind::all_reduce &&
      m.call.bytes >= plateau_bytes(m)) {
    const double plateau =
        m.machine.generation < NcclGeneration::ampere ? nccl::kRingPlateauOld : nccl::kRingPlateau;
    latency = {latency.base * plateau, latency.inside * plateau, latency.network * plateau};
  }
  return candidate(m, Algorithm::ring, p, latency, bus * m.group.ranks / m.steps);
}

int tree_levels(int domains) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(domains))) - 1;
}

NcclCandidate tree(const Model& m, Protocol p) {
  const bool pcie = m.machine.scale_up_kind == ScaleUpKind::pcie;
  double bus = m.bus * nccl::kTreeShare;
  if (p == Protocol::ll) {
    bus /= nccl::kTreeLlDivisor;
  } else if (p == Protocol::ll128) {
    bus = std::min(
        bus * nccl::kTreeLl128Share.at(m.group.domains),
        nccl::of(nccl::kLl128TreeChannel, m.machine.generation).at(m.group.domains) * m.channels);
  } else {
    bus = std::min(
        bus, nccl::of(nccl::kTreeChannel, m.machine.generation).at(m.group.domains) * m.channels);
  }
  const double hop = (pcie ? nccl::kPcieTree : nccl::kNvlinkTree)[p];
  const double net = nccl::kNetTree[p] + m.extra_hop;
  const int inside = 2 * (m.group.ranks_per_domain - 1);
  const Latency latency{nccl::kBaseTree[p], inside * hop,
                        2 * tree_levels(m.group.domains) * net + inside * m.extra_inside};
  return candidate(m, Algorithm::tree, p, latency, bus * 0.5);
}

/// The switches of one domain reduce: each rank sends and receives S (1 + 1/n).
NcclCandidate nvls(const Model& m) {
  const double efficiency = nccl::of(nccl::kNvlsEfficiency, m.machine.generation);
  const double rate = nccl_nvlink_rate(m.machine).si() / kGiga * efficiency;
  const int r = m.group.ranks_per_domain;
  double algorithm = rate * r / (r + 1.0);
  if (m.group.domains == 1) {
    return candidate(m, Algorithm::nvls, Protocol::simple,
                     {0, nccl::kNvlinkNvls, 2 * m.extra_inside}, algorithm);
  }
  const int domains = m.group.domains;
  const double sent = domains_sent_by_tree(domains);
  algorithm = std::min(
      {algorithm, boundary_rate(m.group, m.machine).si() / kGiga / sent,
       nccl::of(nccl::kNvlsTreeChannel, m.machine.generation).at(domains) * m.channels * 0.5});
  const Latency latency{
      0, nccl::kNvlinkNvls,
      2 * tree_levels(domains) * (nccl::kNetNvlsTree + m.extra_hop) + 2 * m.extra_inside};
  return candidate(m, Algorithm::nvls_tree, Protocol::simple, latency, algorithm);
}

/// The fabric's switches reduce: each domain sends and receives S once.
NcclCandidate collnet(const Model& m) {
  const int r = m.group.ranks_per_domain;
  const double out = boundary_rate(m.group, m.machine).si() / kGiga;
  const double inside =
      r == 1 ? out : nccl_nvlink_rate(m.machine).si() / kGiga * r / (2.0 * (r - 1));
  const Latency latency{nccl::kBaseRing.simple, 2 * (r - 1) * nccl::kNvlinkCollnet,
                        nccl::kNetCollnet + m.extra_hop + 2 * (r - 1) * m.extra_inside};
  return candidate(m, Algorithm::collnet, Protocol::simple, latency, std::min(inside, out));
}

NcclCandidate pat(const Model& m) {
  const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(m.group.domains - 1)));
  const Latency latency{nccl::kBasePat, 0, levels * (nccl::kNetPat + m.extra_hop)};
  return candidate(m, Algorithm::pat, Protocol::simple, latency,
                   m.bus * nccl::kPatShare * m.group.ranks / m.steps);
}

bool allowed(const CollectiveCall& call, const NcclCandidate& c) {
  return (!call.algorithm || *call.algorithm == c.algorithm) &&
         (!call.protocol || *call.protocol == c.protocol);
}

}  // namespace

core::Seconds reference_hop() { return kReferenceHop * 1_us; }

core::Seconds extra_scale_up_latency(const NetworkParameters& parameters) {
  return std::max(core::Seconds{}, parameters.scale_up_latency - reference_hop());
}

core::BytesPerSecond nccl_nvlink_rate(const NetworkParameters& parameters) {
  const bool pcie = parameters.scale_up_kind == ScaleUpKind::pcie;
  return parameters.scale_up_bandwidth *
         (pcie ? 1.0 : nccl::of(nccl::kNvlinkPayload, parameters.generation));
}

core::BytesPerSecond boundary_rate(const GroupShape& group, const NetworkParameters& parameters) {
  const double rails =
      std::max(1.0, static_cast<double>(group.ranks_per_domain) / group.ranks_per_rail);
  return parameters.nic_bandwidth * rails;
}

namespace {

/// Rings and trees of three protocols, and of all others two at most.
constexpr std::size_t kMostCandidates = 8;
using Candidates = boost::container::static_vector<NcclCandidate, kMostCandidates>;

Candidates candidates_of(const CollectiveCall& call,
                         const GroupShape& group,
                         const NetworkParameters& parameters) {
  Candidates list;
  if (group.ranks <= 1 || core::is_exchange(call.kind)) {
    return list;
  }
  const Model m = prepare(call, group, parameters);
  for (const Protocol p : kProtocols) {
    list.push_back(ring(m, p));
    if (call.kind == CollectiveKind::all_reduce) {
      list.push_back(tree(m, p));
    }
  }
  const bool reduces = call.kind == CollectiveKind::all_reduce;
  // NVLS wants every GPU of the domain's switch group to gain: NCCL asks for more than two ranks a
  // domain.
  if (reduces && parameters.nvls && group.ranks_per_domain > 2 &&
      nccl::of(nccl::kNvlsEfficiency, parameters.generation) > 0) {
    list.push_back(nvls(m));
  }
  if (reduces && parameters.collnet && group.domains > 1) {
    list.push_back(collnet(m));
  }
  if ((call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::reduce_scatter) &&
      group.ranks_per_domain == 1 && group.domains > 1) {
    list.push_back(pat(m));
  }
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const NcclCandidate& c) { return !allowed(call, c); }),
             list.end());
  return list;
}

}  // namespace

std::vector<NcclCandidate> nccl_candidates(const CollectiveCall& call,
                                           const GroupShape& group,
                                           const NetworkParameters& parameters) {
  const Candidates list = candidates_of(call, group, parameters);
  return {list.begin(), list.end()};
}

NcclCandidate nccl_choice(const CollectiveCall& call,
                          const GroupShape& group,
                          const NetworkParameters& parameters) {
  const Candidates list = candidates_of(call, group, parameters);
  const auto best = std::min_element(list.begin(), list.end(),
                                     [](const auto& a, const auto& b) { return a.time < b.time; });
  if (best == list.end()) {
    throw core::Error(fmt::format(
        "NCCL has no {} with algorithm {} and protocol {} over {} ranks in {} domains",
        core::to_word(call.kind), call.algorithm ? core::to_word(*call.algorithm) : "any",
        call.protocol ? core::to_word(*call.protocol) : "any", group.ranks, group.domains));
  }
  return *best;
}

namespace {

/// The quickest for messages of another size, the first of equals.
const NcclCandidate& choice_at(const Candidates& list, core::Bytes bytes) {
  const NcclCandidate* best = nullptr;
  core::Seconds least{};
  for (const NcclCandidate& c : list) {
    const core::Seconds time = time_at_size(c, bytes);
    if (best == nullptr || time < least) {
      best = &c;
      least = time;
    }
  }
  return *best;
}

}  // namespace

std::vector<NcclCandidate> nccl_choices_from(const CollectiveCall& call,
                                             const GroupShape& group,
                                             const NetworkParameters& parameters) {
  // Source: chosen, above every message that is asked for.
  constexpr double kLargest = 64 * 1024.0 * 1024 * 1024;
  constexpr int kInOctave = 4;
  std::vector<NcclCandidate> left = nccl_candidates(call, group, parameters);
  std::vector<NcclCandidate> chosen;
  const auto take = [&](const NcclCandidate& choice) {
    const auto found = std::find_if(left.begin(), left.end(), [&](const NcclCandidate& c) {
      return c.algorithm == choice.algorithm && c.protocol == choice.protocol;
    });
    if (found != left.end()) {
      chosen.push_back(*found);
      left.erase(found);
    }
  };
  take(nccl_choice(call, group, parameters));
  // Of what the formulas give, size changes the last quotient alone, but for one step of latency.
  Candidates list = candidates_of(call, group, parameters);
  CollectiveCall larger = call;
  const core::Bytes plateau = plateau_bytes(prepare(call, group, parameters));
  // NCCL's corrections change where sizes double from 64 bytes on.
  const double octave = std::exp2(std::floor(std::log2(std::max(1.0, call.bytes.si()))));
  for (int i = 0; !left.empty(); ++i) {
    const double in_octave = octave * (1 + i % kInOctave / static_cast<double>(kInOctave));
    const double size = std::ldexp(in_octave, i / kInOctave);
    if (size > kLargest) {
      break;
    }
    if (size > call.bytes.si()) {
      const bool steps_up = larger.bytes < plateau && core::Bytes(size) >= plateau;
      larger.bytes = core::Bytes(size);
      if (steps_up) {
        list = candidates_of(larger, group, parameters);
      }
      take(choice_at(list, larger.bytes));
    }
  }
  return chosen;
}

}  // namespace headway::network
