// The constants that are judged from published runs, fitted again: from all of them, and leaving
// out what a prediction should not have seen.
//
// A run's slopes are d log(prediction) / d log(constant) (judged_constants.h); a fit is a robust
// linear one on them (Huber, 5 %), of the errors that the program makes now. So a constant that is
// left out of its own source costs no simulation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/validation/training_runs.h"

namespace headway::validation {

/// A constant as all runs but those of one source have it, source by source.
struct FittedConstant {
  std::string name;
  double factor = 1;          ///< best of all runs / committed
  double standard_error = 0;  ///< relative, of the jackknife over sources
  int sources = 0;            ///< whose runs depend on it: a mean slope of 0.02 or more
  std::string decided_by;     ///< the source that moves it most when it is left out

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "the constant");
    v.figure("factor", factor, "1", "fitted to all runs / committed", core::positive);
    v.figure("standard_error", standard_error, "1",
             "relative standard error: jackknife over sources", core::non_negative);
    v.figure("sources", sources, "", "sources whose runs depend on it", core::non_negative);
    v.part("decided_by", decided_by, "the source that moves it most when it is left out");
  }
};
/// @param names  of the constants, in the order of the rows' slopes
std::vector<FittedConstant> fit_constants(const std::vector<RunPrediction>& rows,
                                          const std::vector<std::string>& names);

/// How well these rows fix the constants: the jackknife over the sources of the first table, and of
/// a constant that fewer than two sources depend on `kJudgedByOne` more.
ConstantCovariance constant_covariance(const std::vector<RunPrediction>& rows);

/// Standard deviation of the logarithm of a constant that no second source judges. Source: the
/// middle of the standard errors of the other shares and efficiencies, 6 to 13 %.
inline constexpr double kJudgedByOne = 0.1;

/// What a row belongs to when it is left out: its source, its framework, its GPU.
using GroupOf = std::function<std::string(const RunPrediction&)>;
std::string source_of(const RunPrediction& row);
std::string framework_of(const RunPrediction& row);
std::string gpu_of(const RunPrediction& row);

/// Rows that were predicted, but for AMD's and those of the layout sweep: each with constants that
/// were fitted without its group, in the interval of a program that never compared the group's
/// runs.
std::vector<RunPrediction> left_out(const std::vector<RunPrediction>& rows, const GroupOf& group);

/// Rows of a source that were compared, taken together by kind: what `load_compared_runs` reads.
std::vector<ComparedRuns> compared_runs(const std::vector<RunPrediction>& rows);

}  // namespace headway::validation
