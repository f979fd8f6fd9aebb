#include "sim/import/measured/training_lines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "sim/core/text.h"

namespace headway::import {

namespace {

/// Source: Megatron-LM training.py (training_log), in seconds in bigscience-workshop/
/// Megatron-DeepSpeed; NeMo; MaxText metric_logger.py; torchtitan components/metrics.py; DeepSpeed
/// utils/timer.py, and runtime/pipe/engine.py, whose timers run from one such line to the next.
constexpr std::array<StepLine, 8> kStepLines{{
    {TrainingProgram::megatron, "iteration ",
     "elapsed time per iteration (ms):", &LoggedStep::seconds, 1e-3},
    {TrainingProgram::megatron, "iteration ",
     "elapsed time per iteration (s):", &LoggedStep::seconds},
    {TrainingProgram::nemo, "global_step", "train_step_timing in s", &LoggedStep::seconds},
    {TrainingProgram::nemo, "iteration ", "train_step_timing in s", &LoggedStep::seconds},
    {TrainingProgram::maxtext, "completed step:", "seconds:", &LoggedStep::seconds},
    {TrainingProgram::torchtitan, "step:", "tps:", &LoggedStep::tokens_per_s_per_gpu},
    {TrainingProgram::deepspeed, "global_step", "CurrSamplesPerSec", &LoggedStep::samples_per_s},
    {TrainingProgram::deepspeed, "steps:", "iter time (s):", &LoggedStep::seconds, 1, true},
}};

/// Source: NeMo nemo/lightning/io/pl.py; torchtitan components/checkpoint.py of 2024 to 2026, which
/// has no blank behind its bracket, and components/checkpointer/dcp.py. Staging is what an
/// asynchronous save stops training for.
constexpr std::array<CheckpointLine, 6> kCheckpointLines{{
    {"Save duration:"},
    {"Finished saving the checkpoint in"},
    {"Finished saving the checkpoint (or staging if async is enabled)in"},
    {"Finished staging the checkpoint in"},
    {"Time spent in load_checkpoint:", true},
    {"Finished loading the checkpoint in", true},
}};

/// What stands before the number of a step that is saved, or alone where the last one is. Source:
/// Megatron-LM training/checkpointing.py; MaxText checkpointing.py; torchtitan
/// components/checkpoint.py.
constexpr std::array<std::string_view, 4> kSavedWords{
    "saving checkpoint at iteration", "Started an asynchronous checkpoint save for step",
    "Saved a checkpoint at step", "Saving the checkpoint"};

/// A number of the job that stands in a list ("global_batch_size ........... 512").
struct ListedNumber {
  std::string_view name;
  double LoggedJob::*value;
  std::size_t line;  ///< which of `LoggedJob::lines`
};
/// Source: Megatron-LM arguments.py (_print_args); DeepSpeed runtime/config.py (print).
constexpr std::array<ListedNumber, 4> kListedNumbers{{
    {"global_batch_size", &LoggedJob::global_batch, 0},
    {"train_batch_size", &LoggedJob::global_batch, 0},
    {"seq_length", &LoggedJob::sequence_length, 1},
    {"world_size", &LoggedJob::gpus, 2},
}};
/// Source: torchtitan train.py ("Trainer is initialized with local batch size 1, global batch size
/// 8, ..., sequence length 8192").
constexpr std::array<ListedNumber, 2> kNumbersInSentences{{
    {"global batch size ", &LoggedJob::global_batch, 0},
    {"sequence length ", &LoggedJob::sequence_length, 1},
}};

/// What else of Megatron-LM's list decides how long a step takes, and how often it pauses.
constexpr std::array<std::string_view, 21> kKeptSettings{"num_layers",
                                                         "hidden_size",
                                                         "hybrid_override_pattern",
                                                         "hybrid_layer_pattern",
                                                         "tensor_model_parallel_size",
                                                         "pipeline_model_parallel_size",
                                                         "context_parallel_size",
                                                         "expert_model_parallel_size",
                                                         "expert_tensor_parallel_size",
                                                         "micro_batch_size",
                                                         "recompute_granularity",
                                                         "fp8",
                                                         "fp4",
                                                         "use_distributed_optimizer",
                                                         "deepspeed",
                                                         "use_torch_fsdp2",
                                                         "use_custom_fsdp",
                                                         "use_megatron_fsdp",
                                                         "num_experts",
                                                         "manual_gc_interval",
                                                         "save_interval"};

void take_number(const ListedNumber& known, std::string_view rest, int line, LoggedJob& job) {
  const auto value = number_of(std::string(rest.substr(0, rest.find_first_of(" ,"))));
  if (value && *value > 0 && job.*known.value == 0) {
    job.*known.value = *value;
    job.lines[known.line] = line;
  }
}

/// "  tensor_model_parallel_size ...................... 4"
void read_listed(const std::string& text, std::size_t dots, int line, LoggedJob& job) {
  const std::string name = word_before(text, dots);
  std::string_view rest = std::string_view(text).substr(dots);
  rest.remove_prefix(std::min(rest.find_first_not_of(" ."), rest.size()));
  const auto number = std::find_if(kListedNumbers.begin(), kListedNumbers.end(),
                                   [&](const ListedNumber& known) { return known.name == name; });
  if (number != kListedNumbers.end()) {
    take_number(*number, rest, line, job);
  }
  const bool kept =
      std::find(kKeptSettings.begin(), kKeptSettings.end(), name) != kKeptSettings.end();
  if (kept && job.setting(name) == nullptr) {
    job.settings.push_back({name, std::string(rest.substr(0, rest.find_first_of(" ,."))), line});
  }
}

}  // namespace

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

std::string word_after(const std::string& line, std::string_view key, std::size_t from) {
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

std::string word_before(const std::string& line, std::size_t end) {
  const std::string_view before = core::trimmed(std::string_view(line).substr(0, end));
  return std::string(before.substr(before.find_last_of(" \t") + 1));
}

std::optional<double> number_of(const std::string& word) {
  double value = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return result.ec == std::errc{} && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double whole_after(const std::string& line, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    const std::string text = word_after(line, word);
    const double value = number_of(text).value_or(0);
    if (value > 0 && value == std::floor(value) && text.find('e') == std::string::npos) {
      return value;
    }
  }
  return 0;
}

double last_digit(const std::string& word) {
  const std::size_t point = word.find('.');
  const std::size_t end = std::min(word.find_first_of("eE"), word.size());
  const double decimals =
      point == std::string::npos || point > end ? 0 : static_cast<double>(end - point - 1);
  const auto exponent = end == word.size() ? 0 : number_of(word.substr(end + 1)).value_or(0);
  return std::pow(10.0, exponent - decimals);
}

const StepLine* step_line_of(const std::string& line) {
  const auto found = std::find_if(kStepLines.begin(), kStepLines.end(), [&](const StepLine& known) {
    return line.find(known.step) != std::string::npos &&
           line.find(known.value) != std::string::npos;
  });
  return found == kStepLines.end() ? nullptr : &*found;
}

const CheckpointLine* checkpoint_line_of(const std::string& line) {
  const auto found =
      std::find_if(kCheckpointLines.begin(), kCheckpointLines.end(),
                   [&](const auto& known) { return line.find(known.words) != std::string::npos; });
  return found == kCheckpointLines.end() ? nullptr : &*found;
}

std::optional<double> saved_step_of(const std::string& line) {
  for (const std::string_view words : kSavedWords) {
    if (line.find(words) != std::string::npos) {
      return number_of(word_after(line, words)).value_or(-1);
    }
  }
  return std::nullopt;
}

// Source: torchtitan tools/utils.py: "[GC] Performing periodic GC collection took 0.02 seconds",
// "periodical" and without "took" in 2025; the first collection, before all steps, is another.
bool is_collection(const std::string& line) {
  return line.find("[GC] ") != std::string::npos && line.find("period") != std::string::npos;
}

// Source: Megatron-LM training.py, save_checkpoint_and_time: the timer of iterations is stopped
// ("to get accurate train interval time"), in the versions that print a date before an iteration
// (" [2026-09-01 08:00:03.535288] iteration"). Their kin, which print none, leave it running.
bool leaves_saves_out(const std::string& line, const StepLine& known) {
  const std::size_t end = line.find("] " + std::string(known.step));
  const std::size_t begin = end == std::string::npos ? end : line.rfind('[', end);
  return known.program == TrainingProgram::megatron && begin != std::string::npos &&
         line.compare(begin + 5, 1, "-") == 0 && line.compare(begin + 8, 1, "-") == 0;
}

std::string_view whole_lines_of(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  return last == std::string_view::npos ? text : text.substr(0, last + 1);
}

void read_job_line(const std::string& text, int line, LoggedJob& job) {
  if (const std::size_t dots = text.find(" .."); dots != std::string::npos) {
    read_listed(text, dots, line, job);
  }
  // torchtitan components/metrics.py: "CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB memory"
  constexpr std::string_view kCapacity = "CUDA capacity: ";
  if (const std::size_t place = text.find(kCapacity);
      place != std::string::npos && job.device.empty()) {
    const std::size_t begin = place + kCapacity.size();
    job.device = text.substr(begin, text.find(" with ", begin) - begin);
    job.device_line = line;
  }
  if (text.find("local batch size ") == std::string::npos) {
    return;
  }
  for (const ListedNumber& known : kNumbersInSentences) {
    const std::size_t place = text.find(known.name);
    if (place != std::string::npos && (place == 0 || text[place - 1] == ' ')) {
      take_number(known, std::string_view(text).substr(place + known.name.size()), line, job);
    }
  }
}

}  // namespace headway::import
