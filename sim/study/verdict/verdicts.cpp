// The sentence that matters of results that no limit sums up (limit.h): which plan, side, point or
// change of design is the best, and by how much.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "sim/core/figures.h"
#include "sim/core/text.h"
#include "sim/study/compare.h"
#include "sim/study/drill.h"
#include "sim/study/plan.h"
#include "sim/study/points/sweep.h"
#include "sim/study/validate.h"
#include "sim/study/words.h"

namespace headway::study {

namespace {

double tokens_of(const plan::Plan& plan) {
  return static_cast<double>(plan.setting.global_batch) * plan.setting.sequence_length;
}

/// By how much the second plan is behind.
std::string second_words(const PlanReport& report, const PlannedRun& second) {
  const std::string share = core::percent(second.behind);
  return report.objective == plan::Objective::step
             ? fmt::format("Plan 2 takes {} % longer a token.", share)
             : fmt::format("Plan 2 is {} % worse by {}.", share, core::to_word(report.objective));
}

/// How sure the first place is. Steps are compared where they decide: by the objective, or since
/// both plans have the same GPUs. What comparisons with published runs add to an interval is of
/// software and machine, which both share.
std::string apart_words(bool apart, const std::vector<plan::Plan>& plans) {
  // Of a million tokens where one step has more of them.
  const bool same = tokens_of(plans[0]) == tokens_of(plans[1]);
  constexpr double kMillion = 1e6;  // Source: the prefix
  const auto end = [&](std::size_t place, core::Seconds training::StepResult::*side) {
    return core::number((plans[place].step.*side).si() *
                        (same ? 1 : kMillion / tokens_of(plans[place])));
  };
  using Step = training::StepResult;
  // What is not known of machine and software is mostly the same for both. Of published pairs of
  // layouts that differ by more than this 92 % are in the right order (docs/validation.md).
  constexpr double kTold = 0.10;
  const double first = plans[0].step.time.si() / tokens_of(plans[0]);
  const double second = plans[1].step.time.si() / tokens_of(plans[1]);
  const bool told = std::max(first, second) > (1 + kTold) * std::min(first, second);
  return fmt::format(
      " The 90 % intervals of their {} by the error of the simulation alone, {} to {} "
      "s and {} to {} s, {}.",
      same ? "steps" : "time for a million tokens", end(0, &Step::interval_low),
      end(0, &Step::interval_high), end(1, &Step::interval_low), end(1, &Step::interval_high),
      apart  ? "do not overlap"
      : told ? "overlap, but hold much that both plans share: of published pairs of layouts more "
               "than 10 % apart nine in ten are in the right order"
             : "overlap: what the model does not know of machine and software "
               "decides between layouts this close, so try both");
}

/// The figure that decides, what it is called and its unit.
struct DecidingFigure {
  const Attribution* by = nullptr;  ///< none: nothing moves
  const char* name = "";
  const char* unit = "";
};

/// Days where the work is fixed, else dollars a token, else the step.
DecidingFigure deciding(const CompareReport& report) {
  DecidingFigure best;
  for (const auto& [key, figure] :
       {std::pair("step_time_s", DecidingFigure{nullptr, "step time", "s"}),
        std::pair("usd_per_million_tokens",
                  DecidingFigure{nullptr, "cost a million tokens", "USD"}),
        std::pair("wall_days", DecidingFigure{nullptr, "wall clock", "days"})}) {
    for (const Attribution& attribution : report.attributions) {
      const auto& parts = attribution.contributions;
      const bool moves = std::any_of(parts.begin(), parts.end(),
                                     [](const LayerContribution& c) { return c.shapley != 0; });
      if (attribution.key == key && moves) {
        best = figure;
        best.by = &attribution;
      }
    }
  }
  return best;
}

std::string signed_number(double value) { return (value > 0 ? "+" : "") + core::number(value); }

/// "+2.79 of +4.63 s"; where other parts go the other way and a part is larger than the whole,
/// what they make of it: "+440 days, all others -367 days: together +73.1 days".
std::string part_of_whole(double part, double whole, const char* unit) {
  if (part * whole > 0 && std::abs(part) <= std::abs(whole)) {
    return fmt::format("{} of {} {}", signed_number(part), signed_number(whole), unit);
  }
  return fmt::format("{0} {3}, all others {1} {3}: together {2} {3}", signed_number(part),
                     signed_number(whole - part), signed_number(whole), unit);
}

/// Relative: what rounding makes of equal counts.
constexpr double kSameTokens = 1e-9;

double tokens_of(const Figures& side) { return side.tokens_per_s * side.step_time; }

bool same_tokens(double a, double b) { return std::abs(a - b) <= kSameTokens * std::max(a, b); }

/// Which part of a step makes most of its difference; empty where steps are equal.
std::string part_words(const CompareReport& report) {
  const double difference = report.b.step_time - report.a.step_time;
  if (report.step_parts.empty() || difference == 0 ||
      !same_tokens(tokens_of(report.a), tokens_of(report.b))) {
    return "";
  }
  const PartDifference& top = report.step_parts.front();
  return fmt::format(" The largest part of that is {}: {}.", top.words,
                     part_of_whole(top.b - top.a, difference, "s"));
}

/// Which layer makes the difference; empty where no layers were asked for.
std::string layer_words(const CompareReport& report) {
  if (report.mixtures.empty()) {
    return "";
  }
  const auto [by, name, unit] = deciding(report);
  if (by == nullptr) {
    return " They differ in nothing that moves a figure.";
  }
  const auto& parts = by->contributions;
  const auto top = std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::abs(a.shapley) < std::abs(b.shapley);
  });
  double total = 0;
  for (const LayerContribution& part : parts) {
    total += part.shapley;
  }
  const Layer layer = report.differing[static_cast<std::size_t>(top - parts.begin())];
  return fmt::format(" The largest part of the difference in {} comes from {} ({}): {}.", name,
                     core::to_word(layer), contents_of(layer),
                     part_of_whole(top->shapley, total, unit));
}

/// "costs 25.0 % less", or from twice on "costs 2.72 times as much".
std::string changed_words(
    const char* does, double ratio, const char* times, const char* more, const char* less) {
  return ratio >= 2 ? fmt::format("{} {} times {}", does, core::number(ratio), times)
                    : fmt::format("{} {} % {}", does, core::percent(std::abs(ratio - 1)),
                                  ratio > 1 ? more : less);
}

/// What B makes of the days and dollars of the whole run, where both have them.
std::string both_runs(const CompareReport& report) {
  const auto ratio = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && *a > 0 && *b > 0 ? *b / *a : 1;
  };
  const double days = ratio(report.a.wall_days, report.b.wall_days);
  const double dollars = ratio(report.a.usd, report.b.usd);
  std::vector<std::string> words;
  if (days != 1) {
    words.push_back(changed_words("takes", days, "as long", "longer", "less time"));
  }
  if (dollars != 1) {
    words.push_back(changed_words("costs", dollars, "as much", "more", "less"));
  }
  constexpr double kShown = 0.0005;  // what does not round to 0.0 %
  const double tokens = ratio(report.a.tokens, report.b.tokens);
  if (words.empty()) {
    return "";
  }
  if (std::abs(tokens - 1) >= kShown) {
    words.insert(words.begin(),
                 changed_words("trains", tokens, "the tokens", "more tokens", "fewer tokens"));
  }
  const std::string last = words.back();
  words.pop_back();
  return fmt::format(" The run of B {}{}{}.", fmt::join(words, ", "), words.empty() ? "" : " and ",
                     last);
}

std::string both_steps(const CompareReport& report) {
  const double steps = report.b.step_time / report.a.step_time;
  if (!std::isfinite(steps)) {
    return "A or B has no step.";
  }
  const std::string &a = report.label_a.name, &b = report.label_b.name;
  // Steps of other batches do other work: the token is what both have.
  const bool same = same_tokens(tokens_of(report.a), tokens_of(report.b));
  const double ratio = same ? steps : report.a.tokens_per_s / report.b.tokens_per_s;
  const std::string what = same ? "A step" : "A token";
  const std::string batches =
      same ? ""
           : fmt::format(" Steps are of {} tokens on B, of {} on A.",
                         core::compact(tokens_of(report.b)), core::compact(tokens_of(report.a)));
  if (ratio == 1) {
    return fmt::format("{} takes as long on A ({}) as on B ({}).{}", what, a, b, batches);
  }
  if (ratio >= 2) {
    return fmt::format("{} takes {} times as long on B ({}) as on A ({}).{}", what,
                       core::number(ratio), b, a, batches);
  }
  return fmt::format("{} takes {} % {} on B ({}) than on A ({}).{}", what,
                     core::percent(std::abs(ratio - 1)), ratio > 1 ? "longer" : "less", b, a,
                     batches);
}

}  // namespace

namespace {

/// Whether a word of the layout says anything: which order of passes, with one stage, does not.
bool matters(std::string_view name, const workload::ParallelismSpec& layout) {
  return name == "context kind" ? layout.context > 1
         : name == "schedule"   ? layout.pipeline > 1
         : name == "sequence"   ? layout.tensor > 1
         : name == "rank order" ? layout.pipeline > 1 && layout.data.value.value_or(1) > 1
                                : true;
}

}  // namespace

std::string plan_words(const PlannedRun& plan, const std::vector<PlannedRun>& plans) {
  const auto differ = [&](const auto& value) {
    return std::any_of(plans.begin(), plans.end(),
                       [&](const PlannedRun& other) { return value(other) != value(plan); });
  };
  std::vector<std::string> words;
  if (differ([](const PlannedRun& p) { return p.machine; })) {
    words.push_back(plan.machine);
  }
  if (differ([](const PlannedRun& p) { return p.setting.nodes; })) {
    words.push_back(core::count(plan.setting.nodes) + " nodes");
  }
  if (differ([](const PlannedRun& p) { return p.setting.precision; })) {
    words.emplace_back(core::to_word(plan.setting.precision));
  }
  if (plan.board && differ([](const PlannedRun& p) { return p.board; })) {
    words.push_back(fmt::format("boards of {} W", core::count(std::floor(plan.board->si()))));
  }
  const auto parts = core::figures_of(plan.layout).parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const core::Figure& degree = parts[i];
    const bool always = degree.key == "tensor" || degree.key == "pipeline";
    std::string name = degree.key;
    std::replace(name.begin(), name.end(), '_', ' ');
    if (degree.kind == core::FigureKind::integer && (always || degree.integer > 1)) {
      words.push_back(fmt::format("{} {}", name, degree.integer));
    }
    const auto differs = [&] {
      return matters(name, plan.layout.spec) && differ([i](const PlannedRun& p) {
               const core::Figure other = core::figures_of(p.layout).parts[i];
               return std::pair(other.text, other.integer);
             });
    };
    if (degree.kind == core::FigureKind::word && differs()) {
      words.push_back(degree.text == "none" ? fmt::format("{} none", name) : degree.text);
    }
    if (degree.kind == core::FigureKind::flag && differs()) {
      words.push_back(fmt::format("{} {}", name, degree.integer != 0 ? "on" : "off"));
    }
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::optional<std::string> PlanReport::verdict() const {
  const std::vector<PlannedRun> all = plans();
  if (all.empty()) {
    return std::nullopt;  // the reasons say why
  }
  std::string text =
      fmt::format("Plan 1 is the best by {}: {}. ", core::to_word(objective), *all.front().name);
  if (all.front().outside) {
    text += "It is the scenario's own layout, outside what `search` lists. ";
  }
  if (all.size() == 1) {
    return text + "No other plan was found.";
  }
  text += second_words(*this, all[1]);
  const auto sure = apart();  // what is not known of one machine says nothing of the other
  return sure ? text + apart_words(*sure, result.plans) : text;
}

void name_apart(CompareReport& report) {
  constexpr std::size_t kNamed = 2;
  if (report.label_a.name != report.label_b.name) {
    return;
  }
  const auto& all = report.differences;
  const auto add = [&](std::string& name,
                       std::optional<std::string> config::FieldDifference::*side) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(kNamed, all.size()); ++i) {
      words.push_back(fmt::format("{}={}", all[i].key, (all[i].*side).value_or("null")));
    }
    if (all.size() > kNamed) {
      words.push_back(fmt::format("{} more", all.size() - kNamed));
    }
    name += words.empty() ? "" : fmt::format(", with {}", fmt::join(words, ", "));
  };
  add(report.label_a.name, &config::FieldDifference::a);
  add(report.label_b.name, &config::FieldDifference::b);
}

std::string CompareReport::verdict() const {
  return differing.empty()
             ? "A and B are the same architecture."
             : both_steps(*this) + part_words(*this) + both_runs(*this) + layer_words(*this);
}

namespace {

/// What a figure does not tell apart is said: "; 4 others have as much, of which ...".
std::string tie_words(const SweepTie& tie) {
  if (tie.others == 0) {
    return "";
  }
  const std::string others =
      fmt::format("; {} other{} as much", tie.others, tie.others == 1 ? " has" : "s have");
  return tie.decided_by.empty()
             ? others + ", and no other figure differs: the first is named"
             : fmt::format("{}: of them it has the {} {} (`--best {}` ranks by that)", others,
                           core::to_word(tie.end), tie.decided_by, tie.decided_by);
}

std::string changes_of(const SweepRow& row) {
  std::vector<std::string> changes;
  for (const auto& [key, value] : row.changes) {
    changes.push_back(fmt::format("{}={}", key, value));
  }
  return fmt::format("{}", fmt::join(changes, ", "));
}

}  // namespace

std::optional<std::string> SweepReport::verdict() const {
  const bool simulated = std::any_of(rows.begin(), rows.end(), [](const SweepRow& row) {
    return row.status != PointStatus::listed;
  });
  if (!simulated) {
    return std::nullopt;
  }
  const SweepRow* row = best_row(rows, best, best_is);
  if (row == nullptr) {
    return "No point works.";
  }
  const auto value_of = [&](const SweepRow& of) {
    const auto value = std::find_if(of.figures.begin(), of.figures.end(),
                                    [&](const auto& figure) { return figure.first == best; });
    return core::number(value->second.value());
  };
  const SweepRow* crowded = crowded_row(rows, *row, best, best_is);
  const std::string room =
      !row->memory_warning.empty() ? " Its memory has no room to spare: see its warning."
      : crowded == nullptr
          ? ""
          : fmt::format(" Point {} ({}) has {}, but its memory has no room to spare.",
                        crowded->point, changes_of(*crowded), value_of(*crowded));
  return fmt::format("Best is point {}: {}, with the {} {}, {}{}.{}", row->point, changes_of(*row),
                     core::to_word(best_is), best, value_of(*row),
                     tie_words(tie_of(rows, *row, best)), room);
}

std::string DrillReport::verdict() const {
  std::string text =
      fmt::format("The fault costs {} of the whole job{}", elapsed(result.lost),
                  result.cost ? fmt::format(" and {} USD", core::number(result.cost->si())) : "");
  if (!result.tried_remedies) {
    return text + ".";
  }
  if (result.remedies.empty() || result.remedies.front().saved.si() <= 0) {
    return text + "; none of the changes tried would have helped.";
  }
  const auto& best = result.remedies.front();
  return text + fmt::format("; what would have helped most: {}, which saves {} ({}).", best.name,
                            elapsed(best.saved), best.how);
}

std::string errors_in_words(const validation::RunSummary& rows) {
  if (rows.n == 0) {
    return fmt::format("none of {} runs was predicted.", rows.n_skipped);
  }
  return fmt::format(
      "{} of {} runs were predicted: median error {} %, mean {} %, 90th percentile {} %; {} % of "
      "them lie in their 90 % interval.",
      rows.n, rows.n + rows.n_skipped, core::percent(rows.median_abs_error),
      core::percent(rows.mean_abs_error), core::percent(rows.p90_abs_error),
      core::percent(rows.coverage_90));
}

std::string runs_verdict(const std::vector<validation::RunPrediction>& rows,
                         const LeavingOut& left_out) {
  std::vector<std::string> parts;
  if (left_out.parts.empty()) {
    // Rows that something was fitted to are never taken together with others.
    std::map<std::string, std::vector<validation::RunPrediction>> tables;
    for (const auto& row : rows) {
      tables[row.table].push_back(row);
    }
    for (const auto& [table, of_table] : tables) {
      const auto of_part = validation::summarize_by(of_table, &validation::RunPrediction::part);
      parts.push_back(fmt::format(
          "{}: {}", of_part.size() == 1 ? of_part.front().first : "All together" + table,
          errors_in_words(validation::summarize(of_table))));
    }
    return fmt::format("{}", fmt::join(parts, " "));
  }
  for (const auto& [name, errors] : left_out.parts) {
    parts.push_back(fmt::format("{} {} % in the median, {} % at the 90th percentile", name,
                                core::percent(errors.median_abs_error),
                                core::percent(errors.p90_abs_error)));
  }
  return fmt::format("Errors with each source left out: {}.", fmt::join(parts, "; "));
}

}  // namespace headway::study
