// What `headway calibrate` says: the figures of a profile with their errors, and a profile against
// a log it did not see.
#pragma once

#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/study/profile/profile_comparison.h"
#include "sim/training/explain/anchor.h"

#include "calibrate/fit/profile.h"

namespace headway::report {

Table comparison_table(const study::ProfileComparison& comparison);
Document comparison_document(const study::ProfileComparison& comparison);
/// configs/schema/headway.calibrate-compare-1.json has its keys.
std::string comparison_json(const study::ProfileComparison& comparison);

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
