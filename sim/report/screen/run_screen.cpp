#include "sim/report/screen/run_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/report/figure_rows.h"
#include "sim/report/screen/screen.h"
#include "sim/report/wrap.h"
#include "sim/study/words.h"

namespace headway::report {

using core::compact;
using namespace core::literals;

namespace {

/// What an assumption is about, by its key.
const char* subject_of(const std::string& key) {
  static constexpr std::array<std::pair<const char*, const char*>, 7> kSubjects{
      {{"collective ", "collectives"},
       {"training.framework", "framework"},
       {"gpu.", "GPU"},
       {"cluster.", "cluster"},
       {"run.", "run"},
       {"campaign.", "run"},
       {"cost.", "cost"}}};
  const auto found = std::find_if(kSubjects.begin(), kSubjects.end(),
                                  [&](const auto& one) { return key.starts_with(one.first); });
  return found == kSubjects.end() ? "step" : found->second;
}

/// What assumptions are about, and how many, the most first.
using Subjects = std::vector<std::pair<std::string, std::size_t>>;
Subjects subjects_of(const std::vector<training::Assumption>& assumptions) {
  std::map<std::string, std::size_t> counts;
  for (const auto& one : assumptions) {
    ++counts[subject_of(one.key)];
  }
  Subjects subjects(counts.begin(), counts.end());
  std::stable_sort(subjects.begin(), subjects.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return subjects;
}

/// "35 assumptions: collectives 12, framework 10, other 13".
std::string assumed_text(std::size_t all, const Subjects& subjects) {
  std::string text = how_many(all, "assumption");
  std::size_t left = subjects.empty() ? 0 : all;
  for (const auto& [subject, count] : subjects) {
    text += fmt::format("{}{} {}", left == all ? ": " : ", ", subject, count);
    left -= count;
  }
  return left == 0 ? text : fmt::format("{}, other {}", text, left);
}

class RunScreen {
 public:
  RunScreen(const study::RunReport& report, const Page& page) : report_(report), screen_(page) {}

  std::string text() {
    screen_.title(report_.scenario.name);
    add_verdict();
    for (std::size_t i = 0; i < report_.asked.size(); ++i) {
      static constexpr std::array<const char*, 3> kLabels{"model", "cluster", "layout"};
      screen_.labelled(i < kLabels.size() ? kLabels[i] : "", i == 0 ? model() : report_.asked[i],
                       2);
    }
    add_figures();
    add_bars();
    add_remedies();
    add_end();
    return screen_.text();
  }

 private:
  static constexpr std::size_t kRemedies = 3;

  void add_verdict() {
    if (report_.status != study::Status::ok) {
      screen_.toned_line(fmt::format("Status: {}.", core::to_word(report_.status)), Tone::bad);
      for (const auto& reason : report_.reasons) {
        screen_.toned_line(reason, Tone::bad);
      }
    }
    screen_.toned_line(report_.limit, Tone::title);
  }

  [[nodiscard]] std::string model() const {
    const auto& m = report_.model;
    const std::string active = m.active_parameters < 0.99 * m.parameters
                                   ? fmt::format(" ({} active)", compact(m.active_parameters))
                                   : "";
    const std::string trained = m.trained_parameters < 0.999 * m.parameters
                                    ? fmt::format(", {} trained", compact(m.trained_parameters))
                                    : "";
    const auto& training = report_.scenario.training;
    const std::string taught =
        workload::runs_teacher(training)
            ? fmt::format(", taught by {} of {}", training.distillation->teacher->name,
                          compact(m.teacher_parameters))
        : m.logits_per_token.si() > 0 ? fmt::format(", taught by cached logits of {} kB a token",
                                                    number(m.logits_per_token.si() / 1e3))
                                      : "";
    const std::string sees =
        m.encoder_parameters > 0
            ? fmt::format(", {} of them an encoder of images", compact(m.encoder_parameters))
            : "";
    return fmt::format("{}, {} parameters{}{}{}{}; {} x {} tokens a step, {}", m.name,
                       compact(m.parameters), sees, active, trained, taught,
                       count(training.global_batch), count(training.sequence_length),
                       core::to_word(training.precision));
  }

  void add_figures() {
    const auto& step = report_.step;
    const std::string figures =
        fmt::format("{} s{}, MFU {} %, {} TFLOP/s a GPU, {} tokens/s", number(step.time.si()),
                    spread_text(number(step.time.si()), number(step.interval_low.si()),
                                number(step.interval_high.si())),
                    percent(step.mfu), number(step.model_flops_per_gpu.si() / 1e12),
                    compact(step.tokens_per_s));
    screen_.figures("step", figures);
    if (step.packets) {
      screen_.labelled("network", study::in_words(*step.packets), 2);
    }
    const auto& memory = step.memory;
    const double left = 1 - memory.peak / memory.capacity;
    screen_.labelled(
        "memory",
        fmt::format("{} of {} GiB on the fullest GPU (stage {}): {} % {}",
                    number(memory.peak / 1_GiB), number(memory.capacity / 1_GiB), memory.peak_stage,
                    percent(std::abs(left)), left < 0 ? "too much" : "free"));
    if (!report_.campaign) {
      return;
    }
    const auto& run = *report_.campaign;
    // Verdict, advice and comparisons are of the mean, which few bad trials pull away.
    constexpr double kApart = 0.005;
    const std::string mean = std::abs(run.ettr.mean - run.ettr.p50) < kApart
                                 ? ""
                                 : fmt::format(", mean {}", percent(run.ettr.mean));
    screen_.labelled("run",
                     fmt::format("{} tokens in {}, ETTR {}{}", compact(run.tokens),
                                 spread_of(run.wall_days, "days"),
                                 spread_of(run.ettr, "%", study::percent_figures), mean),
                     2);
    if (run.time_to_market) {
      screen_.labelled("ready", fmt::format("{} after the order, bring-up {}",
                                            spread_of(run.time_to_market->ready_days, "days"),
                                            number(run.time_to_market->bring_up_days.p50)));
    }
    if (report_.cost) {
      const auto& cost = *report_.cost;
      const std::string median = compact(cost.total_usd.p50);
      // Of the figures on this screen: the bill's own is of means.
      const double million = run.tokens / 1e6;
      const std::string of_tokens = million > 0 ? fmt::format(", {} USD a million tokens",
                                                              number(cost.total_usd.p50 / million))
                                                : "";
      screen_.labelled("cost", fmt::format("{} USD{}{}", median,
                                           spread_text(median, compact(cost.total_usd.p5),
                                                       compact(cost.total_usd.p95)),
                                           of_tokens));
    }
  }

  /// The largest causes of the step with their share as a bar, the others together.
  /// Where remedies and warnings need the lines there are fewer, and of two none is for the rest.
  void add_bars() {
    const std::size_t after = std::min(kRemedies, report_.remedies.size()) + 1 + lines_of_end();
    const std::size_t taken = screen_.lines() + 1 + after;  // the title
    const std::size_t rows =
        std::clamp<std::size_t>(kScreenLines - std::min(kScreenLines, taken), 2, 4);
    const std::size_t bars = rows > 2 ? rows - 1 : rows;
    std::vector<std::pair<std::string, double>> parts;
    for (const auto& entry : core::enum_words(core::Activity{})) {
      parts.emplace_back(study::in_words(entry.value),
                         report_.step.breakdown[entry.value] / report_.step.time);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    double rest = 0;
    for (std::size_t i = bars; i < parts.size(); ++i) {
      rest += parts[i].second;
    }
    parts.resize(bars);
    if (rows > bars) {
      parts.emplace_back("all else", rest);
    }
    screen_.heading("Where the step goes");
    for (const auto& [what, share] : parts) {
      if (share >= 0.0005) {
        add_bar(what, share);
      }
    }
  }

  void add_bar(const std::string& what, double share) {
    constexpr std::size_t kWords = 33;
    const std::string words =
        fmt::format("  {:<{}} {:>5} % ", elided(what, kWords), kWords, percent(share));
    if (shown_width(words) >= screen_.width()) {
      screen_.line(elided(words, screen_.width()));
      return;
    }
    const auto room = static_cast<double>(screen_.width() - shown_width(words));
    const auto marks = static_cast<std::size_t>(std::lround(room * std::min(1.0, share)));
    screen_.line(words + toned(std::string(marks, '#'),
                               what == "compute" ? Tone::good : Tone::warning, screen_.page()));
  }

  void add_remedies() {
    const std::size_t taken = screen_.lines() + 1 + lines_of_end();
    const std::size_t left = taken < kScreenLines ? kScreenLines - taken : 0;
    screen_.spare = left;
    const std::size_t shown = std::min({kRemedies, left, report_.remedies.size()});
    if (left > 0 && report_.remedies.empty()) {
      --screen_.spare;
      screen_.line(elided(
          report_.step.memory.fits
              ? "What would help: another layout, which `headway plan` seeks; no loss is large"
              : "What would help: a layout that fits, which `headway plan` seeks",
          screen_.width()));
    }
    if (shown == 0) {
      return;
    }
    screen_.spare = left - shown;
    screen_.heading("What would help");
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& remedy = report_.remedies[i];
      screen_.roomy_line(
          fmt::format("  {}. ", i + 1),
          fmt::format("{}: {}", remedy.brings, remedy.way.empty() ? remedy.change : remedy.way));
    }
  }

  [[nodiscard]] std::size_t lines_of_end() const {
    return 1 + (report_.compared.empty() ? 0 : 1) +
           (report_.warnings.empty() ? 0 : screen_.lines_of_warning(report_.warnings.front()));
  }

  /// The first warning; how many more there are is said.
  void add_end() {
    if (!report_.warnings.empty()) {
      screen_.warning(report_.warnings.front());
    }
    if (!report_.compared.empty()) {
      const std::string head = "Compared before: ";
      const std::string text = core::visible(report_.compared.front());
      const std::size_t taken = shown_width(head);
      screen_.roomy_line(head,
                         screen_.spare > 0
                             ? text
                             : figures_that_fit(text, std::max(taken, screen_.width()) - taken));
    }
    const std::size_t more = report_.warnings.empty() ? 0 : report_.warnings.size() - 1;
    const std::string warnings = more == 0 ? "" : "; " + how_many(more, "more warning");
    Subjects subjects = subjects_of(report_.assumptions);
    const auto text = [&] {
      return assumed_text(report_.assumptions.size(), subjects) + warnings + ". More: --full";
    };
    while (!subjects.empty() && shown_width(text()) > screen_.width()) {
      subjects.pop_back();  // the rarest, for which there is no room
    }
    screen_.line(elided(text(), screen_.width()));
  }

  const study::RunReport& report_;
  Screen screen_;
};

}  // namespace

std::string run_screen(const study::RunReport& report, const Page& page) {
  return RunScreen(report, page).text();
}

}  // namespace headway::report
