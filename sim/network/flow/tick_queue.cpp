#include "sim/network/flow/tick_queue.h"

#include <algorithm>

namespace headway::network {
namespace {

constexpr core::Tick kUnused = -1;

std::size_t cache_slot(core::Tick tick, std::size_t slots) {
  return (static_cast<std::uint64_t>(tick) * 0x9e3779b97f4a7c15U >> 40) & (slots - 1);
}

}  // namespace

TickQueue::TickQueue() {
  buckets_.push_back({kUnused, {}});  // what an empty cache entry points at
}

std::uint32_t TickQueue::bucket_at(core::Tick tick) {
  std::uint32_t& cached = cache_[cache_slot(tick, kCached)];
  if (buckets_[cached].tick == tick) {
    return cached;
  }
  // A tick that fell out of the cache gets a second bucket: `pop` joins them.
  std::uint32_t bucket = 0;
  if (free_buckets_.empty()) {
    bucket = static_cast<std::uint32_t>(buckets_.size());
    buckets_.push_back({tick, {}});
  } else {
    bucket = free_buckets_.back();
    free_buckets_.pop_back();
    buckets_[bucket].tick = tick;
  }
  push_heap({tick, bucket});
  cached = bucket;
  return bucket;
}

TickQueue::Place TickQueue::schedule(Event event, core::Tick tick) {
  const std::uint32_t index = bucket_at(tick);
  std::vector<Event>& due = buckets_[index].events;
  due.push_back(event);
  return {index, static_cast<std::uint32_t>(due.size() - 1)};
}

void TickQueue::cancel(Place place) {
  std::vector<Event>& due = buckets_[place.bucket].events;
  if (place.position + 1 == due.size()) {
    due.pop_back();
  } else {
    due[place.position] = {};
  }
}

std::vector<core::Tick> TickQueue::due(std::size_t entities) const {
  std::vector<core::Tick> ticks(entities, kNotDue);
  for (const Bucket& bucket : buckets_) {
    for (const Event& event : bucket.events) {
      if (event.entity < entities) {
        ticks[event.entity] = bucket.tick;
      }
    }
  }
  return ticks;
}

void TickQueue::drain(std::uint32_t index, std::vector<Event>& batch) {
  Bucket& bucket = buckets_[index];
  for (auto event = bucket.events.rbegin(); event != bucket.events.rend(); ++event) {
    if (event->entity != kNone) {
      batch.push_back(*event);
    }
  }
  bucket.tick = kUnused;
  if (bucket.events.capacity() > kRoom) {
    bucket.events = {};
  } else {
    bucket.events.clear();
  }
  free_buckets_.push_back(index);
}

core::Tick TickQueue::pop(std::vector<Event>& batch) {
  batch.clear();
  core::Tick tick = 0;
  while (batch.empty() && !heap_.empty()) {  // cancelled events leave empty buckets
    tick = heap_.front().tick;
    while (!heap_.empty() && heap_.front().tick == tick) {
      drain(pop_heap().bucket, batch);
    }
  }
  return tick;
}

void TickQueue::postpone_all(core::Tick shift) {
  for (HeapEntry& entry : heap_) {
    entry.tick += shift;
    buckets_[entry.bucket].tick += shift;
  }
  cache_.fill(0);
}

void TickQueue::push_heap(HeapEntry entry) {
  std::size_t hole = heap_.size();
  heap_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / 4;
    if (heap_[parent].tick <= entry.tick) {
      break;
    }
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
}

TickQueue::HeapEntry TickQueue::pop_heap() {
  const HeapEntry top = heap_.front();
  const HeapEntry last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  while (4 * hole + 1 < size) {
    const std::size_t first = 4 * hole + 1;
    const std::size_t end = std::min(first + 4, size);
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      least = heap_[child].tick < heap_[least].tick ? child : least;
    }
    if (heap_[least].tick >= last.tick) {
      break;
    }
    heap_[hole] = heap_[least];
    hole = least;
  }
  if (size > 0) {
    heap_[hole] = last;
  }
  return top;
}

}  // namespace headway::network
