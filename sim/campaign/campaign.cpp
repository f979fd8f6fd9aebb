#include "sim/campaign/campaign.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <thread>
#include <utility>

#include "sim/campaign/advice.h"
#include "sim/campaign/bring_up.h"
#include "sim/campaign/energy.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/saves/resolve_saves.h"
#include "sim/campaign/saves/restore.h"
#include "sim/campaign/slow/slow_parts.h"
#include "sim/campaign/trials.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/statistics.h"
#include "sim/training/estimate.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::campaign {

using namespace core::literals;
using core::Seconds;

namespace {

/// Of each kind of node.
std::vector<double> busy_shares(const training::StepResult& step) {
  std::vector<double> shares;
  for (const Seconds kernels : step.kernels) {
    shares.push_back(step.time.si() > 0 ? kernels / step.time : 0);
  }
  return shares;
}

/// What one trial used, in the words of the price room.
class Metering {
 public:
  Metering(const training::CheckedScenario& checked,
           const training::StepResult& step,
           const ResolvedJob& resolved)
      : job_(resolved.job),
        power_(training::machine_power(
            checked.scenario().cluster, resolved.job.spare_nodes, busy_shares(step))),
        relative_price_(training::relative_price(checked.scenario())),
        tokens_per_step_(checked.tokens_per_step()),
        keep_(checked.scenario().run.checkpoint.keep),
        input_(resolved.input_bytes),
        saved_(resolved.checkpoint_bytes),
        loaded_(resolved.restart_bytes),
        archived_(static_cast<double>(archived_every(resolved.job)) *
                  effective_interval(resolved.job)),
        oldest_(checked.scenario().run.checkpoint.keep * effective_interval(resolved.job)) {}

  [[nodiscard]] price::Usage of(const TrialResult& trial) const {
    const auto clock = core::Clock::campaign();
    const Seconds wall = clock.to_seconds(trial.wall);
    const Seconds useful = clock.to_seconds(trial[Account::useful]);
    const Seconds stepping =
        clock.to_seconds(trial[Account::useful] + trial[Account::lost] + trial[Account::degraded]);
    const auto gpus = static_cast<double>(job_.gpus);
    price::Usage usage;
    usage.gpu_seconds = gpus * wall.si();
    usage.spare_gpu_seconds =
        static_cast<double>(job_.spare_nodes) * job_.gpus_per_node * wall.si();
    usage.useful_gpu_seconds = gpus * useful.si();
    usage.relative_price = relative_price_;
    usage.tokens = steps_of(job_, trial) * tokens_per_step_;
    usage.stored_byte_seconds = (mean_kept(trial.saves, keep_) * saved_ + input_).si() * wall.si();
    usage.oldest = std::min(oldest_, wall);
    if (archived_.si() > 0) {
      // The archive grows evenly, so half of it is there on average.
      usage.stored_byte_seconds += 0.5 * (useful / archived_) * saved_.si() * wall.si();
      usage.oldest = wall;
    }
    usage.written = static_cast<double>(trial.saves) * saved_;
    usage.read = static_cast<double>(trial.loads) * loaded_;
    usage.it_energy = it_energy(power_, stepping, wall);
    return usage;
  }

  /// GPUs and spares that are paid for before the first step, and while the speed rises.
  void add_bring_up(const BroughtUp& brought_up, price::Usage& usage) const {
    const double paid = (brought_up.paid + brought_up.slower).si();
    usage.bring_up_gpu_seconds = static_cast<double>(job_.gpus) * paid;
    usage.bring_up_spare_gpu_seconds =
        static_cast<double>(job_.spare_nodes) * job_.gpus_per_node * paid;
    // The steps are as many as without a ramp, and their energy with them; the rest is waiting.
    usage.it_energy += it_energy(power_, Seconds(0), brought_up.slower);
  }

 private:
  const JobModel& job_;
  training::MachinePower power_;
  double relative_price_;
  double tokens_per_step_;
  int keep_;
  core::Bytes input_, saved_, loaded_;
  Seconds archived_, oldest_;
};

double mean_tokens(const std::vector<price::Usage>& usages) {
  core::Sum tokens;
  for (const auto& usage : usages) {
    tokens.add(usage.tokens);
  }
  return tokens.value() / static_cast<double>(usages.size());
}

/// Every figure of a bill, not only their sum: a sign that is wrong in one of them can be hidden in
/// it.
/// @throws Error at the prices if one is below zero or too large for a number
void check_bill(const training::CheckedScenario& checked, const price::Bill& bill) {
  const std::pair<const char*, double> figures[]{{"GPUs", bill.gpus.si()},
                                                 {"spares", bill.spares.si()},
                                                 {"storage", bill.storage.si()},
                                                 {"electricity", bill.electricity.si()},
                                                 {"bring-up", bill.bring_up.si()},
                                                 {"energy", bill.energy.si()},
                                                 {"CO2", bill.co2_kg},
                                                 {"tokens", bill.usd_per_million_tokens},
                                                 {"useful hours", bill.usd_per_useful_gpu_hour}};
  for (const auto& [name, value] : figures) {
    if (!(std::isfinite(value) && value >= 0)) {
      training::refuse(checked, "run.prices",
                       fmt::format("the bill of the {} is {}, which no run can cost; a price, a "
                                   "power or the length of the run is out of reach",
                                   name, value));
    }
  }
}

void add_bill(const training::CheckedScenario& checked,
              const std::vector<price::Usage>& usages,
              CampaignOutcome& outcome) {
  price::PriceSpec prices = *checked.scenario().run.prices;
  prices.pue = training::pue_of(checked.scenario());
  std::vector<double> totals;
  totals.reserve(usages.size());
  for (const auto& usage : usages) {
    const price::Bill bill = price::bill(prices, usage);
    check_bill(checked, bill);
    totals.push_back(bill.total().si());
  }
  outcome.total_usd = distribution_of(totals);
  outcome.mean_bill = price::mean_bill(prices, usages);
  outcome.assumptions.push_back({"cost.power",
                                 "board power while a GPU computes, idle power otherwise",
                                 "energy follows the share of the step in which kernels run; "
                                 "waiting in a collective counts as idle"});
  const auto& failures = checked.scenario().run.failures;
  if (failures && std::any_of(failures->hazards.begin(), failures->hazards.end(),
                              [](const failures::HazardSpec& hazard) {
                                return hazard.effect == failures::Effect::preemption;
                              })) {
    outcome.assumptions.push_back(
        {"cost.gpus_usd", "GPU-hours of all nodes of the job from its first step to its last",
         "servers that are taken away (preemption) are billed until others take their place, at "
         "most what a cloud asks: the others of the job wait for them and are paid"});
  }
}

/// Waiting is a matter of spares, but no number of them that was tried is enough.
void warn_of_spares(const JobModel& job, CampaignOutcome& outcome) {
  const Advice& advice = outcome.result.advice;
  if (!advice.spares && advice.wait_target > 0 && spares_matter(job)) {
    outcome.warnings.push_back(
        fmt::format("up to {} spare nodes were tried, and with none of these numbers the job waits "
                    "for spares less than {:.3g} % of the time",
                    most_spares(job), 100 * advice.wait_target));
  }
}

/// What lies before the first step of each trial, and what it is billed.
void add_bring_up(const training::CheckedScenario& checked,
                  const JobModel& job,
                  const std::vector<TrialResult>& trials,
                  const Metering& metering,
                  std::vector<price::Usage>& usages,
                  CampaignOutcome& outcome) {
  const auto& run = checked.scenario().run;
  std::vector<double> waits, ready;
  core::Sum tests, slower;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Seconds wall = core::Clock::campaign().to_seconds(trials[i].wall);
    const BroughtUp one =
        bring_up(*run.bring_up, checked.scenario().cluster.nodes, job.spare_nodes, wall,
                 static_cast<std::uint64_t>(run.seed), static_cast<std::uint32_t>(i));
    waits.push_back(one.wait / 1_days);
    ready.push_back((one.wait + wall + one.slower) / 1_days);
    tests.add(one.tests);
    slower.add(one.slower / 1_days);
    metering.add_bring_up(one, usages[i]);
  }
  const auto n = static_cast<double>(trials.size());
  outcome.result.time_to_market = TimeToMarket{distribution_of(waits), distribution_of(ready),
                                               tests.value() / n, slower.value() / n};
  outcome.assumptions.push_back(
      {"campaign.bring_up", "all nodes are tested at the same time, and those that fail again",
       "each test fails with the same chance; the job starts when as many nodes as it needs have "
       "passed, spares among them; what the ramp adds draws standing power, and electricity of the "
       "tests is left out"});
}

void warn_of_spread(const training::RunSpec& run, CampaignOutcome& outcome) {
  // Of trials that are all alike the interval has no width, which is no sign that it is narrow.
  if (run.mean_within && outcome.result.mean_within == 0) {
    const char* why = "without 'failures' under run nothing is drawn";
    if (outcome.result.ettr.mean == 0) {
      why = "no step of any becomes durable; let the run be longer, or save more often";
    } else if (run.failures) {
      why = "what fails is too seldom to be met in them; write more 'trials' under run";
    }
    outcome.warnings.push_back(fmt::format(
        "run.mean_within: none of the {} trials differs from another, so they do not tell how well "
        "the mean is known: {}",
        outcome.result.trials, why));
  }
  if (run.mean_within && !(outcome.result.mean_within <= *run.mean_within)) {
    outcome.warnings.push_back(fmt::format(
        "run.mean_within: after {} trials, the most there are, the mean is known to {:.3g} % only",
        outcome.result.trials, 100 * outcome.result.mean_within));
  }
}

void warn_of_waiting(CampaignOutcome& outcome) {
  const double share = outcome.result.ledger.share_of_clock(Account::wait);
  if (share > kWaitTarget) {  // below it spares suffice, as for advice
    outcome.warnings.push_back(
        fmt::format("{:.3g} % of the wall clock is spent waiting for a node to come back from "
                    "repair; more spares or faster repair would help",
                    100 * share));
  }
}

}  // namespace

namespace {

void tell(const CampaignOptions& options, std::string_view phase) {
  if (options.phase) {
    options.phase(phase);
  }
}

/// Those of the campaign, simulated before.
const std::vector<TrialResult>& known_trials(const KnownTrials& known, int asked) {
  HEADWAY_CHECK(std::ssize(known.trials) == asked, "{} of {} trials are known", known.trials.size(),
                asked);
  return known.trials;
}

/// The trials of the campaign itself; a run that would hardly end is refused at its place.
std::vector<TrialResult> trials_of(const training::CheckedScenario& checked,
                                   const JobModel& job,
                                   const CampaignOptions& options,
                                   StepTimes& times) {
  const auto& run = checked.scenario().run;
  tell(options, fmt::format("simulating the run, {} trials{}", run.trials,
                            run.mean_within ? " or more" : ""));
  try {
    return run_trials_until(job, {run.trials, run.mean_within.value_or(0)}, options.threads, times,
                            options.progress);
  } catch (const HardlyEnds& error) {
    throw core::Infeasible(
        {core::Diagnostic{checked.mark("run.until"), error.diagnostics().front().message}});
  }
}

/// The job beside storages of a quarter to four times the bandwidth, all servers together; one that
/// is refused is left out.
std::vector<OtherStorage> beside_other_storages(const training::CheckedScenario& checked,
                                                const training::StepResult& step) {
  std::vector<OtherStorage> others;
  for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    training::Scenario scenario = checked.scenario();
    auto& storage = *scenario.cluster.storage;
    storage.write_bandwidth = factor * storage.write_bandwidth;
    storage.read_bandwidth = factor * storage.read_bandwidth;
    try {
      const auto other = training::check(scenario, checked.marks());
      others.push_back({factor, storage.write_bandwidth, resolve_job(other, step).job});
    } catch (const core::Error&) {
      continue;
    }
  }
  return others;
}

/// What all trials together take of this machine's memory.
void require_memory_of_trials(const training::CheckedScenario& checked, int threads) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  training::require_memory(training::estimate_campaign(checked, threads > 0 ? threads : cores),
                           training::machine_memory());
}

}  // namespace

CampaignOutcome simulate_campaign(const training::CheckedScenario& checked,
                                  const training::StepResult& step,
                                  const CampaignOptions& options) {
  require_memory_of_trials(checked, options.threads);
  StepSource source(checked, options.progress);
  tell(options, "simulating what saves and input take beside the step");
  const ResolvedJob resolved = resolve_job(source, step);
  StepTimes times(simulated_slowness(source, step.time), circumstances(resolved.job));
  if (options.known != nullptr) {
    times.know(options.known->answers);
  }
  tell(options, "simulating steps with slow parts");
  times.prepare(slow_parts_of(resolved.job), options.threads, options.progress);
  const auto& run = checked.scenario().run;
  const std::vector<TrialResult> own = options.known == nullptr
                                           ? trials_of(checked, resolved.job, options, times)
                                           : std::vector<TrialResult>{};
  const std::vector<TrialResult>& trials =
      options.known == nullptr ? own : known_trials(*options.known, run.trials);

  CampaignOutcome outcome;
  outcome.assumptions = resolved.assumptions;
  outcome.warnings = resolved.warnings;
  outcome.result = summarize(resolved.job, trials);
  if (options.advice) {
    tell(options, "asking what other intervals and spares would bring");
    outcome.result.advice = advise(resolved.job, trials, options.threads, times);
    warn_of_spares(resolved.job, outcome);
  }
  if (options.pictures) {
    tell(options, "asking what other storages would bring");
    outcome.pictures = draw(resolved.job, trials, times);
    outcome.pictures->storage_curve = storage_curve(
        resolved.job, beside_other_storages(checked, step), trials, options.threads, times);
  }
  outcome.result.step_simulations = static_cast<std::int64_t>(times.simulated());
  outcome.result.logits_stored = resolved.logits_bytes;
  outcome.result.input_rate = resolved.input_rate;

  const Metering metering(checked, step, resolved);
  std::vector<price::Usage> usages;
  usages.reserve(trials.size());
  for (const auto& trial : trials) {
    usages.push_back(metering.of(trial));
  }
  if (run.bring_up) {
    add_bring_up(checked, resolved.job, trials, metering, usages, outcome);
  }
  outcome.result.tokens = mean_tokens(usages);
  if (run.prices) {
    add_bill(checked, usages, outcome);
  }
  warn_of_waiting(outcome);
  warn_of_spread(run, outcome);
  return outcome;
}

}  // namespace headway::campaign
