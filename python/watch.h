// What a call that works on a thread of its own tells who waits for it, and is told by him.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

namespace headway::python {

/// Nobody waits for the call any more.
struct Abandoned {};

/// Between the threads of a call and the one that waits for it; none of them needs the
/// interpreter's lock here. The call looks whenever it counts what is done, and ends there once it
/// is stopped.
class Watch {
 public:
  /// The call ends at its next look.
  void stop() { stopped_ = true; }

  /// What is done now, how many parts of it are, and how many there are; 0 of 0: not known.
  [[nodiscard]] std::tuple<std::string, std::size_t, std::size_t> state() const {
    const std::lock_guard guard(mutex_);
    return {phase_, done_, total_};
  }

  /// @throws Abandoned
  void phase(std::string_view what) { set(what, 0, 0); }

  /// Looks whenever it is told how much is done.
  std::function<void(std::size_t done, std::size_t total)> counted() {
    return [this](std::size_t done, std::size_t total) { set({}, done, total); };
  }

  /// The same of counts that say what is counted.
  std::function<void(const char* what, std::size_t done, std::size_t total)> named() {
    return
        [this](const char* what, std::size_t done, std::size_t total) { set(what, done, total); };
  }

 private:
  /// @param what  empty: as before
  void set(std::string_view what, std::size_t done, std::size_t total) {
    if (stopped_) {
      throw Abandoned{};
    }
    const std::lock_guard guard(mutex_);
    if (!what.empty()) {
      phase_ = what;
    }
    done_ = done;
    total_ = total;
  }

  mutable std::mutex mutex_;
  std::string phase_;
  std::size_t done_ = 0, total_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace headway::python
