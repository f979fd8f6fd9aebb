// JSON of the parts that several results share: step, memory, campaign, cost. Private to the room.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "sim/campaign/result.h"
#include "sim/report/run_report.h"
#include "sim/training/step/step_result.h"

namespace headway::report {

using Json = nlohmann::ordered_json;

/// The number, or null if it is not finite.
Json number_or_null(double value);
/// The number, or null where there is none.
inline Json or_null(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}
Json step_json(const training::StepResult& step);
Json memory_json(const training::MemoryResult& memory);
/// null where there is none.
Json campaign_json(const std::optional<campaign::CampaignResult>& campaign);
Json cost_json(const std::optional<CostReport>& cost);
Json assumptions_json(const std::vector<training::Assumption>& assumptions);
Json stage_advice_json(const training::StageAdvice& advice,
                       const workload::ParallelismSpec& layout);
Json timing_json(const Timing& timing);
/// The whole result of a run, keys in the order of the contract.
Json run_object(const RunReport& report);

/// Text of an object: indented by two, one newline at the end; bytes that are no UTF-8 are
/// replaced.
std::string dump(const Json& json);

}  // namespace headway::report
