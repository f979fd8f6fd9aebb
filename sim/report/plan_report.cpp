#include "sim/report/plan_report.h"

#include <chrono>
#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include "sim/report/definitions.h"
#include "sim/report/json_parts.h"
#include "sim/report/limit.h"
#include "sim/report/predict.h"

namespace headway::report {

using namespace core::literals;

namespace {

Json layout_json(const plan::Plan& plan) {
  const auto& p = plan.layout;
  return {{"tensor", p.tensor},
          {"pipeline", p.pipeline},
          {"virtual", p.virtual_stages},
          {"context", p.context},
          {"expert", p.expert},
          {"data", p.data.value.value_or(1)},
          {"sharding", core::to_word(p.sharding)},
          {"micro_batch", p.micro_batch},
          {"micro_batches", plan.micro_batches},
          {"schedule", core::to_word(p.schedule)},
          {"recompute", core::to_word(p.recompute)},
          {"first_stage_layers", p.first_stage_layers},
          {"last_stage_layers", p.last_stage_layers}};
}

std::optional<CostReport> cost_of(const plan::Plan& plan, const std::string& source) {
  if (!plan.campaign || !plan.campaign->total_usd || !plan.campaign->mean_bill) {
    return std::nullopt;
  }
  return CostReport{*plan.campaign->total_usd, *plan.campaign->mean_bill, source};
}

Json plan_object(const plan::Plan& plan, int gpus_per_node, const std::string& price_source) {
  std::optional<campaign::CampaignResult> campaign;
  if (plan.campaign) {
    campaign = plan.campaign->result;
  }
  const bool estimated = plan.estimate.si() > 0;
  return {{"nodes", plan.nodes},
          {"gpus", std::int64_t{plan.nodes} * gpus_per_node},
          {"pareto", plan.pareto},
          {"estimated_step_s", estimated ? Json(plan.estimate.si()) : Json(nullptr)},
          {"layout", layout_json(plan)},
          {"step", step_json(plan.step)},
          {"memory", memory_json(plan.step.memory)},
          {"campaign", campaign_json(campaign)},
          {"cost", cost_json(cost_of(plan, price_source))}};
}

Table plans_table(const PlanReport& report) {
  Table table{fmt::format("The {} best plans by {}; * on the Pareto front of time and money",
                          report.result.plans.size(), core::to_word(report.objective)),
              {{"front", false},
               {"GPUs"},
               {"tensor"},
               {"pipeline"},
               {"virtual"},
               {"data"},
               {"micro-batch"},
               {"schedule", false},
               {"recompute", false},
               {"step [s]"},
               {"MFU [%]"},
               {"memory [GiB]"},
               {"wall, p50 [days]"},
               {"cost, p50 [USD]"}},
              {},
              false};
  for (const auto& plan : report.result.plans) {
    const auto& p = plan.layout;
    const auto cost = cost_of(plan, "");
    table.rows.push_back(
        {plan.pareto ? "*" : "",
         count(static_cast<double>(plan.nodes) * report.scenario.cluster.node.gpus),
         count(p.tensor), count(p.pipeline), count(p.virtual_stages),
         count(p.data.value.value_or(1)), count(p.micro_batch),
         std::string(core::to_word(p.schedule)), std::string(core::to_word(p.recompute)),
         number(plan.step.time.si()), percent(plan.step.mfu), number(plan.step.memory.peak / 1_GiB),
         plan.campaign ? number(plan.campaign->result.wall_days.p50) : "-",
         cost ? number(cost->total_usd.p50) : "-"});
  }
  return table;
}

Table rejected_table(const plan::PlanResult& result) {
  Table table{"Layouts left out", {{"class", false}, {"reason", false}, {"layouts"}}, {}, true};
  double total = 0;
  for (const auto& entry : result.rejected) {
    total += static_cast<double>(entry.count);
    table.rows.push_back({entry.kind, entry.reason, count(static_cast<double>(entry.count))});
  }
  table.rows.push_back({"total", "", count(total)});
  return table;
}

Json fields_json(const std::vector<plan::SearchedField>& fields) {
  Json list = Json::array();
  for (const auto& field : fields) {
    list.push_back({{"key", field.key}, {"values", field.values}});
  }
  return list;
}

Table fields_table(const char* title, const std::vector<plan::SearchedField>& fields) {
  Table table{title, {{"field", false}, {"values", false}}, {}, false};
  for (const auto& field : fields) {
    table.rows.push_back({field.key, field.values});
  }
  return table;
}

std::string no_plan() {
  return "No layout of this cluster fits, keeps the rules and the limits; the table says what each "
         "fails on.";
}

}  // namespace

PlanReport search_plans(const config::LoadedScenario& loaded,
                        const plan::PlanOptions& options,
                        core::Seconds load_time) {
  const auto start = std::chrono::steady_clock::now();
  PlanReport report;
  report.version = HEADWAY_VERSION;
  report.scenario = loaded.scenario;
  report.digest = scenario_digest(loaded);
  report.price_source = price_source(loaded);
  report.objective = options.objective;
  training::check_apart_from_layout(loaded.scenario, loaded.marks);  // here, where places are known
  report.result = plan::search(loaded.scenario, options);
  const core::Seconds elapsed(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  report.timing.load = load_time;
  report.timing.step = elapsed;
  report.timing.total = load_time + elapsed;
  report.timing.threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  return report;
}

std::string plan_json(const PlanReport& report) {
  Json plans = Json::array();
  for (const auto& plan : report.result.plans) {
    plans.push_back(plan_object(plan, report.scenario.cluster.node.gpus, report.price_source));
  }
  Json rejected = Json::array();
  for (const auto& entry : report.result.rejected) {
    rejected.push_back({{"class", entry.kind}, {"reason", entry.reason}, {"count", entry.count}});
  }
  Json reasons = Json::array();
  if (report.status() != Status::ok) {
    reasons.push_back(no_plan());
  }
  return dump({{"schema", "headway.plan/1"},
               {"version", report.version},
               {"status", core::to_word(report.status())},
               {"reasons", reasons},
               {"scenario",
                {{"name", report.scenario.name},
                 {"digest", report.digest},
                 {"seed", report.scenario.run.seed}}},
               {"objective", core::to_word(report.objective)},
               {"varied", fields_json(report.result.searched.varied)},
               {"held", fields_json(report.result.searched.held)},
               {"plans", plans},
               {"rejected", rejected},
               {"enumerated", report.result.enumerated},
               {"simulated", report.result.simulated},
               {"timing", timing_json(report.timing)}});
}

std::string plan_csv(const PlanReport& report) { return to_csv(plans_table(report)); }

Document plan_document(const PlanReport& report) {
  const auto& r = report.result;
  Document document{
      report.scenario.name,
      {fmt::format("{} layouts looked at, {} simulated, on {} nodes of {}",
                   count(static_cast<double>(r.enumerated)),
                   count(static_cast<double>(r.simulated)), count(report.scenario.cluster.nodes),
                   report.scenario.cluster.node.name)},
      {},
      {}};
  if (!r.plans.empty()) {
    document.tables.push_back(plans_table(report));
  }
  if (!r.rejected.empty()) {
    document.tables.push_back(rejected_table(r));
  }
  document.tables.push_back(fields_table("What the search varied", r.searched.varied));
  document.tables.push_back(
      fields_table("What it held, with all else, as the scenario has it", r.searched.held));
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(fmt::format("headway {}, scenario {}, seed {}", report.version,
                                         report.digest, report.scenario.run.seed));
  document.closing.push_back(r.plans.empty() ? no_plan()
                                             : "The best plan: " +
                                                   limit_sentence(r.plans[0].step, std::nullopt));
  return document;
}

}  // namespace headway::report
