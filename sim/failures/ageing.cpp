#include "sim/failures/ageing.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace headway::failures {

using core::Seconds;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

AgeingPopulation::AgeingPopulation(const Law& law,
                                   std::int64_t parts,
                                   Seconds age,
                                   AfterFailure after_failure,
                                   core::RandomStream stream)
    : law_(law),
      hazard_now_(law.cumulative_hazard(age)),
      age_(age.si()),
      left_(static_cast<std::uint64_t>(parts)),
      after_failure_(after_failure),
      stream_(stream) {
  draw_next_original();
}

void AgeingPopulation::draw_next_original() {
  if (left_ == 0) {
    original_ = kNever;
    return;
  }
  hazard_now_ += core::exponential_from(stream_.uniform(event_), 1 / static_cast<double>(left_));
  original_ = std::max(original_, law_.age_at(hazard_now_).si() - age_);
  ++event_;
}

Seconds AgeingPopulation::next() const {
  if (renewed_.empty()) {
    return Seconds(original_);
  }
  return Seconds(std::min(original_, renewed_.front().time));
}

void AgeingPopulation::advance() {
  if (!renewed_.empty() && renewed_.front().time < original_) {
    std::pop_heap(renewed_.begin(), renewed_.end(), std::greater<>{});
    const Renewed failed = renewed_.back();
    renewed_.pop_back();
    renew(failed.part, failed.generation + 1, failed.time);
    return;
  }
  if (after_failure_ == AfterFailure::renewed) {
    --left_;
    renew(event_ - 1, 0, original_);
  }
  draw_next_original();
}

void AgeingPopulation::renew(std::uint64_t part, std::uint64_t generation, double now) {
  const double uniform = stream_.part(part).uniform(generation);
  const double life = law_.age_at(core::exponential_from(uniform, 1)).si();
  renewed_.push_back({now + life, part, generation});
  std::push_heap(renewed_.begin(), renewed_.end(), std::greater<>{});
}

}  // namespace headway::failures
