#include "calibrate/measure/host/progress.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace headway::measure {

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string minutes_text(double seconds) {
  const int whole = static_cast<int>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

Progress::Progress(bool quiet, double total_s)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), total_s_(total_s), begin_s_(now_s()) {}

double Progress::elapsed_s() const { return now_s() - begin_s_; }

void Progress::part(int number, int parts, const std::string& name) {
  part_ = fmt::format("[{:2}/{}] {:<13}", number, parts, name);
  shown_s_ = 0;
  if (!quiet_ && !terminal_) {
    fmt::print(stderr, "{} {}\n", part_, minutes_text(elapsed_s()));
  }
  step("");
}

void Progress::step(const std::string& what) {
  // Ten times a second is enough for an eye, and keeps the terminal out of the timings.
  if (quiet_ || !terminal_ || now_s() - shown_s_ < 0.1) {
    return;
  }
  shown_s_ = now_s();
  clear();
  fmt::print(stderr, "{} {:<48.48} {} of at most {}", part_, what, minutes_text(elapsed_s()),
             minutes_text(total_s_));
  std::fflush(stderr);
}

void Progress::say(const std::string& line) {
  if (!quiet_) {
    clear();
    fmt::print(stderr, "{}\n", line);
  }
}

void Progress::done() { clear(); }

void Progress::clear() {
  if (terminal_ && !quiet_) {
    fmt::print(stderr, "\r\033[K");
  }
}

}  // namespace headway::measure
