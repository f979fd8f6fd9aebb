#include "sim/training/step/breakdown.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/network/loops/repeats.h"

namespace headway::training {

namespace {

using core::Activity;
using core::Tick;
using Times = core::ByActivity<Tick>;

__extension__ using WideSum = __int128;  ///< of ticks of all ranks: exact in any order

/// The program of each class, which runs on the stage that `LoweredStep::owners` says.
std::vector<std::uint32_t> programs_of_classes(const LoweredStep& lowered,
                                               const network::RunResult& run) {
  std::vector<std::uint32_t> programs(run.multiplicity.size(), 0);
  for (std::size_t a = 0; a < run.class_of_actor.size(); ++a) {
    programs[run.class_of_actor[a]] = lowered.problem.actors[a].program;
  }
  return programs;
}

/// How much slower the GPUs of each class are.
std::vector<std::int64_t> slowdowns_of_classes(const LoweredStep& lowered,
                                               const network::RunResult& run) {
  std::vector<std::int64_t> slowdowns(run.multiplicity.size(), 0);
  for (std::size_t a = 0; a < run.class_of_actor.size(); ++a) {
    slowdowns[run.class_of_actor[a]] = lowered.problem.actors[a].slowdown_ppm;
  }
  return slowdowns;
}

/// What the CPU adds to the computations of a program: taken from what they are booked to.
/// @param times  how often each of them runs
Times book_launches(const network::Program& program,
                    const std::vector<std::int64_t>& times,
                    const std::vector<Tick>& launch,
                    std::int64_t slowdown_ppm) {
  Times moved;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Tick by_cpu = network::slowed(launch[i], slowdown_ppm) * times[i];
    moved[program[i].activity] -= by_cpu;
    moved[Activity::launch] += by_cpu;
  }
  return moved;
}

/// Time in which the kernels of a program run.
Tick kernels_of(const network::Program& program,
                const std::vector<std::int64_t>& times,
                const std::vector<Tick>& idle,
                std::int64_t slowdown_ppm) {
  Tick sum = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program[i].code == network::StepCode::compute) {
      sum += (network::slowed(program[i].ticks, slowdown_ppm) -
              network::slowed(idle[i], slowdown_ppm)) *
             times[i];
    }
  }
  return sum;
}

/// What a rank does itself, with those that share its stage.
Tick work_of(const Times& times) {
  Tick work = 0;
  for (const auto& entry : core::enum_words(Activity{})) {
    const bool elsewhere = entry.value == Activity::pipeline_bubble ||
                           entry.value == Activity::pipeline_p2p || entry.value == Activity::data;
    work += elsewhere ? 0 : times[entry.value];
  }
  return work;
}

/// Mean over the ranks of each stage.
std::vector<Tick> work_of_stages(const std::vector<Times>& classes,
                                 const std::vector<std::size_t>& stage_of,
                                 const std::vector<std::uint32_t>& multiplicity) {
  const std::size_t stages = *std::max_element(stage_of.begin(), stage_of.end()) + 1;
  std::vector<WideSum> sums(stages, 0);
  std::vector<WideSum> ranks(stages, 0);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    sums[stage_of[c]] += static_cast<WideSum>(work_of(classes[c])) * multiplicity[c];
    ranks[stage_of[c]] += multiplicity[c];
  }
  std::vector<Tick> work;
  for (std::size_t s = 0; s < stages; ++s) {
    work.push_back(ranks[s] > 0 ? static_cast<Tick>(sums[s] / ranks[s]) : 0);
  }
  return work;
}

}  // namespace

StepBreakdown break_down(const LoweredStep& lowered, const network::RunResult& run) {
  StepBreakdown step;
  step.classes = run.actor_activity;
  const auto programs = programs_of_classes(lowered, run);
  const auto slowdowns = slowdowns_of_classes(lowered, run);
  std::vector<std::size_t> stage_of;
  for (const std::uint32_t program : programs) {
    stage_of.push_back(static_cast<std::size_t>(lowered.stage_of(program)));
  }
  struct OfProgram {
    Times launches;
    Tick kernels = 0;
  };
  std::map<std::pair<std::uint32_t, std::int64_t>, OfProgram> known;  // many ranks are alike
  for (std::size_t c = 0; c < step.classes.size(); ++c) {
    const std::uint32_t program = programs[c];
    const auto [found, is_new] = known.try_emplace({program, slowdowns[c]});
    if (is_new) {
      const auto& steps = lowered.problem.programs[program];
      const auto times = network::times_run(steps);
      found->second = {book_launches(steps, times, lowered.launch[program], slowdowns[c]),
                       kernels_of(steps, times, lowered.idle[program], slowdowns[c])};
    }
    step.kernels.push_back(found->second.kernels);
    Times& times = step.classes[c];
    times[Activity::pipeline_bubble] += run.end - run.actor_end[c];
    for (std::size_t a = 0; a < core::kActivities; ++a) {
      times.values[a] += found->second.launches.values[a];
    }
  }
  step.stage_work = work_of_stages(step.classes, stage_of, run.multiplicity);
  const Tick most = *std::max_element(step.stage_work.begin(), step.stage_work.end());
  for (std::size_t c = 0; c < step.classes.size(); ++c) {
    Times& times = step.classes[c];
    const Tick unequal =
        std::min(times[Activity::pipeline_bubble], most - step.stage_work[stage_of[c]]);
    times[Activity::pipeline_bubble] -= unequal;
    times[Activity::stage_imbalance] += unequal;
  }
  return step;
}

}  // namespace headway::training
