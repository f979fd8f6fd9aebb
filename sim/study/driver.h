// The one road of every question: checked scenario -> step -> campaign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <oneapi/tbb/global_control.h>
#include <optional>
#include <string_view>

#include "sim/campaign/campaign.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

namespace headway::study {

struct DriverOptions {
  int threads = 0;        ///< 0: all cores; no result depends on it
  bool fold = true;       ///< simulate classes of equal ranks; no result depends on it
  bool trace = false;     ///< the critical path too
  bool pictures = false;  ///< what is drawn of a run too
  std::optional<training::PacketsOfStep> packets{};  ///< time steps by packets; threads as above
  /// Under ecmp, further hashes that the interval of a step covers; 0 where no interval is printed.
  int hash_draws = training::StepOptions{}.hash_draws;
  const campaign::KnownTrials* known = nullptr;  ///< as in CampaignOptions
  /// Told what begins now, and how many of its parts are done (by several threads); may be empty.
  std::function<void(std::string_view phase)> phase{};
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

/// Simulates steps and campaigns, each distinct step once; as long as it lives, no more threads
/// than it was given run.
class Driver {
 public:
  explicit Driver(const DriverOptions& options);

  /// The healthy step.
  /// A step that physics forbids is our own fault.
  const training::StepResult& step(const training::CheckedScenario& checked);

  /// The run on that step; nothing without `run.until`.
  std::optional<campaign::CampaignOutcome> campaign(const training::CheckedScenario& checked);

  [[nodiscard]] int threads() const { return threads_; }
  /// Distinct steps so far.
  [[nodiscard]] std::int64_t step_simulations() const {
    return static_cast<std::int64_t>(steps_.size());
  }

 private:
  struct KnownStep {
    training::Scenario asked;  ///< without what a step does not depend on
    training::StepResult result;
  };

  DriverOptions options_;
  int threads_;
  tbb::global_control limit_;
  std::deque<KnownStep> steps_;  ///< few, so that they are looked through; they stay in place
};

}  // namespace headway::study
