#include "sim/study/diagnose/same_job.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"

namespace headway::study {

namespace {

/// Batches and tokens that are no further apart are the same: of a time with three digits, which
/// some are a product with, the last is up to 1 %. Judged.
constexpr double kSameWork = 0.01;

/// @param rounding  of the logged figure, relative, beyond that
bool same_work(double logged, double expected, double rounding = 0) {
  return std::abs(logged / expected - 1) <= kSameWork + rounding;
}

class LoggedWork {
 public:
  LoggedWork(const training::CheckedScenario& checked, const std::string& file)
      : batch_(checked.scenario().training.global_batch),
        length_(checked.scenario().training.sequence_length),
        gpus_(static_cast<double>(checked.gpus())),
        tokens_(checked.tokens_per_step() / gpus_),
        file_(file) {}

  void compare_settings(const import::LoggedJob& job, bool steps_say_batch) {
    if (!steps_say_batch) {
      compare(job.global_batch, batch_, job.lines[0], "sequences in a step",
              "training.global_batch");
    }
    compare(job.sequence_length, length_, job.lines[1], "tokens in a sequence",
            "training.sequence_length");
    compare(job.gpus, gpus_, job.lines[2], "GPUs", "");
    faults_.throw_if_any();
  }

  /// Of the work of the scenario's step, what a line's step has; 0: the line does not say.
  [[nodiscard]] double share(const import::LoggedStep& step) const {
    return step.samples > 0 ? step.samples / batch_ : step.tokens_per_gpu / tokens_;
  }

  /// Whether a line's step has other work than the scenario's.
  /// @param resolution  of the log's times, of which tokens are products
  [[nodiscard]] bool differs(const import::LoggedStep& step, double resolution) const {
    return share(step) > 0 && !same_work(share(step), 1, step.samples > 0 ? 0 : resolution);
  }

  /// @param step  a line of other work, where no line has the scenario's
  void refuse(const import::LoggedStep& step) {
    if (step.samples > 0) {
      compare(step.samples, batch_, step.line, "sequences in a step", "training.global_batch");
    } else {
      compare(step.tokens_per_gpu, tokens_, step.line,
              "tokens in a step and GPU (Tokens/s/device x seconds)", "");
    }
    faults_.throw_if_any();
  }

 private:
  void compare(
      double logged, double expected, int line, const std::string& what, const std::string& key) {
    if (!(logged > 0) || same_work(logged, expected)) {
      return;
    }
    faults_.add(core::SourceMark{file_, line, 1, 1, ""},
                fmt::format("the log says {} {}, the scenario has {}: its times are of other work; "
                            "give the scenario of this log's job{}, or a log of the scenario's",
                            core::count(logged), what, core::count(expected),
                            key.empty() ? "" : fmt::format(" (--set {}={:.0f})", key, logged)));
  }

  double batch_, length_, gpus_;
  double tokens_;  ///< of a step and GPU
  const std::string& file_;
  core::Diagnostics faults_;
};

}  // namespace

void keep_steps_of_job(const training::CheckedScenario& checked,
                       const std::string& file,
                       import::TrainingLog& log,
                       std::vector<std::string>& remarks) {
  LoggedWork work(checked, file);
  const auto says = [&](const auto& step) { return work.share(step) > 0; };
  const auto other = [&](const auto& step) { return work.differs(step, log.resolution); };
  const auto all = std::count_if(log.steps.begin(), log.steps.end(), says);
  work.compare_settings(log.job, all > 0);
  const auto others = std::count_if(log.steps.begin(), log.steps.end(), other);
  if (others == 0) {
    return;
  }
  if (others == all) {
    work.refuse(*std::find_if(log.steps.rbegin(), log.steps.rend(), other));
  }
  const auto lines = static_cast<std::ptrdiff_t>(log.steps.size());
  log.steps.erase(std::remove_if(log.steps.begin(), log.steps.end(), other), log.steps.end());
  // Timers are medians over all lines.
  const bool timers = !log.parts.empty() && 2 * others >= lines;
  if (timers) {
    log.parts.clear();
  }
  remarks.push_back(fmt::format(
      "{}: {} of {} lines are of steps with another batch than the scenario's {} sequences and are "
      "left out{}",
      file, others, lines, checked.scenario().training.global_batch,
      timers ? ", with the timers, which are most of those steps" : ""));
}

}  // namespace headway::study
