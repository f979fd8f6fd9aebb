#include "sim/study/profile/gpu_time.h"

#include <algorithm>

namespace headway::study {

namespace {

using core::GpuSpan;
using core::GpuWork;
using core::Seconds;

/// How much of one class of work runs: whole kernels are counted, so that no rounding is left of
/// those that have ended.
struct Running {
  int whole = 0, parts = 0;
  double part = 0;

  void change(double busy, int by) {
    if (busy >= 1) {
      whole += by;
      return;
    }
    parts += by;
    part = parts == 0 ? 0 : part + by * busy;
  }
  [[nodiscard]] double share() const { return whole > 0 ? 1 : std::clamp(part, 0.0, 1.0); }
};

struct Change {
  Seconds at;
  const GpuSpan* span = nullptr;
  int by = 1;  ///< 1 where it begins, -1 where it ends
};

class SpanSweep {
 public:
  void book(Seconds length, GpuTime& out) const {
    const double c = computation_.share();
    const double n = std::max(communication_.share(), memory_.share());
    out.compute += length * c;
    out.non_compute += length * ((1 - c) * n);
    out.idle += length * ((1 - c) * (1 - n));
    out.communication += length * communication_.share();
    out.overlapped += length * (communication_.share() * c);
  }

  void apply(const Change& change) {
    const GpuWork work = change.span->work;
    Running& running = core::is_computation(work)     ? computation_
                       : core::is_communication(work) ? communication_
                                                      : memory_;
    running.change(change.span->busy, change.by);
  }

 private:
  Running computation_, communication_, memory_;
};

}  // namespace

GpuTime& GpuTime::operator+=(const GpuTime& other) {
  for (auto part : {&GpuTime::whole, &GpuTime::compute, &GpuTime::non_compute, &GpuTime::idle,
                    &GpuTime::communication, &GpuTime::overlapped}) {
    this->*part += other.*part;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] += other.sums[i];
    launches[i] += other.launches[i];
  }
  return *this;
}

GpuTime& GpuTime::operator/=(double count) {
  for (auto part : {&GpuTime::whole, &GpuTime::compute, &GpuTime::non_compute, &GpuTime::idle,
                    &GpuTime::communication, &GpuTime::overlapped}) {
    this->*part = this->*part / count;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = sums[i] / count;
    launches[i] /= count;
  }
  return *this;
}

GpuTime gpu_time(const std::vector<GpuSpan>& spans, Seconds begin, Seconds end) {
  GpuTime out;
  out.whole = end - begin;
  std::vector<Change> changes;
  for (const GpuSpan& span : spans) {
    const Seconds from = std::max(begin, span.begin);
    const Seconds to = std::min(end, span.end);
    if (to <= from) {
      continue;
    }
    const auto work = static_cast<std::size_t>(span.work);
    out.sums[work] += (to - from) * span.busy;
    out.launches[work] += span.begin >= begin ? static_cast<double>(span.launches) : 0;
    changes.push_back({from, &span, 1});
    changes.push_back({to, &span, -1});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  SpanSweep sweep;
  Seconds now = begin;
  for (const Change& change : changes) {
    sweep.book(change.at - now, out);
    now = change.at;
    sweep.apply(change);
  }
  sweep.book(end - now, out);
  return out;
}

}  // namespace headway::study
