// How far several pieces of work are together that may go on beside one another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

namespace headway::core {

/// Told how many parts of something are done, by several threads; may be empty.
using Count = std::function<void(std::size_t done, std::size_t total)>;

/// Counts in thousandths of each piece; must outlive what it gives out.
class JointProgress {
 public:
  static constexpr std::size_t kParts = 1000;

  /// @param told  may be empty: then so is what is given out, and nothing is counted
  JointProgress(Count told, std::size_t pieces)
      : told_(std::move(told)), total_(kParts * pieces) {}

  /// Something between the pieces is done.
  void look() const {
    if (told_) {
      told_(done_, total_);
    }
  }

  /// For one piece, told which share of it is done. A share below one told before adds nothing.
  std::function<void(double share)> piece() {
    if (!told_) {
      return {};
    }
    return [this, last = std::size_t{0}](double share) mutable {
      const auto now = std::clamp(static_cast<std::size_t>(share * static_cast<double>(kParts)),
                                  last, kParts);
      const std::size_t more = now - std::exchange(last, now);
      told_(done_.fetch_add(more) + more, total_);
    };
  }

  /// The same for a piece that is told how many of its parts are done; 0 of 0: not known yet.
  Count counted_piece() {
    if (!told_) {
      return {};
    }
    return [tell = piece()](std::size_t done, std::size_t total) mutable {
      tell(total == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(total));
    };
  }

 private:
  Count told_;
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
};

}  // namespace headway::core
