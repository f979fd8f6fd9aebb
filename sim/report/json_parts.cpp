#include "sim/report/json_parts.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "sim/report/explain_report.h"

namespace headway::report {

namespace {

template <class Value, class Read>
Json by_activity(const core::ByActivity<Value>& values, const Read& read, bool with_waits) {
  Json out = Json::object();
  for (const auto& [activity, word] : core::enum_words(core::Activity{})) {
    if (with_waits || !core::waits_for_stage(activity)) {
      out[std::string(word)] = number_or_null(read(values[activity]));
    }
  }
  return out;
}

Json distribution_json(const campaign::Distribution& d) {
  return {{"p5", number_or_null(d.p5)},
          {"p50", number_or_null(d.p50)},
          {"p95", number_or_null(d.p95)},
          {"mean", number_or_null(d.mean)}};
}

/// 64-bit digests are text: JSON numbers of many readers hold only 53 bits.
std::string hexadecimal(std::uint64_t value) { return fmt::format("{:016x}", value); }

Json links_json(const std::vector<training::LinkUse>& links) {
  Json list = Json::array();
  for (const auto& use : links) {
    list.push_back({{"tier", use.tier},
                    {"mean", number_or_null(use.mean)},
                    {"busiest", number_or_null(use.busiest)}});
  }
  return list;
}

}  // namespace

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json step_json(const training::StepResult& step) {
  const auto seconds = [](core::Seconds t) { return t.si(); };
  return {{"time_s", number_or_null(step.time.si())},
          {"time_interval_s",
           {number_or_null(step.interval_low.si()), number_or_null(step.interval_high.si())}},
          {"tokens_per_s", number_or_null(step.tokens_per_s)},
          {"tokens_per_s_per_gpu", number_or_null(step.tokens_per_s_per_gpu)},
          {"mfu", number_or_null(step.mfu)},
          {"mfu_causal", number_or_null(step.mfu_causal)},
          {"hfu", number_or_null(step.hfu)},
          {"model_tflops_per_gpu", number_or_null(step.model_flops_per_gpu.si() / 1e12)},
          {"breakdown_s", by_activity(step.breakdown, seconds, true)},
          {"critical_path_s", by_activity(step.critical_path, seconds, false)},
          {"links", links_json(step.links)},
          {"event_digest", hexadecimal(step.event_digest)},
          {"result_digest", hexadecimal(step.result_digest)}};
}

Json memory_json(const training::MemoryResult& memory) {
  const auto& kind = memory.by_kind;
  return {{"fits", memory.fits},
          {"peak_bytes", number_or_null(memory.peak.si())},
          {"capacity_bytes", number_or_null(memory.capacity.si())},
          {"peak_stage", memory.peak_stage},
          {"by_kind_bytes",
           {{"weights", number_or_null(kind.weights.si())},
            {"gradients", number_or_null(kind.gradients.si())},
            {"optimizer", number_or_null(kind.optimizer.si())},
            {"activations", number_or_null(kind.activations.si())},
            {"logits", number_or_null(kind.logits.si())},
            {"buffers", number_or_null(kind.buffers.si())},
            {"slack", number_or_null(kind.slack.si())}}}};
}

namespace {

Json advice_json(const campaign::Advice& advice) {
  if (advice.interval_curve.empty() && advice.earlier_detection.empty()) {
    return nullptr;
  }
  Json curve = Json::array();
  for (const auto& point : advice.interval_curve) {
    curve.push_back({{"interval_s", number_or_null(point.interval.si())},
                     {"ettr", point.ettr ? number_or_null(*point.ettr) : Json(nullptr)},
                     {"exact", point.exact}});
  }
  Json earlier = Json::array();
  for (const auto& gain : advice.earlier_detection) {
    earlier.push_back({{"earlier_s", number_or_null(gain.earlier.si())},
                       {"ettr_gain", number_or_null(gain.ettr_gain)},
                       {"standard_error", number_or_null(gain.standard_error)},
                       {"days_saved", number_or_null(gain.days_saved)}});
  }
  return {{"interval_curve", curve},
          {"wait_target", number_or_null(advice.wait_target)},
          {"spares", advice.spares ? Json(*advice.spares) : Json(nullptr)},
          {"spares_exact", advice.spares_exact},
          {"earlier_detection", earlier}};
}

}  // namespace

Json campaign_json(const std::optional<campaign::CampaignResult>& campaign) {
  if (!campaign) {
    return nullptr;
  }
  Json ledger = Json::object();
  for (const auto& [account, word] : campaign::enum_words(campaign::Account{})) {
    ledger[std::string(word)] = number_or_null(campaign->ledger[account]);
  }
  return {
      {"trials", campaign->trials},
      {"wall_days", distribution_json(campaign->wall_days)},
      {"ettr", distribution_json(campaign->ettr)},
      {"goodput", distribution_json(campaign->goodput)},
      {"interruptions", distribution_json(campaign->interruptions)},
      {"ledger_gpu_s", ledger},
      {"replicas_hit", number_or_null(campaign->replicas_hit)},
      {"step_simulations", campaign->step_simulations},
      {"advice", advice_json(campaign->advice)},
      {"closed_form_ettr",
       campaign->closed_form_ettr ? number_or_null(*campaign->closed_form_ettr) : Json(nullptr)}};
}

Json cost_json(const std::optional<CostReport>& cost) {
  if (!cost) {
    return nullptr;
  }
  return {{"total_usd", distribution_json(cost->total_usd)},
          {"usd_per_million_tokens", number_or_null(cost->bill.usd_per_million_tokens)},
          {"usd_per_useful_gpu_hour", number_or_null(cost->bill.usd_per_useful_gpu_hour)},
          {"energy_kwh", number_or_null(cost->bill.energy.si() / 3.6e6)},
          {"price_source", cost->price_source}};
}

Json assumptions_json(const std::vector<training::Assumption>& assumptions) {
  Json out = Json::array();
  for (const auto& assumption : assumptions) {
    out.push_back({{"key", assumption.key}, {"value", assumption.value}, {"why", assumption.why}});
  }
  return out;
}

Json stage_advice_json(const training::StageAdvice& advice,
                       const workload::ParallelismSpec& layout) {
  return {{"stage", advice.stage},
          {"excess", number_or_null(advice.excess)},
          {"chunk_layers", advice.chunk_layers},
          {"step_time_s", number_or_null(advice.after.si())},
          {"sentence", training::sentence_of(advice, layout)}};
}

Json timing_json(const Timing& timing) {
  return {{"load_s", number_or_null(timing.load.si())},
          {"step_s", number_or_null(timing.step.si())},
          {"campaign_s", number_or_null(timing.campaign.si())},
          {"total_s", number_or_null(timing.total.si())},
          {"threads", timing.threads}};
}

Json run_object(const RunReport& report) {
  Json object = {{"schema", "headway.run/1"},
                 {"version", report.version},
                 {"status", core::to_word(report.status)},
                 {"reasons", report.reasons},
                 {"scenario",
                  {{"name", report.scenario.name},
                   {"digest", report.digest},
                   {"seed", report.scenario.run.seed}}},
                 {"step", step_json(report.step)},
                 {"memory", memory_json(report.step.memory)},
                 {"campaign", campaign_json(report.campaign)},
                 {"cost", cost_json(report.cost)},
                 {"limit", report.limit},
                 {"assumptions", assumptions_json(report.assumptions)},
                 {"warnings", report.warnings},
                 {"timing", timing_json(report.timing)}};
  if (report.stage_advice) {
    object["stage_advice"] = stage_advice_json(*report.stage_advice, report.scenario.parallelism);
  }
  if (report.explanation) {
    object["explanation"] = explanation_json(*report.explanation);
  }
  return object;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headway::report
