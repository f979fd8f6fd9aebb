// Measurements of other programs as samples, so that nothing must be measured twice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/import/csv.h"
#include "sim/import/measured/fio_json.h"
#include "sim/import/measured/nccl_tests_log.h"
#include "sim/import/measured/torch_profiler.h"

#include "calibrate/fit/samples.h"

namespace headway::fit {

/// What the files may leave unsaid.
struct ImportHints {
  std::optional<core::CollectiveKind> collective;
  int ranks = 0, ranks_per_node = 0;  ///< 0: not given
  /// Whoever asks has the options --collective, --ranks and --ranks-per-node for what a file leaves
  /// unsaid.
  bool options = true;
};

struct ImportedSamples {
  SampleSet set;
  std::vector<std::string> remarks;  ///< what was guessed or left out
};

/// "all_reduce", "alltoall_perf", "sendrecv", ...: our word or that of nccl-tests.
std::optional<core::CollectiveKind> collective_of(std::string_view word);

/// Both placements of a row are samples of their own. The collective is the hint's, else that of
/// the program's name, else of those whose ratio of bus to algorithm bandwidth fits the only one
/// that reduces as the rows do, or that the file's name has ("all_gather-n1-n2.log").
/// @throws core::Error if collective or ranks are neither stated nor hinted at, or contradict
ImportedSamples from_nccl_tests(const import::NcclTestsLog& log,
                                const std::string& file_name,
                                const ImportHints& hints);

/// One sample a direction of a job; a job that went through the page cache is named in a remark.
ImportedSamples from_fio(const std::vector<import::FioTiming>& timings,
                         const std::string& file_name);

/// Columns dtype, m, n, k, time_us (as public GEMM tables have them); others are passed over.
/// @throws core::Error naming every line with an unknown type or a cell that is no positive number
ImportedSamples from_gemm_csv(const import::CsvTable& table);

/// GEMMs by their median launch; collectives by their fastest tenth, since a kernel of NCCL also
/// waits for the last rank.
ImportedSamples from_torch_profile(const import::TorchProfile& profile,
                                   const std::string& file_name,
                                   const ImportHints& hints);

}  // namespace headway::fit
