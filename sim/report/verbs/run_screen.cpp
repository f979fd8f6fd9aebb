#include "sim/report/verbs/run_screen.h"

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
#include "sim/report/wrap.h"
#include "sim/study/words.h"

namespace headway::report {

using core::compact;
using namespace core::literals;

namespace {

/// " (4.10 to 4.30)"; nothing where that is what stands before it.
std::string spread_text(const std::string& middle,
                        const std::string& low,
                        const std::string& high) {
  const std::string range = range_text(low, high);
  return range == middle ? "" : fmt::format(" ({})", range);
}

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
  std::string text = fmt::format("{} assumption{}", all, all == 1 ? "" : "s");
  std::size_t left = subjects.empty() ? 0 : all;
  for (const auto& [subject, count] : subjects) {
    text += fmt::format("{}{} {}", left == all ? ": " : ", ", subject, count);
    left -= count;
  }
  return left == 0 ? text : fmt::format("{}, other {}", text, left);
}

std::string elided(const std::string& text, std::size_t width) {
  if (shown_width(text) <= width) {
    return text;
  }
  const std::size_t indent = text.find_first_not_of(' ');
  const std::size_t room = width > indent + 5 ? width - indent - 4 : 1;
  std::string line = text.substr(0, indent) + wrapped(text.substr(indent), room).front();
  line.erase(line.find_last_not_of(" ,;:") + 1);
  return line + " ...";
}

/// Of figures between commas those that fit: the head of one would be a number without its unit.
std::string figures_that_fit(std::string text, std::size_t width) {
  while (shown_width(text) > width && text.find(", ") != std::string::npos) {
    text.erase(text.rfind(", "));
  }
  return text;
}

constexpr const char* kWarning = "Warning: ";

class Screen {
 public:
  Screen(const study::RunReport& report, const Page& page)
      : report_(report),
        page_(page),
        width_(page.width == 0 ? kScreenWidth : std::min(page.width, kScreenWidth)) {}

  std::string text() {
    line(toned(elided(visible(report_.scenario.name), width_), Tone::title, page_));
    add_verdict();
    for (std::size_t i = 0; i < report_.asked.size(); ++i) {
      static constexpr std::array<const char*, 3> kLabels{"model", "cluster", "layout"};
      labelled(i < kLabels.size() ? kLabels[i] : "", i == 0 ? model() : report_.asked[i], 2);
    }
    add_figures();
    add_bars();
    add_remedies();
    add_end();
    std::string out;
    for (const auto& line : lines_) {
      out += line + "\n";
    }
    return out;
  }

 private:
  static constexpr std::size_t kLabel = 9;
  static constexpr std::size_t kRemedies = 3;

  /// Names come from files: they do not command the terminal.
  [[nodiscard]] static std::string visible(const std::string& text) { return core::visible(text); }

  void line(const std::string& text) { lines_.push_back(text); }
  void toned_line(const std::string& text, Tone tone) {
    for (const auto& part : wrapped(text, width_)) {
      line(toned(part, tone, page_));
    }
  }

  /// "  label    text", in at most so many lines.
  void labelled(const std::string& label, const std::string& text, std::size_t most = 1) {
    const std::size_t indent = 2 + kLabel;
    const std::size_t room = width_ > indent + 4 ? width_ - indent : 4;
    auto parts = wrapped(visible(text), room);
    if (parts.size() > most) {
      std::string rest;
      for (std::size_t i = most - 1; i < parts.size(); ++i) {
        rest += (rest.empty() ? "" : " ") + parts[i];
      }
      parts.resize(most);
      parts.back() = elided(rest, room);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      line(fmt::format("  {:<{}}{}", i == 0 ? label : "", kLabel, parts[i]));
    }
  }

  void add_verdict() {
    if (report_.status != study::Status::ok) {
      toned_line(fmt::format("Status: {}.", core::to_word(report_.status)), Tone::bad);
      for (const auto& reason : report_.reasons) {
        toned_line(visible(reason), Tone::bad);
      }
    }
    toned_line(visible(report_.limit), Tone::title);
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
    labelled("step", figures_that_fit(figures, width_ > 2 + kLabel ? width_ - 2 - kLabel : 1));
    if (step.packets) {
      labelled("network", study::in_words(*step.packets), 2);
    }
    const auto& memory = step.memory;
    const double left = 1 - memory.peak / memory.capacity;
    labelled("memory", fmt::format("{} of {} GiB on the fullest GPU (stage {}): {} % {}",
                                   number(memory.peak / 1_GiB), number(memory.capacity / 1_GiB),
                                   memory.peak_stage, percent(std::abs(left)),
                                   left < 0 ? "too much" : "free"));
    if (!report_.campaign) {
      return;
    }
    const auto& run = *report_.campaign;
    const auto spread = [](const campaign::Distribution& d, double scale, const char* unit) {
      const std::string median = number(scale * d.p50);
      return fmt::format("{} {}{}", median, unit,
                         spread_text(median, number(scale * d.p5), number(scale * d.p95)));
    };
    // Verdict, advice and comparisons are of the mean, which few bad trials pull away.
    constexpr double kApart = 0.005;
    const std::string mean = std::abs(run.ettr.mean - run.ettr.p50) < kApart
                                 ? ""
                                 : fmt::format(", mean {}", percent(run.ettr.mean));
    labelled("run",
             fmt::format("{} tokens in {}, ETTR {}{}", compact(run.tokens),
                         spread(run.wall_days, 1, "days"), spread(run.ettr, 100, "%"), mean),
             2);
    if (run.time_to_market) {
      labelled("ready", fmt::format("{} after the order, bring-up {}",
                                    spread(run.time_to_market->ready_days, 1, "days"),
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
      labelled("cost", fmt::format("{} USD{}{}", median,
                                   spread_text(median, compact(cost.total_usd.p5),
                                               compact(cost.total_usd.p95)),
                                   of_tokens));
    }
  }

  /// The largest causes of the step with their share as a bar, the others together.
  /// Where remedies and warnings need the lines there are fewer, and of two none is for the rest.
  void add_bars() {
    const std::size_t after = std::min(kRemedies, report_.remedies.size()) + 1 + lines_of_end();
    const std::size_t taken = lines_.size() + 1 + after;  // the title
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
    line(toned(elided("Where the step goes", width_), Tone::faint, page_));
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
    if (shown_width(words) >= width_) {
      line(elided(words, width_));
      return;
    }
    const auto room = static_cast<double>(width_ - shown_width(words));
    const auto marks = static_cast<std::size_t>(std::lround(room * std::min(1.0, share)));
    line(words +
         toned(std::string(marks, '#'), what == "compute" ? Tone::good : Tone::warning, page_));
  }

  void add_remedies() {
    const std::size_t taken = lines_.size() + 1 + lines_of_end();
    const std::size_t left = taken < kScreenLines ? kScreenLines - taken : 0;
    room_ = left;
    const std::size_t shown = std::min({kRemedies, left, report_.remedies.size()});
    if (left > 0 && report_.remedies.empty()) {
      --room_;
      line(elided(
          report_.step.memory.fits
              ? "What would help: another layout, which `headway plan` seeks; no loss is large"
              : "What would help: a layout that fits, which `headway plan` seeks",
          width_));
    }
    if (shown == 0) {
      return;
    }
    room_ = left - shown;
    line(toned(elided("What would help", width_), Tone::faint, page_));
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& remedy = report_.remedies[i];
      roomy_line(
          fmt::format("  {}. ", i + 1),
          fmt::format("{}: {}", remedy.brings, remedy.way.empty() ? remedy.change : remedy.way));
    }
  }

  /// A line, or two where the screen has one to spare.
  void roomy_line(const std::string& head, const std::string& text, std::optional<Tone> tone = {}) {
    const auto add = [&](const std::string& words) {
      line(tone ? toned(words, *tone, page_) : words);
    };
    const auto parts = below(head, text);
    if (parts.size() == 2 && room_ > 0) {
      add(head + parts[0]);
      add(std::string(shown_width(head), ' ') + parts[1]);
      --room_;
    } else {
      add(elided(head + text, width_));
    }
  }

  /// The lines of a text that stands behind `head`.
  [[nodiscard]] std::vector<std::string> below(const std::string& head,
                                               const std::string& text) const {
    const std::size_t taken = shown_width(head);
    return wrapped(text, width_ > taken + 4 ? width_ - taken : 4);
  }

  /// What is to be done about a warning stands at its end: it has its second line before remedies.
  [[nodiscard]] std::size_t lines_of_warning() const {
    return report_.warnings.empty()                                         ? 0
           : below(kWarning, visible(report_.warnings.front())).size() == 2 ? 2
                                                                            : 1;
  }

  [[nodiscard]] std::size_t lines_of_end() const {
    return 1 + lines_of_warning() + (report_.compared.empty() ? 0 : 1);
  }

  /// The first warning; how many more there are is said.
  void add_end() {
    if (!report_.warnings.empty()) {
      room_ += lines_of_warning() - 1;
      roomy_line(kWarning, visible(report_.warnings.front()), Tone::warning);
    }
    if (!report_.compared.empty()) {
      const std::string head = "Compared before: ";
      const std::string text = visible(report_.compared.front());
      const std::size_t taken = shown_width(head);
      roomy_line(head, room_ > 0 ? text : figures_that_fit(text, std::max(taken, width_) - taken));
    }
    const std::size_t more = report_.warnings.empty() ? 0 : report_.warnings.size() - 1;
    const std::string warnings = more == 0   ? ""
                                 : more == 1 ? "; 1 more warning"
                                             : fmt::format("; {} more warnings", more);
    Subjects subjects = subjects_of(report_.assumptions);
    const auto text = [&] {
      return assumed_text(report_.assumptions.size(), subjects) + warnings + ". More: --full";
    };
    while (!subjects.empty() && shown_width(text()) > width_) {
      subjects.pop_back();  // the rarest, for which there is no room
    }
    line(elided(text(), width_));
  }

  const study::RunReport& report_;
  const Page& page_;
  std::size_t width_;
  std::size_t room_ = 0;  ///< lines that nothing needs
  std::vector<std::string> lines_;
};

}  // namespace

std::string run_screen(const study::RunReport& report, const Page& page) {
  return Screen(report, page).text();
}

}  // namespace headway::report
