#include "sim/network/flow/compiled.h"

#include <algorithm>
#include <utility>

#include "sim/core/error.h"
#include "sim/network/flow/digest.h"
#include "sim/network/flow/needless_links.h"

namespace headway::network {
namespace {

constexpr std::uint64_t kComputeKind = 1;
constexpr std::uint64_t kWaitKind = 2;

Instruction translate(const ProgramStep& step, std::uint32_t program, std::uint32_t index) {
  const std::uint64_t kind = step.code == StepCode::compute ? kComputeKind : kWaitKind;
  const std::uint64_t place = (std::uint64_t{program} << 32) | index;
  return {step.code, step.activity, 0, step.slot, step.ticks, 0, scramble(kind, place)};
}

/// Appends one program and links its loops.
void compile_program(const Program& program, std::uint32_t number, CompiledPrograms& out) {
  std::vector<std::uint32_t> open;
  std::size_t depth = 0;
  std::uint32_t slots = 0;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const auto here = static_cast<std::uint32_t>(out.code.size());
    Instruction step = translate(program[i], number, i);
    HEADWAY_CHECK(step.ticks >= 0, "program {} step {} has {} ticks", number, i, step.ticks);
    if (step.code == StepCode::arrive || step.code == StepCode::wait) {
      slots = std::max(slots, step.slot + 1);
    } else if (step.code == StepCode::loop) {
      step.depth = static_cast<std::uint16_t>(open.size());
      open.push_back(here);
      depth = std::max(depth, open.size());
    } else if (step.code == StepCode::end_loop) {
      HEADWAY_CHECK(!open.empty(), "program {} step {} ends a loop that never began", number, i);
      step.target = open.back() + 1;
      step.depth = static_cast<std::uint16_t>(open.size() - 1);
      out.code[open.back()].target = here + 1;
      open.pop_back();
    }
    out.code.push_back(step);
  }
  HEADWAY_CHECK(open.empty(), "program {} has {} loops that never end", number, open.size());
  out.first.push_back(static_cast<std::uint32_t>(out.code.size()));
  out.depth.push_back(static_cast<std::uint32_t>(depth));
  out.slots.push_back(slots);
}

/// Slots of a program that at least one of its steps arrives at.
std::vector<bool> arriving_slots(const CompiledPrograms& programs, std::uint32_t program) {
  std::vector<bool> slots(programs.slots[program], false);
  const std::span<const Instruction> code = programs.of(program);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].code == StepCode::loop && code[i].ticks == 0) {
      i = code[i].target - programs.first[program] - 1;  // never entered
    } else if (code[i].code == StepCode::arrive) {
      slots[code[i].slot] = true;
    }
  }
  return slots;
}

void check_flows(const Problem& problem) {
  for (std::size_t i = 0; i < problem.flows.size(); ++i) {
    const Flow& flow = problem.flows[i];
    HEADWAY_CHECK(flow.group < problem.groups.size(), "flow {} names group {}", i, flow.group);
    const TransferGroup& group = problem.groups[flow.group];
    HEADWAY_CHECK(i >= group.first_flow && i - group.first_flow < group.flows,
                  "flow {} is not in the range of its group {}", i, flow.group);
    HEADWAY_CHECK(flow.latency >= 0 && flow.weight > 0, "flow {} has latency {}, weight {}", i,
                  flow.latency, flow.weight);
    HEADWAY_CHECK(flow.uses > 0 || flow.bound.si() > 0 || flow.size.si() == 0,
                  "flow {} of group {} has neither a link nor a bound", i, flow.group);
    HEADWAY_CHECK(std::size_t{flow.first_use} + flow.uses <= problem.uses.size(),
                  "flow {} has uses past the end", i);
  }
  for (const FlowOnLink& use : problem.uses) {
    HEADWAY_CHECK(use.link < problem.links.size() && use.coefficient > 0,
                  "a flow uses link {} {} times", use.link, use.coefficient);
  }
  for (const LinkChange& change : problem.link_changes) {
    HEADWAY_CHECK(change.link < problem.links.size() && change.at >= 0,
                  "link {} changes at tick {}", change.link, change.at);
  }
}

void check_actors(const Problem& problem, const CompiledPrograms& programs) {
  for (std::size_t a = 0; a < problem.actors.size(); ++a) {
    const Actor& actor = problem.actors[a];
    HEADWAY_CHECK(actor.program < programs.depth.size(), "actor {} runs program {}", a,
                  actor.program);
    HEADWAY_CHECK(actor.groups.size() >= programs.slots[actor.program],
                  "actor {} has {} slots, its program {} uses {}", a, actor.groups.size(),
                  actor.program, programs.slots[actor.program]);
    HEADWAY_CHECK(actor.slowdown_ppm > -1'000'000 && actor.slowdown_ppm <= INT32_MAX,
                  "actor {} is slower by {} ppm", a, actor.slowdown_ppm);
    for (const std::uint32_t group : actor.groups) {
      HEADWAY_CHECK(group < problem.groups.size(), "actor {} names group {}", a, group);
    }
  }
}

/// With another number of arrivers than `need`, an instance would mix up arrivals or never launch.
void check_needs(const Problem& problem, const CompiledPrograms& programs) {
  std::vector<std::uint32_t> arrivers(problem.groups.size(), 0);
  for (const Actor& actor : problem.actors) {
    const std::vector<bool>& slots = programs.arriving[actor.program];
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      arrivers[actor.groups[slot]] += slots[slot] ? 1 : 0;
    }
  }
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    const TransferGroup& group = problem.groups[g];
    HEADWAY_CHECK(arrivers[g] == 0 || arrivers[g] == group.need,
                  "group {} '{}' needs {} arrivals and {} (actor, slot) pairs arrive at it", g,
                  problem.names[group.name], group.need, arrivers[g]);
    HEADWAY_CHECK(group.delay >= 0, "group {} has a delay of {}", g, group.delay);
  }
}

}  // namespace

CompiledPrograms compile_programs(const Problem& problem) {
  CompiledPrograms out;
  std::size_t steps = 0;
  for (const Program& program : problem.programs) {
    steps += program.size();
  }
  out.code.reserve(steps);
  for (std::uint32_t p = 0; p < problem.programs.size(); ++p) {
    compile_program(problem.programs[p], p, out);
    out.arriving.push_back(arriving_slots(out, p));
  }
  return out;
}

void check_problem(const Problem& problem, const CompiledPrograms& programs) {
  HEADWAY_CHECK(problem.coefficient_unit > 0, "coefficient unit is {}", problem.coefficient_unit);
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    const TransferGroup& group = problem.groups[g];
    HEADWAY_CHECK(group.name < problem.names.size(), "group {} has name {}", g, group.name);
    HEADWAY_CHECK(std::size_t{group.first_flow} + group.flows <= problem.flows.size(),
                  "group {} has flows past the end", g);
  }
  check_flows(problem);
  check_actors(problem, programs);
  check_needs(problem, programs);
}

RateUnit rate_unit(const Problem& problem) {
  // An empty problem has no rates; any unit does.
  double largest = 1;
  for (const ProblemLink& link : problem.links) {
    largest = std::max(largest, link.capacity.si() * problem.coefficient_unit);
  }
  for (const LinkChange& change : problem.link_changes) {
    largest = std::max(largest, change.capacity.si() * problem.coefficient_unit);
  }
  for (const Flow& flow : problem.flows) {
    largest = std::max(largest, flow.bound.si());
  }
  return RateUnit(core::BytesPerSecond(largest));
}

FairShareTables fair_share_tables(const Problem& problem, const RateUnit& unit) {
  FairShareTables tables;
  tables.capacity.reserve(problem.links.size());
  for (const ProblemLink& link : problem.links) {
    tables.capacity.push_back(unit.rate(link.capacity * problem.coefficient_unit));
  }
  tables.loads.reserve(problem.uses.size());
  tables.first_load.reserve(problem.flows.size() + 1);
  tables.bound.reserve(problem.flows.size());
  // last_use[l]: where the current flow's load on link l stands, plus one
  std::vector<std::uint32_t> last_use(problem.links.size(), 0);
  for (const Flow& flow : problem.flows) {
    const auto first = tables.first_load.back();
    for (std::uint32_t i = flow.first_use; i < flow.first_use + flow.uses; ++i) {
      const FlowOnLink& use = problem.uses[i];
      const std::uint64_t load = std::uint64_t{use.coefficient} * flow.weight;
      std::uint32_t& last = last_use[use.link];
      const bool again = last > first;
      const std::uint64_t total = load + (again ? tables.loads[last - 1].load : 0);
      HEADWAY_CHECK(total <= UINT32_MAX, "a flow takes link {} {} times", use.link, total);
      if (again) {
        tables.loads[last - 1].load = static_cast<std::uint32_t>(total);
      } else {
        tables.loads.push_back({use.link, static_cast<std::uint32_t>(total)});
        last = static_cast<std::uint32_t>(tables.loads.size());
      }
    }
    tables.first_load.push_back(static_cast<std::uint32_t>(tables.loads.size()));
    tables.bound.push_back(flow.bound.si() > 0 ? unit.rate(flow.bound) / flow.weight
                                               : FairShare::kUnbounded);
  }
  std::vector<bool> changing(problem.links.size(), false);
  for (const LinkChange& change : problem.link_changes) {
    changing[change.link] = true;
  }
  return without_needless_links(std::move(tables), changing);
}

}  // namespace headway::network
