#include "sim/validation/training_runs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <tbb/parallel_for.h>
#include <tuple>

#include "sim/core/error.h"
#include "sim/core/progress/spread_order.h"
#include "sim/core/shown_text.h"
#include "sim/core/statistics.h"
#include "sim/core/text.h"
#include "sim/training/estimate.h"
#include "sim/training/step/step.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/run_software.h"
#include "sim/validation/words/note_words.h"

namespace headway::validation {

using namespace core::literals;
using import::CsvTable;

namespace {

/// What a row is listed under.
RunPrediction labelled(const CsvTable& table, std::size_t index) {
  const RunRow row = read_run_row(table, index);
  RunPrediction p;
  p.id = row.id;
  p.source = p.id.substr(0, p.id.rfind('-'));
  p.group = row.group;
  p.gpu = row.gpu;
  p.precision = row.precision;
  p.kind = row.arch;
  p.model = row.model;
  const std::string gpu = core::lower_case(row.gpu);
  const bool amd = gpu.starts_with("mi") || contains(gpu, "amd") || contains(gpu, "instinct");
  const bool dense = p.kind.empty() ? !row.n_experts : p.kind == "dense";
  p.part = amd                       ? "AMD"
           : dense                   ? "dense NVIDIA"
           : contains(p.kind, "moe") ? "mixtures of experts"
                                     : "other kinds";
  return p;
}

/// Figures that are needed beside the configuration. @throws core::Error if one cannot be read
void read_figures(const RunRow& row, RunPrediction& p) {
  if (!row.problems.empty()) {
    throw core::Error(row.problems);
  }
  if (!row.measured_tokens_per_s_per_gpu && !figure_by_flops(row)) {
    throw core::Error("no measured tokens/s");
  }
  p.gpus = row.n_gpus.value_or(0);
  p.sequence_length = row.seq_len.value_or(0);
  p.weight = row.weight.value_or(1);
  p.measured_memory = row.measured_peak_mem_gib.value_or(0);
  p.measured = row.measured_tokens_per_s_per_gpu.value_or(0);
}

/// The peak of memory that the row's source speaks of.
core::Bytes reported_peak(const training::MemoryResult& memory,
                          workload::ReportedMemory reported,
                          workload::ReportingStage whose) {
  using workload::ReportedMemory;
  using workload::ReportingStage;
  const std::size_t stage = whose == ReportingStage::first ? 0
                            : whose == ReportingStage::last
                                ? memory.stage_peak.size() - 1
                                : static_cast<std::size_t>(memory.peak_stage);
  return reported == ReportedMemory::allocated  ? memory.stage_allocated[stage]
         : reported == ReportedMemory::reserved ? memory.stage_reserved[stage]
                                                : memory.stage_peak[stage];
}

void fill_prediction(const training::StepResult& step,
                     workload::ReportedMemory reported,
                     workload::ReportingStage whose,
                     RunPrediction& p) {
  p.predicted = step.tokens_per_s_per_gpu;
  p.low = *p.predicted * (step.time / step.interval_high);
  p.high = *p.predicted * (step.time / step.interval_low);
  p.predicted_memory = reported_peak(step.memory, reported, whose) / 1_GiB;
  p.offered = step.memory.fits && !training::near_memory_limit(step.memory);
}

training::StepResult step_of(const training::Scenario& scenario) {
  return training::simulate_step(training::check(scenario), {.fold = true, .trace = false});
}

/// What is not known of the fields that a row leaves open and that are read both ways.
double reading_error(const std::vector<OtherReading>& readings,
                     core::Seconds taken,
                     bool mixture,
                     const std::vector<OpenField>& known) {
  double square = 0;
  for (const auto& [column, half] :
       half_distances(readings, taken, [](const auto& s) { return step_of(s).time; })) {
    const double error = reading_share(known, column, mixture) * half;
    square += error * error;
  }
  return std::sqrt(square);
}

/// The middle, in log time, of a step and of the same step with the other software that a name may
/// stand for.
void take_middle(const std::vector<OtherReading>& readings, training::StepResult& step) {
  for (const auto& [column, scenario] : readings) {
    if (column != kSoftwareReading) {
      continue;
    }
    try {
      const double ratio = std::sqrt(step_of(scenario).time / step.time);
      step.time *= ratio;
      step.interval_low *= ratio;
      step.interval_high *= ratio;
      step.tokens_per_s_per_gpu /= ratio;
    } catch (const core::Error&) {
      // no run can be read so
    }
  }
}

/// "ok-assumed: what was not understood; ..."
std::string joined_status(const std::string& status_class, const std::vector<std::string>& why) {
  std::string text = status_class;
  for (const auto& reason : why) {
    text += (text == status_class ? ": " : "; ") + reason;
  }
  return text;
}

/// What a row contradicts, of itself or of others; impossible figures have no error.
void compare(const RunRow& row,
             const RowScenario& built,
             const Contradiction& contradiction,
             RunPrediction& p) {
  const bool other = !contradiction.why.empty() && (p.offered || !contradiction.unless_full);
  const std::string impossible = impossible_figure(p.measured, *built.scenario);
  const std::string flops = against_flops(row, *built.scenario);
  const std::string share = against_mfu(row, *built.scenario).why;
  if (impossible.empty()) {
    p.error = *p.predicted / p.measured - 1;
  }
  auto why = built.doubts;
  why.insert(why.begin(), built.against.begin(), built.against.end());
  for (const std::string& each : {share, flops, other ? contradiction.why : "", impossible}) {
    if (!each.empty()) {
      why.insert(why.begin(), each);
    }
  }
  const bool contradicts = other || !built.against.empty() || !(impossible + flops + share).empty();
  p.status_class = contradicts ? "ok-contradictory" : p.assumed.empty() ? "ok" : "ok-assumed";
  p.status = joined_status(p.status_class, why);
}

/// Simulates a row that is a scenario.
void simulate_row(const RunRow& row,
                  const RowScenario& built,
                  const Catalogue& catalogue,
                  OpenFlags open,
                  RunPrediction& p) {
  const training::Scenario& scenario = *built.scenario;
  auto step = step_of(scenario);
  const double readings = open == OpenFlags::both_ways
                              ? reading_error(built.readings, step.time,
                                              scenario.model.moe.has_value(), catalogue.open_fields)
                              : 0;
  take_middle(built.readings, step);
  p.run_kind = kind_of(scenario);
  p.own_error = std::hypot(training::relative_error(scenario), readings);
  p.slopes = constant_slopes(scenario);
  StepError error = step_error(scenario, catalogue.known_errors, p.slopes, readings);
  error.slower = std::hypot(error.slower, note_words(row).slower);
  set_interval(scenario, error, step);
  const workload::FrameworkSpec& software = scenario.training.framework;
  fill_prediction(step, reported_memory(row, software), software.usual.reporting_stage, p);
}

RunPrediction predict_row(const CsvTable& table,
                          std::size_t index,
                          const Catalogue& catalogue,
                          const Contradiction& contradiction,
                          OpenFlags open) {
  RunPrediction p = labelled(table, index);
  try {
    const RunRow row = read_run_row(table, index);
    read_figures(row, p);
    const RowScenario built = row_scenario(table, index, catalogue);
    p.assumed = built.assumed;
    if (!built.scenario) {
      throw core::Error(built.skipped);
    }
    if (p.kind.empty() && built.scenario->model.moe && p.part == "dense NVIDIA") {
      p.part = "mixtures of experts";  // by its name
    }
    if (p.measured <= 0) {
      p.measured = tokens_of_tflops(row, *built.scenario);
    }
    simulate_row(row, built, catalogue, open, p);
    compare(row, built, contradiction, p);
  } catch (const core::Error& error) {
    p.status_class = "skipped";
    p.status = "skipped:" + plain_message(error, table);
  } catch (const std::bad_alloc&) {
    p.status_class = "skipped";
    p.status = "skipped: its step is larger than this machine's memory";
  }
  return p;
}

/// A row of one of the tables.
struct Place {
  std::size_t table = 0, row = 0;
};

/// How long the rows will take beside one another: what does not grow with a step, and the steps
/// that are simulated, by their operations.
std::vector<double> costs_of(const std::vector<ChosenRuns>& chosen,
                             const std::vector<Place>& places,
                             const Catalogue& catalogue,
                             OpenFlags open) {
  constexpr double kAnyStep = 5e4;  // Source: round value; some milliseconds
  std::vector<double> costs(places.size(), kAnyStep);
  tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t i) {
    const auto& [table, rows] = chosen[places[i].table];
    try {
      const RowScenario built = row_scenario(*table, rows[places[i].row], catalogue);
      if (built.scenario) {
        const double each =
            kAnyStep + training::estimate_operations(training::check(*built.scenario));
        costs[i] += each;
        costs[i] +=
            open == OpenFlags::both_ways ? each * static_cast<double>(built.readings.size()) : 0;
      }
    } catch (const core::Error&) {
      return;  // it will be skipped
    }
  });
  return costs;
}

double median_memory_error(const std::vector<RunPrediction>& rows, std::size_t& count) {
  std::vector<double> errors;
  for (const auto& row : rows) {
    if (row.error && row.measured_memory > 0) {
      errors.push_back(std::abs(row.predicted_memory / row.measured_memory - 1));
    }
  }
  count = errors.size();
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? 0 : core::quantile_of_sorted(errors, 0.5);
}

}  // namespace

std::vector<RunPrediction> predict_runs(const CsvTable& table, const Catalogue& catalogue) {
  std::vector<std::size_t> all(table.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return predict_runs(table, catalogue, all);
}

std::vector<RunPrediction> predict_runs(const CsvTable& table,
                                        const Catalogue& catalogue,
                                        const std::vector<std::size_t>& chosen,
                                        OpenFlags open) {
  return predict_tables({{&table, chosen}}, catalogue, open).front();
}

std::vector<std::vector<RunPrediction>> predict_tables(const std::vector<ChosenRuns>& chosen,
                                                       const Catalogue& catalogue,
                                                       OpenFlags open,
                                                       const core::Count& count) {
  std::vector<std::vector<RunPrediction>> rows;
  std::vector<std::vector<Contradiction>> against;
  std::vector<Place> places;
  for (const auto& [table, of_table] : chosen) {
    if (table->rows() == 0) {
      throw core::Error(fmt::format("{} has no rows of published runs", table->file()));
    }
    std::ignore = check_run_columns(*table);
    against.push_back(contradictions(*table));
    for (std::size_t i = 0; i < of_table.size(); ++i) {
      places.push_back({rows.size(), i});
    }
    rows.emplace_back(of_table.size());
  }
  const std::vector<double> costs =
      count ? costs_of(chosen, places, catalogue, open) : std::vector<double>(places.size());
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  const std::vector<std::size_t> order = core::spread_order(places.size());
  std::atomic<double> done{0};
  tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t turn) {
    const auto [t, i] = places[order[turn]];
    const auto& [table, of_table] = chosen[t];
    rows[t][i] = predict_row(*table, of_table[i], catalogue, against[t][of_table[i]], open);
    if (count) {
      const double cost = costs[order[turn]];
      const double share = std::min(1.0, (done.fetch_add(cost) + cost) / all);
      count(static_cast<std::size_t>(std::lround(share * static_cast<double>(places.size()))),
            places.size());
    }
  });
  return rows;
}

std::vector<RunPrediction> marked(std::vector<RunPrediction> rows, const std::string& table) {
  for (auto& row : rows) {
    row.table = table;
    row.part += table;
  }
  return rows;
}

std::size_t row_of(const CsvTable& table, const std::string& id) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text_or_none(row, "id") == id) {
      return row;
    }
  }
  throw core::Error(core::SourceMark{table.file(), 0, 0, 1, ""},
                    fmt::format("the table has no row '{}'", core::shortened(id)));
}

RunSummary summarize(const std::vector<RunPrediction>& rows) {
  RunSummary summary;
  std::vector<double> errors;
  std::vector<double> widths;
  double covered = 0;
  for (const auto& row : rows) {
    if (!row.error) {
      summary.n_skipped += row.predicted ? 0 : 1;  // what was measured may be impossible
      continue;
    }
    errors.push_back(std::abs(*row.error));
    widths.push_back(row.low > 0 ? std::sqrt(row.high / row.low) - 1 : 0);
    covered += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  summary.n = errors.size();
  summary.median_abs_memory_error = median_memory_error(rows, summary.n_memory);
  if (errors.empty()) {
    return summary;
  }
  std::sort(errors.begin(), errors.end());
  std::sort(widths.begin(), widths.end());
  summary.median_half_width = core::quantile_of_sorted(widths, 0.5);
  const auto n = static_cast<double>(errors.size());
  const auto share_within = [&](double limit) {
    return static_cast<double>(std::upper_bound(errors.begin(), errors.end(), limit) -
                               errors.begin()) /
           n;
  };
  summary.median_abs_error = core::quantile_of_sorted(errors, 0.5);
  summary.p90_abs_error = core::quantile_of_sorted(errors, 0.9);
  double sum = 0;
  for (const double error : errors) {
    sum += error;
  }
  summary.mean_abs_error = sum / n;
  summary.within_5 = share_within(0.05);
  summary.within_10 = share_within(0.10);
  summary.coverage_90 = covered / n;
  return summary;
}

std::vector<std::pair<std::string, RunSummary>> summarize_by(const std::vector<RunPrediction>& rows,
                                                             std::string RunPrediction::*property) {
  std::map<std::string, std::vector<RunPrediction>> parts;
  for (const auto& row : rows) {
    parts[row.*property].push_back(row);
  }
  std::vector<std::pair<std::string, RunSummary>> summaries;
  for (const auto& [name, part] : parts) {
    summaries.emplace_back(name, summarize(part));
  }
  return summaries;
}

}  // namespace headway::validation
