// The progress line of a measurement, on stderr.
#pragma once

#include <string>

namespace headway::measure {

/// One line that is rewritten on a terminal; elsewhere one line a part.
class Progress {
 public:
  /// @param total_s  the whole measurement's allowance
  Progress(bool quiet, double total_s);

  /// Part `number` of `parts` begins.
  void part(int number, int parts, const std::string& name);
  /// What is being measured now: "bf16 forward 8192 x 8192 x 8192".
  void step(const std::string& what);
  /// A line that stays.
  void say(const std::string& line);
  /// Ends the line.
  void done();

  [[nodiscard]] double elapsed_s() const;

 private:
  void clear();

  bool quiet_, terminal_;
  double total_s_, begin_s_, shown_s_ = 0;
  std::string part_;
};

/// "1:05" for 65 seconds.
std::string minutes_text(double seconds);

}  // namespace headway::measure
