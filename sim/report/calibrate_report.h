// What `headway calibrate` says: the figures of a profile with their errors, and a profile against
// a log it did not see.
#pragma once

#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/report/table.h"
#include "sim/training/calibration_spec.h"
#include "sim/training/explain/anchor.h"

#include "calibrate/fit/profile.h"
#include "calibrate/fit/samples.h"

namespace headway::report {

/// One size: what the profile predicts and what was measured (mean of the samples).
struct ProfileRow {
  core::Bytes bytes;
  core::Seconds predicted, measured;
  core::BytesPerSecond predicted_bus_bandwidth, measured_bus_bandwidth;
  /// predicted / measured - 1
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

struct ProfileComparison {
  std::string profile, log;
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  int ranks = 0, ranks_per_node = 0;
  std::vector<ProfileRow> rows;  ///< rising in size
};

/// Lays the curve of the samples' collective and group beside them.
/// @param samples  of one collective over one group, as `fit::from_nccl_tests` gives them
/// @param log      name of the file, for messages and headings
/// @throws core::Error naming the curves there are, if the profile has none of this group
ProfileComparison compare_profile(const training::CalibrationSpec& profile,
                                  const std::vector<fit::Sample>& samples,
                                  const std::string& log);

Table comparison_table(const ProfileComparison& comparison);
Document comparison_document(const ProfileComparison& comparison);
/// configs/schema/headway.calibrate-compare-1.json has its keys.
std::string comparison_json(const ProfileComparison& comparison);

/// Every figure with its standard and leave-one-out error, then the remarks.
Document profile_document(const fit::Profile& profile);

/// A step before and after a profile was anchored.
struct AnchoredStep {
  std::string scenario;
  core::Seconds before, after;
};

/// What one measured step did: to the scenario it was measured on (the first), and to the others.
/// @param measured  the step that was matched
Document anchor_document(const training::StepAnchor& anchor,
                         core::Seconds measured,
                         const std::vector<AnchoredStep>& steps);

}  // namespace headway::report
