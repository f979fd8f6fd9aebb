// The campaign simulation: days to months of training, with failures and checkpoints.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/campaign/pictures.h"
#include "sim/campaign/result.h"
#include "sim/campaign/trial_source.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::campaign {

struct CampaignOptions {
  int threads = 0;     ///< 0: all cores; the result does not depend on it
  bool advice = true;  ///< ask how often to save, how many spares to hold, what detection is worth
  bool pictures = false;               ///< fill CampaignOutcome::pictures
  const KnownTrials* known = nullptr;  ///< all trials, where they were simulated before
  /// Told what begins now, and how many of its parts are done (by several threads); may be empty.
  std::function<void(std::string_view phase)> phase{};
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

/// Campaign and, where prices are given, its bill a trial.
struct CampaignOutcome {
  CampaignResult result;
  std::optional<Distribution> total_usd;
  std::optional<price::Bill> mean_bill;  ///< of all trials
  std::vector<training::Assumption> assumptions;
  std::vector<std::string> warnings;
  std::optional<CampaignPictures> pictures;  ///< where they were asked for
};

/// @param checked  must have run.until
/// @param step     the healthy step
CampaignOutcome simulate_campaign(const training::CheckedScenario& checked,
                                  const training::StepResult& step,
                                  const CampaignOptions& options = {});

}  // namespace headway::campaign
