// One product for seconds on end: how clock, power and rate settle, as a curve over time.
#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/parts/gemm_runner.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

namespace {

/// How long, in what windows.
struct SustainedPlan {
  double rest_s, load_s, window_s;
};

/// Of one of `loads` that the time left is shared by, a sixth of it at rest.
SustainedPlan plan_of(const Bench& bench, int loads) {
  if (bench.options.tiny) {
    return {0, 0.05, 0.01};
  }
  const double given_s = (bench.deadline_s - bench.progress.elapsed_s()) / loads;
  const double rest_s = std::clamp(given_s / 6, 0.5, 5.0);
  return {rest_s, std::clamp(given_s - rest_s, 1.0, 30.0), 0.25};
}

/// One window of `calls` calls between two events.
struct Window {
  Event begin, end;
};

Window enqueue(cudaStream_t stream, const Launch& launch, int calls) {
  Window window{new_event(), new_event()};
  MEASURE_CUDA(cudaEventRecord(window.begin.get(), stream));
  for (int call = 0; call < calls; ++call) {
    launch(call);
  }
  MEASURE_CUDA(cudaEventRecord(window.end.get(), stream));
  return window;
}

/// Keeps the GPU busy with `launch` and adds one sample a window. Two windows are always queued, so
/// that the GPU never rests; the telemetry is read while the older one runs.
void sustain(const GpuBench& gpu,
             const SustainedPlan& plan,
             const fit::Sample& kind,
             const Launch& launch) {
  std::this_thread::sleep_for(std::chrono::duration<double>(plan.rest_s));
  TimingPlan brief;
  brief.repeats = 3;
  const double one_s = time_calls(gpu.stream, launch, brief, nullptr).median_s;
  const int calls = std::clamp(static_cast<int>(plan.window_s / one_s), 1, 400);
  std::deque<Window> windows;
  const Event start = new_event();
  MEASURE_CUDA(cudaEventRecord(start.get(), gpu.stream));
  windows.push_back(enqueue(gpu.stream, launch, calls));
  double elapsed_s = 0;
  while (elapsed_s < plan.load_s && gpu.bench.time_left()) {
    windows.push_back(enqueue(gpu.stream, launch, calls));
    ReadingMean readings;
    while (gpu.bench.telemetry != nullptr && !is_done(windows.front().end)) {
      readings.add(gpu.bench.telemetry->read(), steady_seconds());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    MEASURE_CUDA(cudaEventSynchronize(windows.front().end.get()));
    elapsed_s = seconds_between(start, windows.front().end);
    Timing timing;
    timing.repeats = calls;
    timing.median_s = seconds_between(windows.front().begin, windows.front().end) / calls;
    timing.reading = readings.mean();
    fit::Sample sample = kind;
    sample.elapsed_s = elapsed_s;
    record_timing(timing, sample);
    gpu.bench.add(std::move(sample));
    gpu.bench.progress.step(sample_text(kind));
    windows.pop_front();
  }
  MEASURE_CUDA(cudaStreamSynchronize(gpu.stream));
}

void sustain_product(const GpuBench& gpu, const SustainedPlan& plan, core::Precision precision) {
  const std::int64_t side = gpu.bench.options.tiny ? 32 : 8192;
  GemmLibrary library(*gpu.cublas);
  const LinearShape shape{side, side, side};
  const GemmRunner runner(library, gemm_layout(core::GemmPass::forward, shape, precision),
                          precision, 1, gpu.stream);
  const auto algorithms = runner.algorithms(1);
  if (algorithms.empty()) {
    return;  // said by the gemm part
  }
  fit::Sample kind;
  kind.kind = fit::SampleKind::gemm;
  kind.op = "forward";
  kind.variant = "sustained";
  kind.precision = precision;
  kind.m = kind.n = kind.k = side;
  kind.batch = 1;
  sustain(gpu, plan, kind, [&](int call) { runner.launch(algorithms.front(), call, gpu.stream); });
}

void sustain_triad(const GpuBench& gpu, const SustainedPlan& plan) {
  const std::uint64_t count = gpu.bench.options.tiny ? 1024 : std::uint64_t{1} << 27;
  const DeviceBuffer a = device_buffer(4 * count), b = device_buffer(4 * count),
                     c = device_buffer(4 * count);
  launch_random_fill(b.get(), Format::fp32, count, 1, gpu.stream);
  launch_random_fill(c.get(), Format::fp32, count, 2, gpu.stream);
  fit::Sample kind;
  kind.kind = fit::SampleKind::memory;
  kind.op = "triad";
  kind.variant = "sustained";
  kind.bytes = 12 * static_cast<double>(count);
  sustain(gpu, plan, kind, [&](int) {
    launch_triad(static_cast<float*>(a.get()), static_cast<const float*>(b.get()),
                 static_cast<const float*>(c.get()), 3.0F, count, gpu.stream);
  });
}

}  // namespace

void measure_sustained(const GpuBench& gpu) {
  const int loads = gpu.bench.options.quick ? 2 : 3;
  sustain_product(gpu, plan_of(gpu.bench, loads), core::Precision::bf16);
  sustain_product(gpu, plan_of(gpu.bench, loads - 1), core::Precision::fp8);
  if (!gpu.bench.options.quick) {
    sustain_triad(gpu, plan_of(gpu.bench, 1));
  }
}

}  // namespace headway::measure
