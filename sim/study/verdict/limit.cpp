#include "sim/study/verdict/limit.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "sim/core/text.h"
#include "sim/study/words.h"

namespace headway::study {

using namespace core::literals;

namespace {

using campaign::Account;
using core::Activity;

/// From this share on compute itself is the limit.
constexpr double kMostlyCompute = 0.5;

std::string memory_sentence(const training::MemoryResult& memory) {
  if (memory.peak <= memory.capacity) {
    return fmt::format(
        "Memory forbids the plan: what is offloaded needs {} GiB of a host's {} GiB.",
        core::number(memory.host_peak / 1_GiB), core::number(memory.host_capacity / 1_GiB));
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
      memory.peak_stage, core::number(memory.peak / 1_GiB), core::number(memory.capacity / 1_GiB),
      core::number(largest.second / 1_GiB), largest.first);
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

/// Accounts that failures and checkpoints cause.
bool interrupts(Account account) {
  return account != Account::useful && account != Account::spare_idle && account != Account::input;
}

/// The largest of them.
Account largest_account(const campaign::Ledger& ledger) {
  Account largest = Account::lost;
  for (const auto& entry : campaign::enum_words(Account{})) {
    if (interrupts(entry.value) && ledger[entry.value] > ledger[largest]) {
      largest = entry.value;
    }
  }
  return largest;
}

/// A part of a whole and its share.
struct Part {
  std::string_view what;
  double share = 0;
  std::string most{};  ///< of what most of it is, as ", 60.0 % of that restarts"
};

std::string sentence(const char* what, const std::string& whole, double compute, const Part& loss) {
  const std::string of_compute = percent_figures(compute);
  const std::string of_loss = percent_figures(loss.share);
  if (compute >= kMostlyCompute) {
    return fmt::format("The {} is limited by compute: {} % of {}; the largest loss is {} ({} %{}).",
                       what, of_compute, whole, loss.what, of_loss, loss.most);
  }
  return fmt::format("The {} is limited by {}: {} % of {}{}; compute has {} %.", what, loss.what,
                     of_loss, whole, loss.most, of_compute);
}

std::string step_sentence(const training::StepResult& step) {
  const Activity loss = largest_loss(step);
  return sentence("step", core::number(step.time.si()) + " s",
                  step.breakdown[Activity::compute] / step.time,
                  {in_words(loss), step.breakdown[loss] / step.time});
}

std::string run_sentence(const training::StepResult& step,
                         const campaign::CampaignResult& campaign) {
  const Account account = largest_account(campaign.ledger);
  const double input = campaign.ledger[Account::input];
  double lost = 0;
  for (const auto& entry : campaign::enum_words(Account{})) {
    lost += interrupts(entry.value) ? campaign.ledger[entry.value] : 0;
  }
  // Of what is not useful: ETTR is a mean of shares, the ledger a mean of times.
  const double fed = lost + input > 0 ? lost / (lost + input) : 1;
  const double loss = 1 - campaign.ettr.mean;
  const double compute = campaign.ettr.mean * (step.breakdown[Activity::compute] / step.time);
  if (input > lost) {
    return sentence("run", "the wall clock", compute, {in_words(Account::input), loss * (1 - fed)});
  }
  const double share = lost > 0 ? campaign.ledger[account] / lost : 0;
  return sentence("run", "the wall clock", compute,
                  {"interruptions", loss * fed,
                   fmt::format(", {} % of that {}", core::number(100 * share), in_words(account))});
}

}  // namespace

std::string limit_sentence(const training::StepResult& step,
                           const std::optional<campaign::CampaignResult>& campaign) {
  if (!step.memory.fits) {
    return memory_sentence(step.memory);
  }
  const double step_loss = step.breakdown[largest_loss(step)] / step.time;
  const bool interrupted = campaign && 1 - campaign->ettr.mean > campaign->ettr.mean * step_loss;
  return interrupted ? run_sentence(step, *campaign) : step_sentence(step);
}

}  // namespace headway::study
