#include "apps/headway/progress.h"

#include <cstdio>
#include <fmt/core.h>
#include <unistd.h>

namespace headway::apps {

namespace {

using std::chrono::steady_clock;

/// At most this often is a line rewritten.
constexpr std::chrono::milliseconds kPause{100};

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

}  // namespace

Progress::Progress(const CommonOptions& options)
    : phase_start_(steady_clock::now()), last_shown_(phase_start_) {
  if (options.quiet || options.progress == "off") {
    return;
  }
  if (options.progress == "plain") {
    mode_ = Mode::plain;
  } else if (options.progress == "json") {
    mode_ = Mode::json;
  } else if (::isatty(STDERR_FILENO) != 0) {
    mode_ = Mode::terminal;
  }
}

Progress::~Progress() {
  if (mode_ == Mode::terminal) {
    std::fputs("\r\033[K", stderr);
  }
}

void Progress::phase(std::string_view name) {
  const std::lock_guard lock(mutex_);
  phase_ = name;
  phase_start_ = steady_clock::now();
  if (mode_ == Mode::json) {
    fmt::print(stderr, "{{\"phase\": \"{}\"}}\n", phase_);
  } else {
    show(phase_);
  }
}

void Progress::count(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  if (mode_ == Mode::off || (done < total && steady_clock::now() - last_shown_ < kPause)) {
    return;
  }
  if (mode_ == Mode::json) {
    fmt::print(stderr, "{{\"phase\": \"{}\", \"done\": {}, \"total\": {}}}\n", phase_, done, total);
    last_shown_ = steady_clock::now();
    return;
  }
  const double elapsed = seconds_since(phase_start_);
  const double left =
      done == 0 ? 0 : elapsed * static_cast<double>(total - done) / static_cast<double>(done);
  show(fmt::format("{} {}/{}  ETA {:.0f} s", phase_, done, total, left));
}

void Progress::show(const std::string& line) {
  last_shown_ = steady_clock::now();
  if (mode_ == Mode::terminal) {
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
  } else if (mode_ == Mode::plain) {
    fmt::print(stderr, "{}\n", line);
  }
}

}  // namespace headway::apps
