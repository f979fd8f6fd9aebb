// What logs say of a job, as figures that a simulation has too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/fields.h"
#include "sim/training/check.h"

namespace headway::study {

/// A figure that tells causes apart.
enum class Feature : std::uint8_t {
  step_time,
  spread,
  pauses,
  regularity,
  forward,
  backward,
  rank_ratio,
  stage_waits,
  data,
  optimizer,
  input,
  memory,
  reserved_memory,
  bus_bandwidth,
  clock_ratio,
  power,
  products,
  save,
  load
};
constexpr auto enum_words(Feature) {
  using E = core::EnumWord<Feature>;
  return std::array{E{Feature::step_time, "step_time"},
                    E{Feature::spread, "spread"},
                    E{Feature::pauses, "pauses"},
                    E{Feature::regularity, "regularity"},
                    E{Feature::forward, "forward"},
                    E{Feature::backward, "backward"},
                    E{Feature::rank_ratio, "rank_ratio"},
                    E{Feature::stage_waits, "stage_waits"},
                    E{Feature::data, "data"},
                    E{Feature::optimizer, "optimizer"},
                    E{Feature::input, "input"},
                    E{Feature::memory, "memory"},
                    E{Feature::reserved_memory, "reserved_memory"},
                    E{Feature::bus_bandwidth, "bus_bandwidth"},
                    E{Feature::clock_ratio, "clock_ratio"},
                    E{Feature::power, "power"},
                    E{Feature::products, "products"},
                    E{Feature::save, "save"},
                    E{Feature::load, "load"}};
}

/// What a feature is: "median step".
std::string_view in_words(Feature feature);
/// Unit of its figures: "s", "B", "B/s", "W"; "1" of ratios and shares.
std::string_view unit_of(Feature feature);
/// A figure as people read it: "1.71 s", "51 GB", "4.2 %".
std::string shown(Feature feature, double figure);

/// Whether ratios of it are compared (times, rates); else differences (shares of the step).
bool is_ratio(Feature feature);

/// A call of nccl-tests that was measured.
struct MeasuredCall {
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  int gpus = 0, per_node = 0;
  std::vector<std::uint64_t> sizes;  ///< [B]
};

/// One figure of the logs.
struct Observation {
  Feature feature = Feature::step_time;
  std::string source;  ///< file
  double measured = 0;
  double noise = 0;  ///< its standard error: of the logarithm of a ratio, else of the figure
  std::optional<MeasuredCall> call = {};  ///< of a bus bandwidth; `measured` is [B/s]
  std::vector<std::string> nodes = {};    ///< that it is of, where the file names them
  double rounding = 0;  ///< of a spread: what the log's rounding of each figure adds to it
};

/// One file to read.
struct LogFile {
  std::string name, text;
};

/// What the files say together.
struct Evidence {
  std::vector<Observation> observations;
  std::optional<std::int64_t> pause_period;  ///< steps between pauses, where these are regular
  bool saves_are_timed = false;              ///< by lines of their own: steps leave them out
  std::string slowest_gpu;                   ///< "node7 GPU 3": lowest clock of those watched
  std::vector<std::string> nodes;            ///< named by files, sorted
  std::vector<std::string> wrong_data;       ///< that collectives moved: a fault whatever it costs
  std::vector<std::string> remarks;          ///< what was left out or taken
};

/// Reads each file by what it holds: a training log, a log or report of nccl-tests, a trace of
/// torch.profiler, a monitor's table, details of ml-goodput-measurement.
/// @param checked  the job that they are of
/// @throws core::Error naming the file that is none of these, or the line that cannot be read
Evidence read_evidence(const training::CheckedScenario& checked, const std::vector<LogFile>& files);

}  // namespace headway::study
