#include "calibrate/measure/cuda/timing.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headway::measure {

namespace {

/// Seconds of `calls` calls in a row, the GPU waiting for nothing but its queue.
double time_once(cudaStream_t stream, const Launch& launch, int calls) {
  const Event begin = new_event();
  const Event end = new_event();
  MEASURE_CUDA(cudaEventRecord(begin.get(), stream));
  for (int call = 0; call < calls; ++call) {
    launch(call);
  }
  MEASURE_CUDA(cudaEventRecord(end.get(), stream));
  MEASURE_CUDA(cudaEventSynchronize(end.get()));
  return seconds_between(begin, end);
}

/// `calls` calls recorded once.
GraphRun record_graph(cudaStream_t stream, const Launch& launch, int calls) {
  MEASURE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int call = 0; call < calls; ++call) {
    launch(call);
  }
  cudaGraph_t graph = nullptr;
  MEASURE_CUDA(cudaStreamEndCapture(stream, &graph));
  const Graph owned(graph);
  cudaGraphExec_t run = nullptr;
  MEASURE_CUDA(cudaGraphInstantiate(&run, graph, 0));
  return GraphRun(run);
}

/// Enqueues all batches without waiting between them, then reads the telemetry while they run.
Timing time_batches(cudaStream_t stream,
                    const std::function<void()>& batch,
                    int repeats,
                    int calls,
                    Telemetry* telemetry) {
  std::vector<Event> edges;
  edges.push_back(new_event());
  MEASURE_CUDA(cudaEventRecord(edges.front().get(), stream));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    batch();
    edges.push_back(new_event());
    MEASURE_CUDA(cudaEventRecord(edges.back().get(), stream));
  }
  ReadingMean readings;
  if (telemetry != nullptr) {
    do {
      readings.add(telemetry->read(), steady_seconds());
    } while (!is_done(edges.back()));
  }
  MEASURE_CUDA(cudaEventSynchronize(edges.back().get()));
  std::vector<double> seconds;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    seconds.push_back(seconds_between(edges[i - 1], edges[i]) / calls);
  }
  Timing timing = summarize(std::move(seconds));
  timing.reading = readings.mean();
  return timing;
}

}  // namespace

Timing time_calls(cudaStream_t stream,
                  const Launch& launch,
                  const TimingPlan& plan,
                  Telemetry* telemetry) {
  time_once(stream, launch, 1);  // first call: lazy loading, allocation
  const double one = std::min(time_once(stream, launch, 2) / 2, time_once(stream, launch, 2) / 2);
  const int calls = std::clamp(static_cast<int>(std::ceil(plan.batch_s / std::max(one, 1e-9))), 1,
                               plan.most_calls);
  if (one >= plan.graph_below_s) {
    const auto batch = [&] {
      for (int call = 0; call < calls; ++call) {
        launch(call);
      }
    };
    return time_batches(stream, batch, plan.repeats, calls, telemetry);
  }
  const GraphRun graph = record_graph(stream, launch, calls);
  const auto batch = [&] { MEASURE_CUDA(cudaGraphLaunch(graph.get(), stream)); };
  batch();  // the first launch uploads the graph
  return time_batches(stream, batch, plan.repeats, calls, telemetry);
}

int rotation(double bytes, double cache_bytes) {
  return static_cast<int>(std::clamp(std::ceil(3 * cache_bytes / std::max(bytes, 1.0)), 1.0, 64.0));
}

}  // namespace headway::measure
