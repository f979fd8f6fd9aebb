// What it costs to launch: on the CPU, between dependent kernels on the GPU, and from a CUDA graph.
#include <vector>

#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

namespace {

/// Fewer than the 1024 launches that a stream's queue takes before it blocks the CPU.
constexpr int kChain = 500;

struct ChainTimes {
  double cpu_s = 0, gpu_s = 0;  ///< of one kernel
};

/// Enqueues `chain` while a waiting kernel holds the stream, so that the CPU is timed without the
/// GPU and the GPU without the CPU.
template <class Enqueue>
ChainTimes time_chain(cudaStream_t stream, int kernels, const Enqueue& enqueue) {
  const Event begin = new_event(), end = new_event();
  launch_wait(0.02, stream);  // 20 ms: longer than 500 launches take
  MEASURE_CUDA(cudaEventRecord(begin.get(), stream));
  const double before = steady_seconds();
  enqueue();
  const double after = steady_seconds();
  MEASURE_CUDA(cudaEventRecord(end.get(), stream));
  MEASURE_CUDA(cudaEventSynchronize(end.get()));
  return {(after - before) / kernels, seconds_between(begin, end) / kernels};
}

/// Adds a sample of `op`, the GPU's time of one kernel, and one of `call`, the CPU's.
template <class Enqueue>
void measure_chain(
    const GpuBench& gpu, const char* op, const char* call, int kernels, const Enqueue& enqueue) {
  time_chain(gpu.stream, kernels, enqueue);  // warm-up
  std::vector<double> cpu, on_gpu;
  for (int repeat = 0; repeat < gpu.bench.repeats(); ++repeat) {
    const ChainTimes times = time_chain(gpu.stream, kernels, enqueue);
    cpu.push_back(times.cpu_s);
    on_gpu.push_back(times.gpu_s);
  }
  const auto add = [&](const char* which, const std::vector<double>& seconds) {
    fit::Sample sample;
    sample.kind = fit::SampleKind::launch;
    sample.op = which;
    sample.streams = kernels;
    record_timing(summarize(seconds), sample);
    gpu.bench.add(std::move(sample));
  };
  add(op, on_gpu);
  add(call, cpu);
}

}  // namespace

void measure_launch(const GpuBench& gpu) {
  const auto chain = [&] {
    for (int i = 0; i < kChain; ++i) {
      launch_nothing(gpu.stream);
    }
  };
  measure_chain(gpu, "kernel", "kernel_call", kChain, chain);
  MEASURE_CUDA(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
  chain();
  cudaGraph_t graph = nullptr;
  MEASURE_CUDA(cudaStreamEndCapture(gpu.stream, &graph));
  const Graph owned(graph);
  cudaGraphExec_t run = nullptr;
  MEASURE_CUDA(cudaGraphInstantiate(&run, graph, 0));
  const GraphRun replay(run);
  measure_chain(gpu, "graph", "graph_call", kChain,
                [&] { MEASURE_CUDA(cudaGraphLaunch(replay.get(), gpu.stream)); });
}

}  // namespace headway::measure
