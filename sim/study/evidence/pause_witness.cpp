#include "sim/study/evidence/pause_witness.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/text.h"

namespace headway::study {

namespace {

constexpr const char* kCollection = "Python's garbage collection";

/// Whether half of the pauses and more are of lines that have one of the steps, or come behind it.
bool are_at(const std::vector<std::int64_t>& steps, const SeriesSummary& summary) {
  const auto line = static_cast<std::int64_t>(std::llround(summary.together));
  const auto is_at = [&](std::int64_t pause) {
    const auto found = std::lower_bound(steps.begin(), steps.end(), pause - line);
    return found != steps.end() && *found <= pause;
  };
  const auto count = std::count_if(summary.paused.begin(), summary.paused.end(), is_at);
  return 2 * count > std::ssize(summary.paused);
}

/// A setting that is a number of steps; 0: the log does not say.
std::int64_t steps_of(const import::TrainingLog& log, std::string_view name) {
  const import::LoggedSetting* setting = log.job.setting(name);
  return setting == nullptr
             ? 0
             : core::whole_text_as<std::int64_t>(std::string_view(setting->value)).value_or(0);
}

/// Why pauses that no line of a save is at are no saves; empty: they may be.
std::string no_saves(const import::TrainingLog& log,
                     const SeriesSummary& summary,
                     const std::string& file) {
  if (are_at(log.collected, summary)) {
    return fmt::format("{} has a line '[GC]' where steps pause", file);
  }
  if (log.leaves_saves_out) {
    return fmt::format("{}: Megatron-LM leaves saves out of the times of its iterations", file);
  }
  if (!log.saved.empty()) {
    return fmt::format("{} has lines of saves, but not where steps pause", file);
  }
  const std::int64_t interval = steps_of(log, "save_interval");
  return interval > 0 && interval != summary.period
             ? fmt::format("{} says save_interval {}", file, interval)
             : "";
}

}  // namespace

PauseWitness witness_of_pauses(const import::TrainingLog& log,
                               const SeriesSummary& summary,
                               const std::string& file) {
  PauseWitness witness;
  if (are_at(log.saved, summary) && !log.leaves_saves_out) {
    witness.saves = fmt::format("{} has a line of a save where steps pause", file);
    return witness;
  }
  witness.no_saves = no_saves(log, summary, file);
  if (are_at(log.collected, summary)) {
    witness.what = fmt::format("{} ('[GC]' in the log)", kCollection);
  } else if (const std::int64_t every = steps_of(log, "manual_gc_interval");
             every > 0 && every == summary.period) {
    witness.what = fmt::format("{} (manual_gc_interval {} in the log)", kCollection, every);
  } else {
    // Megatron-LM stops its timer for an evaluation too.
    witness.what =
        fmt::format("garbage collection, logging{} or the data loader; no line says which",
                    log.leaves_saves_out ? "" : ", evaluation");
  }
  return witness;
}

std::vector<std::string> lost_steps(const import::TrainingLog& log, const std::string& file) {
  struct Lost {
    double count = 0;
    std::int64_t first = 0;
  } skipped, nan;
  double steps = 0;
  const auto add = [](double count, const import::LoggedStep& step, Lost& lost) {
    // No more than the line has: what is counted since another line is of steps before this log.
    const double of_line = std::min(count, static_cast<double>(step.steps));
    lost.first = lost.count == 0 && of_line > 0 ? step.step : lost.first;
    lost.count += of_line;
  };
  for (const import::LoggedStep& step : log.steps) {
    steps += static_cast<double>(step.steps);
    add(step.skipped, step, skipped);
    add(step.nan, step, nan);
  }
  std::vector<std::string> out;
  const auto tell = [&](const Lost& lost, const char* what) {
    if (lost.count > 0) {
      out.push_back(
          fmt::format("{}: {} of {} steps {} (the first at step {}): they trained "
                      "nothing, {} % of the tokens and of the time",
                      file, core::count(lost.count), core::count(steps), what, lost.first,
                      core::percent(lost.count / steps)));
    }
  };
  tell(skipped, "were skipped");
  tell(nan, "had a loss that is no number");
  return out;
}

}  // namespace headway::study
