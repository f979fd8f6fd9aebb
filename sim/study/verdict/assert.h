// The conditions a scenario may state about its own result: `assert: ["step.mfu > 0.38"]`.
#pragma once

#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/study/run_report.h"

namespace headway::study {

/// One condition, `path operator number`.
struct Assertion {
  std::string text;  ///< as written
  std::string path;  ///< of the JSON result, as "campaign.ettr.p50" or "step.time_interval_s[0]"
  std::string comparison;  ///< > >= < <= == !=
  double number = 0;       ///< `true` and `false` are 1 and 0

  bool operator==(const Assertion&) const = default;
};

/// Reads all conditions, so that a slip of the pen is found before anything is simulated.
/// @throws core::Error with every condition that is none, or whose path no result has
std::vector<Assertion> parse_assertions(const std::vector<std::string>& texts,
                                        const core::SourceMarks& marks = {});

/// Behind "no such figure": the path that was meant by one that no result has ('mfu': 'step.mfu'),
/// or where all are listed.
std::string meant_figure(const std::string& path);

/// Whether a value keeps a condition.
bool holds(double value, const Assertion& condition);

/// A figure with as many digits as it takes to see that it keeps a condition, or does not.
std::string judged_number(double value, const Assertion& condition);

/// The part of a scenario without which no run has this figure: `run.until`, `run.prices`; empty
/// where the scenario has what it takes, or no part is known to be missing.
std::string missing_part(std::string_view path, const training::Scenario& scenario);

/// Which conditions do not hold, as sentences with the value found; empty if all hold.
/// A value that this result lacks (no campaign, no cost) fails its condition.
std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunReport& report);

}  // namespace headway::study
