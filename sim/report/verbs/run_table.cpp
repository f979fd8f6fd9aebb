#include "sim/report/verbs/run_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/report/definitions.h"
#include "sim/report/verbs/explain_report.h"
#include "sim/study/verdict/claim.h"
#include "sim/study/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

using core::Activity;

const LabelledFigures& step_rows() {
  static const LabelledFigures rows{{"time [s]", "step.time_s"},
                                    {"time, 90 % interval [s]", "step.time_interval_s"},
                                    {"tokens [1/s]", "step.tokens_per_s"},
                                    {"tokens a GPU [1/s]", "step.tokens_per_s_per_gpu"},
                                    {"model TFLOP/s a GPU", "step.model_tflops_per_gpu"},
                                    {"MFU, attention in full [%]", "step.mfu", 1, true},
                                    {"MFU, attention halved [%]", "step.mfu_causal", 1, true},
                                    {"HFU [%]", "step.hfu", 1, true}};
  return rows;
}

const LabelledFigures& campaign_rows() {
  static const LabelledFigures rows{{"wall clock [days]", "campaign.wall_days"},
                                    {"ETTR [%]", "campaign.ettr", 100},
                                    {"goodput [%]", "campaign.goodput", 100},
                                    {"interruptions", "campaign.interruptions"},
                                    {"steps", "campaign.steps"},
                                    {"cost [USD]", "cost.total_usd"}};
  return rows;
}

constexpr LabelledFigure kClosedForm{"ETTR, closed form [%]", "campaign.closed_form_ettr", 100};

const LabelledFigures& recovery_rows() {
  static const LabelledFigures rows{
      {"work between checkpoints", "campaign.checkpoint_interval_s"},
      {"the same, best for these failures", "campaign.optimal_interval_s"},
      {"stall of one checkpoint", "campaign.checkpoint_stall_s"},
      {"from snapshot to durable", "campaign.checkpoint_persist_s"},
      {"loading one checkpoint", "campaign.checkpoint_load_s"},
      {"mean time between interruptions", "campaign.mean_time_between_interruptions_s"},
      {"down after one, lost work not counted", "campaign.downtime_s"},
      {"model replicas hit by a failure that takes nodes [1]", "campaign.replicas_hit"}};
  return rows;
}

const LabelledFigures& cost_rows() {
  static const LabelledFigures rows{{"GPUs", "cost.gpus_usd"},
                                    {"spares", "cost.spares_usd"},
                                    {"checkpoint storage", "cost.storage_usd"},
                                    {"electricity", "cost.electricity_usd"}};
  return rows;
}

std::vector<std::string> opening(const study::RunReport& report) {
  const auto& s = report.scenario;
  const auto& p = s.parallelism;
  const double spares = s.cluster.spares;
  return {
      fmt::format("{}: {} sequences of {} tokens, {}", s.model.name, count(s.training.global_batch),
                  count(s.training.sequence_length), core::to_word(s.training.precision)),
      fmt::format("{} GPUs: {} nodes of {}, {}, {}{}",
                  count(static_cast<double>(report.layout.gpus)), count(s.cluster.nodes),
                  s.cluster.node.name, s.cluster.fabric.name, s.cluster.storage.name,
                  spares > 0 ? fmt::format(", {} spare nodes", count(spares)) : ""),
      fmt::format("tensor {} x context {} x pipeline {} (virtual {}) x data {}, {}, {}, {} "
                  "micro-batches of {}, recompute {}",
                  p.tensor, p.context, p.pipeline, p.virtual_stages, report.layout.data_parallel,
                  core::to_word(p.sharding), core::to_word(p.schedule),
                  count(report.layout.micro_batches), p.micro_batch, core::to_word(p.recompute)),
  };
}

Table step_table(const core::Figure& result) {
  return {"One step", {{"quantity", false}, {"predicted"}}, rows_of(step_rows(), result), false};
}

Table breakdown_table(const training::StepResult& step) {
  Table table{"Where the step goes",
              {{"cause", false}, {"mean of ranks [s]"}, {"share [%]"}, {"critical path [s]"}},
              {},
              true};
  constexpr double kNothing = 1e-6;  // of the step: launches that add picoseconds
  core::Seconds total;
  core::Seconds critical;
  for (const auto& entry : core::enum_words(Activity{})) {
    const core::Seconds time = step.breakdown[entry.value];
    const core::Seconds path = step.critical_path[entry.value];
    total += time;
    critical += path;
    if (std::max(time, path) > kNothing * step.time) {
      table.rows.push_back({std::string(study::in_words(entry.value)), number(time.si()),
                            percent(time / step.time),
                            core::waits_for_stage(entry.value) ? "" : number(path.si())});
    }
  }
  table.rows.push_back(
      {"total", number(total.si()), percent(total / step.time), number(critical.si())});
  return table;
}

Table memory_table(const training::MemoryResult& memory) {
  Table table{fmt::format("Memory of the fullest GPU, stage {}", memory.peak_stage),
              {{"kind", false},
               {"GiB"},
               {fmt::format("share of {} GiB [%]", number(memory.capacity / 1_GiB))}},
              {},
              true};
  const auto add = [&](const std::string& name, core::Bytes bytes) {
    table.rows.push_back({name, number(bytes / 1_GiB), percent(bytes / memory.capacity)});
  };
  for (const auto& kind : core::figures_of(memory.by_kind).parts) {
    add(kind.key, core::Bytes(kind.number));
  }
  add("total", memory.by_kind.total());
  return table;
}

Table links_table(const std::vector<training::LinkUse>& links) {
  Table table{"Links", {{"tier", false}, {"mean use [%]"}, {"busiest [%]"}}, {}, false};
  for (const auto& link : links) {
    table.rows.push_back({link.tier, percent(link.mean), percent(link.busiest)});
  }
  return table;
}

Table campaign_table(const study::RunReport& report, const core::Figure& result) {
  Table table{fmt::format("The run, {} trials", count(report.campaign->trials)),
              {{"quantity", false}, {"p5"}, {"p50"}, {"p95"}, {"mean"}},
              spreads_of(campaign_rows(), result),
              false};
  if (report.campaign->closed_form_ettr) {
    table.rows.push_back({std::string(kClosedForm.label), "", "", "", kClosedForm.cell(result)});
  }
  return table;
}

/// Without rows of zero: what a run does not have.
Table recovery_table(const core::Figure& result) {
  Table table{"Checkpoints and failures", {{"quantity", false}, {"seconds"}}, {}, false};
  table.rows = rows_of(recovery_rows(), result);
  std::erase_if(table.rows, [](const auto& row) { return row[1] == "0"; });
  return table;
}

/// What to change, and what it would bring.
Table advice_table(const campaign::Advice& advice) {
  Table table{"What would help", {{"change", false}, {"ETTR [%]"}, {"days saved"}}, {}, false};
  for (const auto& point : advice.interval_curve) {
    table.rows.push_back({"a checkpoint every " + number(point.interval.si()) + " s of work",
                          point.ettr ? number(100 * *point.ettr) : "hardly ends", ""});
  }
  for (const auto& gain : advice.earlier_detection) {
    table.rows.push_back({"failures noticed up to " + number(gain.earlier.si()) + " s earlier",
                          "+" + number(100 * std::max(0.0, gain.ettr_gain)),
                          number(gain.days_saved)});
  }
  if (advice.spares) {
    table.rows.push_back(
        {fmt::format("{} spare nodes: waiting below {:.3g} % of the time{}", *advice.spares,
                     100 * advice.wait_target, advice.spares_exact ? "" : " (by trials)"),
         "", ""});
  }
  return table;
}

Table ledger_table(const campaign::Ledger& ledger) {
  Table table{"Ledger of GPU time, mean of trials",
              {{"account", false}, {"GPU-hours"}, {"share [%]"}},
              {},
              true};
  double total = 0;
  for (const double seconds : ledger.gpu_seconds) {
    total += seconds;
  }
  for (const auto& entry : campaign::enum_words(campaign::Account{})) {
    if (ledger[entry.value] != 0) {
      table.rows.push_back({std::string(study::in_words(entry.value)),
                            number(core::Seconds(ledger[entry.value]) / 1_h),
                            percent(ledger[entry.value] / total)});
    }
  }
  table.rows.push_back({"total", number(core::Seconds(total) / 1_h), percent(1)});
  return table;
}

Table hazards_table(const std::vector<campaign::InterruptionCount>& hazards) {
  Table table{
      "Interruptions by cause, mean of trials", {{"cause", false}, {"interruptions"}}, {}, true};
  double total = 0;
  for (const auto& hazard : hazards) {
    total += hazard.mean;
    if (hazard.mean > 0) {
      table.rows.push_back({hazard.hazard, number(hazard.mean)});
    }
  }
  table.rows.push_back({"total", number(total)});
  return table;
}

Table cost_table(const study::CostReport& cost, const core::Figure& result) {
  Table table{"Cost of the mean run", {{"item", false}, {"USD"}}, {}, true};
  table.rows = rows_of(cost_rows(), result);
  table.rows.push_back({"total", number(cost.bill.total().si())});
  return table;
}

std::string cost_sentence(const study::CostReport& cost) {
  const auto& bill = cost.bill;
  return fmt::format(
      "{} USD a million tokens, {} USD a useful GPU-hour; {} MWh, {} t of CO2. Prices: {}.",
      number(bill.usd_per_million_tokens), number(bill.usd_per_useful_gpu_hour),
      number(bill.energy.si() / 3.6e9), number(bill.co2_kg / 1000), cost.price_source);
}

Table comparison_table(const std::vector<study::Comparison>& comparisons) {
  Table table{"Published and predicted",
              {{"quantity", false}, {"published"}, {"predicted"}, {"error [%]"}},
              {},
              false};
  for (const auto& c : comparisons) {
    table.rows.push_back({c.quantity, number(c.published), number(c.predicted),
                          fmt::format("{:+.1f}", 100 * c.error())});
  }
  return table;
}

Table assumptions_table(const std::vector<training::Assumption>& assumptions) {
  Table table{"Assumptions", {{"what", false}, {"value", false}, {"why", false}}, {}, false};
  for (const auto& a : assumptions) {
    table.rows.push_back({a.key, a.value, a.why});
  }
  return table;
}

void add_campaign(const study::RunReport& report, const core::Figure& result, Document& document) {
  if (!report.campaign) {
    return;
  }
  const auto& c = *report.campaign;
  document.tables.push_back(campaign_table(report, result));
  document.tables.push_back(recovery_table(result));
  if (Table advice = advice_table(c.advice); !advice.rows.empty()) {
    document.tables.push_back(std::move(advice));
  }
  document.tables.push_back(ledger_table(c.ledger));
  if (c.interruptions.mean > 0) {
    document.tables.push_back(hazards_table(c.by_hazard));
  }
}

}  // namespace

LabelledFigures labels_of_a_run() {
  LabelledFigures all;
  for (const auto* rows : {&step_rows(), &campaign_rows(), &recovery_rows(), &cost_rows()}) {
    all.insert(all.end(), rows->begin(), rows->end());
  }
  all.push_back(kClosedForm);
  return all;
}

Document run_document(const study::RunReport& report) {
  const core::Figure result = core::figures_of(report);
  Document document{report.scenario.name, opening(report), {}, {}};
  document.tables = {step_table(result), breakdown_table(report.step),
                     memory_table(report.step.memory)};
  if (!report.step.links.empty()) {
    document.tables.push_back(links_table(report.step.links));
  }
  if (report.explanation) {
    add_explanation(*report.explanation, document);
  }
  add_campaign(report, result, document);
  if (report.cost) {
    document.tables.push_back(cost_table(*report.cost, result));
    document.closing.push_back(cost_sentence(*report.cost));
  }
  if (!report.claim.comparisons.empty()) {
    document.tables.push_back(comparison_table(report.claim.comparisons));
    document.closing.push_back(study::published_in_general());
  }
  if (!report.assumptions.empty()) {
    document.tables.push_back(assumptions_table(report.assumptions));
  }
  for (const auto& warning : report.warnings) {
    document.closing.push_back("Warning: " + warning);
  }
  for (const auto& runs : report.compared) {
    document.closing.push_back("Compared before: " + runs + ".");
  }
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(
      fmt::format("headway {}, scenario {}, seed {}, events {:016x}, result {:016x}",
                  report.version, report.digest, report.scenario.run.seed, report.step.event_digest,
                  report.step.result_digest));
  if (report.status != study::Status::ok) {
    document.closing.push_back(fmt::format("Status: {}.", core::to_word(report.status)));
  }
  document.closing.insert(document.closing.end(), report.reasons.begin(), report.reasons.end());
  if (report.stage_advice) {
    document.closing.push_back(report.stage_advice->sentence);
  }
  document.closing.push_back(report.limit);
  return document;
}

}  // namespace headway::report
