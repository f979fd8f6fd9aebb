#include "sim/validation/goodput/goodput_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "sim/campaign/closed_form.h"
#include "sim/campaign/trials.h"
#include "sim/core/engine/executor.h"
#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/core/shown_text.h"
#include "sim/core/statistics.h"
#include "sim/validation/goodput/stated.h"

namespace headway::validation {

using namespace core::literals;
using core::Seconds;

namespace {

constexpr int kTrials = 400;
/// Of cases that state their nodes: thousands of failures each, which spread little.
constexpr int kTrialsOfFleets = 40;
/// Long enough for tens of failures, short enough that chance shows as it does in a real run.
const Seconds kWall = 30_days;
/// Published stalls of saves of hundreds of billions of parameters: ByteCheckpoint (NSDI 2025,
/// table 8) to BLOOM (bigscience chronicles, 2022).
constexpr double kShortestStall = 0.59;
constexpr double kLongestStall = 40;

std::optional<Seconds> seconds_at(const import::CsvTable& table,
                                  std::size_t row,
                                  const char* column,
                                  double unit = 1) {
  const auto value = table.number(row, column);
  if (!value) {
    return std::nullopt;
  }
  using namespace core::literals;
  constexpr Seconds kCentury = 36500_days;  // no case lasts longer
  if (!(*value >= 0 && Seconds(*value * unit) <= kCentury)) {
    throw core::Error(fmt::format("{}:{}: {} '{}' must be zero or more, and at most a century",
                                  table.file(), table.line(row), column,
                                  core::shortened(table.text(row, column))));
  }
  return Seconds(*value * unit);
}

std::optional<double> share_at(const import::CsvTable& table, std::size_t row, const char* column) {
  const auto value = table.number(row, column);
  if (value && !(*value > 0 && *value <= 1)) {
    throw core::Error(fmt::format("{}:{}: {} '{}' must be above 0 and at most 1", table.file(),
                                  table.line(row), column, table.text(row, column)));
  }
  return value;
}

Seconds drawn_stall(const GoodputCase& given, std::uint32_t trial) {
  const double u = core::RandomStream(kGoodputSeed, given.id + " stall", trial).uniform(0);
  const double span = core::portable_log(kLongestStall / kShortestStall);
  return Seconds(kShortestStall * core::portable_exp(u * span));
}

std::vector<std::string> assumed_inputs(const GoodputCase& given) {
  std::vector<std::string> assumed;
  if (!given.stall) {
    assumed.push_back(fmt::format("stall_s: {} to {}", kShortestStall, kLongestStall));
  }
  if (!given.interval && (!given.fleet || given.fleet->loses_work)) {
    assumed.emplace_back("interval_s: the optimum");
  }
  return assumed;
}

/// @throws core::Error naming the cells that a case with `nodes` must fill
std::optional<GoodputNodes> fleet_of(const import::CsvTable& table, std::size_t row) {
  const core::Range counted{1, 1e6, false, false, "from 1 to 1,000,000"};
  const core::Range spare{0, 1e6, false, false, "from 0 to 1,000,000"};
  const core::Range hours{0, 876000, true, false, "above 0 and at most a century"};
  const auto nodes = stated(table, row, "nodes", counted);
  if (!nodes) {
    return std::nullopt;
  }
  const auto work = stated(table, row, "work_h", hours);
  const auto repair = stated(table, row, "repair_h", hours);
  if (!work || !repair) {
    throw core::Error(
        fmt::format("{}:{}: a case that states its nodes also states work_h and "
                    "repair_h",
                    table.file(), table.line(row)));
  }
  GoodputNodes fleet;
  fleet.nodes = static_cast<std::int64_t>(*nodes);
  fleet.spares = static_cast<std::int64_t>(stated(table, row, "spares", spare).value_or(0));
  fleet.work = *work * 1_h;
  fleet.repair = *repair * 1_h;
  fleet.lemon_share = stated(table, row, "lemon_share", core::probability).value_or(0);
  fleet.lemon_factor =
      stated(table, row, "lemon_factor", {1, 1e6, false, false, "from 1 to 1,000,000"}).value_or(1);
  fleet.cured = stated(table, row, "cured", core::probability).value_or(0);
  fleet.retire_after = static_cast<int>(stated(table, row, "retire_after", spare).value_or(0));
  if (const auto window = stated(table, row, "retire_window_h", hours)) {
    fleet.retire_window = *window * 1_h;
  }
  if (fleet.retire_window && fleet.retire_after < 1) {
    throw core::Error(
        fmt::format("{}:{}: a case with retire_window_h says after how many failures "
                    "in it a node is retired (retire_after)",
                    table.file(), table.line(row)));
  }
  fleet.loses_work =
      !has_column(table, "loses_work") || table.flag(row, "loses_work").value_or(true);
  return fleet;
}

/// What stands behind `word` in the words of the source, up to the next mark or space.
std::string stated_after(const import::CsvTable& table, std::size_t row, std::string_view word) {
  if (!has_column(table, "stated_in_words")) {
    return "";
  }
  const std::string& text = table.text(row, "stated_in_words");
  const auto at = text.find(word);
  if (at == std::string::npos) {
    return "";
  }
  const auto begin = at + word.size();
  return text.substr(begin, text.find_first_not_of("0123456789/", begin) - begin);
}

/// Sources that divide by the time between failures on the wall clock report 1 - downtime / mttf,
/// to the two digits that they print, and no lost work.
std::string other_definition(const GoodputCase& given) {
  constexpr double kHalfADigit = 0.005;
  const auto reported = given.reported();
  if (!reported || given.interval || given.stall || given.fleet) {
    return "";
  }
  const double up = 1 - *given.downtime / *given.mean_time_to_failure;
  if (std::abs(up - *reported) > kHalfADigit) {
    return "";
  }
  const double renewal = 1 / (1 + *given.downtime / *given.mean_time_to_failure);
  return fmt::format(
      "another definition: the source reports 1 - downtime / mttf = {:.3f}, failures counted on "
      "the wall clock and no work lost; with its clock stopped while the job is down the same "
      "figures "
      "allow at most {:.3f}",
      up, renewal);
}

std::string reason_to_skip(const GoodputCase& given, const std::vector<std::string>& missing) {
  std::string reason = fmt::format("not reproducible: {} not stated", fmt::join(missing, ", "));
  if (given.mean_time_to_failure && given.reported()) {
    // ETTR = mu / (mu + loss) if each failure costs `loss` in all.
    const double loss = given.mean_time_to_failure->si() * (1 / *given.reported() - 1);
    reason += fmt::format(" ({:.3g} leaves {:.3g} min a failure for everything)", *given.reported(),
                          loss / 60);
  }
  if (given.timed && given.mean_time_to_failure) {
    const std::string implied = implied_by(*given.timed, *given.mean_time_to_failure);
    reason += implied.empty() ? "" : "; " + implied;
  }
  return reason;
}

void simulate(GoodputPrediction& row, int threads) {
  std::vector<double> ettr(row.given.fleet ? kTrialsOfFleets : kTrials);
  core::make_executor(threads)->for_each(ettr.size(), [&](std::size_t i) {
    const auto trial = static_cast<std::uint32_t>(i);
    if (row.given.broken) {
      ettr[i] = drawn_throughput(*row.given.broken, row.given.id, trial);
      return;
    }
    const campaign::JobModel job = goodput_job(row.given, trial);
    ettr[i] = campaign::ettr_of(campaign::run_trial(job, campaign::JobTicks(job), trial));
  });
  constexpr std::array<double, 3> kProbabilities{0.05, 0.5, 0.95};
  const auto quantiles = core::quantiles(ettr, kProbabilities);
  row.low = quantiles[0];
  row.predicted = quantiles[1];
  row.high = quantiles[2];
}

GoodputPrediction predict_case(const GoodputCase& given, int threads) {
  GoodputPrediction row;
  row.given = given;
  if (const auto missing = missing_inputs(given); !missing.empty()) {
    row.status = "skipped:" + reason_to_skip(given, missing);
    return row;
  }
  row.assumed = given.broken ? std::vector<std::string>() : assumed_inputs(given);
  simulate(row, threads);
  if (given.broken) {
    row.closed_form = campaign::packed_throughput(
        given.broken->group.ranks, given.broken->broken,
        [&](int lost) { return share_of_replica(*given.broken, lost); });
  } else if (row.assumed.empty() && !given.fleet) {
    row.closed_form = campaign::efficiency(campaign::rhythm_of(goodput_job(given, 0)));
  }
  row.note = given.broken ? "" : other_definition(given);
  if (const auto reported = given.reported()) {
    row.error = *row.predicted / *reported - 1;
  }
  row.status = row.assumed.empty() ? "computed" : "computed-assumed";
  return row;
}

/// What follows from the wall clock of a run, where the case does not state it itself.
void take_timed_run(const import::CsvTable& table, std::size_t row, GoodputCase& given) {
  const TimedRun& run = *given.timed;
  if (!given.reported_low) {
    given.reported_low = given.reported_high = run.share();
  }
  if (!given.interval && run.work) {
    given.interval = run.interval(*run.work);
  }
  const auto& mean = given.mean_time_to_failure;
  if (mean && given.downtime && *given.downtime >= *mean) {
    throw core::Error(
        fmt::format("{}:{}: downtime_s is not shorter than the {:.4g} min from one failure to the "
                    "next on the wall clock, so the run would never end",
                    table.file(), table.line(row), mean->si() / 60));
  }
}

}  // namespace

std::optional<double> GoodputCase::reported() const {
  return reported_low && reported_high ? (*reported_low + *reported_high) / 2 : reported_low;
}

std::optional<bool> GoodputPrediction::agrees() const {
  if (!predicted || !given.reported_low || !note.empty()) {
    return std::nullopt;
  }
  return high >= *given.reported_low && (!given.reported_high || low <= *given.reported_high);
}

bool GoodputPrediction::is_inside() const {
  return agrees().value_or(false) && *predicted >= *given.reported_low &&
         *predicted <= given.reported_high.value_or(1);
}

std::string GoodputPrediction::verdict() const {
  const auto agreed = agrees();
  if (!agreed) {
    return "";
  }
  return *agreed ? "within" : high < *given.reported_low ? "below" : "above";
}

GoodputCase read_goodput_case(const import::CsvTable& table, std::size_t row) {
  GoodputCase given;
  given.id = table.text(row, "case_id");
  given.source = table.text(row, "source");
  given.kind = table.text(row, "kind");
  given.mean_time_to_failure = seconds_at(table, row, "mttf_h", (1_h).si());
  given.interval = seconds_at(table, row, "interval_s");
  given.stall = seconds_at(table, row, "stall_s");
  given.persist = seconds_at(table, row, "persist_s");
  given.downtime = seconds_at(table, row, "downtime_s");
  given.reported_low = share_at(table, row, "reported_lo");
  given.reported_high = share_at(table, row, "reported_hi");
  given.elastic = stated_after(table, row, "degraded ");
  given.fleet = fleet_of(table, row);
  given.broken = read_broken_gpus(table, row);
  given.timed = read_timed_run(table, row);
  if (given.timed) {
    take_timed_run(table, row, given);
  }
  return given;
}

std::vector<std::string> missing_inputs(const GoodputCase& given) {
  std::vector<std::string> missing;
  if (given.broken) {
    return missing;
  }
  if (!given.mean_time_to_failure || given.mean_time_to_failure->si() == 0) {
    missing.emplace_back("mttf_h");
  }
  if (!given.downtime) {
    missing.emplace_back("downtime_s");
  }
  if (given.timed && !given.timed->work) {
    missing.emplace_back("work_h (the same steps without faults)");
  }
  if (!given.elastic.empty()) {
    missing.push_back(
        fmt::format("time an elastic job runs on with {} of its replicas", given.elastic));
  }
  return missing;
}

namespace {

/// The same figures as a table of hazards: the mean over all nodes, good and lemons.
failures::FailureSpec failures_of(const GoodputCase& given) {
  const GoodputNodes& fleet = *given.fleet;
  failures::FailureSpec spec;
  spec.name = given.id;
  failures::HazardSpec hazard;
  hazard.name = "Any interruption";
  hazard.per = failures::Population::node;
  hazard.mtbf = static_cast<double>(fleet.nodes) * *given.mean_time_to_failure;
  spec.hazards.push_back(hazard);
  if (fleet.lemon_share > 0) {
    spec.lemons = failures::LemonSpec{fleet.lemon_share, fleet.lemon_factor, 0, fleet.cured};
  }
  return spec;
}

void set_fleet(const GoodputCase& given, campaign::JobModel& job) {
  constexpr int kGpusPerNode = 8;  // of no consequence: shares are those of nodes
  const GoodputNodes& fleet = *given.fleet;
  job.gpus = fleet.nodes * kGpusPerNode;
  job.gpus_per_node = kGpusPerNode;
  job.spare_nodes = fleet.spares;
  job.end = {.work = fleet.work, .wall = {}};
  job.recovery.repair = fleet.repair;
  if (fleet.retire_window) {
    job.recovery.retire_score =
        failures::RetireScoreSpec{static_cast<double>(fleet.retire_after), fleet.retire_window, {}};
  } else {
    job.recovery.retire_after = fleet.retire_after;
  }
  if (!fleet.loses_work) {
    job.recovery.peer_load = Seconds(0);
  }
  job.hazards = failures::hazards_of(failures_of(given), {job.gpus, fleet.nodes}, fleet.spares);
}

}  // namespace

campaign::JobModel goodput_job(const GoodputCase& given, std::uint32_t trial) {
  campaign::JobModel job;
  job.end.wall = kWall;
  job.step = Seconds(1);
  job.stall = given.stall ? *given.stall : drawn_stall(given, trial);
  job.persist = given.persist.value_or(Seconds(0));
  // Of a timed run failures are counted on the wall clock, here while it runs.
  const Seconds mu =
      given.timed ? *given.mean_time_to_failure - *given.downtime : *given.mean_time_to_failure;
  job.interval = given.interval
                     ? *given.interval
                     : std::max(campaign::optimal_interval(job.stall, mu, job.persist), Seconds(1));
  // The sources state one time from failure to running again; nothing fails in it.
  job.recovery = campaign::JobRecovery::at_once();
  job.recovery.detection = *given.downtime;
  job.seed = kGoodputSeed;
  if (given.fleet) {
    set_fleet(given, job);
    return job;
  }
  failures::Hazard hazard;
  hazard.name = "Any interruption";
  hazard.rate = core::PerSecond(1 / mu.si());
  hazard.nodes_lost = 0;
  job.hazards.push_back(hazard);
  return job;
}

std::vector<GoodputPrediction> predict_goodput(const import::CsvTable& table, int threads) {
  std::vector<GoodputPrediction> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    rows.push_back(predict_case(read_goodput_case(table, row), threads));
  }
  return rows;
}

}  // namespace headway::validation
