#include "sim/report/verbs/run_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "sim/report/definitions.h"
#include "sim/report/sections.h"
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
  static const LabelledFigures rows{
      {"wall clock [days]", "campaign.wall_days"},
      {"order to first step [days]", "campaign.time_to_market.bring_up_days"},
      {"order to trained model [days]", "campaign.time_to_market.ready_days"},
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
      {"model replicas hit by a failure that takes nodes [1]", "campaign.replicas_hit"},
      {"cached logits in storage [TB]", "campaign.logits_stored_bytes", 1e-12},
      {"data and logits read [GB/s]", "campaign.input_bytes_per_s", 1e-9}};
  return rows;
}

const LabelledFigures& cost_rows() {
  static const LabelledFigures rows = [] {
    LabelledFigures all;
    for (const study::BillPart& part : study::kBillParts) {
      all.push_back({part.words, part.path});
    }
    return all;
  }();
  return rows;
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

Table packets_table(const training::PacketStep& packets) {
  Table table{"Collectives by packets",
              {{"collective", false},
               {"GPUs"},
               {"groups"},
               {"MiB a call"},
               {"simulated"},
               {"packets [ms]"},
               {"fluid [ms]"},
               {"times"}},
              {},
              false};
  constexpr double kMilli = 1e-3;
  for (const auto& c : packets.collectives) {
    table.rows.push_back({c.name, std::to_string(c.ranks), std::to_string(c.groups),
                          number(c.bytes / 1_MiB), number(c.simulated / 1_MiB),
                          number(c.packets.si() / kMilli), number(c.fluid.si() / kMilli),
                          number(c.times())});
  }
  return table;
}

/// What happened to all packets of a step.
std::string packets_sentence(const network::PacketCounts& counts) {
  const auto whole = [](std::uint64_t n) { return count(static_cast<double>(n)); };
  return fmt::format(
      "Of {} packets over {} cables {} were marked, {} dropped, {} trimmed, {} repeated; {} "
      "pauses, {} stalls for credits; the longest queue had {} kB.",
      whole(counts.packets), whole(counts.hops), whole(counts.marks), whole(counts.drops),
      whole(counts.trims), whole(counts.repeats), whole(counts.pauses), whole(counts.stalls),
      number(static_cast<double>(counts.deepest) / 1e3));
}

Table sites_table(const training::SitesResult& sites) {
  Table table{"Sites", {{"quantity", false}, {"value"}, {"unit", false}}, {}, false};
  const auto add = [&](const char* what, double value, const char* unit) {
    table.rows.push_back({what, number(value), unit});
  };
  constexpr double kGiga = 1e9;
  add("sites", sites.sites, "");
  add("payload of one into the wide area", sites.site_rate.si() / kGiga, "GB/s");
  add("of one network card between sites, at most", sites.sender_rate.si() / kGiga, "GB/s");
  add("one sends in a step, mean", sites.step_bytes.si() / kGiga, "GB");
  if (sites.exchange) {
    const auto& exchange = *sites.exchange;
    add("one sends in an exchange", exchange.bytes.si() / kGiga, "GB");
    add("kernels of an exchange", exchange.kernels.si(), "s");
    add("transfers of an exchange", exchange.transfer.si(), "s");
    add("waited for, mean of a step", exchange.step_wait.si(), "s");
    add("rate that hides it", exchange.rate_to_hide.si() / kGiga, "GB/s");
  }
  return table;
}

Table power_table(const study::PowerReport& power) {
  Table table{"Power over a step", {{"quantity", false}, {"value"}, {"unit", false}}, {}, false};
  const auto add = [&](const char* what, double value, const char* unit) {
    table.rows.push_back({what, number(value), unit});
  };
  constexpr double kKilo = 1e3, kMilli = 1e-3;
  add("GPUs, hosts and switches, mean", power.mean.si() / kKilo, "kW");
  add("peak", power.peak.si() / kKilo, "kW");
  add("least", power.least.si() / kKilo, "kW");
  add("swing", (power.peak - power.least).si() / kKilo, "kW");
  add("largest ramp", power.ramp / kKilo, "kW/s");
  add("averaged over", power.window.si() / kMilli, "ms");
  add("while no step runs", power.standing.si() / kKilo, "kW");
  if (power.save) {
    const bool beside = power.save->beside.si() > 0;
    add(beside ? "a save's snapshot takes off" : "a save takes off",
        (power.mean - power.standing).si() / kKilo, "kW");
    add("for", power.save->stall.si(), "s");
    if (beside) {
      add("and is written beside steps for", power.save->beside.si(), "s");
    }
  }
  add("one node, boards at their limit", power.rack_of_node.si() / kKilo, "kW");
  const std::string buildings = power.sites > 1
                                    ? fmt::format("the buildings of all {} sites", power.sites)
                                    : std::string("the building");
  add((buildings + ", mean").c_str(), (power.mean * power.pue).si() / kKilo, "kW");
  add((buildings + ", peak").c_str(), (power.peak * power.pue).si() / kKilo, "kW");
  add("a token", power.joules_per_token, "J");
  if (power.limits) {
    add("boards limited to", power.limits->boards.front().board.si(), "W");
    add("their own limit", power.limits->boards.front().own.si(), "W");
    const auto add_feed = [&](const std::string& of, const training::Feed& feed) {
      add((of + ", boards at their limit").c_str(), feed.drawn().si() / kKilo, "kW");
      add(("left of what feeds " + of).c_str(), feed.headroom().si() / kKilo, "kW");
    };
    if (const auto rack = power.limits->rack()) {
      add_feed("a rack of " + training::counted_nodes(rack->nodes), *rack);
    }
    if (power.limits->facility) {
      add_feed("the building", *power.limits->facility);
    }
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

/// What other intervals, earlier detection and spares would bring; days lost are negative.
Table advice_table(const campaign::CampaignResult& run) {
  const campaign::Advice& advice = run.advice;
  Table table{"What other intervals, detection and spares bring",
              {{"change", false}, {"mean ETTR [%]"}, {"days saved"}},
              {},
              false};
  const auto& curve = advice.interval_curve;
  const auto own = std::find_if(curve.begin(), curve.end(), [&](const auto& point) {
    return point.interval == run.checkpoint_interval;
  });
  for (const auto& point : curve) {
    const bool compared = point.ettr && own != curve.end() && own->ettr && &point != &*own;
    table.rows.push_back(
        {fmt::format("a checkpoint every {} s of work{}", number(point.interval.si()),
                     own != curve.end() && &point == &*own ? " (as it is)" : ""),
         point.ettr ? study::percent_figures(*point.ettr) : "hardly ends",
         compared ? number(run.wall_days.mean * (1 - *own->ettr / *point.ettr)) : ""});
  }
  for (const auto& gain : advice.earlier_detection) {
    if (gain.ettr_gain > 0) {
      table.rows.push_back({"failures noticed up to " + number(gain.earlier.si()) + " s earlier",
                            "+" + number(100 * gain.ettr_gain), number(gain.days_saved)});
    }
  }
  if (advice.spares) {
    table.rows.push_back(
        {fmt::format("{} spare node{}: waiting below {:.3g} % of the time{}", *advice.spares,
                     *advice.spares == 1 ? "" : "s", 100 * advice.wait_target,
                     advice.spares_exact ? "" : " (by trials)"),
         "", ""});
  }
  return table;
}

/// ETTR against the interval between checkpoints.
TextChart interval_chart(const campaign::CampaignResult& run) {
  TextChart chart{"ETTR against the work between checkpoints; * is the job's own",
                  "work between checkpoints [s]",
                  "mean ETTR [%]",
                  true,
                  {}};
  for (const auto& point : run.advice.interval_curve) {
    if (point.ettr) {
      const bool own = point.interval == run.checkpoint_interval;
      chart.points.push_back({point.interval.si(), 100 * *point.ettr, own ? '*' : 'o', own});
    }
  }
  return chart;
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

/// The tables of the run in their order, each with the section it is of.
using Sections = SectionedDocument::Parts<Table>;

void add_campaign(const study::RunReport& report, const core::Figure& result, Sections& sections) {
  if (!report.campaign) {
    return;
  }
  const auto& c = *report.campaign;
  sections.emplace_back("run", campaign_table(report, result));
  sections.emplace_back("checkpoints", recovery_table(result));
  if (Table advice = advice_table(c); !advice.rows.empty()) {
    sections.emplace_back("advice", std::move(advice));
  }
  sections.emplace_back("ledger", ledger_table(c.ledger));
  if (c.interruptions.mean > 0) {
    sections.emplace_back("interruptions", hazards_table(c.by_hazard));
  }
}

Sections sections_of(const study::RunReport& report) {
  const core::Figure result = core::figures_of(report);
  Sections sections{{"step", step_table(result)},
                    {"breakdown", breakdown_table(report.step)},
                    {"memory", memory_table(report.step.memory)}};
  if (!report.step.links.empty()) {
    sections.emplace_back("links", links_table(report.step.links));
  }
  if (report.power) {
    sections.emplace_back(kPowerSection, power_table(*report.power));
  }
  if (report.step.packets) {
    sections.emplace_back(kPacketsSection, packets_table(*report.step.packets));
  }
  if (report.step.sites) {
    sections.emplace_back("sites", sites_table(*report.step.sites));
  }
  if (report.explanation) {
    for (auto& table : explanation_tables(*report.explanation)) {
      sections.emplace_back(kExplanationSection, std::move(table));
    }
  }
  add_campaign(report, result, sections);
  if (report.cost) {
    sections.emplace_back("cost", cost_table(*report.cost, result));
  }
  if (!report.claim.comparisons.empty()) {
    sections.emplace_back("published", comparison_table(report.claim.comparisons));
  }
  if (!report.assumptions.empty()) {
    sections.emplace_back("assumptions", assumptions_table(report.assumptions));
  }
  return sections;
}

/// Sentences behind the tables, each with the section it is of; those of none are always shown.
SectionedDocument::Parts<std::string> sentences_of(const study::RunReport& report) {
  SectionedDocument::Parts<std::string> list;
  if (report.step.packets) {
    list.emplace_back(kPacketsSection, "Network: " + study::in_words(*report.step.packets) + ".");
    list.emplace_back(kPacketsSection, packets_sentence(report.step.packets->counts));
  }
  if (report.cost) {
    list.emplace_back("cost", cost_sentence(*report.cost));
  }
  if (!report.claim.comparisons.empty()) {
    list.emplace_back("published", study::published_in_general());
  }
  for (const auto& warning : report.warnings) {
    list.emplace_back("warnings", "Warning: " + warning);
  }
  for (const auto& runs : report.compared) {
    list.emplace_back("compared", "Compared before: " + runs + ".");
  }
  list.emplace_back("provenance", kWhereDefined);
  list.emplace_back("provenance",
                    fmt::format("headway {}, scenario {}, seed {}, events {:016x}, result {:016x}",
                                report.version, report.digest, report.scenario.run.seed,
                                report.step.event_digest, report.step.result_digest));
  if (report.status != study::Status::ok) {
    list.emplace_back("", fmt::format("Status: {}.", core::to_word(report.status)));
  }
  for (const auto& reason : report.reasons) {
    list.emplace_back("", reason);
  }
  if (report.stage_advice) {
    list.emplace_back("advice", report.stage_advice->sentence);
  }
  list.emplace_back("", report.limit);
  return list;
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

const std::vector<std::string>& run_sections() {
  static const std::vector<std::string> words{"step",
                                              "breakdown",
                                              "memory",
                                              "links",
                                              std::string(kPacketsSection),
                                              "sites",
                                              std::string(kPowerSection),
                                              std::string(kExplanationSection),
                                              "run",
                                              "checkpoints",
                                              "advice",
                                              "ledger",
                                              "interruptions",
                                              "cost",
                                              "published",
                                              "assumptions",
                                              "warnings",
                                              "compared",
                                              "provenance"};
  return words;
}

namespace {

/// Why a section that was asked for is not there.
std::string why_no_part_of_run(const training::RunSpec& run, std::string_view section) {
  const bool of_run = section == "run" || section == "checkpoints" || section == "ledger" ||
                      section == "interruptions" || section == "cost";
  return of_run && !run.until ? ": the scenario has no run.until"
         : section == "cost" && !run.prices
             ? ": the scenario has no run.prices (headway catalog list prices)"
             : "";
}

}  // namespace

Document run_document(const study::RunReport& report, const std::vector<std::string>& show) {
  SectionedDocument document{report.scenario.name, report.asked};
  document.tables = sections_of(report);
  if (report.campaign) {
    document.charts.emplace_back("advice", interval_chart(*report.campaign));
  }
  document.closing = sentences_of(report);
  return shown(std::move(document), show, [&](std::string_view section) {
    return why_no_part_of_run(report.scenario.run, section);
  });
}

}  // namespace headway::report
