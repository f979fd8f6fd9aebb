// What Python is asked and told while a call works without the interpreter's lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <pybind11/pybind11.h>
#include <string>
#include <string_view>
#include <thread>

namespace headway::python {

namespace py = pybind11;

/// Ctrl-C was pressed, or who listens has raised something; Python knows it already.
struct Interrupted {};

/// Between what runs without the interpreter's lock and Python: ends it when Ctrl-C is pressed,
/// which Python only notes until somebody asks, and tells how far it is. The thread that called
/// asks, at most every 20 ms; the others end when it has heard.
class Interrupts {
 public:
  Interrupts() = default;  ///< nobody listens
  /// @param listener  called as listener(phase, done, total); None: nobody listens
  explicit Interrupts(const py::object& listener)
      : listener_(listener.is_none() ? nullptr : &listener) {}

  /// @throws Interrupted
  void look() {
    if (heard_) {
      throw Interrupted{};
    }
    const auto now = std::chrono::steady_clock::now();
    if (std::this_thread::get_id() != caller_ || now - last_ < std::chrono::milliseconds(20)) {
      return;
    }
    last_ = now;
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      heard_ = true;
      throw Interrupted{};
    }
    if (listener_ != nullptr) {
      tell();
    }
  }

  void phase(std::string_view what) {
    {
      const std::lock_guard guard(mutex_);
      phase_ = what;
    }
    done_ = total_ = 0;
    look();
  }

  void count(std::size_t done, std::size_t total) {
    done_ = done;
    total_ = total;
    look();
  }

  /// Looks whenever it is told how much is done.
  std::function<void(std::size_t done, std::size_t total)> counted() {
    return [this](std::size_t done, std::size_t total) { count(done, total); };
  }

  /// The same of counts that say what is counted.
  std::function<void(const char* what, std::size_t done, std::size_t total)> named() {
    return [this](const char* what, std::size_t done, std::size_t total) {
      {
        const std::lock_guard guard(mutex_);
        phase_ = what;
      }
      count(done, total);
    };
  }

 private:
  /// With the interpreter's lock.
  void tell() {
    std::string what;
    {
      const std::lock_guard guard(mutex_);
      what = phase_;
    }
    try {
      (*listener_)(what, done_.load(), total_.load());
    } catch (py::error_already_set& raised) {
      raised.restore();
      heard_ = true;
      throw Interrupted{};
    }
  }

  const py::object* listener_ = nullptr;
  std::mutex mutex_;
  std::string phase_;
  std::atomic<std::size_t> done_ = 0, total_ = 0;
  std::atomic<bool> heard_ = false;
  std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace headway::python
