#include "sim/study/points/solve_answer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::study {

namespace {

/// A figure that turns by less, relatively, does not turn: trials end in whole steps and saves.
constexpr double kNoise = 1e-3;

/// Where figures neither only rise nor only fall, in words; empty if they do.
std::string turn_of(const std::vector<const SolvePoint*>& points) {
  const SolvePoint* turn = nullptr;  // the furthest on the way so far
  int way = 0;
  for (const SolvePoint* point : points) {
    if (!point->figure || point->status != PointStatus::ok) {
      continue;
    }
    const double change = turn == nullptr ? 0 : *point->figure - *turn->figure;
    const bool noise = turn != nullptr && std::abs(change) <= kNoise * std::abs(*turn->figure);
    const int now = change > 0 ? 1 : -1;
    if (turn != nullptr && !noise && now * way < 0) {
      return fmt::format("it {} up to {} and {} from there to {}", way > 0 ? "rises" : "falls",
                         turn->value, now > 0 ? "rises" : "falls", point->value);
    }
    if (turn == nullptr || (!noise && way == 0) || change * way > 0) {
      way = turn == nullptr ? 0 : now;
      turn = point;
    }
  }
  return "";
}

std::string with_interval(const SolvePoint& point, const Assertion& condition) {
  if (!point.figure) {
    return "none";
  }
  std::string text = judged_number(*point.figure, condition);
  if (point.interval && (*point.interval)[0] < (*point.interval)[1]) {
    text += fmt::format(" ({} to {})", judged_number((*point.interval)[0], condition),
                        judged_number((*point.interval)[1], condition));
  }
  return text;
}

/// "at 48 it is 31.2 (30.9 to 31.4)", or why it is nothing.
std::string at_in_words(const SolvePoint& point, const Assertion& condition) {
  return point.reason.empty()
             ? fmt::format("at {} it is {}", point.value, with_interval(point, condition))
             : fmt::format("{} does not work: {}", point.value, core::shortened(point.reason, 200));
}

/// The whole interval of the answer's figure keeps the condition, or it does not.
std::string certainty(const SolvePoint& point, const Assertion& condition) {
  if (!point.interval || (*point.interval)[0] == (*point.interval)[1]) {
    return "";
  }
  const double worst = (*point.interval)[wanted(condition) < 0 ? 1 : 0];
  return holds(worst, condition) ? "; the whole interval meets it"
                                 : fmt::format("; the end of the interval, {}, does not meet it",
                                               judged_number(worst, condition));
}

/// Finds the answer among the points, and says it.
class SolveAnswer {
 public:
  SolveAnswer(SolveReport& report, const Assertion& condition)
      : report_(report), condition_(condition) {
    for (std::size_t i = 0; i < report.points.size(); ++i) {
      if (report.points[i].judged()) {
        judged_.push_back(i);
      }
    }
  }

  void give() {
    say_what_is_not_monotone();
    say_what_is_refused();
    const auto first = std::find_if(judged_.begin(), judged_.end(), met());
    if (first == judged_.end()) {
      give_none();
      return;
    }
    const auto end = std::find_if_not(first, judged_.end(), met());
    report_.edge = first != judged_.begin() ? SolveEdge::smallest
                   : end != judged_.end()   ? SolveEdge::largest
                                            : SolveEdge::any;
    const auto at = report_.edge == SolveEdge::largest ? std::prev(end) : first;
    report_.answer_at = *at;
    if (report_.edge == SolveEdge::any) {
      give_any();
      return;
    }
    report_.beside_at = report_.edge == SolveEdge::largest ? *end : *std::prev(first);
    const SolvePoint& answer = report_.points[*at];
    report_.sentences.push_back(fmt::format(
        "The {} {} that meets {} is {}: {} is {}{}. {}.{}", core::to_word(report_.edge),
        report_.key, report_.condition, answer.value, report_.path,
        with_interval(answer, condition_), certainty(answer, condition_),
        capital(at_in_words(report_.points[*report_.beside_at], condition_)), up_to_where()));
  }

 private:
  [[nodiscard]] std::function<bool(std::size_t)> met() const {
    return [this](std::size_t i) { return report_.points[i].met; };
  }

  static std::string capital(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
  }

  /// The end of the values looked at on the answer's side: beyond it the condition may fail again.
  [[nodiscard]] std::string up_to_where() const {
    const bool upwards = report_.edge == SolveEdge::smallest;
    const SolvePoint& last = report_.points[upwards ? judged_.back() : judged_.front()];
    const bool end = !upwards && report_.least && last.number == *report_.least;
    return end ? ""
               : fmt::format(" This is known {} to {}; {} was looked at.", upwards ? "up" : "down",
                             last.value, upwards ? "nothing above" : "nothing below");
  }

  /// Runs of values that meet the condition, one after the other.
  [[nodiscard]] std::vector<std::string> parts() const {
    std::vector<std::string> parts;
    for (auto at = std::find_if(judged_.begin(), judged_.end(), met()); at != judged_.end();) {
      const auto end = std::find_if_not(at, judged_.end(), met());
      const std::string& low = report_.points[*at].value;
      const std::string& high = report_.points[*std::prev(end)].value;
      parts.push_back(low == high ? "at " + low : fmt::format("from {} to {}", low, high));
      at = std::find_if(end, judged_.end(), met());
    }
    return parts;
  }

  [[nodiscard]] const SolvePoint* best() const {
    const SolvePoint* best = nullptr;
    for (const std::size_t i : judged_) {
      const SolvePoint& point = report_.points[i];
      const bool able = point.status == PointStatus::ok && point.figure;
      if (able && (best == nullptr ||
                   wanted(condition_) * *point.figure > wanted(condition_) * *best->figure)) {
        best = &point;
      }
    }
    return best;
  }

  void say_what_is_not_monotone() {
    std::vector<const SolvePoint*> points;
    for (const std::size_t i : judged_) {
      points.push_back(&report_.points[i]);
    }
    const std::string turn = turn_of(points);
    const auto runs = parts();
    const bool low_met = !judged_.empty() && report_.points[judged_.front()].met;
    const bool high_met = !judged_.empty() && report_.points[judged_.back()].met;
    const bool once = runs.size() <= 1 && (runs.empty() || low_met || high_met);
    report_.monotone = turn.empty() && once;
    if (!turn.empty()) {
      report_.sentences.push_back(
          fmt::format("{} is not monotone in {}: {}. Values that were not looked at may meet the "
                      "condition or miss it.",
                      report_.path, report_.key, turn));
    }
    if (!once) {
      report_.sentences.push_back(fmt::format(
          "The condition is met {}; of all values looked at {} "
          "is best: {}.",
          fmt::join(runs, ", and "), best()->value, with_interval(*best(), condition_)));
    }
  }

  void say_what_is_refused() {
    std::size_t refused = 0;
    std::string reason;
    for (const SolvePoint& point : report_.points) {
      if (!point.judged()) {
        ++refused;
        reason = reason.empty() ? fmt::format("{}: {}", point.value, point.reason) : reason;
      }
    }
    if (refused > 0) {
      report_.sentences.push_back(fmt::format("{} of the values looked at break{} a rule, as {}.",
                                              refused, refused == 1 ? "s" : "",
                                              core::shortened(reason, 300)));
    }
  }

  /// Of values none of which has a figure.
  [[nodiscard]] std::string why_nothing(const SolvePoint& first) const {
    return first.reason.empty() ? fmt::format(": no run of them has {}.", report_.path)
                                : fmt::format(". {}.", capital(at_in_words(first, condition_)));
  }

  void give_none() {
    report_.edge = SolveEdge::none;
    const SolvePoint* nearest = best();
    std::string text =
        fmt::format("No value of {} looked at meets {}", report_.key, report_.condition);
    if (!judged_.empty()) {
      text += fmt::format(" ({} to {})", report_.points[judged_.front()].value,
                          report_.points[judged_.back()].value);
    }
    text += nearest != nullptr ? fmt::format(". Nearest is {}: {} is {}.", nearest->value,
                                             report_.path, with_interval(*nearest, condition_))
            : !judged_.empty() ? why_nothing(report_.points[judged_.front()])
            : report_.points.empty()
                ? "."
                : ": " + core::shortened(report_.points.front().reason, 300) + ".";
    report_.sentences.push_back(std::move(text));
  }

  /// Where larger values are nearer to missing the condition than smaller ones, 1; where smaller
  /// ones are, -1; where the figure does not tell, 0.
  [[nodiscard]] int way_to_miss(const SolvePoint& low, const SolvePoint& high) const {
    const double better = wanted(condition_) * (*high.figure - *low.figure);
    const double noise = kNoise * std::abs(*low.figure);
    return better < -noise ? 1 : better > noise ? -1 : 0;
  }

  /// All values meet the condition: the answer is the end that is nearest to missing it, which
  /// mostly is the cheaper one.
  void give_any() {
    const SolvePoint& low = report_.points[judged_.front()];
    const SolvePoint& high = report_.points[judged_.back()];
    if (judged_.size() == 1) {
      report_.sentences.push_back(fmt::format("One value of {} could be run, and it meets {}: {}.",
                                              report_.key, report_.condition,
                                              at_in_words(low, condition_)));
      return;
    }
    const int way = way_to_miss(low, high);
    const bool least = report_.least && low.number == *report_.least;
    if (least && (way < 0 || (way == 0 && low.number == 0))) {  // whoever can do without, does
      report_.edge = SolveEdge::smallest;
      report_.sentences.push_back(fmt::format(
          "The smallest {} that meets {} is {}, the least that it can be: {} is {}{}. {}.",
          report_.key, report_.condition, low.value, report_.path, with_interval(low, condition_),
          certainty(low, condition_), capital(at_in_words(high, condition_))));
      return;
    }
    report_.answer_at = way > 0 ? judged_.back() : judged_.front();
    const std::string nearest =
        way == 0 ? fmt::format("The figure does not tell them apart; {} is the smallest", low.value)
                 : fmt::format("The {}, {}, is nearest to missing it{}",
                               core::to_word(way > 0 ? SolveEdge::largest : SolveEdge::smallest),
                               (way > 0 ? high : low).value,
                               certainty(way > 0 ? high : low, condition_));
    report_.sentences.push_back(
        fmt::format("Every value of {} looked at, from {} to {}, meets {}: {}, {}. {}.",
                    report_.key, low.value, high.value, report_.condition,
                    at_in_words(low, condition_), at_in_words(high, condition_), nearest));
  }

  SolveReport& report_;
  const Assertion& condition_;
  std::vector<std::size_t> judged_;
};

}  // namespace

int wanted(const Assertion& condition) { return condition.comparison.front() == '<' ? -1 : 1; }

void give_answer(const Assertion& condition, SolveReport& report) {
  report.asked = condition;
  SolveAnswer(report, condition).give();
}

}  // namespace headway::study
