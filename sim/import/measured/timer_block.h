// Reads the timers that training programs print beside their steps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace headway::import {

/// One timer over the ranks [s].
struct RankTimer {
  std::string name;
  std::optional<double> least;  ///< none: only that of the slowest rank is printed
  double most = 0;
};

/// The blocks of Megatron-LM in all options of --timing-log-option, line by line:
///     (min, max) time across ranks (ms):
///         forward-compute ................................: (1234.56, 1240.11)
///     max time across ranks (ms):
///         forward-compute ................................: 1240.11
///     times across ranks (ms):
///       forward-compute:
///          rank  0: 1234.56
/// Source: megatron/core/timers.py. Lines of other ranks or programs between are passed over; a
/// block ends where the next begins, or at a line of a step (`end`).
class TimerBlock {
 public:
  /// @param timed  told each timer
  /// @param wrong  told what is no time
  TimerBlock(std::function<void(const RankTimer&)> timed, std::function<void(std::string)> wrong)
      : timed_(std::move(timed)), wrong_(std::move(wrong)) {}

  /// @returns whether the line belongs to a block
  bool read(const std::string& line);
  void end();

 private:
  enum class Kind { none, least_and_most, most, all };

  bool read_timer(const std::string& line);
  bool read_rank(const std::string& line);
  void tell_ranks();

  std::function<void(const RankTimer&)> timed_;
  std::function<void(std::string)> wrong_;
  Kind kind_ = Kind::none;
  std::optional<RankTimer> ranks_;  ///< of the option `all`: the timer whose ranks follow
};

/// "time (ms) | forward: 659.86 | backward: 2164.69 | batch generator: 0.83" of DeepSpeed, GPT-NeoX
/// and older Megatron-LM, of one rank.
/// @returns whether the line is such
bool read_timer_bars(const std::string& line, const std::function<void(const RankTimer&)>& timed);

/// Whether a line begins a block, or is one of bars.
bool is_timer_line(const std::string& line);

}  // namespace headway::import
