// One line on standard error that says what the program is doing.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "sim/core/progress/time_left.h"

#include "apps/headway/options.h"

namespace headway::apps {

/// On a terminal one line is rewritten; in a file (`plain`) every phase is a line; `json` prints
/// objects.
class Progress {
 public:
  explicit Progress(const CommonOptions& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A new phase begins.
  void phase(std::string_view name);
  /// `done` of `total` parts of the phase are finished; may be called by several threads.
  void count(std::size_t done, std::size_t total);
  /// Counts that say what is counted, which begins a phase where it changes.
  /// @param is_share  of what is told so only the share that is done means something; may be null
  std::function<void(const char* what, std::size_t done, std::size_t total)> named(
      bool (*is_share)(std::string_view) = nullptr);
  /// What the line ends with from now on, such as the best so far.
  void note(std::string text);

 private:
  enum class Mode { off, terminal, plain, json };
  void begin(std::string_view name);
  void start_counting();
  void show(const std::string& what, const std::string& how_far);

  Mode mode_ = Mode::off;
  std::string phase_, note_;
  bool of_shares_ = false;  ///< the counts of the phase are parts of its work, not things
  std::chrono::steady_clock::time_point phase_start_, last_shown_;
  core::TimeLeft time_left_;   ///< of the phase
  std::size_t last_done_ = 0;  ///< told last
  std::mutex mutex_;
};

}  // namespace headway::apps
