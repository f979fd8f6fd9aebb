#include "sim/report/screen/plan_screen.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "sim/core/text.h"
#include "sim/report/screen/screen.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/study/verdict/limit.h"

namespace headway::report {

using core::compact;
using namespace core::literals;

namespace {

/// Exact where that is short.
std::string brief_count(std::int64_t many) {
  constexpr std::int64_t kShort = 10'000;
  const auto value = static_cast<double>(many);
  return many < kShort ? count(value) : compact(value);
}

class PlanScreen {
 public:
  PlanScreen(const study::PlanReport& report, const Page& page)
      : report_(report), plans_(report.plans()), warnings_(report.warnings()), screen_(page) {}

  std::string text() {
    screen_.title(report_.scenario.name);
    add_verdict();
    add_machines();
    if (!plans_.empty()) {
      add_best();
    }
    if (report_.own) {
      screen_.labelled("yours", own(*report_.own));
    }
    if (report_.result.verification.asked > 0) {
      screen_.labelled("drawn", verification_text(report_), report_.machines.empty() ? 2 : 1);
    }
    const std::string last = end();
    if (plans_.empty()) {
      add_left_out();
    } else {
      screen_.labelled("limits", study::limit_sentence(report_.result.plans[0].step, {}), 2);
      if (report_.machines.empty()) {
        screen_.labelled("held", held());
      }
      // A longer warning makes a longer screen: the plans are what was asked for.
      const std::size_t taken = warnings_.empty() ? 1 : 2;
      screen_.table(plans_table(report_, plans_),
                    screen_.lines_left() - std::min(screen_.lines_left(), taken), "--show plans");
    }
    if (!warnings_.empty()) {
      screen_.warning(warnings_.front());
    }
    screen_.line(elided(last, screen_.width()));
    return screen_.text();
  }

 private:
  void add_verdict() {
    if (plans_.empty()) {
      screen_.toned_line(fmt::format("Status: {}.", core::to_word(report_.status())), Tone::bad);
      for (const std::string& reason : report_.reasons()) {
        screen_.toned_line(reason, Tone::bad);
      }
      return;
    }
    screen_.toned_line(report_.verdict().value(), Tone::title);
    if (report_.choice) {
      screen_.labelled("firm", report_.choice->sentence, 2);
    }
  }

  /// Of few machines each with its outcome.
  void add_machines() {
    constexpr std::size_t kMost = 3;
    for (std::size_t i = 0; i < std::min(kMost, report_.machines.size()); ++i) {
      const study::PlannedMachine& machine = report_.machines[i];
      screen_.labelled(i == 0 ? "machines" : "",
                       fmt::format("{}: {} ({})", i + 1, machine.outcome, machine.name));
    }
    if (report_.machines.size() > kMost) {
      screen_.labelled("",
                       fmt::format("{} more: --show machines", report_.machines.size() - kMost));
    }
  }

  /// Figures of plan 1.
  void add_best() {
    const study::PlannedRun& best = plans_.front();
    const training::StepResult& step = best.step;
    screen_.labelled("layout", plan::layout_text(best.layout.spec), 2);
    screen_.figures("step",
                    fmt::format("{} s{}, MFU {} %, {} of {} GiB of memory", number(step.time.si()),
                                spread_text(number(step.time.si()), number(step.interval_low.si()),
                                            number(step.interval_high.si())),
                                percent(step.mfu), number(step.memory.peak / 1_GiB),
                                number(step.memory.capacity / 1_GiB)));
    if (best.campaign) {
      const auto& usd = best.cost ? best.cost->total_usd : campaign::Distribution{};
      screen_.figures("run",
                      fmt::format("{}{}, goodput {} %", spread_of(best.campaign->days(), "days"),
                                  best.cost ? ", " + spread_of(usd, "USD", compact) : "",
                                  percent(best.campaign->goodput.p50)));
    }
  }

  /// In a line what `sentence` says in more words.
  [[nodiscard]] std::string own(const study::OwnLayout& own) const {
    const std::string beside =
        own.faster && *own.faster > 0
            ? fmt::format("; {} of {} are faster", *own.faster, report_.result.points.size())
            : "";
    return own.behind && own.plan != 1 ? fmt::format("{} s, {}{}", number(own.step->si()),
                                                     study::behind_words(*own.behind), beside)
                                       : own.sentence;
  }

  /// "2048 nodes, batch 2048, bf16", without fields whose value does nothing.
  [[nodiscard]] std::string held() const {
    std::vector<std::string> first, words;
    for (const plan::SearchedField& field : report_.result.searched.held) {
      const std::string name = field.key.substr(field.key.rfind('.') + 1);
      const bool idle = field.values == "1" || field.values == "[]" || field.values == "auto" ||
                        field.values == "none";
      if (name == "nodes") {
        first.push_back(field.values + " nodes");
      } else if (name == "framework") {
        words.push_back(report_.scenario.training.framework.name);
      } else if (name == "precision") {
        first.push_back(field.values);
      } else if (name == "global_batch" || name == "sequence_length") {
        first.push_back((name == "global_batch" ? "batch " : "sequence ") + field.values);
      } else if (!idle) {
        words.push_back(name + " " + field.values);
      }
    }
    first.insert(first.end(), words.begin(), words.end());
    return fmt::format("{}", fmt::join(first, ", "));
  }

  /// Where no layout is left: what they fail on, the most frequent first.
  void add_left_out() {
    auto left_out = report_.result.rejected;
    std::stable_sort(left_out.begin(), left_out.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    const std::size_t room = screen_.lines_left() - std::min(screen_.lines_left(), std::size_t{2});
    for (std::size_t i = 0; i < std::min(room / 2, left_out.size()); ++i) {
      const plan::Rejection& one = left_out[i];
      screen_.labelled(
          i == 0 ? "left out" : "",
          fmt::format("{} by {}: {}{}", count(static_cast<double>(one.count)), one.kind, one.reason,
                      one.nearest.empty() ? "" : "; nearest: " + one.nearest),
          2);
    }
  }

  [[nodiscard]] std::string end() const {
    const std::size_t more = warnings_.empty() ? 0 : warnings_.size() - 1;
    const std::string warnings = more == 0 ? "" : "; " + how_many(more, "more warning");
    const plan::PlanResult& r = report_.result;
    return fmt::format("{} layouts: {} timed by the analytic tier, {} simulated{}. More: --full",
                       brief_count(r.enumerated), brief_count(r.estimated), r.simulated, warnings);
  }

  const study::PlanReport& report_;
  std::vector<study::PlannedRun> plans_;
  std::vector<std::string> warnings_;
  Screen screen_;
};

}  // namespace

std::string plan_screen(const study::PlanReport& report, const Page& page) {
  return PlanScreen(report, page).text();
}

}  // namespace headway::report
