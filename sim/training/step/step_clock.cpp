#include "sim/training/step/step_clock.h"

#include <fmt/format.h>
#include <string>

#include "sim/core/infeasible.h"
#include "sim/network/loops/repeats.h"

namespace headway::training {

using namespace core::literals;

namespace {

/// One kind of work of a stage, all of it in a step.
struct Part {
  std::string name;
  int stage = 0;
  core::Seconds time;
};

/// Work with the most time, if nothing waited for anything. A transfer counts from its launch to
/// its end, alone.
Part longest_part(const LoweredStep& lowered) {
  const auto& problem = lowered.problem;
  Part longest;
  std::vector<bool> seen(problem.programs.size(), false);
  for (const auto& actor : problem.actors) {
    if (seen[actor.program]) {
      continue;  // one rank stands for its stage
    }
    seen[actor.program] = true;
    std::vector<core::Seconds> by_name(problem.names.size());
    const network::Program& program = problem.programs[actor.program];
    const auto times = network::times_run(program);
    for (std::size_t i = 0; i < program.size(); ++i) {
      const auto& step = program[i];
      const auto runs = static_cast<double>(times[i]);
      core::Seconds& sum = by_name[step.name];
      if (step.code == network::StepCode::compute) {
        sum += core::Clock::step().to_seconds(step.ticks) * runs;
      } else if (step.code == network::StepCode::arrive) {
        const std::uint32_t group = actor.groups[step.slot];
        const std::uint32_t use = lowered.use_of_group[group];
        sum += (use < lowered.collectives.size()
                    ? lowered.collectives[use].alone.total
                    : core::Clock::step().to_seconds(problem.groups[group].delay)) *
               runs;
      }
      if (sum > longest.time) {
        longest = {problem.names[step.name], lowered.stage_of(actor.program), sum};
      }
    }
  }
  return longest;
}

}  // namespace

core::Tick step_ticks(core::Seconds time, std::string_view part) {
  const auto clock = core::Clock::step();
  if (!clock.counts(time)) {
    throw core::Infeasible(fmt::format(
        "a step would take more than 106 days: '{}' alone takes {:.4g} days", part, time / 1_days));
  }
  return clock.to_ticks(time);
}

network::RunResult run_step(const LoweredStep& lowered, const network::RunOptions& options) {
  try {
    return run_beside(lowered.problem, lowered.background, options);
  } catch (const core::Infeasible&) {
    const Part part = longest_part(lowered);
    throw core::Infeasible(
        fmt::format("a step would take more than 106 days: '{}' of stage {} takes {:.4g} days, "
                    "more than any other part",
                    part.name, part.stage, part.time / 1_days));
  }
}

}  // namespace headway::training
