// The pending events of one partition: a 4-ary heap that leaves its root open after a pop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/core/engine/event.h"

namespace headway::core {

/// A priority queue of events, earliest first.
///
/// Most events schedule one successor. So `pop` only marks the root as open, and the next `push`
/// puts its event there and sifts it down: one walk through the heap instead of two. Chosen by
/// benchmarks/core/event_queue_bench.
class EventQueue {
 public:
  [[nodiscard]] std::size_t size() const { return size_ - (root_open_ ? 1U : 0U); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// Tick of the earliest event; `kEndOfTime` if there is none.
  [[nodiscard]] Tick first_tick() {
    close_root();
    return size_ == 0 ? kEndOfTime : heap_[0].tick;
  }

  void push(const Event& event) {
    if (root_open_) {
      root_open_ = false;
      sift_down(event);
      return;
    }
    if (size_ == heap_.size()) [[unlikely]] {
      heap_.resize(size_ + std::max<std::size_t>(8, size_ / 4));
    }
    sift_up(size_++, event);
  }

  /// Takes the earliest event; there must be one.
  Event pop() {
    close_root();
    root_open_ = true;
    return heap_[0];
  }

 private:
  static constexpr std::size_t kArity = 4;

  void close_root() {
    if (root_open_) {
      root_open_ = false;
      --size_;
      if (size_ > 0) {
        const Event last = heap_[size_];
        sift_down(last);
      }
    }
  }

  // Both walks carry `event` in hand and move the others by one place, so each costs one copy a
  // level.
  void sift_up(std::size_t hole, const Event& event) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (!earlier(event, heap_[parent])) {
        break;
      }
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  // The open root sinks to the bottom by comparing children alone, then the event rises: what is
  // scheduled or moved here is nearly always late, so it seldom rises, and the walk down has no
  // branch to mispredict. Source: Wegener, "Bottom-up heapsort", TCS 1993.
  void sift_down(const Event& event) {
    std::size_t hole = 0;
    for (std::size_t first = 1; first < size_; first = hole * kArity + 1) {
      const std::size_t child = earliest_child(first);
      heap_[hole] = heap_[child];
      hole = child;
    }
    sift_up(hole, event);
  }

  [[nodiscard]] std::size_t earliest_child(std::size_t first) const {
    if (first + kArity <= size_) {  // the usual case, as two independent duels and a final
      const std::size_t left = first + (earlier(heap_[first + 1], heap_[first]) ? 1 : 0);
      const std::size_t right = first + 2 + (earlier(heap_[first + 3], heap_[first + 2]) ? 1 : 0);
      return earlier(heap_[right], heap_[left]) ? right : left;
    }
    std::size_t best = first;
    for (std::size_t child = first + 1; child < size_; ++child) {
      best = earlier(heap_[child], heap_[best]) ? child : best;
    }
    return best;
  }

  std::vector<Event> heap_;  // the first size_ of them; the rest is room to grow
  std::size_t size_ = 0;     // an open root counts
  bool root_open_ = false;
};

}  // namespace headway::core
