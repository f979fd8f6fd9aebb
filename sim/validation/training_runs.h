// Published training runs: a row of the table becomes a scenario, the scenario a prediction, the
// prediction an error.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/progress/joint_progress.h"
#include "sim/core/result_fields.h"
#include "sim/import/csv.h"
#include "sim/training/scenario.h"
#include "sim/validation/compared/compared_runs.h"
#include "sim/validation/compared/open_fields.h"

namespace headway::validation {

/// Entries of the catalogue that rows refer to, by name; read once, then shared by threads.
struct Catalogue {
  std::map<std::string, gpu::GpuSpec> gpus;
  std::map<std::string, training::NodeSpec> nodes;
  std::map<std::string, workload::ModelSpec> models;
  std::map<std::string, workload::FrameworkSpec> frameworks;
  std::map<std::string, training::CalibrationSpec> calibrations;
  std::map<std::string, network::FabricSpec> fabrics;
  /// Scenarios that are shipped for published runs, by the id of their row (shipped_scenarios.h).
  std::map<std::string, training::Scenario> shipped = {};
  /// What published runs say of errors: it decides how wide intervals are.
  KnownErrors known_errors = {};
  std::vector<OpenField> open_fields = {};  ///< what fields cost that a row leaves open
};

/// Reads all GPUs, nodes, models, frameworks, calibrations, fabrics and the scenarios of published
/// runs under these configuration folders.
/// @throws core::Error with all that is wrong in an entry
Catalogue load_catalogue(const std::vector<std::filesystem::path>& roots);

/// A reading of a row beside the one that is taken: a flag that it leaves open, read the other way.
struct OtherReading {
  std::string column;
  training::Scenario scenario;
};

/// A row as a scenario, or why it cannot be one.
struct RowScenario {
  std::optional<training::Scenario> scenario;
  std::string skipped;  ///< reason, where there is no scenario: a cell that cannot be read, a GPU
                        ///< the catalogue does not have, "unmodelled: ..."
  std::vector<std::string> assumed;  ///< fields that the source does not state
  std::vector<std::string> doubts;   ///< words that were not understood; more memory than there is
  std::vector<std::string> against;  ///< what of the row denies another part of it
  std::vector<OtherReading> readings;  ///< of fields that it does not state
};

/// @param row  of a table with the columns of `training_runs.csv` (docs/validation.md)
RowScenario row_scenario(const import::CsvTable& table,
                         std::size_t row,
                         const Catalogue& catalogue);

/// One row's comparison. `error` = predicted / measured - 1.
struct RunPrediction {
  std::string id, source, group, gpu, precision, kind, model;
  RunKind run_kind;      ///< software, GPU and format that it is predicted with
  double own_error = 0;  ///< standard deviation of log time beside what comparisons and constants
                         ///< make of it
  std::vector<double> slopes;  ///< `constant_slopes`; empty where nothing was predicted
  int gpus = 0;
  int sequence_length = 0;
  double weight = 1;
  std::string part;     ///< of the headline: "dense NVIDIA", "mixtures of experts", "AMD"; unfitted
                        ///< rows are parts of their own: "dense NVIDIA, not fitted"
  std::string table;    ///< what is said of the rows of the program's further tables:
                        ///< ", not fitted", ", layout sweep"
  double measured = 0;  ///< tokens/s/GPU; 0: none that can be read
  std::optional<double> predicted;  ///< tokens/s/GPU
  std::optional<double> error;
  double low = 0, high = 0;  ///< 90 % interval of tokens/s/GPU
  double measured_memory = 0,
         predicted_memory = 0;  ///< peak of the fullest GPU [GiB]; 0: not stated
  bool offered = true;  ///< its predicted memory leaves the room that `headway plan` asks for
  std::vector<std::string> assumed;  ///< fields that the source does not state
  std::string status;        ///< ok, ok-assumed, ok-assumed: <doubts>, ok-contradictory: <why>,
                             ///< skipped:<reason>
  std::string status_class;  ///< the status up to its colon

  template <class V>
  void fields(V& v) const {
    const auto where_predicted = [this](auto value) {
      return predicted ? std::optional(value) : std::nullopt;
    };
    v.part("id", id, "name of the row in the input");
    v.figure("measured_tokens_per_s_per_gpu", core::if_positive(measured), "1/s", "published",
             core::positive);
    v.figure("predicted_tokens_per_s_per_gpu", predicted, "1/s",
             "`step.tokens_per_s_per_gpu`; null where the row cannot be predicted",
             core::non_negative);
    v.figure("error", error, "1", "predicted / published - 1");
    v.figure("interval", where_predicted(std::array{low, high}), "1/s", "90 % prediction interval",
             core::non_negative);
    v.part("status", status,
           "how it was computed, not whether it is right: `ok` from what the source states, "
           "`ok-assumed` (inputs were assumed), or `skipped:` and the reason");
    v.part("framework", run_kind.framework,
           "profile of the software that the row is predicted with");
    v.part("assumed", assumed, "inputs that the source does not state");
    v.part("part", part, "of the headline: dense NVIDIA, mixtures of experts, AMD");
    v.figure("measured_peak_memory_gib", core::if_positive(measured_memory), "GiB",
             "published, where the source states it", core::positive);
    v.figure("predicted_peak_memory_gib", where_predicted(predicted_memory), "GiB",
             "`memory.allocated_bytes`, `memory.reserved_bytes` or `memory.peak_bytes`: what the "
             "source speaks of",
             core::non_negative);
  }
};

/// Whether what a row leaves open is simulated both ways, which the interval needs, or one way
/// only.
enum class OpenFlags { both_ways, one_way };

/// Predicts every row, in parallel; the order and the bits do not depend on the threads. A row that
/// cannot be read or modelled is skipped, never an error.
/// @throws core::Error if the table has no rows, no ids or no measured figures
std::vector<RunPrediction> predict_runs(const import::CsvTable& table, const Catalogue& catalogue);

/// Predicts these rows (by number) only.
std::vector<RunPrediction> predict_runs(const import::CsvTable& table,
                                        const Catalogue& catalogue,
                                        const std::vector<std::size_t>& chosen,
                                        OpenFlags open = OpenFlags::both_ways);

/// Rows of a table, by number.
struct ChosenRuns {
  const import::CsvTable* table = nullptr;
  std::vector<std::size_t> rows;
};
/// The same of several tables, together: the first rows that are done are like all others.
/// @param count  told how many rows' worth of work is done, by several threads; may be empty
std::vector<std::vector<RunPrediction>> predict_tables(const std::vector<ChosenRuns>& chosen,
                                                       const Catalogue& catalogue,
                                                       OpenFlags open,
                                                       const core::Count& count = {});

/// What is said of the rows of the program's second table, to which no constant was fitted, and of
/// its third, all layouts of a few runs.
inline constexpr const char* kNotFitted = ", not fitted";
inline constexpr const char* kLayoutSweep = ", layout sweep";

/// The rows of a further table of the program, under parts of their own.
std::vector<RunPrediction> marked(std::vector<RunPrediction> rows, const std::string& table);

/// Number of the row with this id.
/// @throws core::Error if there is none
std::size_t row_of(const import::CsvTable& table, const std::string& id);

/// Figures over the rows that were predicted.
struct RunSummary {
  std::size_t n = 0, n_skipped = 0;
  double median_abs_error = 0, mean_abs_error = 0, p90_abs_error = 0;
  double within_5 = 0, within_10 = 0, coverage_90 = 0;  ///< shares of the rows
  double median_half_width = 0;  ///< of the intervals: exp(half their length in the logarithm) - 1
  std::size_t n_memory = 0;      ///< rows whose source states the peak of memory
  double median_abs_memory_error = 0;

  template <class V>
  void fields(V& v) const {
    const auto figure = [&](const char* key, double value, const char* meaning) {
      v.figure(key, n > 0 ? std::optional(value) : std::nullopt, "1", meaning, core::non_negative);
    };
    v.figure("n", n, "", "rows predicted", core::non_negative);
    v.figure("n_skipped", n_skipped, "", "rows not predicted", core::non_negative);
    figure("median_abs_error", median_abs_error, "median of the absolute error");
    figure("mean_abs_error", mean_abs_error, "mean of the absolute error");
    figure("p90_abs_error", p90_abs_error, "90th percentile of the absolute error");
    figure("within_5", within_5, "share of predicted rows with an absolute error up to 5 %");
    figure("within_10", within_10, "the same up to 10 %");
    figure("coverage_90", coverage_90, "share of measurements inside their 90 % interval");
    figure("median_half_width", median_half_width,
           "median of sqrt(upper end / lower end of the interval) - 1");
    v.figure("n_memory", n_memory, "", "rows whose source states the peak memory",
             core::non_negative);
    v.figure("median_abs_memory_error",
             n_memory > 0 ? std::optional(median_abs_memory_error) : std::nullopt, "1",
             "median of their absolute error", core::non_negative);
  }
};

/// @param rows  all, or those of one source, GPU, precision or model kind
RunSummary summarize(const std::vector<RunPrediction>& rows);

/// The summary of every value of one property (`source`, `gpu`, `precision`, `kind`, `part`,
/// `status_class`), by name.
std::vector<std::pair<std::string, RunSummary>> summarize_by(const std::vector<RunPrediction>& rows,
                                                             std::string RunPrediction::*property);

}  // namespace headway::validation
