#include "sim/report/screen/drill_screen.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

#include "sim/report/screen/screen.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/report/wrap.h"
#include "sim/study/words.h"

namespace headway::report {

namespace {

using core::Seconds;
using study::elapsed;

class DrillScreen {
 public:
  DrillScreen(const study::DrillReport& report, const Page& page)
      : report_(report), result_(report.result), screen_(page) {}

  std::string text() {
    screen_.title("Fire drill: " + report_.scenario.name);
    for (const std::string& reason : report_.reasons) {
      screen_.toned_line(fmt::format("{}: {}.", core::to_word(report_.status), reason), Tone::bad);
    }
    screen_.toned_line(report_.verdict(), Tone::title);
    screen_.labelled("fault", fault_words(result_));
    if (const std::string slow = slow_step_words(result_); !slow.empty()) {
      screen_.labelled("step", slow, 2);
    }
    screen_.labelled("noticed", noticed(), 2);
    screen_.figures("blamed", blamed());
    screen_.labelled("healthy", healthy());
    screen_.figures("time", time());
    add_timeline();
    add_remedies();
    add_end();
    return screen_.text();
  }

 private:
  static constexpr std::size_t kRemedies = 3;

  /// By whom first, and which layer shows it first.
  [[nodiscard]] std::string noticed() const {
    const auto& timeline = result_.trace.timeline;
    const auto alarm = std::find_if(timeline.begin(), timeline.end(), [](const auto& entry) {
      return entry.moment == drill::Moment::alarm;
    });
    std::vector<std::string> blind;
    for (const study::FirstSymptom& first : study::first_symptoms(result_.trace)) {
      if (first.symptom && !first.visible_at) {
        blind.emplace_back(core::to_word(first.layer));
      }
    }
    return fmt::format(
        "{}{}",
        alarm == timeline.end() ? "by nobody"
                                : fmt::format("{}, {}: {}", time_since_fault(alarm->at),
                                              who_words(*alarm), alarm->text),
        blind.empty() ? "" : fmt::format("; nobody sees what shows in {}", fmt::join(blind, ", ")));
  }

  /// The last blame, which is acted on last, with how often it was wrong before.
  [[nodiscard]] std::string blamed() const {
    const auto& responses = result_.trace.responses;
    std::vector<const drill::Response*> all;
    for (const drill::Response& one : responses) {
      if (!one.suspects.empty()) {
        all.push_back(&one);
      }
    }
    if (all.empty()) {
      return "nobody";
    }
    const auto wrong =
        std::count_if(all.begin(), all.end(), [](const auto* one) { return !one->right; });
    const drill::Response& last = *all.back();
    std::vector<std::string> suspects;
    for (const drill::Suspect& one : last.suspects) {
      constexpr std::size_t kShown = 3;
      if (suspects.size() < kShown) {
        suspects.push_back(
            fmt::format("{} {} %", drill::facts_of(one.kind).part, percent(one.probability)));
      }
    }
    return fmt::format(
        "{}{}: {}", last.right ? "rightly" : "wrongly",
        all.size() == 1 ? "" : fmt::format(" at last, {} of {} times wrong", wrong, all.size()),
        fmt::join(suspects, ", "));
  }

  [[nodiscard]] std::string healthy() const {
    const auto& again = result_.trace.running_again;
    return again ? fmt::format("again {} after the fault", elapsed(seconds_of(*again)))
                 : fmt::format("not again within {}", elapsed(result_.setup.horizon));
  }

  /// Where the time goes that is not useful, the most first.
  [[nodiscard]] std::string time() const {
    std::vector<std::pair<Seconds, std::string>> parts;
    for (const auto& entry : enum_words(campaign::Account{})) {
      const Seconds spent = seconds_of(result_.trace[entry.value]);
      if (spent.si() > 0 && entry.value != campaign::Account::useful) {
        parts.emplace_back(spent, study::in_words(entry.value));
      }
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> words;
    for (const auto& [spent, what] : parts) {
      words.push_back(fmt::format("{} {}", what, elapsed(spent)));
    }
    return fmt::format("of {} not useful: {}", elapsed(result_.setup.horizon),
                       fmt::join(words, ", "));
  }

  [[nodiscard]] static Seconds seconds_of(core::Tick tick) {
    return core::Clock::campaign().to_seconds(tick);
  }

  [[nodiscard]] std::size_t lines_of_remedies() const {
    const std::size_t shown = std::min(kRemedies, result_.remedies.size());
    return shown + (shown > 0 ? 1 : 0);
  }
  [[nodiscard]] std::size_t lines_of_end() const {
    return 1 + (result_.warnings.empty() ? 0 : screen_.lines_of_warning(warning()));
  }
  [[nodiscard]] std::string warning() const { return result_.warnings.front() + "."; }

  /// As many of the first lines as there is room for.
  void add_timeline() {
    const auto& timeline = result_.trace.timeline;
    const std::size_t taken = lines_of_remedies() + lines_of_end() + 1;
    const std::size_t room = screen_.lines_left() - std::min(screen_.lines_left(), taken);
    if (room < 2 || timeline.empty()) {
      return;
    }
    const bool all = timeline.size() <= room;
    const std::size_t shown = all ? timeline.size() : room - 1;
    screen_.heading("What followed");
    for (std::size_t i = 0; i < shown; ++i) {
      const drill::TimelineEntry& entry = timeline[i];
      screen_.line(elided(
          fmt::format("  {:>12}  {}: {}", time_since_fault(entry.at), who_words(entry), entry.text),
          screen_.width()));
    }
    if (!all) {
      screen_.line(
          elided(fmt::format("  {} more, the last {}: --show timeline", timeline.size() - shown,
                             time_since_fault(timeline.back().at)),
                 screen_.width()));
    }
  }

  void add_remedies() {
    const std::size_t shown = std::min(kRemedies, result_.remedies.size());
    if (shown == 0) {
      return;
    }
    screen_.heading("What would have helped");
    for (std::size_t i = 0; i < shown; ++i) {
      const drill::Remedy& remedy = result_.remedies[i];
      const std::string what =
          fmt::format("  {}. {} less: {}", i + 1, elapsed(remedy.saved), remedy.name);
      const std::string how = fmt::format("{} ({})", what, remedy.how);
      screen_.line(shown_width(how) <= screen_.width() ? how : elided(what, screen_.width()));
    }
  }

  void add_end() {
    if (!result_.warnings.empty()) {
      screen_.warning(warning());
    }
    const std::size_t more = result_.warnings.empty() ? 0 : result_.warnings.size() - 1;
    screen_.line(
        elided(fmt::format("{}{}. More: --full", how_many(result_.assumptions.size(), "assumption"),
                           more == 0 ? "" : "; " + how_many(more, "more warning")),
               screen_.width()));
  }

  const study::DrillReport& report_;
  const drill::DrillResult& result_;
  Screen screen_;
};

}  // namespace

std::string drill_screen(const study::DrillReport& report, const Page& page) {
  return DrillScreen(report, page).text();
}

}  // namespace headway::report
