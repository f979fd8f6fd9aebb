#include "apps/headway/progress.h"

#include <algorithm>
#include <fmt/core.h>
#include <unistd.h>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/report/result_json.h"
#include "sim/report/wrap.h"

#include "apps/headway/output.h"

namespace headway::apps {

namespace {

using std::chrono::steady_clock;

/// At most this often is a line rewritten.
constexpr std::chrono::milliseconds kPause{100};

/// A phase may name a file, and a file's name may hold anything but a zero and a '/'.
std::string json_text(const std::string& text) { return report::Json(core::visible(text)).dump(); }

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

/// " 35/200  35/s  ETA 12 s", both at the same pace; nothing before the end can be foretold.
/// @param share  what is counted are parts of the work: " 18 %  of this part 12 s left"
std::string how_far_it_is(
    core::TimeLeft& time_left, std::size_t done, std::size_t total, double elapsed, bool share) {
  const auto left = time_left.told(done, total, elapsed);
  if (share) {
    return fmt::format(
        " {} %{}", total == 0 ? 0 : 100 * done / total,
        left && done < total ? fmt::format("  of this part {:.0f} s left", *left) : "");
  }
  const std::string counted = fmt::format(" {}/{}", done, total);
  if (!left) {
    return counted;
  }
  const double rate = *left > 0 ? static_cast<double>(total - std::min(done, total)) / *left
                                : static_cast<double>(done) / elapsed;
  return fmt::format("{}  {}/s  ETA {:.0f} s", counted, core::number(rate), *left);
}

/// Head and tail in at most so many columns; of a longer head its beginning.
std::string fitted(std::string_view head, std::string_view tail, std::size_t width) {
  constexpr std::string_view kCut = "...";
  const std::size_t shown = report::shown_width(head) + report::shown_width(tail);
  if (shown <= width) {
    return std::string(head).append(tail);
  }
  const std::size_t room = width - std::min(width, report::shown_width(tail) + kCut.size());
  std::size_t end = 0;
  for (std::size_t kept = 0; kept < room && end < head.size(); ++kept) {
    end += std::max<std::size_t>(1, core::utf8_length(head, end));
  }
  const std::string line = std::string(head.substr(0, end)).append(kCut).append(tail);
  return report::shown_width(line) <= width ? line : report::wrapped(line, width).front();
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
  } else if (::isatty(STDERR_FILENO) != 0 && !is_dumb_terminal()) {
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
  of_shares_ = false;
  start_counting();
  if (mode_ == Mode::json) {
    print_error(fmt::format("{{\"phase\": {}}}\n", json_text(phase_)));
  } else {
    show(phase_, "");
  }
}

/// With the lock.
void Progress::start_counting() {
  phase_start_ = steady_clock::now();
  time_left_ = {};
  last_done_ = 0;
}

void Progress::count(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  // The same once more, as a step with another hash: its pace is not that of the one before.
  if (2 * done < last_done_) {
    start_counting();
  }
  const bool ends = done >= total && last_done_ < total;
  last_done_ = done;
  if (mode_ == Mode::off || (!ends && steady_clock::now() - last_shown_ < kPause)) {
    return;
  }
  if (mode_ == Mode::json) {
    print_error(fmt::format("{{\"phase\": {}, \"done\": {}, \"total\": {}}}\n", json_text(phase_),
                            done, total));
    last_shown_ = steady_clock::now();
    return;
  }
  show(phase_,
       fmt::format("{}{}{}",
                   how_far_it_is(time_left_, done, total, seconds_since(phase_start_), of_shares_),
                   note_.empty() ? "" : "  ", note_));
}

std::function<void(const char*, std::size_t, std::size_t)> Progress::named(
    bool (*is_share)(std::string_view)) {
  return [this, is_share](const char* what, std::size_t done, std::size_t total) {
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != what) {
        begin(what);
      }
      of_shares_ = is_share != nullptr && is_share(what);
    }
    count(done, total);
  };
}

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Progress::show(const std::string& what, const std::string& how_far) {
  last_shown_ = steady_clock::now();
  if (mode_ == Mode::terminal) {
    const std::size_t width =
        std::max<std::size_t>(2, error_columns()) - 1;  // the last one may fold
    print_error("\r\033[K" + fitted(core::visible(what), core::visible(how_far), width));
  } else if (mode_ == Mode::plain) {
    print_error(core::visible(what + how_far) + "\n");
  }
}

}  // namespace headway::apps
