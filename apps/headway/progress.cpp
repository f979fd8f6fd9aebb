#include "apps/headway/progress.h"

#include <algorithm>
#include <fmt/core.h>
#include <unistd.h>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"

#include "apps/headway/output.h"

namespace headway::apps {

namespace {

using std::chrono::steady_clock;

/// At most this often is a line rewritten.
constexpr std::chrono::milliseconds kPause{100};

/// A phase may name a file, and a file's name may hold anything but a zero and a '/'.
std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : core::visible(text)) {
    out += c == '"' || c == '\\' ? std::string{'\\', c}
           : c == '\n'           ? "\\n"
           : c == '\t'           ? "\\t"
                                 : std::string(1, c);
  }
  return out + "\"";
}

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

/// "  35/s  ETA 12 s": parts are taken to be alike. Nothing before the first is done.
std::string rate_and_time_left(std::size_t done, std::size_t total, double elapsed) {
  if (done == 0 || elapsed <= 0) {
    return {};
  }
  const double rate = static_cast<double>(done) / elapsed;
  return fmt::format("  {}/s  ETA {:.0f} s", core::number(rate),
                     static_cast<double>(total - std::min(done, total)) / rate);
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
    print_error("\r\033[K");
  }
}

void Progress::phase(std::string_view name) {
  const std::lock_guard lock(mutex_);
  begin(name);
}

/// With the lock.
void Progress::begin(std::string_view name) {
  phase_ = name;
  phase_start_ = steady_clock::now();
  if (mode_ == Mode::json) {
    print_error(fmt::format("{{\"phase\": {}}}\n", json_text(phase_)));
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
    print_error(fmt::format("{{\"phase\": {}, \"done\": {}, \"total\": {}}}\n", json_text(phase_),
                            done, total));
    last_shown_ = steady_clock::now();
    return;
  }
  show(fmt::format("{} {}/{}{}{}{}", phase_, done, total,
                   rate_and_time_left(done, total, seconds_since(phase_start_)),
                   note_.empty() ? "" : "  ", note_));
}

std::function<void(const char*, std::size_t, std::size_t)> Progress::named() {
  return [this](const char* what, std::size_t done, std::size_t total) {
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != what) {
        begin(what);
      }
    }
    count(done, total);
  };
}

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Progress::show(const std::string& line) {
  last_shown_ = steady_clock::now();
  if (mode_ == Mode::terminal) {
    print_error("\r\033[K" + core::visible(line));
  } else if (mode_ == Mode::plain) {
    print_error(core::visible(line) + "\n");
  }
}

}  // namespace headway::apps
