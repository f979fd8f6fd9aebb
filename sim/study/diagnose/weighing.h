// How likely the figures of the logs are if a hypothesis holds.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/diagnose/cause.h"
#include "sim/study/diagnose/likelihood.h"
#include "sim/study/evidence/evidence.h"

namespace headway::study {

/// One hypothesis come true.
struct Trial {
  Hypothesis hypothesis;
  std::optional<Imagined> imagined;  ///< none: it cannot be simulated
  std::vector<double> figures;       ///< one an observation
  double log_likelihood = 0;
  std::string reason;  ///< why not
};

/// A severity of a cause: simulated, or between two that are.
struct Severity {
  Hypothesis hypothesis;
  std::vector<double> figures;  ///< one an observation
  double mean_step = 0;         ///< [s]
  double weight = 1;            ///< how much of the cause's severities it stands for
};

/// Weighs figures that a hypothesis foretells beside those of the logs.
class Weighing {
 public:
  /// @param kernel_error  of the speed of all kernels together, relative
  Weighing(const Laboratory& laboratory, const Evidence& evidence, double kernel_error);

  [[nodiscard]] const Evidence& evidence() const { return evidence_; }
  [[nodiscard]] const Laboratory& laboratory() const { return laboratory_; }
  /// Of the sound job, one an observation.
  [[nodiscard]] const std::vector<double>& healthy() const { return healthy_; }

  /// What an imagined job shows, one figure an observation.
  /// @param count  told how many are predicted; may be empty
  [[nodiscard]] std::vector<double> figures_of(const Imagined& imagined,
                                               const Hypothesis& hypothesis,
                                               const core::Count& count = {}) const;
  /// @param figures  predicted, one an observation
  [[nodiscard]] double log_likelihood_of(const std::vector<double>& figures,
                                         const Hypothesis& hypothesis) const;
  /// Of something that is not listed, which may move any figure.
  [[nodiscard]] double log_likelihood_of_unlisted() const;
  /// 90 % interval of what the log may show of an observation, if `figure` is predicted of it.
  [[nodiscard]] std::array<double, 2> interval_of(std::size_t observation,
                                                  double figure,
                                                  const Hypothesis& hypothesis) const;

  /// All severities of a cause: of those simulated and, where others are possible between two of
  /// them, what lies between, `steps` to each pair. Figures lie evenly between their neighbours'.
  /// @param trials  of one cause, those of a place in the order of their severity
  [[nodiscard]] std::vector<Severity> severities_of(const std::vector<const Trial*>& trials,
                                                    int steps) const;

 private:
  [[nodiscard]] double scale_of(Feature feature) const;
  /// The mean over whether each witness that may be doubted, from `doubt` on, is of what is
  /// predicted, or of something else.
  [[nodiscard]] double log_likelihood_in_doubt(std::vector<Residual> residuals,
                                               std::size_t doubt) const;
  [[nodiscard]] Residual residual(const Observation& observation,
                                  double figure,
                                  const Hypothesis& hypothesis) const;

  const Laboratory& laboratory_;
  const Evidence& evidence_;
  double kernel_error_;
  std::vector<double> healthy_;
};

}  // namespace headway::study
