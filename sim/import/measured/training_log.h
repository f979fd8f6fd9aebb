// Reads what training programs print of their steps: Megatron-LM (with its timers, and its kin
// Megatron-DeepSpeed and GPT-NeoX), NeMo, torchtitan, DeepSpeed, MaxText.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/fields.h"

namespace headway::import {

enum class TrainingProgram : std::uint8_t { megatron, nemo, torchtitan, deepspeed, maxtext };
constexpr auto enum_words(TrainingProgram) {
  using E = core::EnumWord<TrainingProgram>;
  return std::array{E{TrainingProgram::megatron, "Megatron-LM"}, E{TrainingProgram::nemo, "NeMo"},
                    E{TrainingProgram::torchtitan, "torchtitan"},
                    E{TrainingProgram::deepspeed, "DeepSpeed"},
                    E{TrainingProgram::maxtext, "MaxText"}};
}

/// One line about a step. Of the three rates at least one is above zero.
struct LoggedStep {
  int line = 0;            ///< of the file, from 1
  std::int64_t step = 0;   ///< as the program counts
  std::int64_t steps = 1;  ///< that the line is the mean of
  double seconds = 0;
  double tokens_per_s_per_gpu = 0;
  double samples_per_s = 0;  ///< of the whole job
  /// Sequences of a step: as printed, else of those consumed since the line before; 0: not said.
  double samples = 0;
  double tokens_per_gpu = 0;  ///< of a step; 0: not said
  double tflops = 0;          ///< of a GPU [1e12 FLOP/s], as the program counts; 0: not said
  double skipped = 0;         ///< of the line's steps: thrown away, as Megatron-LM says
  double nan = 0;             ///< of these: the loss was no number
};

/// One of the settings that decide how long a step takes, as Megatron-LM lists them before the
/// first: "tensor_model_parallel_size", "4".
struct LoggedSetting {
  std::string name, value;
  int line = 0;
};

/// What a program says of its job once, before the first step; 0: not said.
struct LoggedJob {
  double global_batch = 0;     ///< sequences in a step; where it is ramped up, the last
  double sequence_length = 0;  ///< tokens
  double gpus = 0;
  std::array<int, 3> lines{};  ///< of the file, of the three
  std::string device;   ///< "NVIDIA H100 80GB HBM3", as torchtitan prints it; empty: not said
  int device_line = 0;  ///< of the file
  std::vector<LoggedSetting> settings;

  /// None: the log does not say.
  [[nodiscard]] const LoggedSetting* setting(std::string_view name) const {
    const auto found = std::find_if(settings.begin(), settings.end(),
                                    [&](const auto& one) { return one.name == name; });
    return found == settings.end() ? nullptr : &*found;
  }
};

/// What a timer said once, mean of a step [s]: the shortest and the longest of all ranks, equal
/// where one rank's is printed.
struct LoggedReport {
  std::int64_t step = 0;  ///< the last one before it
  double least = 0, most = 0;
};

/// One timer of the program: median over its reports.
struct LoggedPart {
  std::string name;  ///< "forward-compute", as the program has it
  double least = 0, most = 0;
  std::vector<LoggedReport> reports;  ///< in the order of the log

  /// Of the reports after so many steps; a timer of none is left out.
  [[nodiscard]] static std::vector<LoggedPart> since(std::int64_t step,
                                                     const std::vector<LoggedPart>& parts);
};

/// A save of a checkpoint.
struct LoggedSave {
  std::int64_t step = 0;  ///< the last one before it
  double seconds = 0;     ///< that training stood still, of the slowest rank that says so
};

/// A run that a restart ended: its steps came again.
struct LoggedRun {
  std::vector<LoggedStep> steps;  ///< rising
  int end = 0;                    ///< the line of the file, from 1, at which steps began again
  std::int64_t next = 0;          ///< the step of that line
};

/// The last run of a log.
struct TrainingLog {
  TrainingProgram program = TrainingProgram::megatron;
  std::vector<LoggedStep> steps;    ///< rising; of a step that several ranks print the first line
  std::vector<LoggedRun> earlier;   ///< runs before it; what else they say (but of saves and loads)
                                    ///< is left out
  std::vector<LoggedPart> parts;    ///< by name
  std::vector<LoggedSave> saves;    ///< one a step, rising; Megatron-LM's timer `save-checkpoint`,
                                    ///< "Save duration" of NeMo, "Finished saving" of torchtitan
  std::vector<std::int64_t> saved;  ///< steps after which a line says that they are saved,
                                    ///< timed or not; rising
  std::vector<std::int64_t> collected;  ///< steps before which torchtitan collected garbage ("[GC]
                                        ///< Performing periodic ..."); rising
  bool leaves_saves_out = false;  ///< times of steps are without the saves between them, as those
                                  ///< of Megatron-LM since 2024 are
  std::vector<double> loads;      ///< of a checkpoint [s]
  LoggedJob job;
  std::vector<std::string> remarks;  ///< what was left out
  double memory_bytes = 0;    ///< largest that was allocated at a time on a GPU; 0: not printed
  double reserved_bytes = 0;  ///< largest that the allocator held, as torchtitan prints it
  double resolution = 0;      ///< one of the last digit of a step's figure / the figure, median
};

/// Prefixes of launchers and colours are passed over, lines of other programs too. A last line
/// without its end, of a file that grows or whose job was killed, is left out with a remark.
/// @param file_name  for messages
/// @throws core::Error naming every line whose figure is no number above zero; or that there is no
/// line of a step, of a checkpoint nor of a timer, and which lines are known
TrainingLog read_training_log(std::string_view text, const std::string& file_name);

/// Whether some line of the text is one of a step, of the time of a checkpoint or of timers.
bool is_training_log(std::string_view text);

}  // namespace headway::import
