// How far several pieces of work are together that may go on beside one another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace headway::core {

/// Told how many parts of something are done, by several threads; may be empty.
using Count = std::function<void(std::size_t done, std::size_t total)>;

/// Counts in thousandths of each piece; must outlive what it gives out.
class JointProgress {
 public:
  static constexpr std::size_t kParts = 1000;

  /// @param told  may be empty: then so is what is given out, and nothing is counted
  JointProgress(Count told, std::size_t pieces) : told_(std::move(told)), total_(kParts * pieces) {}

  /// Something between the pieces is done.
  void look() const {
    if (told_) {
      told_(done_, total_);
    }
  }

  /// For one piece, told which share of it is done by one thread at a time. A share below one told
  /// before adds nothing. Copies speak for the same piece.
  std::function<void(double share)> piece() {
    if (!told_) {
      return {};
    }
    const std::lock_guard guard(mutex_);
    return [this, last = &lasts_.emplace_back(0)](double share) {
      const auto now =
          std::min(kParts, static_cast<std::size_t>(share * static_cast<double>(kParts)));
      const std::size_t most = std::max(now, last->load());
      const std::size_t more = most - last->exchange(most);
      told_(done_.fetch_add(more) + more, total_);
    };
  }

  /// The same for a piece that is told how many of its parts are done; 0 of 0: not known yet.
  Count counted_piece() {
    if (!told_) {
      return {};
    }
    return [tell = piece()](std::size_t done, std::size_t total) {
      tell(total == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(total));
    };
  }

 private:
  Count told_;
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
  std::mutex mutex_;
  std::deque<std::atomic<std::size_t>> lasts_;  ///< what each piece has told, shared by its copies
};

}  // namespace headway::core
