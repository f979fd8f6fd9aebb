// Published shares of useful time: a row of the table becomes a job, the job a prediction, the
// prediction an error.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/import/csv.h"
#include "sim/validation/goodput/broken_gpus.h"
#include "sim/validation/goodput/timed_run.h"

namespace headway::validation {

/// The nodes of a case that names them: who fails, who stands by, who comes back.
struct GoodputNodes {
  std::int64_t nodes = 1, spares = 0;
  core::Seconds work;    ///< useful time of the whole run
  core::Seconds repair;  ///< mean time of a lost node
  double lemon_share = 0, lemon_factor = 1, cured = 0;
  int retire_after = 0;
  std::optional<core::Seconds> retire_window;  ///< older failures do not count
  bool loses_work = true;  ///< a failure throws away what came after the last save
};

/// What a published case states in numbers; empty where it does not.
struct GoodputCase {
  std::string id, source, kind;
  std::optional<core::Seconds> mean_time_to_failure;
  std::optional<core::Seconds> interval;  ///< useful work between saves
  std::optional<core::Seconds> stall;     ///< training stands still for a save
  std::optional<core::Seconds> persist;   ///< from there until the save is durable
  std::optional<core::Seconds> downtime;  ///< failure to running again
  std::optional<double> reported_low, reported_high;
  /// The share of its replicas with which an elastic job runs on after a failure ("degraded
  /// 11/12"); empty where the words of the source name none.
  std::string elastic;
  std::optional<GoodputNodes> fleet;  ///< where the case states `nodes`
  std::optional<BrokenGpus> broken;   ///< where it states `broken_share`
  std::optional<TimedRun> timed;      ///< where it states `wall_h`

  /// The middle of the reported range, or its lower end ("above 0.9").
  [[nodiscard]] std::optional<double> reported() const;
};

/// @param row  of a table with the columns of `goodput_cases.csv` (docs/validation.md)
/// @throws core::Error if a cell cannot be read or is out of range
GoodputCase read_goodput_case(const import::CsvTable& table, std::size_t row);

/// Inputs without which nothing is predicted, that this case does not state: the time between
/// failures and the downtime, because no published range of them is narrow enough; for an elastic
/// job how long it runs without the replica that failed.
std::vector<std::string> missing_inputs(const GoodputCase& given);

/// The job of one trial. What the case does not state is drawn: the stall log-uniformly from the
/// published range, and the interval is then the optimum for it.
/// @param trial  number of the draw
campaign::JobModel goodput_job(const GoodputCase& given, std::uint32_t trial);

/// One case's comparison. `error` = predicted / reported - 1.
struct GoodputPrediction {
  GoodputCase given;
  std::optional<double> predicted;    ///< median ETTR over the trials
  double low = 0, high = 0;           ///< 5th and 95th percentile over the trials
  std::optional<double> closed_form;  ///< exact efficiency, where every input is stated
  std::optional<double> error;
  std::vector<std::string> assumed;  ///< inputs that were drawn or taken
  std::string note;                  ///< why the reported figure is no ETTR, where it is none
  std::string status;                ///< computed, computed-assumed, skipped:<reason>

  /// Where the interval lies: "within" the reported range, "below" or "above" it; empty where
  /// `agrees` says nothing.
  [[nodiscard]] std::string verdict() const;
  /// The interval and the reported range have a value in common; nothing without both, and nothing
  /// where the reported figure is defined in another way (`note`).
  [[nodiscard]] std::optional<bool> agrees() const;
  /// It agrees, and the median too is within the reported range.
  [[nodiscard]] bool is_inside() const;

  template <class V>
  void fields(V& v) const {
    v.part("case_id", given.id, "name of the row in the input");
    v.figure("reported", given.reported(), "1",
             "share of useful time the source reports: the middle of its range, or the bound of an "
             "open one");
    v.figure("reported_range", std::array{given.reported_low, given.reported_high}, "1",
             "lower and upper end of what the source reports");
    v.figure(
        "predicted", predicted, "1",
        "median of `campaign.ettr` over 400 trials of 30 days, or over 40 trials of the case's "
        "own work; of a case with broken GPUs its throughput, over 400 draws of who is broken",
        core::probability);
    v.figure("interval", predicted ? std::optional(std::array{low, high}) : std::nullopt, "1",
             "5th and 95th percentile of these trials", core::probability);
    v.figure("closed_form", closed_form, "1", "exact ETTR where every input is stated",
             core::probability);
    v.figure("error", error, "1", "predicted / published - 1");
    v.part("agrees", agrees(),
           "`interval` and `reported_range` overlap; null without a figure of the same definition");
    v.part("assumed", assumed, "inputs that the source does not state, and what was taken");
    v.part("note", note, "why the reported figure is not an ETTR as defined here");
    v.part(
        "status", status,
        "where its inputs come from, not whether it is right (that is `agrees`): `computed` from "
        "what the source states, `computed-assumed` (inputs were assumed), or `skipped:` and "
        "the reason");
  }
};

/// Predicts every case that states enough: 400 trials of 30 days, or 40 of the work that it states.
/// @param threads  0: all cores; the result does not depend on it
std::vector<GoodputPrediction> predict_goodput(const import::CsvTable& table, int threads = 0);

}  // namespace headway::validation
