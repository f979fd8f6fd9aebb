// How quantities of a run are called in sentences and tables.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/campaign/result.h"
#include "sim/core/activity.h"
#include "sim/study/run_report.h"

namespace headway::study {

/// "12.3 s", "12 min 30 s", "3 h 05 min".
std::string elapsed(core::Seconds time);

/// As in "the step is limited by ...".
std::string_view in_words(core::Activity activity);
std::string_view in_words(campaign::Account account);

/// A part of a bill, by its place in a result (price/bill.h).
struct BillPart {
  std::string_view path, words;
};
inline constexpr std::array kBillParts{
    BillPart{"cost.gpus_usd", "GPUs"}, BillPart{"cost.spares_usd", "spares"},
    BillPart{"cost.storage_usd", "checkpoint storage"},
    BillPart{"cost.electricity_usd", "electricity"}, BillPart{"cost.bring_up_usd", "bring-up"}};

/// A share as per cent with three significant figures, as "8.69"; less than all of it never reads
/// 100, as of `core::percent`.
std::string percent_figures(double share);

/// What timed a step by packets, and how far it is from the fluid step.
std::string in_words(const training::PacketStep& packets);

/// What was asked: the model with its batch, the cluster, the layout; a sentence each.
std::vector<std::string> asked_in_words(const training::Scenario& scenario, const Layout& layout);

}  // namespace headway::study
