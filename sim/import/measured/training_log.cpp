#include "sim/import/measured/training_log.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "sim/core/error.h"
#include "sim/import/measured/timer_block.h"
#include "sim/import/measured/training_lines.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// Where a line of a step says how many sequences one has, and how many there were up to it.
/// Source: Megatron-LM training.py (training_log), NeMo's MegatronProgressBar and its loggers.
constexpr std::array<std::string_view, 2> kBatchWords{"global batch size:", "global_batch_size:"};
constexpr std::array<std::string_view, 2> kConsumedWords{"consumed samples:", "consumed_samples"};
/// Where it says how many operations a second a GPU does. Source: Megatron-LM training.py,
/// torchtitan components/metrics.py, MaxText metric_logger.py.
constexpr std::array<std::string_view, 3> kRateWords{
    "throughput per GPU (TFLOP/s/GPU):", "tflops:", "TFLOP/s/device:"};

/// Where it says how many of the line's steps were thrown away, and had no loss. Source:
/// Megatron-LM training.py (training_log), which counts from line to line.
constexpr std::string_view kSkippedWords = "number of skipped iterations:";
constexpr std::string_view kNanWords = "number of nan iterations:";

/// Timers of Megatron-LM about checkpoints (training.py).
constexpr std::string_view kSaveTimer = "save-checkpoint";
constexpr std::string_view kLoadTimer = "load-checkpoint";

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A larger number is none of a step.
constexpr double kLargestStep = 1e15;
/// So many steps in a row that were there before are of another run: of several ranks that print
/// theirs, one is no further behind than by a line or two. Judged.
constexpr int kLinesOfARun = 3;

/// What torchrun ("[rank1]:", "[default7]:") or srun -l (" 63: ") puts before the lines of a rank.
std::string rank_of(const std::string& line) {
  if (line.starts_with("[rank") || line.starts_with("[default")) {
    return line.substr(0, line.find(']'));
  }
  const std::size_t digits = line.find_first_not_of(' ');
  const std::size_t end = line.find_first_not_of("0123456789", digits);
  const bool labelled = digits != std::string::npos && end != std::string::npos && end > digits &&
                        line.compare(end, 2, ": ") == 0;
  return labelled ? line.substr(digits, end - digits) : "";
}

/// Finds where the steps of a log begin again.
class Restarts {
 public:
  /// @param line  of a step
  void add(const std::string& line, int number, std::int64_t step) {
    rank_ = rank_.value_or(rank_of(line));
    if (rank_of(line) == *rank_) {
      follow(number, step);
    }
  }
  /// Lines of the file at which a run begins, but for the first one.
  [[nodiscard]] const std::vector<int>& begins() const { return begins_; }

 private:
  void follow(int number, std::int64_t step) {
    if (step > last_) {
      last_ = step;
      again_ = 0;  // the run goes on: a rank that was behind, or a line that was late
    } else if (step < (again_ == 0 ? last_ : last_again_)) {
      begin_ = number;
      again_ = 1;
      last_again_ = step;
    } else if (again_ > 0 && step > last_again_) {
      last_again_ = step;
      if (++again_ == kLinesOfARun) {
        begins_.push_back(begin_);
        last_ = last_again_;
        again_ = 0;
      }
    }
  }

  std::optional<std::string> rank_;  ///< whose lines are followed: those of one rank
  std::int64_t last_ = 0, last_again_ = 0;
  int begin_ = 0;
  int again_ = 0;  ///< steps in a row that may be of another run
  std::vector<int> begins_;
};

double median_of_reports(const std::vector<LoggedReport>& reports, double LoggedReport::*end) {
  std::vector<double> values;
  for (const LoggedReport& report : reports) {
    values.push_back(report.*end);
  }
  return median_of(std::move(values));
}

LoggedPart part_of(const std::string& name, std::vector<LoggedReport> reports) {
  const double least = median_of_reports(reports, &LoggedReport::least);
  const double most = median_of_reports(reports, &LoggedReport::most);
  return {name, least, most, std::move(reports)};
}

class TrainingLogReader {
 public:
  TrainingLogReader(std::string_view text, const std::string& file_name)
      : text_(whole_lines_of(text)), file_name_(file_name), is_cut_(text_.size() < text.size()) {}

  TrainingLog read() {
    for_each_line([this](const std::string& line) { find_restart(line); });
    for_each_line([this](const std::string& line) { read_line(line); });
    timers_.end();
    if (log_.steps.empty() && saves_.empty() && log_.loads.empty() && parts_.empty() &&
        of_slowest_ == 0 && faults_.empty()) {
      faults_.add(
          mark_of_file(file_name_),
          "no line of a step; known are those of Megatron-LM ('iteration 10/ 100 | ... | "
          "elapsed time per iteration (ms): 812.0'), NeMo ('train_step_timing in s'), "
          "torchtitan ('step: 10 ... tps: 7,000'), DeepSpeed ('CurrSamplesPerSec=', 'iter time "
          "(s):') and "
          "MaxText ('completed step: 10, seconds: 0.81'), and those about checkpoints of "
          "the first three");
    }
    faults_.throw_if_any();
    if (is_cut_) {
      log_.remarks.push_back(
          fmt::format("line {}, the last one, does not end (the file was copied while it grew, or "
                      "the job was killed); it is left out",
                      line_ + 1));
    }
    finish();
    return std::move(log_);
  }

 private:
  template <class Read>
  void for_each_line(const Read& read) {
    line_ = 0;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      offset_ = at;
      read(without_colours(text_.substr(at, end - at)));
      at = end + 1;
    }
  }

  void find_restart(const std::string& line) {
    const StepLine* known = step_line_of(line);
    const auto number = known == nullptr ? std::nullopt : number_of(word_after(line, known->step));
    if (number && *number >= 0 && *number <= kLargestStep &&
        program_.value_or(known->program) == known->program) {
      program_ = known->program;
      restarts_.add(line, line_, static_cast<std::int64_t>(*number));
    }
  }

  /// What was read up to here but for saves and loads is of a run that ended.
  void begin_run(std::int64_t step) {
    sort_steps();
    log_.earlier.push_back({std::move(log_.steps), line_, step});
    log_.steps.clear();
    log_.memory_bytes = log_.reserved_bytes = 0;
    seen_.clear();
    consumed_.clear();
    resolutions_.clear();
    parts_.clear();
    of_slowest_ = 0;
  }

  void sort_steps() {
    std::sort(log_.steps.begin(), log_.steps.end(),
              [](const LoggedStep& a, const LoggedStep& b) { return a.step < b.step; });
  }

  void read_line(const std::string& line) {
    if (timers_.read(line)) {
      return;
    }
    read_timer_bars(line, [this](const RankTimer& timer) { add_part(timer); });
    read_memory(line);
    read_job_line(line, line_, log_.job);
    if (const CheckpointLine* known = checkpoint_line_of(line)) {
      read_checkpoint(line, *known);
    }
    if (const auto step = saved_step_of(line)) {
      saved_.insert(*step < 0 ? last_step_ : static_cast<std::int64_t>(*step));
    }
    if (is_collection(line)) {
      collected_.insert(last_step_ + 1);
    }
    if (const StepLine* known = step_line_of(line)) {
      timers_.end();
      const auto& begins = restarts_.begins();
      if (std::find(begins.begin(), begins.end(), line_) != begins.end()) {
        begin_run(static_cast<std::int64_t>(*number_of(word_after(line, known->step))));
      }
      read_step(line, *known);
    }
  }

  void read_step(const std::string& line, const StepLine& known) {
    if (!log_.steps.empty() && known.program != log_.program) {
      return;  // a second framework's line about the same step
    }
    LoggedStep step;
    step.line = line_;
    const auto number = number_of(word_after(line, known.step));
    const std::string word = word_after(line, known.value);
    const auto value = number_of(word);
    if (!number || *number < 0 || *number > kLargestStep) {
      complain(fmt::format("'{}' is no number of a step", word_after(line, known.step)));
      return;
    }
    if (!value || !(*value > 0)) {
      complain(fmt::format("'{}' behind '{}' is no number above zero", word, known.value));
      return;
    }
    step.step = last_step_ = static_cast<std::int64_t>(*number);
    step.*known.figure = *value * known.scale;
    if (known.program == TrainingProgram::maxtext) {
      step.tokens_per_s_per_gpu = number_of(word_after(line, "Tokens/s/device:")).value_or(0);
      step.tokens_per_gpu = step.tokens_per_s_per_gpu * step.seconds;
    }
    step.samples = samples_of(line, step);
    step.tflops = rate_of(line);
    step.skipped = number_of(word_after(line, kSkippedWords)).value_or(0);
    step.nan = number_of(word_after(line, kNanWords)).value_or(0);
    log_.leaves_saves_out = leaves_saves_out(line, known);
    timers_add_up_ = timers_add_up_ || known.timers_add_up;
    if (seen_.insert(step.step).second) {
      log_.program = known.program;
      log_.steps.push_back(step);
      consumed_[step.step] = whole_after(line, kConsumedWords);
      resolutions_.push_back(last_digit(word) / *value);
    }
  }

  /// Operations a second and GPU.
  static double rate_of(const std::string& line) {
    for (const std::string_view words : kRateWords) {
      if (const auto rate = number_of(word_after(line, words)); rate && *rate > 0) {
        return *rate;
      }
    }
    return 0;
  }

  /// Sequences of the step of a line: as it has them, or of GPT-NeoX's "samples/sec: 7.799".
  static double samples_of(const std::string& line, const LoggedStep& step) {
    const double printed = whole_after(line, kBatchWords);
    const double rate = number_of(word_after(line, "samples/sec:")).value_or(0);
    return printed > 0 ? printed : std::max(0.0, rate * step.seconds);
  }

  /// "Global Checkpoint Save : Rank: 0 : Iteration: 100 : ... : Save duration: 3.200s",
  /// "Finished saving the checkpoint in 12.30 seconds."
  void read_checkpoint(const std::string& line, const CheckpointLine& known) {
    const std::string word = word_after(line, known.words);
    const auto seconds = number_of(word);
    if (!seconds || !(*seconds > 0)) {
      complain(fmt::format("'{}' behind '{}' is no number above zero", word, known.words));
    } else if (known.load) {
      log_.loads.push_back(*seconds);
    } else {
      add_save(number_of(word_after(line, "Iteration:")), *seconds);
    }
  }

  void add_save(std::optional<double> step, double seconds) {
    // Without any step each line is a save of its own. After a restart steps come again, and so do
    // their saves.
    const std::int64_t here = log_.steps.empty() ? line_ : last_step_;
    auto& longest = saves_[step ? static_cast<std::int64_t>(*step) : here];
    longest = std::max(longest, seconds);
  }

  void add_part(const RankTimer& timer) {
    if (timer.name.starts_with(kSaveTimer) && timer.most > 0) {
      add_save(std::nullopt, timer.most);
      return;
    }
    if (timer.name == kLoadTimer && timer.most > 0) {
      log_.loads.push_back(timer.most);
      return;
    }
    if (!timer.least) {
      ++of_slowest_;
      return;
    }
    parts_[timer.name].push_back({last_step_, *timer.least, timer.most});
  }

  void read_memory(const std::string& line) {
    const auto take = [&](std::string_view key, double unit, double& most) {
      if (const auto value = number_of(word_after(line, key))) {
        most = std::max(most, *value * unit);
      }
    };
    constexpr double kMebibyte = 1024.0 * 1024;
    take("| max allocated:", kMebibyte, log_.memory_bytes);
    take("MaxMemAllocated", 1024 * kMebibyte, log_.memory_bytes);
    // torchtitan's max_reserved_gib (components/metrics.py, 2026); a validation's lines hold what
    // no training step does.
    if (line.find("GiB(") != std::string::npos && line.find("tps:") != std::string::npos &&
        line.find("validate") == std::string::npos) {
      take("memory:", 1024 * kMebibyte, log_.reserved_bytes);
    }
  }

  void finish() {
    sort_steps();
    // A line that comes every ten steps is the mean of ten, where the program says times.
    for (std::size_t i = 1; i < log_.steps.size(); ++i) {
      log_.steps[i].steps = log_.steps[i].step - log_.steps[i - 1].step;
    }
    count_consumed();
    log_.resolution = resolutions_.empty() ? 0 : median_of(std::move(resolutions_));
    for (const auto& [step, seconds] : saves_) {
      log_.saves.push_back({step, seconds});
      saved_.insert(step);
    }
    log_.saved.assign(saved_.begin(), saved_.end());
    log_.collected.assign(collected_.begin(), collected_.end());
    for (auto& [name, reports] : parts_) {
      log_.parts.push_back(part_of(name, std::move(reports)));
    }
    spread_sums();
    if (of_slowest_ > 0) {
      log_.remarks.push_back(fmt::format(
          "{} timers have the slowest rank alone (--timing-log-option max), which tells neither "
          "the fastest nor the mean; they are left out: log with minmax",
          of_slowest_));
    }
  }

  /// Timers that are sums from line to line, as those of one step.
  void spread_sums() {
    if (!timers_add_up_ || log_.parts.empty()) {
      return;
    }
    if (log_.steps.size() < 2) {
      log_.parts.clear();
      log_.remarks.emplace_back(
          "the timers are sums over the steps of a line, and one line does not tell how many those "
          "are; they are left out: give two lines or more");
      return;
    }
    std::vector<double> steps;
    for (std::size_t i = 1; i < log_.steps.size(); ++i) {
      steps.push_back(static_cast<double>(log_.steps[i].steps));
    }
    const double of_line = median_of(std::move(steps));
    for (LoggedPart& part : log_.parts) {
      for (LoggedReport& report : part.reports) {
        report.least /= of_line;
        report.most /= of_line;
      }
      part.least /= of_line;
      part.most /= of_line;
    }
  }

  /// Where a line is the mean of several steps, those consumed tell the mean of their batches.
  void count_consumed() {
    for (std::size_t i = 1; i < log_.steps.size(); ++i) {
      LoggedStep& step = log_.steps[i];
      const double before = consumed_[log_.steps[i - 1].step];
      const double after = consumed_[step.step];
      if (before > 0 && after > before) {
        step.samples = (after - before) / static_cast<double>(step.steps);
      }
    }
  }

  void complain(std::string message) {
    faults_.add(mark_at(text_, file_name_, offset_), std::move(message));
  }

  std::string_view text_;
  const std::string& file_name_;
  bool is_cut_;  ///< the file's last line does not end, and is no part of the text
  int line_ = 0;
  std::size_t offset_ = 0;
  TimerBlock timers_{[this](const RankTimer& timer) { add_part(timer); },
                     [this](std::string message) { complain(std::move(message)); }};
  bool timers_add_up_ = false;  ///< they are sums from one line of a step to the next
  int of_slowest_ = 0;          ///< timers that only tell the slowest rank
  std::set<std::int64_t> seen_;
  std::map<std::int64_t, double> consumed_;  ///< sequences up to a step; 0: not printed
  std::map<std::int64_t, double> saves_;
  std::set<std::int64_t> saved_, collected_;
  std::int64_t last_step_ = 0;  ///< of the last line of a step, whether it was there before
  std::vector<double> resolutions_;
  std::map<std::string, std::vector<LoggedReport>> parts_;
  std::optional<TrainingProgram> program_;  ///< of the first line of a step
  Restarts restarts_;
  TrainingLog log_;
  core::Diagnostics faults_;
};

}  // namespace

std::vector<LoggedPart> LoggedPart::since(std::int64_t step, const std::vector<LoggedPart>& parts) {
  std::vector<LoggedPart> out;
  for (const LoggedPart& part : parts) {
    std::vector<LoggedReport> reports;
    std::copy_if(part.reports.begin(), part.reports.end(), std::back_inserter(reports),
                 [&](const LoggedReport& report) { return report.step >= step; });
    if (!reports.empty()) {
      out.push_back(part_of(part.name, std::move(reports)));
    }
  }
  return out;
}

TrainingLog read_training_log(std::string_view text, const std::string& file_name) {
  return TrainingLogReader(text, file_name).read();
}

bool is_training_log(std::string_view text) {
  text = whole_lines_of(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    if (step_line_of(line) != nullptr || checkpoint_line_of(line) != nullptr ||
        is_timer_line(line)) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace headway::import
