#include "sim/report/verbs/plan_report.h"

#include <fmt/format.h>

#include "sim/report/definitions.h"
#include "sim/report/result_json.h"
#include "sim/study/verdict/limit.h"

namespace headway::report {

using namespace core::literals;

namespace {

Table plans_table(const study::PlanReport& report) {
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
  for (const study::PlannedRun& plan : report.plans()) {
    const auto& p = plan.layout.spec;
    table.rows.push_back({plan.pareto ? "*" : "", count(static_cast<double>(plan.gpus)),
                          count(p.tensor), count(p.pipeline), count(p.virtual_stages),
                          count(p.data.value.value_or(1)), count(p.micro_batch),
                          std::string(core::to_word(p.schedule)),
                          std::string(core::to_word(p.recompute)), number(plan.step.time.si()),
                          percent(plan.step.mfu), number(plan.step.memory.peak / 1_GiB),
                          plan.campaign ? number(plan.campaign->wall_days.p50) : "-",
                          plan.cost ? number(plan.cost->total_usd.p50) : "-"});
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

Table fields_table(const char* title, const std::vector<plan::SearchedField>& fields) {
  Table table{title, {{"field", false}, {"values", false}}, {}, false};
  for (const auto& field : fields) {
    table.rows.push_back({field.key, field.values});
  }
  return table;
}

}  // namespace

std::string plan_json(const study::PlanReport& report) {
  return dump(result_object("headway.plan/1", core::figures_of(report)));
}

std::string plan_csv(const study::PlanReport& report) { return to_csv(plans_table(report)); }

Document plan_document(const study::PlanReport& report) {
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
  document.closing.push_back(
      r.plans.empty() ? report.reasons().front()
                      : "The best plan: " + study::limit_sentence(r.plans[0].step, std::nullopt));
  return document;
}

}  // namespace headway::report
