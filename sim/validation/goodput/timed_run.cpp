#include "sim/validation/goodput/timed_run.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/validation/goodput/stated.h"

namespace headway::validation {

using namespace core::literals;
using core::Seconds;

namespace {

constexpr double kMinute = 60;

std::optional<Seconds> hours_at(const import::CsvTable& table,
                                std::size_t row,
                                const char* column) {
  const core::Range hours{0, 876000, true, false, "above 0 and at most a century"};
  const auto value = stated(table, row, column, hours);
  return value ? std::optional(*value * 1_h) : std::nullopt;
}

[[noreturn]] void refuse(const import::CsvTable& table, std::size_t row, std::string_view why) {
  throw core::Error(fmt::format("{}:{}: {}", table.file(), table.line(row), why));
}

}  // namespace

std::optional<double> TimedRun::share() const {
  return work ? std::optional(*work / wall) : std::nullopt;
}

std::optional<Seconds> TimedRun::interval(Seconds all_work) const {
  return save_steps ? std::optional(all_work * (*save_steps / steps)) : std::nullopt;
}

std::optional<TimedRun> read_timed_run(const import::CsvTable& table, std::size_t row) {
  const core::Range counted{1, 1e9, false, false, "from 1 to 1e9"};
  const auto wall = hours_at(table, row, "wall_h");
  if (!wall) {
    return std::nullopt;
  }
  const auto steps = stated(table, row, "steps", counted);
  if (!steps) {
    refuse(table, row, "a case that states wall_h also states steps");
  }
  TimedRun run;
  run.wall = *wall;
  run.steps = *steps;
  run.save_steps = stated(table, row, "save_steps", counted);
  if (run.save_steps && *run.save_steps > run.steps) {
    refuse(table, row, "save_steps are more than the run's steps, so nothing is saved");
  }
  run.work = hours_at(table, row, "work_h");
  run.work_at_most = hours_at(table, row, "work_at_most_h");
  if (run.work && *run.work > run.wall) {
    refuse(table, row, "work_h is longer than wall_h: faults would have made the run faster");
  }
  if (has_column(table, "loses_work")) {
    run.loses_work = table.flag(row, "loses_work").value_or(true);
  }
  return run;
}

std::optional<Seconds> least_downtime(const TimedRun& run, Seconds mean) {
  const auto most = run.work ? run.work : run.work_at_most;
  if (!most || *most >= run.wall) {
    return std::nullopt;
  }
  const double failures = run.wall / mean;
  const Seconds lost = run.loses_work ? 0.5 * run.interval(*most).value_or(Seconds(0)) : Seconds(0);
  return std::max((run.wall - *most) / failures - lost, Seconds(0));
}

std::string implied_by(const TimedRun& run, Seconds mean) {
  const auto least = least_downtime(run, mean);
  if (!least) {
    return "";
  }
  const Seconds most = run.work ? *run.work : *run.work_at_most;
  const double lost_half =
      run.loses_work && run.save_steps ? 0.5 * *run.interval(most) / Seconds(kMinute) : 0;
  std::string text = fmt::format(
      "implied: {:.0f} min are {:.1f} failures; with at most {:.0f} min of work each "
      "takes at least {:.1f} min",
      run.wall / Seconds(kMinute), run.wall / mean, most / Seconds(kMinute),
      *least / Seconds(kMinute));
  if (run.loses_work) {
    text += fmt::format(" beside the {:.2f} min of work that it throws away", lost_half);
  } else {
    text += fmt::format(", or each step {:.1f} s if failures cost nothing",
                        (run.wall - most).si() / run.steps);
  }
  return text;
}

}  // namespace headway::validation
