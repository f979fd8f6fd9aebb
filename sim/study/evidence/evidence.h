// What logs say of a job, as figures that a simulation has too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/study/evidence/feature.h"
#include "sim/study/evidence/pause_witness.h"
#include "sim/training/check.h"

namespace headway::study {

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
  double rounding = 0;       ///< of a spread: what the log's rounding of each figure adds to it
  bool holds_input = false;  ///< of a forward pass: the timer runs while it waits for its input
};

/// One file to read.
struct LogFile {
  std::string name, text;
};

/// What the files say together.
struct Evidence {
  std::vector<Observation> observations;
  std::optional<std::int64_t> pause_period;  ///< steps between pauses, where these are regular
  PauseWitness pauses;                       ///< what these are
  bool slowed_midway = false;           ///< steps are slower than they once were in the same run
  bool saves_are_timed = false;         ///< by lines of their own: steps leave them out
  std::string slowest_gpu;              ///< "node7 GPU 3": lowest clock of those watched
  std::vector<std::string> nodes;       ///< named by files, sorted
  std::vector<std::string> wrong_data;  ///< that collectives moved: a fault whatever it costs
  std::vector<std::string> unfinished;  ///< tests of collectives that came to no end, and how
  std::vector<std::string> findings;    ///< that no single figure says: of a log's steps on the
                                        ///< way (a restart, a change, a trend)
  std::vector<std::string> remarks;     ///< what was left out or taken
};

/// Reads each file by what it holds: a training log, a log or report of nccl-tests, a trace of
/// torch.profiler, a monitor's table, details of ml-goodput-measurement.
/// @param checked  the job that they are of
/// @throws core::Error naming the file that is none of these, or the line that cannot be read
Evidence read_evidence(const training::CheckedScenario& checked, const std::vector<LogFile>& files);

}  // namespace headway::study
