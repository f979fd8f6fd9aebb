#include "sim/import/measured/training_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "sim/core/error.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// The line without the colours of a terminal.
std::string without_colours(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i = std::min(line.find('m', i), line.size());
      continue;
    }
    if (line[i] != '\r') {
      out += line[i];
    }
  }
  return out;
}

/// What stands behind `key` and blanks, up to a blank or one of ",|(%"; empty without the key.
/// Thousands separators of torchtitan ("10,050") are left out.
std::string word_after(const std::string& line, std::string_view key, std::size_t from = 0) {
  const std::size_t place = line.find(key, from);
  if (place == std::string::npos) {
    return "";
  }
  const std::size_t begin = line.find_first_not_of(" =:", place + key.size());
  if (begin == std::string::npos) {
    return "";
  }
  std::string word;
  for (std::size_t i = begin; i < line.size(); ++i) {
    const bool separator = line[i] == ',' && i + 1 < line.size() &&
                           std::isdigit(static_cast<unsigned char>(line[i + 1])) != 0;
    if (separator) {
      continue;
    }
    if (std::string_view(" ,|(%]").find(line[i]) != std::string_view::npos) {
      break;
    }
    word += line[i];
  }
  return word;
}

std::optional<double> number_of(const std::string& word) {
  double value = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return result.ec == std::errc{} && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos
             ? std::string_view{}
             : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// One of the known lines: which figure of a step stands behind which words.
struct StepLine {
  TrainingProgram program;
  std::string_view step, value;  ///< words before both; a line has both
  double LoggedStep::*figure;
  double scale = 1;
};
constexpr std::array<StepLine, 6> kStepLines{{
    {TrainingProgram::megatron, "iteration ",
     "elapsed time per iteration (ms):", &LoggedStep::seconds, 1e-3},
    {TrainingProgram::nemo, "global_step", "train_step_timing in s", &LoggedStep::seconds},
    {TrainingProgram::nemo, "iteration ", "train_step_timing in s", &LoggedStep::seconds},
    {TrainingProgram::maxtext, "completed step:", "seconds:", &LoggedStep::seconds},
    {TrainingProgram::torchtitan, "step:", "tps:", &LoggedStep::tokens_per_s_per_gpu},
    {TrainingProgram::deepspeed, "global_step", "CurrSamplesPerSec", &LoggedStep::samples_per_s},
}};

const StepLine* step_line_of(const std::string& line) {
  const auto found = std::find_if(kStepLines.begin(), kStepLines.end(), [&](const StepLine& known) {
    return line.find(known.step) != std::string::npos &&
           line.find(known.value) != std::string::npos;
  });
  return found == kStepLines.end() ? nullptr : &*found;
}

/// Where a line of a step says how many sequences one has, and how many there were up to it.
/// Source: Megatron-LM training.py (training_log), NeMo's MegatronProgressBar and its loggers.
constexpr std::array<std::string_view, 2> kBatchWords{"global batch size:", "global_batch_size:"};
constexpr std::array<std::string_view, 2> kConsumedWords{"consumed samples:", "consumed_samples"};

/// One of the settings that programs print before the first step.
struct JobSetting {
  std::string_view words;
  bool dotted;  ///< in a list "global_batch_size ........... 512"; else in a sentence
  double LoggedJob::*value;
  std::size_t line;  ///< which of `LoggedJob::lines`
};
/// Source: Megatron-LM arguments.py (print_args); DeepSpeed runtime/config.py (print);
/// torchtitan train.py ("Trainer is initialized with local batch size 1, global batch size 8,
/// ..., sequence length 8192").
constexpr std::array<JobSetting, 6> kJobSettings{{
    {"global_batch_size", true, &LoggedJob::global_batch, 0},
    {"train_batch_size", true, &LoggedJob::global_batch, 0},
    {"seq_length", true, &LoggedJob::sequence_length, 1},
    {"world_size", true, &LoggedJob::gpus, 2},
    {"global batch size ", false, &LoggedJob::global_batch, 0},
    {"sequence length ", false, &LoggedJob::sequence_length, 1},
}};

/// One of the known lines about checkpoints: what stands before its seconds.
struct CheckpointLine {
  std::string_view words;
  bool load = false;
};
/// Source: NeMo nemo/lightning/io/pl.py; torchtitan components/checkpointer/dcp.py, whose staging
/// is what an asynchronous save stops training for.
constexpr std::array<CheckpointLine, 5> kCheckpointLines{{
    {"Save duration:"},
    {"Finished saving the checkpoint in"},
    {"Finished staging the checkpoint in"},
    {"Time spent in load_checkpoint:", true},
    {"Finished loading the checkpoint in", true},
}};
/// Timers of Megatron-LM about them (training.py).
constexpr std::string_view kSaveTimer = "save-checkpoint";
constexpr std::string_view kLoadTimer = "load-checkpoint";

const CheckpointLine* checkpoint_line_of(const std::string& line) {
  const auto found =
      std::find_if(kCheckpointLines.begin(), kCheckpointLines.end(),
                   [&](const auto& known) { return line.find(known.words) != std::string::npos; });
  return found == kCheckpointLines.end() ? nullptr : &*found;
}

/// One of the last digit of a number as it is printed: 0.01 of "8.12", 1 of "7000".
double last_digit(const std::string& word) {
  const std::size_t point = word.find('.');
  const std::size_t end = std::min(word.find_first_of("eE"), word.size());
  const double decimals =
      point == std::string::npos || point > end ? 0 : static_cast<double>(end - point - 1);
  const auto exponent = end == word.size() ? 0 : number_of(word.substr(end + 1)).value_or(0);
  return std::pow(10.0, exponent - decimals);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class TrainingLogReader {
 public:
  TrainingLogReader(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  TrainingLog read() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      offset_ = at;
      read_line(without_colours(text_.substr(at, end - at)));
      at = end + 1;
    }
    if (log_.steps.empty() && saves_.empty() && log_.loads.empty() && faults_.empty()) {
      faults_.add(mark_of_file(file_name_),
                  "no line of a step; known are those of Megatron-LM ('iteration 10/ 100 | ... | "
                  "elapsed time per iteration (ms): 812.0'), NeMo ('train_step_timing in s'), "
                  "torchtitan ('step: 10 ... tps: 7,000'), DeepSpeed ('CurrSamplesPerSec=') and "
                  "MaxText ('completed step: 10, seconds: 0.81'), and those about checkpoints of "
                  "the first three");
    }
    faults_.throw_if_any();
    finish();
    return std::move(log_);
  }

 private:
  void read_line(const std::string& line) {
    if (in_timers_ && read_timer(line)) {
      return;
    }
    in_timers_ = false;
    if (line.find("time across ranks (ms)") != std::string::npos) {
      in_timers_ = true;
    } else if (line.find("time (ms) |") != std::string::npos) {
      read_bars(line);
    }
    read_memory(line);
    read_settings(line);
    if (const CheckpointLine* known = checkpoint_line_of(line)) {
      read_checkpoint(line, *known);
    }
    if (const StepLine* known = step_line_of(line)) {
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
    if (!number || *number < 0 || *number > 1e15) {
      complain(fmt::format("'{}' is no number of a step", word_after(line, known.step)));
      return;
    }
    if (!value || !(*value > 0)) {
      complain(fmt::format("'{}' behind '{}' is no number above zero", word, known.value));
      return;
    }
    step.step = static_cast<std::int64_t>(*number);
    step.*known.figure = *value * known.scale;
    if (known.program == TrainingProgram::maxtext) {
      step.tokens_per_s_per_gpu = number_of(word_after(line, "Tokens/s/device:")).value_or(0);
      step.tokens_per_gpu = step.tokens_per_s_per_gpu * step.seconds;
    }
    step.samples = samples_of(line, step);
    if (seen_.insert(step.step).second) {
      log_.program = known.program;
      log_.steps.push_back(step);
      consumed_[step.step] = whole_after(line, kConsumedWords);
      resolutions_.push_back(last_digit(word) / *value);
    }
  }

  /// Sequences of the step of a line: as it has them, or of GPT-NeoX's "samples/sec: 7.799".
  static double samples_of(const std::string& line, const LoggedStep& step) {
    const double printed = whole_after(line, kBatchWords);
    const double rate = number_of(word_after(line, "samples/sec:")).value_or(0);
    return printed > 0 ? printed : std::max(0.0, rate * step.seconds);
  }

  /// The number behind one of the words where all its digits are printed; 0: there is none.
  static double whole_after(const std::string& line, std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      const std::string text = word_after(line, word);
      const double value = number_of(text).value_or(0);
      if (value > 0 && value == std::floor(value) && text.find('e') == std::string::npos) {
        return value;
      }
    }
    return 0;
  }

  void read_settings(const std::string& line) {
    const bool list = line.find(" ...") != std::string::npos;
    const bool sentence = line.find("local batch size ") != std::string::npos;
    for (const JobSetting& known : kJobSettings) {
      const std::size_t place = line.find(known.words);
      const bool whole_word = place != std::string::npos && (place == 0 || line[place - 1] == ' ');
      if (!whole_word || (known.dotted ? !list : !sentence)) {
        continue;
      }
      std::string_view rest = std::string_view(line).substr(place + known.words.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(" ."), rest.size()));
      const auto value = number_of(std::string(rest.substr(0, rest.find_first_of(" ,"))));
      if (value && *value > 0 && log_.job.*known.value == 0) {
        log_.job.*known.value = *value;
        log_.job.lines[known.line] = line_;
      }
    }
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
    // Without any step each line is a save of its own.
    const std::int64_t here = log_.steps.empty() ? line_ : log_.steps.back().step;
    auto& longest = saves_[step ? static_cast<std::int64_t>(*step) : here];
    longest = std::max(longest, seconds);
  }

  /// "    forward-compute ................: (1234.56, 1240.11)", or one figure.
  bool read_timer(const std::string& line) {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos || line.find("..") == std::string::npos) {
      return false;
    }
    std::string name(without_blanks(std::string_view(line).substr(0, line.find(".."))));
    const std::size_t open = line.find('(', colon);
    const std::string values = line.substr(open == std::string::npos ? colon + 1 : open + 1);
    const auto least = number_of(std::string(without_blanks(values)));
    const std::size_t comma = values.find(',');
    const auto most = comma == std::string::npos
                          ? least
                          : number_of(std::string(without_blanks(values.substr(comma + 1))));
    if (!least || !most || *least < 0 || *most < *least) {
      complain(fmt::format("the timer '{}' has no times", name));
      return true;
    }
    add_part(std::move(name), *least * 1e-3, *most * 1e-3);
    return true;
  }

  /// "time (ms) | forward: 659.86 | backward: 2164.69 | batch generator: 0.83"
  void read_bars(const std::string& line) {
    std::size_t bar = line.find('|');
    while (bar != std::string::npos) {
      const std::size_t next = std::min(line.find('|', bar + 1), line.size());
      const std::string cell = line.substr(bar + 1, next - bar - 1);
      const std::size_t colon = cell.find(':');
      const auto value = colon == std::string::npos
                             ? std::nullopt
                             : number_of(std::string(without_blanks(cell.substr(colon + 1))));
      if (value && *value >= 0) {
        add_part(std::string(without_blanks(cell.substr(0, colon))), *value * 1e-3, *value * 1e-3);
      }
      bar = next == line.size() ? std::string::npos : next;
    }
  }

  void add_part(std::string name, double least, double most) {
    if (name.starts_with(kSaveTimer) && most > 0) {
      add_save(std::nullopt, most);
      return;
    }
    if (name == kLoadTimer && most > 0) {
      log_.loads.push_back(most);
      return;
    }
    auto& reports = parts_[std::move(name)];
    reports.first.push_back(least);
    reports.second.push_back(most);
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
    std::sort(log_.steps.begin(), log_.steps.end(),
              [](const LoggedStep& a, const LoggedStep& b) { return a.step < b.step; });
    // A line that comes every ten steps is the mean of ten, where the program says times.
    for (std::size_t i = 1; i < log_.steps.size(); ++i) {
      log_.steps[i].steps = log_.steps[i].step - log_.steps[i - 1].step;
    }
    count_consumed();
    log_.resolution = resolutions_.empty() ? 0 : median_of(std::move(resolutions_));
    for (const auto& [step, seconds] : saves_) {
      log_.saves.push_back({step, seconds});
    }
    for (auto& [name, reports] : parts_) {
      log_.parts.push_back({name, median_of(reports.first), median_of(reports.second)});
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
  int line_ = 0;
  std::size_t offset_ = 0;
  bool in_timers_ = false;
  std::set<std::int64_t> seen_;
  std::map<std::int64_t, double> consumed_;  ///< sequences up to a step; 0: not printed
  std::map<std::int64_t, double> saves_;
  std::vector<double> resolutions_;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> parts_;
  TrainingLog log_;
  core::Diagnostics faults_;
};

}  // namespace

TrainingLog read_training_log(std::string_view text, const std::string& file_name) {
  return TrainingLogReader(text, file_name).read();
}

bool is_training_log(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    if (step_line_of(line) != nullptr || checkpoint_line_of(line) != nullptr) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace headway::import
