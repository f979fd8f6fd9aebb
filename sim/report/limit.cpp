#include "sim/report/limit.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "sim/report/table.h"
#include "sim/report/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

using campaign::Account;
using core::Activity;

/// Below this share of compute, compute itself is named as the limit.
constexpr double kNegligible = 0.1;

std::string memory_sentence(const training::MemoryResult& memory) {
  if (memory.peak <= memory.capacity) {
    return fmt::format(
        "Memory forbids the plan: what is offloaded needs {} GiB of a host's {} GiB.",
        number(memory.host_peak / 1_GiB), number(memory.host_capacity / 1_GiB));
  }
  const auto& kind = memory.by_kind;
  const std::array<std::pair<const char*, core::Bytes>, 7> parts{
      {{"weights", kind.weights},
       {"gradients", kind.gradients},
       {"optimizer state", kind.optimizer},
       {"activations", kind.activations},
       {"logits", kind.logits},
       {"buffers", kind.buffers},
       {"slack", kind.slack}}};
  auto largest = parts[0];
  for (const auto& part : parts) {
    if (part.second > largest.second) {
      largest = part;
    }
  }
  return fmt::format(
      "Memory forbids the plan: stage {} needs {} GiB of a GPU's {} GiB, {} GiB of them for {}.",
      memory.peak_stage, number(memory.peak / 1_GiB), number(memory.capacity / 1_GiB),
      number(largest.second / 1_GiB), largest.first);
}

/// The largest part of the step that is not compute.
Activity largest_loss(const training::StepResult& step) {
  Activity largest = Activity::tensor;
  for (const auto& entry : core::enum_words(Activity{})) {
    if (entry.value != Activity::compute && step.breakdown[entry.value] > step.breakdown[largest]) {
      largest = entry.value;
    }
  }
  return largest;
}

/// The largest account of the ledger that failures and checkpoints cause.
Account largest_account(const campaign::Ledger& ledger) {
  Account largest = Account::lost;
  for (const auto& entry : campaign::enum_words(Account{})) {
    if (entry.value != Account::useful && entry.value != Account::spare_idle &&
        ledger[entry.value] > ledger[largest]) {
      largest = entry.value;
    }
  }
  return largest;
}

std::string step_sentence(const training::StepResult& step, double launch_share) {
  const Activity loss = largest_loss(step);
  const double share = step.breakdown[loss] / step.time;
  const double compute = step.breakdown[Activity::compute] / step.time;
  const std::string time = number(step.time.si());
  const double launches = launch_share * compute;
  if (launch_share >= kNegligible && launches > share) {
    return fmt::format(
        "The step is limited by the CPU's launches of kernels: they add {} % of {} s, beside {} % "
        "of "
        "compute on the GPU; the next part is {} ({} %).",
        number(100 * launches), time, number(100 * (compute - launches)), in_words(loss),
        number(100 * share));
  }
  if (share < kNegligible * compute) {
    return fmt::format("The step is limited by compute: {} % of {} s; the next part is {} ({} %).",
                       number(100 * compute), time, in_words(loss), number(100 * share));
  }
  return fmt::format("The step is limited by {}: {} % of {} s, beside {} % of compute.",
                     in_words(loss), number(100 * share), time, number(100 * compute));
}

}  // namespace

std::string limit_sentence(const training::StepResult& step,
                           const std::optional<campaign::CampaignResult>& campaign,
                           double launch_share) {
  if (!step.memory.fits) {
    return memory_sentence(step.memory);
  }
  const double step_loss = std::max(step.breakdown[largest_loss(step)] / step.time,
                                    launch_share * (step.breakdown[Activity::compute] / step.time));
  if (!campaign || 1 - campaign->ettr.mean <= step_loss) {
    return step_sentence(step, launch_share);
  }
  const Account account = largest_account(campaign->ledger);
  double active = 0;
  for (const auto& entry : campaign::enum_words(Account{})) {
    active += entry.value == Account::spare_idle ? 0 : campaign->ledger[entry.value];
  }
  return fmt::format(
      "The run is limited by interruptions: {} % of the wall clock is not useful, most of it {} "
      "({} %).",
      number(100 * (1 - campaign->ettr.mean)), in_words(account),
      number(active > 0 ? 100 * campaign->ledger[account] / active : 0));
}

}  // namespace headway::report
