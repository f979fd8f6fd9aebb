// The lines that training programs print, as words and what stands behind them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/import/measured/training_log.h"

namespace headway::import {

/// The line without the colours of a terminal.
std::string without_colours(std::string_view line);

/// What stands behind `key` and blanks, up to a blank or one of ",|(%"; empty without the key.
/// Thousands separators of torchtitan ("10,050") are left out.
std::string word_after(const std::string& line, std::string_view key, std::size_t from = 0);

/// The last word that ends before `end`: names stand behind what launchers put before a line
/// ("[default7]:" of torchrun --tee, " 63: " of srun -l).
std::string word_before(const std::string& line, std::size_t end);

/// The number that the word begins with.
std::optional<double> number_of(const std::string& word);

/// The number behind one of the words where all its digits are printed; 0: there is none.
double whole_after(const std::string& line, std::span<const std::string_view> words);

/// One of the last digit of a number as it is printed: 0.01 of "8.12", 1 of "7000".
double last_digit(const std::string& word);

/// One of the known lines: which figure of a step stands behind which words.
struct StepLine {
  TrainingProgram program;
  std::string_view step, value;  ///< words before both; a line has both
  double LoggedStep::*figure;
  double scale = 1;
  bool timers_add_up = false;  ///< timers are sums over the steps from one line to the next
};
const StepLine* step_line_of(const std::string& line);

/// One of the known lines about checkpoints: what stands before its seconds.
struct CheckpointLine {
  std::string_view words;
  bool load = false;
};
const CheckpointLine* checkpoint_line_of(const std::string& line);

/// The step that a line says is saved, whether it has a time or not; below zero: the last one
/// before it. None: the line is none of such.
std::optional<double> saved_step_of(const std::string& line);

/// Whether a line says that torchtitan collects garbage, as it does every so many steps.
bool is_collection(const std::string& line);

/// Whether the time of the step of a line is without the saves between steps.
bool leaves_saves_out(const std::string& line, const StepLine& known);

/// The text without a last line that does not end: of a file that grew while it was copied, or of a
/// job that was killed. A text of one line is all there is of it.
std::string_view whole_lines_of(std::string_view text);

/// Takes what a line says of the job; of several that say the same the first counts.
void read_job_line(const std::string& text, int line, LoggedJob& job);

}  // namespace headway::import
