#include "sim/plan/search_progress.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace headway::plan {

SearchProgress::SearchProgress(Told told, Clock clock)
    : told_(std::move(told)), clock_(std::move(clock)), start_(clock_()) {}

double SearchProgress::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SearchProgress::tell(double elapsed, double left) {
  if (told_ && elapsed > 0) {
    share_ = elapsed / (elapsed + left);
    told_(share_);
  }
}

void SearchProgress::open_shapes(std::size_t left) {
  const std::lock_guard guard(mutex_);
  shapes_ = std::max(shapes_, left);
  // Before anything is kept nobody knows what a simulation would be.
  if (left == shapes_ || timed_ == 0) {
    return;
  }
  const double elapsed = clock_() - start_;
  const auto opened = static_cast<double>(shapes_ - left);
  tell(elapsed, elapsed * static_cast<double>(left) / opened +
                    elapsed * operations_ / (kOperationsOfLayout * timed_));
}

void SearchProgress::expect(std::int64_t timed, double operations) {
  const std::lock_guard guard(mutex_);
  timed_ = static_cast<double>(timed);
  operations_ = operations;
}

void SearchProgress::look() {
  const std::lock_guard guard(mutex_);
  if (told_) {
    told_(share_);
  }
}

void SearchProgress::simulate(double done, double left) {
  const std::lock_guard guard(mutex_);
  const double now = clock_();
  if (simulations_start_ < 0) {
    simulations_start_ = now;
  }
  if (done > 0) {
    tell(now - start_, (now - simulations_start_) * left / done);
  }
}

}  // namespace headway::plan
