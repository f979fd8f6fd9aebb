// Which event queue? The hold model (pop the earliest, push its successor) over queues of several
// sizes.
//
// The engine's partitions hold about a hundred events each, a process with a heap of its own a few,
// an engine of one partition all of them. Each queue must hand out the same events as
// std::priority_queue, or its run fails. Source of the model: Jones, "An empirical comparison of
// priority-queue and event-set implementations", CACM 1986.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <boost/heap/d_ary_heap.hpp>
#include <boost/heap/pairing_heap.hpp>
#include <cmath>
#include <queue>
#include <vector>

#include "sim/core/digest.h"
#include "sim/core/engine/event_queue.h"
#include "sim/core/random.h"

namespace headway::core {
namespace {

constexpr double kMean = 1e6;

struct Later {
  bool operator()(const Event& x, const Event& y) const { return earlier(y, x); }
};

/// The interface of EventQueue over a heap of the standard library or Boost.
template <class Heap>
class HeapQueue {
 public:
  explicit HeapQueue(std::size_t /*size*/) {}
  void push(const Event& event) { heap_.push(event); }
  Event pop() {
    const Event event = heap_.top();
    heap_.pop();
    return event;
  }

 private:
  Heap heap_;
};
using StandardHeap = HeapQueue<std::priority_queue<Event, std::vector<Event>, Later>>;
using BoostFourAryHeap =
    HeapQueue<boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>>>;
using BoostPairingHeap = HeapQueue<boost::heap::pairing_heap<Event, boost::heap::compare<Later>>>;

/// The engine's own.
class OpenRootHeap {
 public:
  explicit OpenRootHeap(std::size_t /*size*/) {}
  void push(const Event& event) { queue_.push(event); }
  Event pop() { return queue_.pop(); }

 private:
  EventQueue queue_;
};

/// Brown's calendar queue (CACM 1988), given the ideal bucket width beforehand: better than it
/// would adapt itself.
class CalendarQueue {
 public:
  explicit CalendarQueue(std::size_t size)
      : width_(std::max<Tick>(1, static_cast<Tick>(2 * kMean / static_cast<double>(size)))),
        days_(2 * size) {}

  void push(const Event& event) {
    std::vector<Event>& day = days_[day_of(event.tick)];
    day.push_back(event);
    // Each day is sorted, latest first; it holds one or two.
    for (std::size_t i = day.size() - 1; i > 0 && earlier(day[i - 1], day[i]); --i) {
      std::swap(day[i - 1], day[i]);
    }
  }

  Event pop() {
    while (true) {
      std::vector<Event>& day = days_[day_of(today_)];
      if (!day.empty() && day.back().tick < today_ + width_) {
        const Event event = day.back();
        day.pop_back();
        return event;
      }
      today_ += width_;
    }
  }

 private:
  [[nodiscard]] std::size_t day_of(Tick tick) const {
    return static_cast<std::size_t>(tick / width_) % days_.size();
  }

  Tick width_;
  std::vector<std::vector<Event>> days_;
  Tick today_ = 0;  // a multiple of width_
};

/// The i-th event of the load, at an exponential time after `now`.
Event successor(Tick now, std::uint64_t i) {
  Event event;
  event.tick = now + static_cast<Tick>(exponential_from(unit_interval(mix(i)), kMean));
  event.order = EventOrder(kNormalPriority, ProcessId(0), i);
  event.a = i;
  return event;
}

/// Digest of the events handed out while `holds` are popped and replaced.
template <class Queue>
std::uint64_t hold(Queue& queue, std::uint64_t first, std::uint64_t holds) {
  std::uint64_t digest = 0;
  for (std::uint64_t i = first; i < first + holds; ++i) {
    const Event event = queue.pop();
    digest = combine(digest, event.order.word());
    queue.push(successor(event.tick, i));
  }
  return digest;
}

template <class Queue>
Queue filled(std::size_t size) {
  Queue queue(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    queue.push(successor(0, i));
  }
  return queue;
}

template <class Queue>
void hold_model(benchmark::State& state) {
  constexpr std::uint64_t kHolds = 10'000;
  const auto size = static_cast<std::size_t>(state.range(0));
  auto queue = filled<Queue>(size);
  auto reference = filled<StandardHeap>(size);
  if (hold(queue, size, kHolds) != hold(reference, size, kHolds)) {
    state.SkipWithError("the events differ from those of std::priority_queue");
    return;
  }
  std::uint64_t next = size + kHolds;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(hold(queue, next, kHolds));
    next += kHolds;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kHolds));
}
BENCHMARK_TEMPLATE(hold_model, OpenRootHeap)->Arg(8)->Arg(64)->Arg(1024)->Arg(65536);
BENCHMARK_TEMPLATE(hold_model, StandardHeap)->Arg(8)->Arg(64)->Arg(1024)->Arg(65536);
BENCHMARK_TEMPLATE(hold_model, BoostFourAryHeap)->Arg(8)->Arg(64)->Arg(1024)->Arg(65536);
BENCHMARK_TEMPLATE(hold_model, BoostPairingHeap)->Arg(8)->Arg(64)->Arg(1024)->Arg(65536);
BENCHMARK_TEMPLATE(hold_model, CalendarQueue)->Arg(8)->Arg(64)->Arg(1024)->Arg(65536);

}  // namespace
}  // namespace headway::core

BENCHMARK_MAIN();
