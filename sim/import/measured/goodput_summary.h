// Reads what ml-goodput-measurement tells of a job: the details of its calculator as JSON.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace headway::import {

/// Times of a whole job so far [s]. Zero: the file does not say.
struct GoodputSummary {
  double productive = 0;               ///< steps that count
  double elapsed = 0;                  ///< since the job's start
  double ideal_step = 0;               ///< a step, without unusual ones
  double steps = 0;                    ///< the highest step that counts
  double disruptions = 0;              ///< after which the job started again
  std::map<std::string, double> lost;  ///< by kind of badput, as "DATA_LOADING_SYNC"

  [[nodiscard]] double lost_to(const std::string& kind) const {
    const auto found = lost.find(kind);
    return found == lost.end() ? 0 : found->second;
  }
};

/// Whether the text is an object with `goodput_time`, `badput_time` and `total_elapsed_time`.
bool is_goodput_summary(std::string_view text);

/// Keys are those of `WorkloadMetricDetails` (AI-Hypercomputer/ml-goodput-measurement,
/// goodput_utils.py, 2026): `goodput_time`, `badput_time`, `max_productive_step`,
/// `total_elapsed_time`, `disruption_count`, `ideal_step_time`; kinds of time with or without the
/// name of their enumeration ("BadputType.DATA_LOADING_SYNC"), in any case; events of one's own are
/// an object, whose times are added up. Other keys are passed over.
/// @throws core::Error naming the key that is no time
GoodputSummary read_goodput_summary(std::string_view text, const std::string& file_name);

}  // namespace headway::import
