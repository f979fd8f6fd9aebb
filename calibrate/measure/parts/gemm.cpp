// Matrix products in bursts: short enough that the board's power limit does not bind.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/parts/gemm_runner.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

namespace {

using core::GemmPass;
using core::Precision;

const char* pass_word(GemmPass pass) {
  return pass == GemmPass::forward          ? "forward"
         : pass == GemmPass::input_gradient ? "input_gradient"
                                            : "weight_gradient";
}

/// First is tried alone for "heuristic"; for "best" the fastest of these.
constexpr int kCandidates = 6;

/// The fastest of `algorithms`, by a few calls each.
const cublasLtMatmulAlgo_t& fastest(const std::vector<cublasLtMatmulAlgo_t>& algorithms,
                                    const GemmRunner& runner,
                                    cudaStream_t stream) {
  TimingPlan plan;
  plan.repeats = 3;
  plan.batch_s = 2e-4;
  std::size_t best = 0;
  double best_s = 0;
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    const auto launch = [&](int call) { runner.launch(algorithms[i], call, stream); };
    const double seconds = time_calls(stream, launch, plan, nullptr).median_s;
    if (i == 0 || seconds < best_s) {
      best = i;
      best_s = seconds;
    }
  }
  return algorithms[best];
}

struct GemmCase {
  Precision precision;
  GemmPass pass;
  LinearShape shape;
  bool best;  ///< also the best of several
};

fit::Sample sample_of(const GemmCase& one, const char* variant) {
  fit::Sample sample;
  sample.kind = fit::SampleKind::gemm;
  sample.op = pass_word(one.pass);
  sample.variant = variant;
  sample.precision = one.precision;
  sample.m = one.shape.m;
  sample.n = one.shape.n;
  sample.k = one.shape.k;
  sample.batch = 1;
  return sample;
}

/// @returns whether the GPU supports the product
bool measure_case(const GpuBench& gpu, GemmLibrary& library, const GemmCase& one) {
  const GemmLayout layout = gemm_layout(one.pass, one.shape, one.precision);
  const double bytes = GemmRunner::set_bytes(layout, one.precision);
  const int sets = rotation(bytes, gpu.bench.device.cache_bytes);
  const GemmRunner runner(library, layout, one.precision, sets, gpu.stream);
  const auto algorithms = runner.algorithms(one.best ? kCandidates : 1);
  if (algorithms.empty()) {
    return false;
  }
  TimingPlan plan;
  plan.repeats = gpu.bench.repeats();
  const auto measure = [&](const cublasLtMatmulAlgo_t& algorithm, const char* variant) {
    fit::Sample sample = sample_of(one, variant);
    gpu.bench.progress.step(sample_text(sample));
    const auto launch = [&](int call) { runner.launch(algorithm, call, gpu.stream); };
    record_timing(time_calls(gpu.stream, launch, plan, gpu.bench.telemetry.get()), sample);
    if (runner.wrong_entries(gpu.bench.options.quick ? 16 : 32, gpu.stream) > 0) {
      sample.add(fit::SampleFlag::wrong);
    }
    gpu.bench.add(std::move(sample));
  };
  measure(algorithms.front(), "heuristic");
  if (one.best) {
    measure(fastest(algorithms, runner, gpu.stream), "best");
  }
  return true;
}

/// Passes and precisions turn within a shape, so that what the time allows covers all of them.
std::vector<GemmCase> cases(const Bench& bench) {
  std::vector<LinearShape> shapes = linear_shapes(bench.options.quick);
  if (bench.options.tiny) {
    shapes = {{16, 48, 32}};
  }
  std::vector<Precision> precisions{Precision::bf16, Precision::fp8, Precision::fp16,
                                    Precision::tf32};
  std::vector<GemmCase> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (const Precision precision : precisions) {
      const bool main = precision == Precision::bf16 || precision == Precision::fp8;
      // fp16 differs from bf16, and tf32 is used, too little to deserve every shape.
      if (!main && i >= 8) {
        continue;
      }
      for (const GemmPass pass :
           {GemmPass::forward, GemmPass::input_gradient, GemmPass::weight_gradient}) {
        out.push_back({precision, pass, shapes[i], main && (!bench.options.quick || i < 5)});
      }
    }
  }
  return out;
}

}  // namespace

void measure_gemm(const GpuBench& gpu) {
  Bench& bench = gpu.bench;
  GemmLibrary library(*gpu.cublas);
  const std::vector<GemmCase> all = cases(bench);
  std::set<std::pair<Precision, GemmPass>> unsupported;
  std::size_t done = 0;
  for (const GemmCase& one : all) {
    if (!bench.time_left()) {
      bench.left_out("gemm", std::to_string(all.size() - done) + " of " +
                                 std::to_string(all.size()) + " products: no time left");
      break;
    }
    ++done;
    if (unsupported.contains({one.precision, one.pass})) {
      continue;
    }
    try {
      if (!measure_case(gpu, library, one)) {
        unsupported.insert({one.precision, one.pass});
        bench.left_out(std::string("gemm ") + pass_word(one.pass) + " " +
                           std::string(core::to_word(one.precision)),
                       "cuBLASLt has no algorithm for it on this GPU");
      }
    } catch (const GpuError& error) {  // such as too little memory for this shape
      recover(bench.options.device);
      bench.left_out(sample_text(sample_of(one, "")), error.what());
    }
  }
}

}  // namespace headway::measure
