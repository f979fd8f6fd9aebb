#include "sim/report/verbs/plan_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <string_view>
#include <utility>

#include "sim/plan/judge.h"
#include "sim/report/definitions.h"
#include "sim/report/figure_rows.h"
#include "sim/report/points/choice_report.h"
#include "sim/report/result_json.h"
#include "sim/report/sections.h"
#include "sim/study/verdict/limit.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"

namespace headway::report {

using namespace core::literals;

namespace {

/// Columns of which some are left out where all plans have the same, ordinary value.
class PlanColumns {
 public:
  explicit PlanColumns(const std::vector<study::PlannedRun>& plans) : plans_(plans) {}

  template <class Text>
  void add(const char* heading, bool numeric, const Text& text) {
    table_.columns.push_back({heading, numeric});
    table_.rows.resize(plans_.size());
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      table_.rows[i].push_back(text(i, plans_[i]));
    }
  }
  /// Only where a plan has another value than `usual`.
  template <class Value>
  void add_unless(double usual, const char* heading, const Value& value) {
    const bool all = std::all_of(plans_.begin(), plans_.end(), [&](const study::PlannedRun& plan) {
      return value(plan) == usual;
    });
    if (!all) {
      add(heading, true,
          [&](std::size_t, const study::PlannedRun& plan) { return count(value(plan)); });
    }
  }
  Table take(std::string title) {
    table_.title = std::move(title);
    return std::move(table_);
  }

 private:
  const std::vector<study::PlannedRun>& plans_;
  Table table_;
};

std::string place_text(std::size_t place, const study::PlannedRun& plan) {
  return count(static_cast<double>(place + 1)) + (plan.pareto ? "*" : "");
}

std::string front_text(const study::PlanReport& report) {
  std::string text =
      report.beside.empty() ? "time and money" : std::string(core::to_word(report.objective));
  for (const plan::Objective objective : report.beside) {
    text += fmt::format(", {}", core::to_word(objective));
  }
  return text;
}

/// What an objective is in, as people read it.
const char* axis_of(plan::Objective objective) {
  using O = plan::Objective;
  switch (objective) {
    case O::step:
      return "time of a token [s]";
    case O::days:
      return "days, median";
    case O::dollars:
      return "USD, median";
    case O::goodput:
      return "goodput";
    case O::energy:
      return "energy [J]";
    case O::co2:
      return "CO2 [kg]";
    case O::tokens_per_joule:
      return "energy of a token [J]";
    case O::tokens_per_dollar:
      return "USD a million tokens";
    case O::power:
      return "power [W]";
  }
  return "";
}

/// The plans in the plane of the first two objectives of the front; of time and money where there
/// is a run that costs something.
TextChart front_chart(const study::PlanReport& report) {
  using O = plan::Objective;
  const bool named = !report.beside.empty();
  const O across = named ? report.objective : O::days;
  const O upwards = named ? report.beside.front() : O::dollars;
  TextChart chart{fmt::format("Plans by {} and {}: 1 to 9, a (10), b (11) ... are on the Pareto "
                              "front of {}, dots behind it",
                              core::to_word(across), core::to_word(upwards), front_text(report)),
                  axis_of(across),
                  axis_of(upwards),
                  false,
                  {}};
  constexpr std::string_view kMarks = "123456789abcdefghijklmnopqrstuvwxyz";
  const auto& plans = report.result.plans;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool priced = plans[i].campaign && plans[i].campaign->total_usd;
    if (!named && !priced) {
      return {};
    }
    const char mark = plans[i].pareto && i < kMarks.size() ? kMarks[i] : '.';
    chart.points.push_back({std::abs(plan::value(plans[i], across)),
                            std::abs(plan::value(plans[i], upwards)), mark, plans[i].pareto});
  }
  return chart;
}

/// Whether power is among the objectives.
bool weighs_power(const study::PlanReport& report) {
  const auto& beside = report.beside;
  return report.objective == plan::Objective::power ||
         std::find(beside.begin(), beside.end(), plan::Objective::power) != beside.end();
}

/// A machine in tables that fit a terminal: names of several entries would be columns of fragments.
std::string machine_number(std::size_t place) { return fmt::format("{}", place + 1); }

/// Which machine is which number.
std::vector<std::string> machine_lines(const study::PlanReport& report) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < report.machines.size(); ++i) {
    lines.push_back(fmt::format("machine {}: {}", machine_number(i), report.machines[i].name));
  }
  return lines;
}

}  // namespace

Table plans_table(const study::PlanReport& report, const std::vector<study::PlannedRun>& plans) {
  using Plan = study::PlannedRun;
  PlanColumns out(plans);
  const auto& own = report.scenario;
  out.add("plan", false, place_text);
  if (!report.machines.empty()) {
    out.add("machine", false, [](auto, const Plan& p) {
      return machine_number(static_cast<std::size_t>(p.setting.machine));
    });
  }
  out.add_unless(own.cluster.nodes, "nodes", [](const Plan& p) { return p.setting.nodes; });
  out.add_unless(own.cluster.spares, "spares", [](const Plan& p) { return p.spares; });
  out.add_unless(own.training.global_batch, "global batch",
                 [](const Plan& p) { return p.setting.global_batch; });
  out.add_unless(own.training.sequence_length, "sequence length",
                 [](const Plan& p) { return p.setting.sequence_length; });
  if (std::any_of(plans.begin(), plans.end(),
                  [&](const Plan& p) { return p.setting.precision != own.training.precision; })) {
    out.add("precision", false,
            [](auto, const Plan& p) { return std::string(core::to_word(p.setting.precision)); });
  }
  if (std::any_of(plans.begin(), plans.end(), [](const Plan& p) { return p.board.has_value(); })) {
    out.add("board [W]", true,
            [](auto, const Plan& p) { return p.board ? count(std::floor(p.board->si())) : "-"; });
  }
  out.add("tensor", true, [](auto, const Plan& p) { return count(p.layout.spec.tensor); });
  out.add_unless(1, "context", [](const Plan& p) { return p.layout.spec.context; });
  out.add("pipeline", true, [](auto, const Plan& p) { return count(p.layout.spec.pipeline); });
  out.add_unless(1, "expert", [](const Plan& p) { return p.layout.spec.expert; });
  out.add("data", true,
          [](auto, const Plan& p) { return count(p.layout.spec.data.value.value_or(1)); });
  if (weighs_power(report)) {
    constexpr double kMega = 1e6;  // Source: the prefix
    out.add("power [MW]", true, [](auto, const Plan& p) { return number(p.power.si() / kMega); });
  }
  out.add("step [s]", true, [](auto, const Plan& p) { return number(p.step.time.si()); });
  out.add("loss [%]", true, [](auto, const Plan& p) { return percent(p.behind); });
  const std::string best =
      plans.size() == 1 ? "The best plan" : fmt::format("The {} best plans", plans.size());
  Table table = out.take(fmt::format("{} by {}; * is on the Pareto front of {}", best,
                                     core::to_word(report.objective), front_text(report)));
  for (const Plan& plan : plans) {
    table.stays.push_back(plan.pareto);
  }
  return table;
}

namespace {

/// What a whole run takes on each plan.
Table runs_table(const std::vector<study::PlannedRun>& plans) {
  using Plan = study::PlannedRun;
  PlanColumns out(plans);
  const auto figure = [](double value) { return number(value); };
  out.add("plan", false, place_text);
  out.add("days, p50", true,
          [&](auto, const Plan& p) { return p.campaign ? figure(p.campaign->days().p50) : "-"; });
  out.add("p95", true,
          [&](auto, const Plan& p) { return p.campaign ? figure(p.campaign->days().p95) : "-"; });
  out.add("goodput [%]", true,
          [&](auto, const Plan& p) { return p.campaign ? percent(p.campaign->goodput.p50) : "-"; });
  if (std::any_of(plans.begin(), plans.end(), [](const Plan& p) { return p.cost.has_value(); })) {
    out.add("USD, p50", true,
            [&](auto, const Plan& p) { return p.cost ? figure(p.cost->total_usd.p50) : "-"; });
    out.add("energy [MWh]", true, [&](auto, const Plan& p) {
      constexpr double kJoulesOfMegawattHour = 3.6e9;
      return p.cost ? figure(p.cost->bill.energy.si() / kJoulesOfMegawattHour) : "-";
    });
  }
  return out.take("What a run takes on them");
}

/// "11 x 2, 5 x 2": runs of equal stages.
std::string stages_text(const std::vector<int>& layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    const auto here = layers.begin() + static_cast<std::ptrdiff_t>(i);
    const auto next = std::find_if(here, layers.end(), [&](int other) { return other != *here; });
    const auto run = next - here;
    text +=
        fmt::format("{}{}{}", i == 0 ? "" : ", ", *here, run > 1 ? fmt::format(" x {}", run) : "");
    i += static_cast<std::size_t>(run);
  }
  return text;
}

std::string schedule_text(const workload::ParallelismSpec& p) {
  std::string text(core::to_word(p.schedule));
  if (p.virtual_stages > 1) {
    text += fmt::format(" x {}", p.virtual_stages);
  }
  if (p.first_stage_layers > 0 || p.last_stage_layers > 0) {
    const auto end = [](int layers) { return layers > 0 ? fmt::format("{}", layers) : "even"; };
    text +=
        fmt::format(", ends {} and {} layers", end(p.first_stage_layers), end(p.last_stage_layers));
  }
  return p.chunk_layers.empty()
             ? text
             : fmt::format("{}, layers {}", text, stages_text(workload::layers_of_stages(p)));
}

std::string sharding_text(const workload::ParallelismSpec& p) {
  std::string text(core::to_word(p.sharding));
  text += p.shard_group_size > 0 ? fmt::format(" of {}", p.shard_group_size) : "";
  return text + (p.reshard ? "" : ", kept gathered");
}

std::string recompute_text(const workload::ParallelismSpec& p) {
  const auto& again = p.chunk_recompute;
  if (!again.empty() && std::all_of(again.begin(), again.end(), [](int l) { return l == 0; })) {
    return std::string(core::to_word(workload::Recompute::none));  // as few as need be: no layer
  }
  std::string text(core::to_word(p.recompute));
  std::string parts;
  for (const auto part : p.recompute_parts) {
    parts += fmt::format("{}{}", parts.empty() ? "" : ", ", core::to_word(part));
  }
  text += parts.empty() ? "" : fmt::format(" ({})", parts);
  if (p.recompute_period > 1) {
    text += fmt::format(", {} of {} layers", p.recompute_layers, p.recompute_period);
  }
  if (!p.chunk_recompute.empty()) {
    workload::ParallelismSpec layers = p;
    layers.chunk_layers = again;
    text += fmt::format(" of {} layers", stages_text(workload::layers_of_stages(layers)));
  }
  return text;
}

/// What is not ordinary about a plan, or nothing.
std::string beside_text(const workload::ParallelismSpec& p) {
  std::vector<std::string> words;
  if (p.offload != workload::Offload::none) {
    words.push_back(fmt::format("offload {}", core::to_word(p.offload)));
  }
  if (p.context > 1) {
    words.emplace_back(core::to_word(p.context_kind));
  }
  if (p.expert_tensor > 1) {
    words.push_back(fmt::format("expert tensor {}", p.expert_tensor));
  }
  if (p.tensor > 1 && !p.sequence) {
    words.emplace_back("no sequence parallelism");
  }
  if (p.rank_order != workload::RankOrder{}) {
    words.emplace_back(core::to_word(p.rank_order));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// What each plan runs.
Table choices_table(const std::vector<study::PlannedRun>& plans) {
  using Plan = study::PlannedRun;
  PlanColumns out(plans);
  out.add("plan", false, place_text);
  out.add("micro-batch", true,
          [](auto, const Plan& p) { return count(p.layout.spec.micro_batch); });
  out.add("schedule", false, [](auto, const Plan& p) { return schedule_text(p.layout.spec); });
  out.add("sharding", false, [](auto, const Plan& p) { return sharding_text(p.layout.spec); });
  out.add("recompute", false, [](auto, const Plan& p) { return recompute_text(p.layout.spec); });
  out.add("beside", false, [](auto, const Plan& p) {
    const std::string beside = beside_text(p.layout.spec);
    const char* own = p.outside ? "yours, outside the search" : "";
    return fmt::format("{}{}{}", own, p.outside && !beside.empty() ? ", " : "", beside);
  });
  return out.take("What they run");
}

Table limits_table(const std::vector<study::PlannedRun>& plans) {
  PlanColumns out(plans);
  using Plan = study::PlannedRun;
  out.add("plan", false, place_text);
  out.add("MFU [%]", true, [](auto, const Plan& p) { return percent(p.step.mfu); });
  out.add("free [GiB]", true, [](auto, const Plan& p) {
    return number((p.step.memory.capacity - p.step.memory.peak) / 1_GiB);
  });
  out.add("variants", true,
          [](auto, const Plan& p) { return count(static_cast<double>(p.variants)); });
  out.add("what limits its step", false, [](auto, const study::PlannedRun& plan) {
    return study::limit_sentence(plan.step, std::nullopt);
  });
  return out.take(
      "Memory left, variants of the same degrees that were simulated and are slower (--all lists "
      "them), and limits");
}

/// The candidates side by side, each on its best plan.
Table machines_table(const study::PlanReport& report) {
  const bool brought_up = std::any_of(
      report.machines.begin(), report.machines.end(),
      [](const study::PlannedMachine& machine) { return machine.bring_up_days().has_value(); });
  Table table{"Candidate machines, each on its best plan",
              {{"machine", false}, {"GPUs"}, {"days, p50"}},
              {},
              false};
  if (brought_up) {
    table.columns.push_back({"bring-up [d]"});
    table.columns.push_back({"latest delivery [d]"});
  }
  for (const auto& more : {Column{"USD, p50"}, Column{"power [MW]"},
                           Column{"break-even [USD/GPU h]"}, Column{"outcome", false}}) {
    table.columns.push_back(more);
  }
  for (const study::PlannedMachine& machine : report.machines) {
    constexpr double kMega = 1e6, kHour = 3600;  // Source: the prefix, the hour
    const auto gpus = machine.gpus();
    const auto power = machine.power();
    auto& row = table.rows.emplace_back();
    row = {machine_number(table.rows.size() - 1), gpus ? count(static_cast<double>(*gpus)) : "-",
           cell(machine.days())};
    if (brought_up) {
      row.push_back(cell(machine.bring_up_days()));
      row.push_back(cell(machine.latest_delivery));
    }
    row.push_back(cell(machine.dollars()));
    row.push_back(power ? number(power->si() / kMega) : "-");
    row.push_back(machine.break_even ? fmt::format("{:.2f}", machine.break_even->si() * kHour)
                                     : "-");
    row.push_back(machine.outcome);
  }
  return table;
}

/// What a GPU-hour of another machine may cost before it is the better one.
std::string break_even_text(const study::PlanReport& report) {
  std::vector<std::string> texts;
  for (const study::PlannedMachine& machine : report.machines) {
    constexpr double kHour = 3600;  // Source: the hour
    if (machine.break_even && machine.behind.value_or(0) > 0) {
      texts.push_back(fmt::format("{} at {:.2f} USD a GPU-hour, not {:.2f}", machine.name,
                                  machine.break_even->si() * kHour,
                                  training::relative_price(machine.scenario) *
                                      machine.scenario.run.prices->gpu_hour.si() * kHour));
    }
  }
  return texts.empty() ? ""
                       : fmt::format("A run would cost as much as on machine {}, the best, on {}.",
                                     machine_number(static_cast<std::size_t>(
                                         report.result.plans.front().setting.machine)),
                                     fmt::join(texts, "; on "));
}

Table rejected_table(const plan::PlanResult& result) {
  Table table{"Layouts left out", {{"class", false}, {"reason", false}, {"layouts"}}, {}, true};
  double total = 0;
  for (const auto& entry : result.rejected) {
    total += static_cast<double>(entry.count);
    const std::string nearest = entry.nearest.empty() ? "" : "; nearest: " + entry.nearest;
    table.rows.push_back(
        {entry.kind, entry.reason + nearest, count(static_cast<double>(entry.count))});
  }
  table.rows.push_back({"total", "", count(total)});
  return table;
}

/// Classes of layouts that no plan is of, each with its best.
Table lost_table(const plan::PlanResult& result) {
  Table table{"Why each class of layouts lost: its fastest beside plan 1, on the cluster of plan 1",
              {{"class", false}, {"layouts"}, {"step [s]"}, {"slower [%]"}, {"nearest", false}},
              {},
              false};
  for (const plan::ClassMiss& miss : result.classes) {
    std::string field = miss.field;
    std::replace(field.begin(), field.end(), '_', '-');
    std::string nearest = miss.nearest;
    if (miss.step && !miss.simulated) {
      nearest += miss.least ? fmt::format("; by the analytic tier, none is below {} s",
                                          number(*miss.least))
                            : "; by the analytic tier";
    }
    const bool between = miss.step && miss.least && *miss.least < *miss.step;
    table.rows.push_back(
        {fmt::format("{} {}", field, miss.value), count(static_cast<double>(miss.layouts)),
         between ? fmt::format("{} to {}", number(*miss.least), number(*miss.step))
                 : cell(miss.step),
         miss.behind
             ? (between ? fmt::format("at most {}", percent(*miss.behind)) : percent(*miss.behind))
             : "-",
         nearest});
  }
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

std::string verification_text(const study::PlanReport& report) {
  const plan::Verification& v = report.result.verification;
  std::string found =
      report.result.plans.empty() ? "none keeps the limits"
      : report.objective == plan::Objective::step
          ? "none is faster than plan 1"
          : fmt::format("none is better than plan 1 by {}", core::to_word(report.objective));
  if (!v.better.empty()) {
    const auto& best = v.better.front();
    found = fmt::format("{} {}, the best with a step of {} s: {}", v.better.size(),
                        report.result.plans.empty() ? "within the limits" : "better than plan 1",
                        number(best.step.time.si()), plan::layout_text(best.layout));
  }
  return fmt::format("Of the layouts left out {} were drawn and simulated: {}.",
                     count(static_cast<double>(v.simulated)), found);
}

namespace {

/// The nodes that were looked at.
std::string searched_nodes(const study::PlanReport& report) {
  const auto& cluster = report.scenario.cluster;
  for (const plan::SearchedField& field : report.result.searched.varied) {
    if (field.key == "cluster.nodes") {
      return fmt::format("{} nodes of {}", field.values, cluster.node.name);
    }
  }
  return training::nodes_in_words(cluster);
}

/// Sentences behind the tables; the verdict is of no section.
SectionedDocument::Parts<std::string> closing_of(const study::PlanReport& report, bool any) {
  SectionedDocument::Parts<std::string> closing;
  closing.emplace_back("provenance", kWhereDefined);
  closing.emplace_back("provenance", fmt::format("headway {}, scenario {}, seed {}", report.version,
                                                 report.digest, report.scenario.run.seed));
  if (report.result.verification.asked > 0) {
    closing.emplace_back("verification", verification_text(report));
  }
  if (report.own) {
    closing.emplace_back("own", report.own->sentence);
  }
  if (!any) {
    closing.emplace_back("", report.reasons().front());
    return closing;
  }
  if (std::string text = break_even_text(report); !text.empty()) {
    closing.emplace_back("machines", std::move(text));
  }
  closing.emplace_back("", report.verdict().value());
  if (report.choice) {
    closing.emplace_back("sensitivity", report.choice->sentence);
  }
  closing.emplace_back(
      "limits",
      "The best plan: " + study::limit_sentence(report.result.plans[0].step, std::nullopt));
  return closing;
}

/// What is told of each plan.
void add_plans(const study::PlanReport& report,
               const std::vector<study::PlannedRun>& plans,
               SectionedDocument& document) {
  auto& tables = document.tables;
  tables.emplace_back("plans", plans_table(report, plans));
  tables.emplace_back("layouts", choices_table(plans));
  if (std::any_of(plans.begin(), plans.end(),
                  [](const study::PlannedRun& plan) { return plan.campaign.has_value(); })) {
    tables.emplace_back("runs", runs_table(plans));
  }
  tables.emplace_back("limits", limits_table(plans));
  if (report.choice) {
    tables.emplace_back("sensitivity", choice_table(*report.choice));
  }
  if (TextChart chart = front_chart(report); !chart.points.empty()) {
    document.charts.emplace_back("front", std::move(chart));
  }
}

/// What becomes of a section that is not there.
std::string why_no_part_of_plan(std::string_view section) {
  return section == "sensitivity"    ? ": ask with --sensitivity"
         : section == "verification" ? ": ask with --verify N"
         : section == "runs"         ? ": the scenario has no run.until"
         : section == "machines"     ? ": one machine was searched"
                                     : "";
}

}  // namespace

std::string plan_json(const study::PlanReport& report) {
  return dump(result_object("headway.plan/1", core::figures_of(report)));
}

std::string plan_csv(const study::PlanReport& report) {
  std::vector<core::Figure> plans;
  for (const auto& plan : report.plans()) {
    plans.push_back(core::figures_of(plan));
  }
  return to_csv(plain_table(core::figures_of_type<study::PlannedRun>(), plans));
}

const std::vector<std::string>& plan_sections() {
  static const std::vector<std::string> words{
      "machines",    "plans",  "layouts",      "runs",    "limits",
      "sensitivity", "front",  "left-out",     "classes", "varied",
      "held",        "unused", "verification", "own",     "provenance"};
  return words;
}

Document plan_document(const study::PlanReport& report, const std::vector<std::string>& show) {
  const auto& r = report.result;
  const auto plans = report.plans();
  SectionedDocument document{report.scenario.name};
  document.opening.push_back(report.machines.empty()
                                 ? searched_nodes(report)
                                 : fmt::format("{} candidate machines",
                                               count(static_cast<double>(report.machines.size()))));
  std::ranges::copy(machine_lines(report), std::back_inserter(document.opening));
  for (const std::string& text : report.warnings()) {
    document.opening.push_back("Warning: " + text);
  }
  document.opening.push_back(
      fmt::format("{} layouts: {} timed whole by the analytic tier, {} simulated",
                  count(static_cast<double>(r.enumerated)), count(static_cast<double>(r.estimated)),
                  count(static_cast<double>(r.simulated))));
  if (!report.machines.empty()) {
    document.tables.emplace_back("machines", machines_table(report));
  }
  if (!plans.empty()) {
    add_plans(report, plans, document);
  }
  if (!r.rejected.empty()) {
    document.tables.emplace_back("left-out", rejected_table(r));
  }
  if (!r.classes.empty()) {
    document.tables.emplace_back("classes", lost_table(r));
  }
  document.tables.emplace_back("varied", fields_table("What the search varied", r.searched.varied));
  document.tables.emplace_back(
      "held", fields_table("What it held, with all else, as the scenario has it", r.searched.held));
  if (!r.searched.unused.empty()) {
    document.tables.emplace_back(
        "unused", fields_table("Asked for, but no layout has it", r.searched.unused));
  }
  document.closing = closing_of(report, !plans.empty());
  return shown(std::move(document), show, why_no_part_of_plan);
}

}  // namespace headway::report
