// What is known of the error of a prediction beside that of its machine: with which software on
// which GPU published runs were compared before, and how far they were off.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/model_constant.h"
#include "sim/core/result_fields.h"
#include "sim/import/csv.h"
#include "sim/training/scenario.h"
#include "sim/training/step/step_result.h"
#include "sim/validation/compared/flow_model.h"
#include "sim/validation/compared/judged_constants.h"

namespace headway::validation {

/// What runs are told apart by when they are compared.
struct RunKind {
  std::string framework;  ///< name of the profile
  std::string gpu;        ///< first word of the GPU's name: "H100"
  std::string precision;  ///< "16 bit", "8 bit", "4 bit" or "32 bit" operands
  bool mixture = false;   ///< of experts
  bool operator==(const RunKind&) const = default;
};
RunKind kind_of(const training::Scenario& scenario);

/// Runs of one source and kind that were compared.
struct ComparedRuns {
  RunKind kind;
  std::string source;
  int rows = 0;
  double median_error = 0;  ///< of |predicted / measured - 1|

  template <class V>
  void fields(V& v) const {
    v.part("framework", kind.framework, "profile of the software");
    v.part("gpu", kind.gpu, "GPU");
    v.part("precision", kind.precision, "width of the operands");
    v.part("model_kind", std::string(kind.mixture ? "mixture" : "dense"), "dense or mixture");
    v.part("source", source, "source of the runs");
    v.figure("rows", rows, "", "runs that were compared", core::non_negative);
    v.figure("median_abs_error", median_error, "1", "median of their absolute errors",
             core::non_negative);
  }
};

/// A table of the first of these configuration folders that has it (a user's own stands in place of
/// the program's); nothing where none has.
/// @throws core::Error if the file is no table
std::optional<import::CsvTable> first_table(const std::vector<std::filesystem::path>& roots,
                                            const std::string& name);

/// `validation/compared_runs.csv` of these configuration folders; none where there is no such file.
/// @throws core::Error if a figure in it cannot be read
std::vector<ComparedRuns> load_compared_runs(const std::vector<std::filesystem::path>& roots);

/// What is known of errors beside the simulation: which published runs were compared, how well they
/// fix the constants, and how far fluid flows are from packets.
struct KnownErrors {
  std::vector<ComparedRuns> runs;  ///< empty: the interval is that of the simulation
  ConstantCovariance constants;
  std::vector<FlowModelRow> flow_model = {};  ///< empty: packets widen no interval
  [[nodiscard]] bool empty() const { return runs.empty(); }
};

/// All three of these configuration folders.
/// @throws core::Error if a figure in them cannot be read
KnownErrors load_known_errors(const std::vector<std::filesystem::path>& roots);

/// Standard deviations of the logarithm of a step's time, to each side: software that nobody
/// compared is slower than its model more often than faster.
struct StepError {
  double slower = 0, faster = 0;
};

/// The part of the error that comparisons take away: of software and GPU together.
StepError unknown_error(const RunKind& kind, const std::vector<ComparedRuns>& compared);

/// The whole: that of machine, kernels and experts (training::relative_error), the above, and what
/// is not known of the constants.
/// @param slopes  of the scenario, from `constant_slopes`
StepError step_error(const training::Scenario& scenario,
                     const KnownErrors& known,
                     const std::vector<double>& slopes,
                     double further = 0);

/// The step's 90 % interval by that error.
void set_interval(const training::Scenario& scenario,
                  const KnownErrors& known,
                  training::StepResult& step);

/// The standard deviations above that were judged from published runs, for `headway catalog
/// constants`.
std::vector<core::ModelConstant> model_constants();

/// The 90 % interval of a step by this error, in place of that of the simulation.
void set_interval(const training::Scenario& scenario, StepError error, training::StepResult& step);

/// The comparisons that say most of a run of this kind, nearest first: of the same software and
/// GPU, then of the same software, then of the same GPU; runs of several sources are taken
/// together.
struct NearestRuns {
  RunKind kind;
  int sources = 0, rows = 0;
  double median_error = 0;  ///< mean of the sources' medians, by rows
};
std::vector<NearestRuns> nearest_runs(const RunKind& kind,
                                      const std::vector<ComparedRuns>& compared,
                                      std::size_t most = 3);

/// "3.0 % off in 40 runs of Megatron-Core on H100, 16 bit, dense (2 sources)"; or
/// that nothing of this software was compared.
std::vector<std::string> nearest_sentences(const RunKind& kind,
                                           const std::vector<ComparedRuns>& compared);

}  // namespace headway::validation
