#include "calibrate/measure/parts/overlap.h"

#include <algorithm>
#include <cmath>

namespace headway::measure {

namespace {

void enqueue(const Load& load, int calls) {
  for (int call = 0; call < calls; ++call) {
    load.launch(call);
  }
}

double alone_s(const Load& load, int calls) {
  const Event begin = new_event(), end = new_event();
  enqueue(load, 1);
  MEASURE_CUDA(cudaEventRecord(begin.get(), load.stream));
  enqueue(load, calls);
  MEASURE_CUDA(cudaEventRecord(end.get(), load.stream));
  MEASURE_CUDA(cudaEventSynchronize(end.get()));
  return seconds_between(begin, end) / calls;
}

/// Both start together and are enqueued in turns; the time of one call of `inner`, its first call
/// left out. `outer` must last longer.
double beside_s(const Load& outer, int outer_calls, const Load& inner, int inner_calls) {
  const Event fork = new_event(), begin = new_event(), end = new_event(), done = new_event();
  MEASURE_CUDA(cudaEventRecord(fork.get(), outer.stream));
  MEASURE_CUDA(cudaStreamWaitEvent(inner.stream, fork.get(), 0));
  // In turns, so that neither queue starves while the other is filled.
  const int turns = std::min(outer_calls, inner_calls);
  int outer_done = 0, inner_done = 0;
  for (int turn = 1; turn <= turns; ++turn) {
    const int outer_until = outer_calls * turn / turns, inner_until = inner_calls * turn / turns;
    for (; outer_done < outer_until; ++outer_done) {
      outer.launch(outer_done);
    }
    for (; inner_done < inner_until; ++inner_done) {
      if (inner_done == 1) {  // the first one is not timed: it may start before its company
        MEASURE_CUDA(cudaEventRecord(begin.get(), inner.stream));
      }
      inner.launch(inner_done);
    }
  }
  MEASURE_CUDA(cudaEventRecord(end.get(), inner.stream));
  MEASURE_CUDA(cudaEventRecord(done.get(), outer.stream));
  MEASURE_CUDA(cudaEventSynchronize(end.get()));
  MEASURE_CUDA(cudaEventSynchronize(done.get()));
  return seconds_between(begin, end) / (inner_calls - 1);
}

}  // namespace

OverlapTimes time_together(const Load& first, const Load& second) {
  OverlapTimes times;
  times.first_calls = first.calls;
  times.first_alone_s = alone_s(first, first.calls);
  times.second_alone_s = alone_s(second, 5);
  // Each load may become several times slower in company: the outer one is enqueued to last three
  // times as long as the inner one takes alone.
  const double span_s = times.first_alone_s * first.calls;
  const auto calls_in = [](double span, double call_s) {
    return std::clamp(static_cast<int>(std::ceil(span / call_s)), 3, 400);
  };
  times.first_together_s =
      beside_s(second, calls_in(3 * span_s, times.second_alone_s), first, first.calls);
  times.second_calls = calls_in(span_s / 3, times.second_alone_s);
  times.second_together_s = beside_s(first, first.calls, second, times.second_calls);
  return times;
}

void add_together(Bench& bench, const OverlapTimes& times, fit::Sample first, fit::Sample second) {
  first.repeats = times.first_calls;
  first.seconds = times.first_together_s;
  second.repeats = times.second_calls;
  second.seconds = times.second_together_s;
  bench.add(std::move(first));
  bench.add(std::move(second));
}

ProductLoad::ProductLoad(const CublasLt& cublas, bool tiny, cudaStream_t stream)
    : side_(tiny ? 32 : 8192),
      stream_(stream),
      library_(cublas),
      runner_(library_,
              gemm_layout(core::GemmPass::forward, {side_, side_, side_}, core::Precision::bf16),
              core::Precision::bf16,
              1,
              stream),
      algorithms_(runner_.algorithms(1)) {
  if (algorithms_.empty()) {
    throw GpuError("cuBLASLt has no algorithm for a bf16 product");
  }
}

Launch ProductLoad::launch() const {
  return [this](int call) { runner_.launch(algorithms_.front(), call, stream_); };
}

fit::Sample ProductLoad::sample() const {
  fit::Sample sample;
  sample.kind = fit::SampleKind::gemm;
  sample.op = "forward";
  sample.variant = "heuristic";
  sample.precision = core::Precision::bf16;
  sample.m = sample.n = sample.k = side_;
  sample.batch = 1;
  return sample;
}

}  // namespace headway::measure
