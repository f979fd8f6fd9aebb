// Weeks of training: 54 days on 16,384 GPUs at the failure rate of Llama 3, and 90 days on 98,304
// GPUs with degraded states. Each checks its own answer.
#include <benchmark/benchmark.h>
#include <cstdlib>

#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/slow/slow_parts.h"
#include "sim/campaign/trials.h"
#include "sim/core/error.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;

constexpr double kDay = 86400;
constexpr int kClasses = 18;

/// Trials of a run; fewer where only the answer is checked (CTest sets HEADWAY_BENCHMARK_SMALL).
int trial_count() { return std::getenv("HEADWAY_BENCHMARK_SMALL") != nullptr ? 50 : 1000; }

JobModel job() {
  JobModel model;
  model.gpus = 16384;
  model.gpus_per_node = 8;
  model.spare_nodes = 64;
  model.end.wall = Seconds(54 * kDay);
  model.step = Seconds(5.6);
  model.interval = Seconds(600);
  model.stall = Seconds(5);
  model.persist = Seconds(60);
  model.recovery.container_start = Seconds(90);
  model.recovery.load = Seconds(60);
  for (int i = 0; i < kClasses; ++i) {
    failures::Hazard hazard;
    hazard.name = fmt::format("class {}", i);
    hazard.rate = core::PerSecond(419.0 / kClasses / (54 * kDay));
    hazard.nodes_lost = i % 3 != 0 ? 1 : 0;
    model.hazards.push_back(hazard);
  }
  return model;
}

/// Argument: threads, 0 for all cores.
void trials_of_54_days(benchmark::State& state) {
  const int count = trial_count();
  const JobModel model = job();
  std::uint64_t events = 0;
  for (auto _ : state) {
    const auto trials = run_trials(model, count, static_cast<int>(state.range(0)));
    const CampaignResult result = summarize(model, trials);
    HEADWAY_CHECK(std::abs(result.ettr.mean - *exact_ettr(model)) < 4 * result.ettr.standard_error,
                  "ETTR {} differs from the exact {}", result.ettr.mean, *exact_ettr(model));
    for (const auto& trial : trials) {
      events += trial.events;
    }
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["trials/s"] = benchmark::Counter(static_cast<double>(state.iterations() * count),
                                                  benchmark::Counter::kIsRate);
}
failures::FailureSpec ageing_table() {
  failures::FailureSpec table;
  for (int i = 0; i < kClasses; ++i) {
    failures::HazardSpec hazard;
    hazard.name = fmt::format("class {}", i);
    hazard.mtbf = Seconds(54 * kDay * 16384 * kClasses / 419);
    hazard.law.kind = i % 2 == 0 ? failures::LawKind::weibull : failures::LawKind::exponential;
    hazard.law.shape = 0.7;
    hazard.age = Seconds(365 * kDay);
    table.hazards.push_back(hazard);
  }
  table.lemons = failures::LemonSpec{};
  return table;
}

/// Failures in 54 days: half the classes at their mean rate, the others at that of year-old parts.
double expected_failures(const failures::FailureSpec& table) {
  const auto& ageing = table.hazards.front();
  const failures::Law law(ageing.law, *ageing.mtbf);
  const double per_part =
      law.cumulative_hazard(ageing.age + Seconds(54 * kDay)) - law.cumulative_hazard(ageing.age);
  return 419 / 2.0 + kClasses / 2.0 * 16384 * per_part;
}

/// The same with Weibull parts of shape 0.7, a year old, and lemons. Argument: threads.
void trials_with_ageing_and_lemons(benchmark::State& state) {
  const int count = trial_count();
  const failures::FailureSpec table = ageing_table();
  JobModel model = job();
  model.hazards = failures::hazards_of(table, {16384, 2048}, model.spare_nodes);
  const double expected = expected_failures(table);
  for (auto _ : state) {
    const auto trials = run_trials(model, count, static_cast<int>(state.range(0)));
    const CampaignResult result = summarize(model, trials);
    // Nothing fails during detection, diagnosis, waits and replacement.
    const Ledger& ledger = result.ledger;
    const double down =
        (ledger[Account::detect] + ledger[Account::diagnose] + ledger[Account::wait]) /
        (16384 * 54 * kDay);
    const double mean = result.interruptions.mean;
    HEADWAY_CHECK(std::abs(mean / (expected * (1 - down)) - 1) < 0.03, "{} failures instead of {}",
                  mean, expected * (1 - down));
  }
  state.counters["trials/s"] = benchmark::Counter(static_cast<double>(state.iterations() * count),
                                                  benchmark::Counter::kIsRate);
}
/// Llama 3.1 405B, tensor 8 x pipeline 16 x data 768, with parts that are slow, links that flap and
/// heat at noon.
training::CheckedScenario degraded_scenario() {
  training::Scenario s = training::eight_nodes();
  s.cluster.nodes = 12288;
  s.cluster.spares = 300;
  s.model.layers = 126;
  s.model.hidden = 16384;
  s.model.heads = 128;
  s.model.ffn = 53248;
  s.training.sequence_length = 8192;
  s.training.global_batch = 12288;
  s.parallelism.pipeline = 16;
  s.parallelism.virtual_stages = 8;
  s.parallelism.schedule = workload::ScheduleKind::interleaved;
  s.parallelism.first_stage_layers = 7;
  s.parallelism.last_stage_layers = 7;
  s.run.until = training::UntilSpec{{}, {}, Seconds(90 * kDay)};
  s.run.checkpoint.interval.value = Seconds(300);
  s.run.recovery.detectors = failures::DetectorsSpec{};
  s.run.recovery.detectors->straggler_monitor =
      failures::StragglerMonitorSpec{Seconds(600), 0.9, {}};
  auto& table = s.run.failures.emplace();
  const auto add = [&table](const char* name, failures::Effect effect, double keeps, double days) {
    failures::HazardSpec hazard;
    hazard.name = name;
    hazard.per = failures::Population::node;
    hazard.effect = effect;
    if (effect != failures::Effect::stop) {
      hazard.keeps = keeps;
    }
    hazard.mtbf = Seconds(days * kDay);
    table.hazards.push_back(hazard);
  };
  add("node", failures::Effect::stop, 1, 435);
  add("slow GPU", failures::Effect::slow_gpu, 0.9, 866);
  add("slow link", failures::Effect::slow_link, 0.5, 6600);
  add("flapping link", failures::Effect::flapping_link, 0.8, 3000);
  table.throttling = {{Seconds(12 * 3600), Seconds(17 * 3600), 0.985}};
  return training::check(std::move(s));
}

/// 1,000 trials with all step simulations of degraded states, the healthy step not counted.
void degraded_90_days(benchmark::State& state) {
  const auto checked = degraded_scenario();
  const auto step = training::simulate_step(checked, {.trace = false});
  for (auto _ : state) {
    StepSource source(checked);
    const ResolvedJob resolved = resolve_job(source, step);
    StepTimes times(simulated_slowness(source, step.time), circumstances(resolved.job));
    times.prepare(slow_parts_of(resolved.job), 0);
    const auto trials = run_trials(resolved.job, trial_count(), 0, times);
    const CampaignResult result = summarize(resolved.job, trials);
    // Nothing strikes during detection, diagnosis, waits and replacement; half of `restart` at most
    // is that.
    const Ledger& ledger = result.ledger;
    const double all = 98304 * 90 * kDay;
    const double down =
        (ledger[Account::detect] + ledger[Account::diagnose] + ledger[Account::wait]) / all;
    const double expected = 12288 * 90.0 / 435 * (1 - down);
    const double nodes = result.by_hazard.front().mean;
    HEADWAY_CHECK(nodes < expected && nodes > 0.95 * expected, "{} lost nodes, {} expected", nodes,
                  expected);
    // Heat alone takes 5 of 24 hours by 1 % to 1.5 %.
    const double degraded =
        ledger[Account::degraded] / (ledger[Account::useful] + ledger[Account::lost]);
    HEADWAY_CHECK(degraded > 5.0 / 24 * 0.005 && degraded < 0.05, "{} of the steps degraded",
                  degraded);
    state.counters["step simulations"] = static_cast<double>(times.simulated());
  }
}

BENCHMARK(trials_with_ageing_and_lemons)
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(degraded_90_days)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(trials_of_54_days)->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace headway::campaign

BENCHMARK_MAIN();
