// What `headway calibrate compare` asks: a calibration profile against a log it did not see.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/result_fields.h"
#include "sim/training/calibration_spec.h"

#include "calibrate/fit/samples.h"

namespace headway::study {

/// One size: what the profile predicts and what was measured (mean of the samples).
struct ProfileRow {
  core::Bytes bytes;
  core::Seconds predicted, measured;
  core::BytesPerSecond predicted_bus_bandwidth, measured_bus_bandwidth;
  /// predicted / measured - 1
  [[nodiscard]] double error() const { return predicted / measured - 1; }

  template <class V>
  void fields(V& v) const {
    v.figure("message_bytes", bytes, "B", "size of the message", core::non_negative);
    v.figure("predicted_s", predicted, "s", "by the profile's curve", core::non_negative);
    v.figure("measured_s", measured, "s", "mean of the log's samples", core::non_negative);
    v.figure("predicted_bus_bytes_per_s", predicted_bus_bandwidth, "B/s", "bus bandwidth",
             core::non_negative);
    v.figure("measured_bus_bytes_per_s", measured_bus_bandwidth, "B/s", "bus bandwidth",
             core::non_negative);
    v.figure("error", core::if_finite(error()), "1", "predicted / measured - 1");
  }
};

/// Errors of a comparison taken together.
struct ProfileErrors {
  std::size_t n = 0, n_large = 0;
  std::optional<double> median_abs_error, median_abs_error_large;

  template <class V>
  void fields(V& v) const {
    v.figure("n", n, "", "sizes", core::non_negative);
    v.figure("median_abs_error", median_abs_error, "1", "median of the absolute error",
             core::non_negative);
    v.figure("n_large", n_large, "", "sizes of 1 MiB and more", core::non_negative);
    v.figure("median_abs_error_large", median_abs_error_large, "1", "of these", core::non_negative);
  }
};

struct ProfileComparison {
  std::string profile, log;
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  int ranks = 0, ranks_per_node = 0;
  std::vector<ProfileRow> rows;  ///< rising in size

  [[nodiscard]] ProfileErrors errors() const;

  template <class V>
  void fields(V& v) const {
    v.part("version", HEADWAY_VERSION, "of the program");
    v.part("profile", profile, "the calibration profile");
    v.part("log", log, "that it is compared with");
    v.part("collective", kind, "of the log");
    v.figure("ranks", ranks, "", "of the log", core::non_negative);
    v.figure("ranks_per_node", ranks_per_node, "", "of the log", core::non_negative);
    v.part("rows", rows, "one a size");
    v.part("summary", errors(), "Over the sizes.");
  }
};

/// Lays the curve of the samples' collective and group beside them.
/// @param samples  of one collective over one group, as `fit::from_nccl_tests` gives them
/// @param log      name of the file, for messages and headings
/// @throws core::Error naming the curves there are, if the profile has none of this group
ProfileComparison compare_profile(const training::CalibrationSpec& profile,
                                  const std::vector<fit::Sample>& samples,
                                  const std::string& log);

/// "all_reduce over 16 ranks, 8 a node"
std::string group_words(core::CollectiveKind kind, int ranks, int ranks_per_node);

}  // namespace headway::study
