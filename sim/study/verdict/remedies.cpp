#include "sim/study/verdict/remedies.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "sim/core/text.h"
#include "sim/gpu/closed_form.h"
#include "sim/study/words.h"
#include "sim/training/explain/ways.h"
#include "sim/training/power/power_fit.h"

namespace headway::study {

namespace {

using core::number;

/// What a gain of the wall clock comes to: days, or, where the wall clock ends the run, work.
std::string what_it_brings(const RunReport& report,
                           const campaign::CampaignResult& run,
                           double gain) {
  const auto& until = report.scenario.run.until;
  if (until && until->wall) {
    return in_words(more_work({run.steps.mean, run.tokens}, gain));
  }
  return fmt::format("{} days less", number(run.wall_days.mean * gain));
}

/// The interval of the curve at which ETTR is best.
std::optional<Remedy> better_interval(const RunReport& report,
                                      const campaign::CampaignResult& run) {
  const campaign::IntervalPoint* best = nullptr;
  std::optional<double> own;
  for (const auto& point : run.advice.interval_curve) {
    if (point.ettr && (best == nullptr || *point.ettr > *best->ettr)) {
      best = &point;
    }
    if (point.interval == run.checkpoint_interval) {
      own = point.ettr;
    }
  }
  if (best == nullptr || !own || *best->ettr <= *own) {
    return std::nullopt;
  }
  const double gain = 1 - *own / *best->ettr;
  return Remedy{fmt::format("a checkpoint every {} s of work, not {} s",
                            number(best->interval.si()), number(run.checkpoint_interval.si())),
                // Both are means of the same trials; the headline's ETTR is a median.
                fmt::format("{}, ETTR +{} pts", what_it_brings(report, run, gain),
                            number(100 * (*best->ettr - *own))),
                gain, false};
}

/// The least time with which most of what earlier detection can bring is gained.
std::optional<Remedy> earlier_detection(const RunReport& report,
                                        const campaign::CampaignResult& run) {
  constexpr double kMost = 0.8;  // Source: chosen
  double largest = 0;
  for (const auto& gain : run.advice.earlier_detection) {
    largest = std::max(largest, gain.ettr_gain);
  }
  for (const auto& gain : run.advice.earlier_detection) {
    if (gain.ettr_gain >= kMost * largest && gain.ettr_gain > 0) {
      const double share = gain.ettr_gain / (run.ettr.mean + gain.ettr_gain);
      return Remedy{
          fmt::format("failures noticed up to {} s sooner", number(gain.earlier.si())),
          fmt::format("{}, ETTR +{} pts",
                      gain.days_saved > 0 ? fmt::format("{} days less", number(gain.days_saved))
                                          : what_it_brings(report, run, share),
                      number(100 * gain.ettr_gain)),
          share, false};
    }
  }
  return std::nullopt;
}

/// Spares, where the run waits for them longer than the target.
std::optional<Remedy> more_spares(const RunReport& report, const campaign::CampaignResult& run) {
  double all = 0;
  for (const double seconds : run.ledger.gpu_seconds) {
    all += seconds;
  }
  const double waiting = all > 0 ? run.ledger[campaign::Account::wait] / all : 0;
  const auto& spares = run.advice.spares;
  if (!spares || *spares <= report.scenario.cluster.spares || waiting <= run.advice.wait_target) {
    return std::nullopt;
  }
  const double gain = waiting - run.advice.wait_target;
  return Remedy{fmt::format("{} spare node{} instead of {}", *spares, *spares == 1 ? "" : "s",
                            report.scenario.cluster.spares),
                fmt::format("waiting below {} % of the time instead of {} %",
                            number(100 * run.advice.wait_target), number(100 * waiting)),
                gain, false};
}

/// Gains of the step are gains of the time in which it runs.
double of_the_clock(const RunReport& report, double share_of_step) {
  return share_of_step * (report.campaign ? report.campaign->ettr.mean : 1);
}

std::vector<Remedy> computed(const RunReport& report) {
  std::vector<Remedy> list;
  const auto add = [&](const std::optional<Remedy>& remedy) {
    if (remedy && remedy->gain >= kLeastGain) {
      list.push_back(*remedy);
    }
  };
  if (report.campaign) {
    add(better_interval(report, *report.campaign));
    add(earlier_detection(report, *report.campaign));
    add(more_spares(report, *report.campaign));
  }
  if (report.stage_advice) {
    const auto& advice = *report.stage_advice;
    const double gain = 1 - advice.after / advice.before;
    add(Remedy{"layers on other stages (stage_advice)",
               fmt::format("a step of {} s instead of {} s", number(advice.after.si()),
                           number(advice.before.si())),
               of_the_clock(report, gain), false});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return list;
}

/// What the mean rank has to do itself, communicating with nobody, but for `cause`: some rank has
/// as much, and no step is shorter.
core::Seconds own_work(const training::StepResult& step, core::Activity cause) {
  using core::Activity;
  core::Seconds work;
  for (const Activity own :
       {Activity::compute, Activity::launch, Activity::optimizer, Activity::other}) {
    work += own == cause ? core::Seconds(0) : step.breakdown[own];
  }
  return work;
}

/// The most that a cause, made nothing, can shorten the step by while all else takes as long as
/// now. The longest path less it is still a path, so what it has there; if the mean rank has more,
/// that. Waits for other stages are on no path: the mean rank still has its work to do, so they are
/// what it waits. Nor can a step be shorter than what a rank has to do itself. Zero where no path
/// is known.
double most_of_step(const training::StepResult& step, core::Activity cause) {
  double path = 0;
  for (const auto& entry : core::enum_words(core::Activity{})) {
    path += step.critical_path[entry.value].si();
  }
  const core::Seconds most = std::min(std::max(step.critical_path[cause], step.breakdown[cause]),
                                      step.time - own_work(step, cause));
  return path > 0 ? most / step.time : 0;
}

/// @param cause  what is lost to; empty: `way` says it
/// @param most   share of the step; 0: there is no bound
/// @param mean   share of the mean rank, as the step's parts have it
Remedy loss(
    const RunReport& report, std::string_view cause, std::string way, double most, double mean) {
  const std::string share = number(100 * (most > 0 ? most : mean));
  // Beside the step's parts another share of the same name would look like a mistake.
  const bool of_path = most > mean && share != number(100 * mean);
  return {cause.empty() ? way : fmt::format("{}: {}", cause, way),
          fmt::format("{} {} % of the step{}", most > 0 ? "at most" : "about", share,
                      of_path ? " (its longest path)" : ""),
          of_the_clock(report, most > 0 ? most : mean), most > 0, way};
}

/// What makes an account of the run smaller; nothing of those that advice is computed for or that
/// nobody loses.
std::vector<training::Way> ways_to_lose_less(campaign::Account account,
                                             const training::RunSpec& run) {
  using campaign::Account;
  const bool no_levels = run.checkpoint.levels.empty();
  switch (account) {
    case Account::checkpoint:
      return {{"saves beside training (run.checkpoint.mode: async)",
               run.checkpoint.mode == storage::CheckpointMode::synchronous},
              {"nearer levels (run.checkpoint.levels)", no_levels},
              {"storage that writes faster"}};
    case Account::diagnose:
      return {{"the bad part named sooner (run.recovery.diagnosis)"}};
    case Account::restart:
      return {{"warm standby (run.recovery.standby)", !run.recovery.standby},
              {"a shorter start (run.recovery.container_start, warm_up)"}};
    case Account::load:
      return {{"storage that reads faster"},
              {"states from peers (run.recovery.state_from)",
               run.recovery.state_from == failures::StateSource::checkpoint},
              {"nearer levels (run.checkpoint.levels)", no_levels}};
    case Account::cut_off:
      return {{"a second way to each site"}};
    case Account::protection:
      return {{"a cheaper scheme of fault tolerance (run.recovery.step_tax)"}};
    case Account::input:
      return {{"storage that feeds faster"}, {"a cache on the nodes (run.input)"}};
    case Account::degraded:
      return {{"slow parts found and replaced sooner (run.recovery.slow_part)"}};
    case Account::maintenance:
      return {{"planned work that stops fewer nodes"}};
    case Account::useful:
    case Account::lost:
    case Account::detect:
    case Account::wait:
    case Account::spare_idle:
      return {};
  }
  return {};
}

/// Each account of the run with what makes it smaller: at most all of it is gained.
void add_losses_of_run(const RunReport& report, std::vector<Remedy>& list) {
  const campaign::Ledger& ledger = report.campaign->ledger;
  for (const auto& entry : campaign::enum_words(campaign::Account{})) {
    const std::string way =
        training::open_ways(ways_to_lose_less(entry.value, report.scenario.run));
    const double share = ledger.share_of_clock(entry.value);
    if (!way.empty()) {
      list.push_back({fmt::format("{}: {}", in_words(entry.value), way),
                      fmt::format("at most {} % of the wall clock", number(100 * share)), share,
                      true, way});
    }
  }
}

/// What boards that are limited to what feeds them lose: products and attention by the root law,
/// all else nothing, so at most this share of what is computed.
std::optional<Remedy> more_power(const RunReport& report) {
  const auto& s = report.scenario;
  const auto fit = training::power_fit(s);
  if (!fit || fit->lowered_by == training::PowerLimit::none) {
    return std::nullopt;
  }
  const core::Watts own = fit->boards.front().own;
  const auto shares = s.calibration.kernels.value_or(s.cluster.node.gpu.sustained);
  gpu::GpuSpec whole = s.cluster.node.gpu;
  whole.power = own;
  const double slower =
      gpu::power_share(s.cluster.node.gpu, shares) / gpu::power_share(whole, shares);
  const double most = most_of_step(report.step, core::Activity::compute) * (1 - slower);
  const double mean =
      report.step.breakdown[core::Activity::compute] / report.step.time * (1 - slower);
  std::vector<std::string> feeds;
  const auto add = [&](const std::optional<training::Feed>& feed, const char* of) {
    if (feed && feed->drawn_at(own) > feed->limit) {
      feeds.push_back(fmt::format("{} more for {}",
                                  training::power_in_words(feed->drawn_at(own) - feed->limit), of));
    }
  };
  add(fit->rack(), "each rack");
  add(fit->facility, "the building");
  return loss(report, "",
              fmt::format("{}: boards at {} W, not {} W", fmt::join(feeds, " and "),
                          number(own.si()), number(fit->boards.front().board.si())),
              most, mean);
}

/// Equal stages: the longest has `unequal` more than the mean one, and what the schedule waits
/// besides grows with it: unequal / (step - bubble). No bound, since stages seldom get equal.
double of_equal_stages(const training::StepResult& step) {
  return step.breakdown[core::Activity::stage_imbalance] /
         (step.time - step.breakdown[core::Activity::pipeline_bubble]);
}

/// Each loss of the run and of the step with what makes it smaller.
std::vector<Remedy> losses(const RunReport& report) {
  std::vector<Remedy> list;
  if (report.campaign) {
    add_losses_of_run(report, list);
  }
  for (const auto& entry : core::enum_words(core::Activity{})) {
    const bool own = entry.value == core::Activity::compute || entry.value == core::Activity::other;
    const bool stages = entry.value == core::Activity::stage_imbalance;
    if (own || (stages && report.stage_advice)) {
      continue;
    }
    list.push_back(loss(report, in_words(entry.value),
                        training::ways_to_shorten(entry.value, report.scenario),
                        stages ? 0 : most_of_step(report.step, entry.value),
                        stages ? of_equal_stages(report.step)
                               : report.step.breakdown[entry.value] / report.step.time));
  }
  if (const auto power = more_power(report)) {
    list.push_back(*power);
  }
  std::erase_if(list, [](const Remedy& remedy) { return remedy.gain < kLeastGain; });
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return list;
}

}  // namespace

WorkDone more_work(const WorkDone& now, double gain) {
  const double more = gain / (1 - gain);
  return {now.steps * more, now.tokens * more};
}

std::string in_words(const WorkDone& more) {
  return fmt::format("{} steps more ({} B tokens)", number(more.steps), number(more.tokens / 1e9));
}

std::vector<Remedy> remedies(const RunReport& report, std::size_t most) {
  if (!report.step.memory.fits) {
    return {};
  }
  std::vector<Remedy> list = computed(report);
  const auto more = losses(report);
  list.insert(list.end(), more.begin(), more.end());
  list.resize(std::min(most, list.size()));
  return list;
}

}  // namespace headway::study
