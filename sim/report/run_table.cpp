#include "sim/report/run_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/report/claim.h"
#include "sim/report/definitions.h"
#include "sim/report/explain_report.h"
#include "sim/report/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

using core::Activity;

std::vector<std::string> opening(const RunReport& report) {
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

Table step_table(const RunReport& report) {
  const auto& step = report.step;
  const auto row = [](const char* name, const std::string& value) {
    return std::vector<std::string>{name, value};
  };
  Table table{"One step", {{"quantity", false}, {"predicted"}}, {}, false};
  table.rows = {
      row("time [s]", number(step.time.si())),
      row("time, 90 % interval [s]",
          fmt::format("{} to {}", number(step.interval_low.si()), number(step.interval_high.si()))),
      row("tokens [1/s]", number(step.tokens_per_s)),
      row("tokens a GPU [1/s]", number(step.tokens_per_s_per_gpu)),
      row("model TFLOP/s a GPU", number(step.model_flops_per_gpu.si() / 1e12)),
      row("MFU, attention in full [%]", percent(step.mfu)),
      row("MFU, attention halved [%]", percent(step.mfu_causal)),
      row("HFU [%]", percent(step.hfu)),
  };
  return table;
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
      table.rows.push_back({std::string(in_words(entry.value)), number(time.si()),
                            percent(time / step.time),
                            core::waits_for_stage(entry.value) ? "" : number(path.si())});
    }
  }
  table.rows.push_back(
      {"total", number(total.si()), percent(total / step.time), number(critical.si())});
  return table;
}

Table memory_table(const training::MemoryResult& memory) {
  const auto& kind = memory.by_kind;
  Table table{fmt::format("Memory of the fullest GPU, stage {}", memory.peak_stage),
              {{"kind", false},
               {"GiB"},
               {fmt::format("share of {} GiB [%]", number(memory.capacity / 1_GiB))}},
              {},
              true};
  const auto add = [&](const char* name, core::Bytes bytes) {
    table.rows.push_back({name, number(bytes / 1_GiB), percent(bytes / memory.capacity)});
  };
  add("weights", kind.weights);
  add("gradients", kind.gradients);
  add("optimizer", kind.optimizer);
  add("activations", kind.activations);
  add("logits", kind.logits);
  add("buffers", kind.buffers);
  add("slack", kind.slack);
  add("total", kind.total());
  return table;
}

Table links_table(const std::vector<training::LinkUse>& links) {
  Table table{"Links", {{"tier", false}, {"mean use [%]"}, {"busiest [%]"}}, {}, false};
  for (const auto& link : links) {
    table.rows.push_back({link.tier, percent(link.mean), percent(link.busiest)});
  }
  return table;
}

std::vector<std::string> spread(const char* name, const campaign::Distribution& d, double scale) {
  return {name, number(d.p5 * scale), number(d.p50 * scale), number(d.p95 * scale),
          number(d.mean * scale)};
}

Table campaign_table(const RunReport& report) {
  const auto& c = *report.campaign;
  Table table{fmt::format("The run, {} trials", count(c.trials)),
              {{"quantity", false}, {"p5"}, {"p50"}, {"p95"}, {"mean"}},
              {},
              false};
  table.rows = {spread("wall clock [days]", c.wall_days, 1), spread("ETTR [%]", c.ettr, 100),
                spread("goodput [%]", c.goodput, 100), spread("interruptions", c.interruptions, 1),
                spread("steps", c.steps, 1)};
  if (report.cost) {
    table.rows.push_back(spread("cost [USD]", report.cost->total_usd, 1));
  }
  if (c.closed_form_ettr) {
    table.rows.push_back({"ETTR, closed form [%]", "", "", "", number(100 * *c.closed_form_ettr)});
  }
  return table;
}

Table recovery_table(const campaign::CampaignResult& c) {
  Table table{"Checkpoints and failures", {{"quantity", false}, {"seconds"}}, {}, false};
  const auto add = [&](const char* name, core::Seconds time) {
    if (time.si() > 0) {
      table.rows.push_back({name, number(time.si())});
    }
  };
  add("work between checkpoints", c.checkpoint_interval);
  add("the same, best for these failures", c.optimal_interval);
  add("stall of one checkpoint", c.checkpoint_stall);
  add("from snapshot to durable", c.checkpoint_persist);
  add("loading one checkpoint", c.checkpoint_load);
  add("mean time between interruptions", c.mean_time_between_interruptions);
  add("down after one, lost work not counted", c.downtime);
  if (c.replicas_hit > 0) {
    table.rows.push_back(
        {"model replicas hit by a failure that takes nodes [1]", number(c.replicas_hit)});
  }
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
      table.rows.push_back({std::string(in_words(entry.value)),
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

Table cost_table(const CostReport& cost) {
  Table table{"Cost of the mean run", {{"item", false}, {"USD"}}, {}, true};
  const auto& bill = cost.bill;
  table.rows = {{"GPUs", number(bill.gpus.si())},
                {"spares", number(bill.spares.si())},
                {"checkpoint storage", number(bill.storage.si())},
                {"electricity", number(bill.electricity.si())},
                {"total", number(bill.total().si())}};
  return table;
}

std::string cost_sentence(const CostReport& cost) {
  const auto& bill = cost.bill;
  return fmt::format(
      "{} USD a million tokens, {} USD a useful GPU-hour; {} MWh, {} t of CO2. Prices: {}.",
      number(bill.usd_per_million_tokens), number(bill.usd_per_useful_gpu_hour),
      number(bill.energy.si() / 3.6e9), number(bill.co2_kg / 1000), cost.price_source);
}

Table comparison_table(const std::vector<Comparison>& comparisons) {
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

void add_campaign(const RunReport& report, Document& document) {
  if (!report.campaign) {
    return;
  }
  const auto& c = *report.campaign;
  document.tables.push_back(campaign_table(report));
  document.tables.push_back(recovery_table(c));
  if (Table advice = advice_table(c.advice); !advice.rows.empty()) {
    document.tables.push_back(std::move(advice));
  }
  document.tables.push_back(ledger_table(c.ledger));
  if (c.interruptions.mean > 0) {
    document.tables.push_back(hazards_table(c.by_hazard));
  }
}

}  // namespace

Document run_document(const RunReport& report) {
  Document document{report.scenario.name, opening(report), {}, {}};
  document.tables = {step_table(report), breakdown_table(report.step),
                     memory_table(report.step.memory)};
  if (!report.step.links.empty()) {
    document.tables.push_back(links_table(report.step.links));
  }
  if (report.explanation) {
    add_explanation(*report.explanation, document);
  }
  add_campaign(report, document);
  if (report.cost) {
    document.tables.push_back(cost_table(*report.cost));
    document.closing.push_back(cost_sentence(*report.cost));
  }
  if (!report.claim.comparisons.empty()) {
    document.tables.push_back(comparison_table(report.claim.comparisons));
    document.closing.push_back(published_in_general());
  }
  if (!report.assumptions.empty()) {
    document.tables.push_back(assumptions_table(report.assumptions));
  }
  for (const auto& warning : report.warnings) {
    document.closing.push_back("Warning: " + warning);
  }
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(
      fmt::format("headway {}, scenario {}, seed {}, events {:016x}, result {:016x}",
                  report.version, report.digest, report.scenario.run.seed, report.step.event_digest,
                  report.step.result_digest));
  if (report.status != Status::ok) {
    document.closing.push_back(fmt::format("Status: {}.", core::to_word(report.status)));
  }
  document.closing.insert(document.closing.end(), report.reasons.begin(), report.reasons.end());
  if (report.stage_advice) {
    document.closing.push_back(
        training::sentence_of(*report.stage_advice, report.scenario.parallelism));
  }
  document.closing.push_back(report.limit);
  return document;
}

}  // namespace headway::report
