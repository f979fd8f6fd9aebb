#include "sim/study/verdict/claim.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/study/words.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder.h"

namespace headway::study {

using namespace core::literals;

namespace {

/// Tokens of the claim, or of the run where the claim names none.
std::optional<double> claimed_tokens(const training::Scenario& scenario) {
  if (scenario.claim.tokens) {
    return scenario.claim.tokens;
  }
  return scenario.run.until ? scenario.run.until->tokens : std::nullopt;
}

/// Wall clock in which the prediction trains on `tokens`, interruptions included where they were
/// simulated.
core::Seconds predicted_wall(double tokens,
                             const training::StepResult& step,
                             const std::optional<campaign::CampaignResult>& campaign) {
  const double useful = campaign ? campaign->ettr.mean : 1;
  return core::Seconds(tokens / step.tokens_per_s / useful);
}

std::string possible_instead(const training::Scenario& scenario,
                             const training::StepResult& step,
                             const std::optional<campaign::CampaignResult>& campaign,
                             std::int64_t gpus,
                             core::Seconds predicted) {
  const core::Seconds wall = *scenario.claim.wall;
  const double node = scenario.cluster.node.gpus;
  const double needed = std::ceil(static_cast<double>(gpus) * (predicted / wall) / node) * node;
  return fmt::format(
      "Possible instead: {} days on these {} GPUs at the predicted MFU of {} %{}; {} days ask for "
      "{} GPUs at the same "
      "rate a GPU.",
      core::number(predicted / 1_days), core::count(static_cast<double>(gpus)),
      core::number(100 * headline_mfu(scenario, step)),
      campaign ? fmt::format(" and ETTR of {} %", percent_figures(campaign->ettr.mean)) : "",
      core::number(wall / 1_days), core::count(needed));
}

void check_wall(const training::Scenario& scenario,
                const training::StepResult& step,
                const std::optional<campaign::CampaignResult>& campaign,
                std::int64_t gpus,
                ClaimReport& out) {
  const auto tokens = claimed_tokens(scenario);
  if (!tokens) {
    out.remarks.emplace_back("The claim names a wall clock but no tokens; it was not checked.");
    return;
  }
  const core::Seconds wall = *scenario.claim.wall;
  const core::Seconds predicted = predicted_wall(*tokens, step, campaign);
  const RequiredRate rate = required_rate(scenario, *tokens, wall, gpus);
  out.comparisons.push_back({"wall clock [days]", wall / 1_days, predicted / 1_days});
  const core::FlopsPerSecond peak = training::mean_peak(scenario);
  const std::string needs = fmt::format(
      "{} tokens in {} days on {} GPUs need {} TFLOP/s a GPU by {} alone, {} % of the peak of {} "
      "TFLOP/s; {} % with "
      "attention at {} tokens",
      core::compact(*tokens), core::number(wall / 1_days), core::count(static_cast<double>(gpus)),
      core::number(rate.parameters_only.si() / 1e12),
      workload::all_trained(scenario.model) ? "6ND" : "(4N + 2 trained) D",
      core::number(100 * (rate.parameters_only / peak)), core::number(peak.si() / 1e12),
      core::number(100 * (rate.with_attention / peak)),
      core::count(scenario.training.sequence_length));
  if (rate.causal > peak) {
    out.impossible.push_back("The claim is impossible: " + needs + ".");
  } else if (predicted > wall) {
    out.remarks.push_back("The claim is missed: " + needs + ".");
  }
  if (predicted > wall) {
    out.remarks.push_back(possible_instead(scenario, step, campaign, gpus, predicted));
  }
}

}  // namespace

RequiredRate required_rate(const training::Scenario& scenario,
                           double tokens,
                           core::Seconds wall,
                           std::int64_t gpus) {
  const core::Seconds gpu_time = wall * static_cast<double>(gpus);
  const double parameters = workload::count_parameters(scenario.model).active;
  const auto token = workload::training_flops_per_token(
      scenario.model, scenario.training.sequence_length, workload::Recompute::none);
  // Forward and input gradients meet all weights, weight gradients those that are trained.
  const double trained = std::min(parameters, workload::trained_parameters(scenario.model));
  const bool runs = workload::runs_teacher(scenario.training);
  const double taught =
      runs ? 2 * workload::count_parameters(*scenario.training.distillation->teacher).active : 0;
  const auto forward = workload::teacher_flops_per_token(scenario.training);
  const core::Flops seen =
      workload::encoder_flops_per_token(scenario.model, scenario.training, {}).trained;
  const core::Flops full = token.mfu + forward.linear() + forward.core() + seen;
  const core::Flops halved = token.mfu_causal + forward.linear() + 0.5 * forward.core() + seen;
  return {core::Flops((4 * parameters + 2 * trained + taught) * tokens) / gpu_time,
          full * tokens / gpu_time, halved * tokens / gpu_time};
}

double headline_mfu(const training::Scenario& scenario, const training::StepResult& step) {
  const double attention =
      workload::attention_share(scenario.model, scenario.training.sequence_length);
  return attention > 1.0 / 3 ? step.mfu_causal : step.mfu;
}

ClaimReport check_claim(const training::Scenario& scenario,
                        const training::StepResult& step,
                        const std::optional<campaign::CampaignResult>& campaign,
                        std::int64_t gpus) {
  const auto& claim = scenario.claim;
  ClaimReport out;
  if (claim.tflops_per_gpu) {
    out.comparisons.push_back(
        {"model TFLOP/s a GPU", *claim.tflops_per_gpu, step.model_flops_per_gpu.si() / 1e12});
  }
  if (claim.mfu) {
    // Published figures count attention in full, as model_flops_per_gpu does; the halved form has
    // its own row above.
    out.comparisons.push_back({"MFU [%]", 100 * *claim.mfu, 100 * step.mfu});
  }
  if (claim.hfu) {
    out.comparisons.push_back({"HFU [%]", 100 * *claim.hfu, 100 * step.hfu});
  }
  if (claim.ettr && campaign) {
    out.comparisons.push_back({"ETTR [%]", 100 * *claim.ettr, 100 * campaign->ettr.mean});
  }
  if (claim.wall) {
    check_wall(scenario, step, campaign, gpus, out);
  }
  return out;
}

std::string published_in_general() {
  const auto median = [](const PublishedMedian& part) { return core::percent(part.error); };
  return fmt::format(
      "In general half of the predicted rates are within {} % of {} published ones of dense models "
      "and {} % of {} of mixtures of experts, where constants were fitted to the source; elsewhere "
      "within {} % of {} and {} % of {} (docs/validation.md). The rates that shipped scenarios "
      "quote are all predicted too fast, by 5 to 17 %.",
      median(kDenseRuns), kDenseRuns.rows, median(kMixtureRuns), kMixtureRuns.rows,
      median(kOtherDenseRuns), kOtherDenseRuns.rows, median(kOtherMixtureRuns),
      kOtherMixtureRuns.rows);
}

}  // namespace headway::study
