#include "sim/network/stepped/stepped_programs.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headway::network {

StepPrograms::StepPrograms(const Fabric& fabric,
                           std::span<const core::GpuId> members,
                           const SteppedOptions& options)
    : fabric_(fabric), members_(members), options_(options), numbers_(fabric) {
  problem_.coefficient_unit = kCoefficientUnit;
  programs_.resize(members.size());
  slots_.resize(members.size());
}

std::size_t StepPrograms::add_actor() {
  programs_.emplace_back();
  slots_.emplace_back();
  return programs_.size() - 1;
}

std::uint32_t StepPrograms::add_group() {
  TransferGroup group;
  group.first_flow = static_cast<std::uint32_t>(problem_.flows.size());
  problem_.groups.push_back(group);
  return static_cast<std::uint32_t>(problem_.groups.size() - 1);
}

void StepPrograms::add_flow(const std::vector<RouteHop>& hops,
                            core::Seconds latency,
                            core::Bytes bytes) {
  Flow flow;
  flow.group = static_cast<std::uint32_t>(problem_.groups.size() - 1);
  flow.size = bytes;
  flow.latency = options_.clock.to_ticks(latency);
  flow.first_use = static_cast<std::uint32_t>(problem_.uses.size());
  for (const RouteHop& hop : hops) {
    if (!fabric_.link(hop.link).never_binds) {
      problem_.uses.push_back({numbers_.number(hop.link, problem_), hop.coefficient});
    }
  }
  flow.uses = static_cast<std::uint32_t>(problem_.uses.size()) - flow.first_use;
  problem_.flows.push_back(flow);
  if (options_.ways) {
    ways_.push_back({hops, latency});
  }
  ++problem_.groups.back().flows;
}

Route StepPrograms::way(std::size_t from, std::size_t to) const {
  return route(fabric_, members_[from], members_[to], options_.label);
}

Route StepPrograms::ring_way(std::size_t from, std::size_t to) const {
  const auto& shape = fabric_.shape();
  const core::GpuId a = members_[from];
  const core::GpuId b = members_[to];
  const GpuPlace at = fabric_.place(a);
  const GpuPlace next = fabric_.place(b);
  const bool rails_apart = shape.rail_leaves && shape.trees > shape.planes;
  const core::GpuId mate(fabric_.gpu_on_rail(at.node, next.rail));
  if (!rails_apart || at.domain == next.domain || at.rail == next.rail ||
      fabric_.place(mate).domain != at.domain) {
    return route(fabric_, a, b, options_.label);
  }
  Route way = route(fabric_, a, mate, options_.label);
  const Route out = route(fabric_, mate, b, options_.label);
  way.hops.insert(way.hops.end(), out.hops.begin(), out.hops.end());
  way.latency += out.latency;
  return way;
}

std::uint32_t StepPrograms::ring_message(std::size_t from, std::size_t to, core::Bytes bytes) {
  Route way = ring_way(from, to);
  return message(LinkSet{std::move(way.hops), way.latency}, bytes);
}

std::uint32_t StepPrograms::message(std::size_t from, std::size_t to, core::Bytes bytes) {
  const Pair pair{from, to, bytes};
  return messages({&pair, 1});
}

std::uint32_t StepPrograms::messages(std::span<const Pair> pairs) {
  const std::uint32_t group = add_group();
  for (const Pair& pair : pairs) {
    const Route way = this->way(pair.from, pair.to);
    add_flow(way.hops, way.latency, pair.bytes);
  }
  return group;
}

std::uint32_t StepPrograms::message(const LinkSet& set, core::Bytes bytes) {
  const std::uint32_t group = add_group();
  add_flow(set.hops, set.latency, bytes);
  return group;
}

std::uint32_t StepPrograms::slot(std::size_t actor, std::uint32_t group) {
  auto& slots = slots_[actor];
  return slots.try_emplace(group, static_cast<std::uint32_t>(slots.size())).first->second;
}

void StepPrograms::send(std::size_t actor, std::uint32_t group) {
  programs_[actor].push_back({StepCode::arrive, core::Activity::data, 0, slot(actor, group), 0});
}

void StepPrograms::wait(std::size_t actor, std::uint32_t group) {
  programs_[actor].push_back({StepCode::wait, core::Activity::data, 0, slot(actor, group), 0});
}

void StepPrograms::compute(std::size_t actor, core::Tick ticks) {
  programs_[actor].push_back({StepCode::compute, core::Activity::data, 0, 0, ticks});
}

void StepPrograms::loop(std::size_t actor, std::int64_t count) {
  programs_[actor].push_back({StepCode::loop, core::Activity::data, 0, 0, count});
}

void StepPrograms::end_loop(std::size_t actor) {
  programs_[actor].push_back({StepCode::end_loop, core::Activity::data, 0, 0, 0});
}

/// Slots are numbered as a program first names them, so programs that do the same are equal, and
/// actors of one program fold.
SteppedCollective StepPrograms::finish() {
  const auto less = [](const Program& x, const Program& y) {
    return std::lexicographical_compare(
        x.begin(), x.end(), y.begin(), y.end(), [](const ProgramStep& a, const ProgramStep& b) {
          return std::tie(a.code, a.slot, a.ticks) < std::tie(b.code, b.slot, b.ticks);
        });
  };
  std::map<Program, std::uint32_t, decltype(less)> numbers(less);
  for (TransferGroup& group : problem_.groups) {
    group.need = 0;
    group.activity = core::Activity::data;
  }
  for (std::size_t a = 0; a < programs_.size(); ++a) {
    Actor actor;
    actor.groups.resize(slots_[a].size());
    for (const auto& [group, slot] : slots_[a]) {
      actor.groups[slot] = group;
    }
    std::vector<bool> arrives(actor.groups.size());
    for (const ProgramStep& step : programs_[a]) {
      if (step.code == StepCode::arrive && !arrives[step.slot]) {
        arrives[step.slot] = true;
        ++problem_.groups[actor.groups[step.slot]].need;
      }
    }
    const auto [place, added] =
        numbers.try_emplace(programs_[a], static_cast<std::uint32_t>(problem_.programs.size()));
    if (added) {
      problem_.programs.push_back(programs_[a]);
    }
    actor.program = place->second;
    problem_.actors.push_back(std::move(actor));
  }
  return {std::move(problem_), numbers_.fabric_links(), std::move(ways_)};
}

namespace {

/// Messages of one edge that may be on their way at once: two where all edges take as long. A
/// round takes the mean latency of its edges, so on a longer one (over the fabric, of a ring that
/// is mostly inside nodes) as many more are.
std::size_t lanes_of(const StepPrograms& programs, const Rounds& rounds) {
  const bool blocking = programs.options().dependency == Dependency::blocking;
  if (blocking || rounds.repeats < 2 || programs.options().ways) {
    return 1;  // a flow of packets is a connection, which holds any number
  }
  core::Seconds longest, sum;
  for (const RoundMessage& m : rounds.messages) {
    const core::Seconds latency =
        (rounds.ring ? programs.ring_way(m.from, m.to) : programs.way(m.from, m.to)).latency;
    longest = std::max(longest, latency);
    sum += latency;
  }
  const double ratio =
      sum.si() > 0 ? longest / (sum / static_cast<double>(rounds.messages.size())) : 1;
  const auto lanes = static_cast<std::int64_t>(std::ceil(ratio * (1 - 1e-9))) + 1;
  return static_cast<std::size_t>(std::min(lanes, rounds.repeats));
}

}  // namespace

/// Pipelined, a message may set out while those before it still arrive: some groups a message, in
/// turn.
void append_rounds(StepPrograms& programs, const Rounds& rounds) {
  const bool blocking = programs.options().dependency == Dependency::blocking;
  const std::size_t lanes = lanes_of(programs, rounds);
  std::vector<std::vector<std::vector<std::uint32_t>>> sent(lanes), received(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    sent[lane].resize(programs.ranks());
    received[lane].resize(programs.ranks());
    for (const RoundMessage& m : rounds.messages) {
      const std::uint32_t group = rounds.ring ? programs.ring_message(m.from, m.to, m.bytes)
                                              : programs.message(m.from, m.to, m.bytes);
      sent[lane][m.from].push_back(group);
      received[lane][m.to].push_back(group);
    }
  }
  const auto append_one = [&](std::size_t rank, std::size_t actor, std::size_t lane) {
    for (const std::uint32_t group : sent[lane][rank]) {
      programs.send(actor, group);
    }
    for (const std::uint32_t group : blocking ? sent[lane][rank] : std::vector<std::uint32_t>{}) {
      programs.wait(actor, group);
    }
    for (const std::uint32_t group : received[lane][rank]) {
      programs.wait(actor, group);
    }
  };
  for (std::size_t rank = 0; rank < programs.ranks(); ++rank) {
    const std::size_t actor = rounds.actors.empty() ? rank : rounds.actors[rank];
    const auto turns = rounds.repeats / static_cast<std::int64_t>(lanes);
    if (turns > 0) {
      programs.loop(actor, turns);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        append_one(rank, actor, lane);
      }
      programs.end_loop(actor);
    }
    const auto left = static_cast<std::size_t>(rounds.repeats % static_cast<std::int64_t>(lanes));
    for (std::size_t lane = 0; lane < left; ++lane) {
      append_one(rank, actor, lane);
    }
  }
}

Pieces cut(core::Bytes bytes,
           core::BytesPerSecond rate,
           core::Seconds latency,
           const SteppedOptions& options) {
  constexpr double kMostOnTheWay = 14;  // Source: chosen
  const core::Seconds whole = bytes / rate;
  double count = std::max(1, options.chunks);
  if (latency.si() > 0) {
    count = std::clamp(std::floor(whole / latency * kMostOnTheWay), 1.0, count);
  }
  Pieces pieces;
  pieces.count = static_cast<std::int64_t>(count);
  pieces.pace = options.clock.to_ticks(whole / count);
  const double on_the_way = latency / std::max(whole / count, core::Seconds(1e-15));
  pieces.lanes = pieces.count == 1 ? 1 : static_cast<std::size_t>(std::ceil(on_the_way)) + 2;
  pieces.lanes = std::min(pieces.lanes, static_cast<std::size_t>(pieces.count));
  return pieces;
}

std::vector<std::vector<std::size_t>> ranks_by_domain(const StepPrograms& programs) {
  std::map<std::uint32_t, std::size_t> index;
  std::vector<std::vector<std::size_t>> domains;
  for (std::size_t rank = 0; rank < programs.ranks(); ++rank) {
    const std::uint32_t domain = programs.fabric().place(programs.members()[rank]).domain;
    const auto [at, added] = index.try_emplace(domain, domains.size());
    if (added) {
      domains.emplace_back();
    }
    domains[at->second].push_back(rank);
  }
  return domains;
}

}  // namespace headway::network
