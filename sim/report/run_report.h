// Everything `headway run` has to say, as plain values: the last type of the pipeline, read by all
// printers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign/campaign.h"
#include "sim/core/fields.h"
#include "sim/training/explain/explain.h"
#include "sim/training/explain/stage_advice.h"
#include "sim/training/scenario.h"
#include "sim/training/step/step_result.h"

namespace headway::report {

enum class Status { ok, infeasible, assert_failed, incomplete };
constexpr auto enum_words(Status) {
  using E = core::EnumWord<Status>;
  return std::array{E{Status::ok, "ok"}, E{Status::infeasible, "infeasible"},
                    E{Status::assert_failed, "assert_failed"}, E{Status::incomplete, "incomplete"}};
}

/// What the scenario came to once `auto` was resolved.
struct Layout {
  std::int64_t gpus = 0;  ///< that train, spares not counted
  int data_parallel = 1;
  int micro_batches = 1;  ///< of one pipeline replica in a step
};

/// One published figure beside ours.
struct Comparison {
  std::string quantity;  ///< with its unit, as "MFU [%]"
  double published = 0;
  double predicted = 0;
  [[nodiscard]] double error() const { return predicted / published - 1; }
};

/// What became of the scenario's `claim:`.
struct ClaimReport {
  std::vector<Comparison> comparisons;
  std::vector<std::string> impossible;  ///< why physics forbids it; empty: it does not
  std::vector<std::string> remarks;     ///< a missed claim, and what is possible instead
};

/// Cost of the run over the trials.
struct CostReport {
  campaign::Distribution total_usd;
  price::Bill bill;          ///< of the mean usage
  std::string price_source;  ///< the price entry
};

/// How long the program itself took; the only part that varies between runs.
struct Timing {
  core::Seconds load, step, campaign, total;
  int threads = 1;
};

struct RunReport {
  std::string version;
  Status status = Status::ok;
  std::vector<std::string> reasons;  ///< why the status is not ok
  training::Scenario scenario;
  std::string digest;  ///< of the resolved input, the calibration and the program version
  Layout layout;
  training::StepResult step;
  std::optional<campaign::CampaignResult> campaign;
  std::optional<CostReport> cost;
  ClaimReport claim;
  std::optional<training::Explanation> explanation;   ///< where it was asked for
  std::optional<training::StageAdvice> stage_advice;  ///< where moving layers would help
  std::string limit;
  std::vector<training::Assumption> assumptions;
  std::vector<std::string> warnings;
  Timing timing;
};

}  // namespace headway::report
