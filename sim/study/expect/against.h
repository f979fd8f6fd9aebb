// Measured figures beside thresholds: `headway expect --against`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/study/expect/expect.h"

namespace headway::study {

/// One file of measured figures.
struct MeasuredFile {
  std::string name;
  std::string text;
};

/// Holds the figures of the files to thresholds: verdicts, nodes, status and reasons of the report.
/// A training log (import::read_training_log) gives its median step; else a file whose name ends in
/// .csv is a table, one in .json nccl-tests' own report, any other what
/// nccl-tests prints. Rows of nccl-tests that are no thresholds (`is_threshold`) are passed over.
///
/// Columns of a table: `measure` (a word of `Measure`) and `value` with its unit ("452 GB/s",
/// "6.4 s", "610 TFLOP/s"; tokens a second and GPU without); where they apply `nodes` (names,
/// separated by blanks), `collective`, `gpus`, `gpus_per_node`, `size` ("1G") and `shape` (as the
/// table of thresholds has it).
/// @throws core::Error naming file and line of what cannot be read or has no threshold
void hold_against(const config::LoadedScenario& loaded,
                  const std::vector<MeasuredFile>& files,
                  ExpectReport& report);

}  // namespace headway::study
