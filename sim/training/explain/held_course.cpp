#include "sim/training/explain/held_course.h"

#include <cmath>

namespace headway::training {

namespace {

/// The fullest of what is held at some time of each window, what is carried into it included.
std::vector<HeldChange> fullest_of_windows(const std::vector<HeldChange>& changes,
                                           std::int64_t end) {
  std::vector<HeldChange> kept;
  std::size_t next = 0;
  MemoryByKind now;
  for (std::size_t w = 0; w < kMostMoments; ++w) {
    const auto border = [&](std::size_t window) {
      return end * static_cast<std::int64_t>(window) / static_cast<std::int64_t>(kMostMoments);
    };
    const std::int64_t until = w + 1 < kMostMoments ? border(w + 1) : end + 1;
    MemoryByKind most = now;
    for (; next < changes.size() && changes[next].from < until; ++next) {
      now = changes[next].held;
      most = now.total() > most.total() ? now : most;
    }
    kept.push_back({border(w), most});
  }
  return kept;
}

std::int64_t whole(core::Bytes bytes) { return std::llround(bytes.si()); }

}  // namespace

HeldCourse held_course(const std::vector<HeldChange>& changes, std::int64_t end) {
  HeldCourse course;
  course.fullest = changes.size() > kMostMoments;
  for (const auto& [from, held] : course.fullest ? fullest_of_windows(changes, end) : changes) {
    course.from.push_back(from);
    course.weights.push_back(whole(held.weights));
    course.gradients.push_back(whole(held.gradients));
    course.optimizer.push_back(whole(held.optimizer));
    course.activations.push_back(whole(held.activations));
    course.logits.push_back(whole(held.logits));
    course.buffers.push_back(whole(held.buffers));
    course.slack.push_back(whole(held.slack));
  }
  return course;
}

}  // namespace headway::training
