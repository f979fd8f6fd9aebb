#include "calibrate/measure/parts/attention.h"

#include <fmt/format.h>
#include <map>
#include <tuple>

#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/cuda/timing.h"

namespace headway::measure {

namespace {

/// bf16 products with fp32 sums and bf16 weights differ from double by about 2^-8 of the whole
/// array; a wrong head, mask or scale by about 1.
constexpr double kCloseEnough = 0.02;

enum Seed : std::uint64_t { kQ = 11, kK = 12, kV = 13, kOutGradient = 14 };

/// Device arrays of one shape, filled.
class AttentionMemory {
 public:
  AttentionMemory(const AttentionShape& shape, cudaStream_t stream) {
    const auto query = static_cast<std::uint64_t>(shape.query_elements());
    const auto key = static_cast<std::uint64_t>(shape.key_elements());
    const auto half = [&](std::uint64_t count) {
      owned_.push_back(device_buffer(2 * count));
      return owned_.back().get();
    };
    arrays_.q = half(query);
    arrays_.k = half(key);
    arrays_.v = half(key);
    arrays_.out = half(query);
    arrays_.out_gradient = half(query);
    arrays_.q_gradient = half(query);
    arrays_.k_gradient = half(key);
    arrays_.v_gradient = half(key);
    owned_.push_back(device_buffer(4 * query / static_cast<std::uint64_t>(shape.head_dim)));
    arrays_.statistics = owned_.back().get();
    launch_random_fill(arrays_.q, Format::bf16, query, kQ, stream);
    launch_random_fill(arrays_.k, Format::bf16, key, kK, stream);
    launch_random_fill(arrays_.v, Format::bf16, key, kV, stream);
    launch_random_fill(arrays_.out_gradient, Format::bf16, query, kOutGradient, stream);
  }
  [[nodiscard]] const AttentionArrays& arrays() const { return arrays_; }

 private:
  std::vector<DeviceBuffer> owned_;
  AttentionArrays arrays_;
};

/// What the fill left on the GPU.
std::vector<double> filled(std::int64_t count, std::uint64_t seed) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < count; ++i) {
    out.push_back(static_cast<double>(
        stored_random_value(Format::bf16, seed, static_cast<std::uint64_t>(i))));
  }
  return out;
}

std::vector<double> download(const void* array, std::int64_t count, cudaStream_t stream) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(count));
  MEASURE_CUDA(
      cudaMemcpyAsync(bits.data(), array, 2 * bits.size(), cudaMemcpyDeviceToHost, stream));
  MEASURE_CUDA(cudaStreamSynchronize(stream));
  std::vector<double> out;
  for (const std::uint16_t value : bits) {
    out.push_back(static_cast<double>(from_bf16(value)));
  }
  return out;
}

/// Which of the two passes give what the definition gives.
struct Verdict {
  bool forward = false, backward = false;
};

Verdict check(AttentionLibrary& library, const AttentionShape& shape, cudaStream_t stream) {
  const AttentionMemory memory(shape, stream);
  const AttentionArrays& a = memory.arrays();
  library.prepare(shape, false)->launch(a);
  library.prepare(shape, true)->launch(a);
  const AttentionTensors in{filled(shape.query_elements(), kQ), filled(shape.key_elements(), kK),
                            filled(shape.key_elements(), kV)};
  const AttentionTensors gradient =
      attention_backward(shape, in, filled(shape.query_elements(), kOutGradient));
  const auto close = [&](const void* array, const std::vector<double>& expected) {
    const auto count = static_cast<std::int64_t>(expected.size());
    return relative_distance(download(array, count, stream), expected) < kCloseEnough;
  };
  return {close(a.out, attention_forward(shape, in)), close(a.q_gradient, gradient.q) &&
                                                          close(a.k_gradient, gradient.k) &&
                                                          close(a.v_gradient, gradient.v)};
}

/// Shapes, the most useful first. Tokens of a call stay at 16 k where they can, as in training.
std::vector<AttentionShape> shapes(const BenchOptions& options) {
  if (options.tiny) {
    return {{1, 128, 4, 2, 64, true}};
  }
  std::vector<AttentionShape> out;
  const std::vector<std::int64_t> sequences =
      options.quick ? std::vector<std::int64_t>{2048, 8192}
                    : std::vector<std::int64_t>{4096, 8192, 2048, 16384, 1024, 32768, 512};
  for (const std::int64_t sequence : sequences) {
    const std::int64_t batch = std::max<std::int64_t>(1, 16384 / sequence);
    out.push_back({batch, sequence, 32, 8, 128, true});
    out.push_back({batch, sequence, 16, 16, 128, true});
    if (!options.quick) {
      out.push_back({batch, sequence, 8, 1, 128, true});  // a rank under tensor parallelism
      out.push_back({batch, sequence, 32, 32, 64, true});
      out.push_back({batch, sequence, 16, 16, 128, false});
    }
  }
  return out;
}

void measure_shape(const GpuBench& gpu,
                   AttentionLibrary& library,
                   const AttentionShape& shape,
                   const Verdict& verdict) {
  const AttentionMemory memory(shape, gpu.stream);
  for (const bool backward : {false, true}) {  // the forward leaves the backward its statistics
    fit::Sample sample;
    sample.kind = fit::SampleKind::attention;
    sample.op = backward ? "backward" : "forward";
    sample.variant = "cudnn";
    sample.precision = core::Precision::bf16;
    sample.batch = shape.batch;
    sample.sequence = shape.sequence;
    sample.query_heads = shape.query_heads;
    sample.key_value_heads = shape.key_value_heads;
    sample.head_dim = shape.head_dim;
    sample.causal = shape.causal;
    gpu.bench.progress.step(sample_text(sample));
    const std::unique_ptr<AttentionCall> call = library.prepare(shape, backward);
    TimingPlan plan;
    plan.repeats = gpu.bench.repeats();
    plan.graph_below_s = 5e-4;  // the front end's launches are slow on the CPU
    const auto launch = [&](int) { call->launch(memory.arrays()); };
    record_timing(time_calls(gpu.stream, launch, plan, gpu.bench.telemetry.get()), sample);
    if (!(backward ? verdict.backward : verdict.forward)) {
      sample.add(fit::SampleFlag::wrong);
    }
    gpu.bench.add(std::move(sample));
  }
}

}  // namespace

void measure_attention_with(const GpuBench& gpu, AttentionLibrary& library) {
  gpu.bench.fact("cudnn", library.version());
  // Each mask, head width and grouping is checked once, on a small shape: preparing takes seconds.
  std::map<std::tuple<bool, std::int64_t, bool>, Verdict> verdicts;
  const auto verdict_of = [&](const AttentionShape& like) {
    const bool grouped = like.key_value_heads != like.query_heads;
    const auto [entry, is_new] = verdicts.try_emplace({like.causal, like.head_dim, grouped});
    if (is_new) {
      AttentionShape small = like;
      small.batch = 2;
      small.sequence = 128;
      small.query_heads = 4;
      small.key_value_heads = grouped ? 2 : 4;
      entry->second = check(library, small, gpu.stream);
    }
    return entry->second;
  };
  for (const AttentionShape& shape : shapes(gpu.bench.options)) {
    if (!gpu.bench.time_left()) {
      gpu.bench.left_out("attention",
                         fmt::format("from {} tokens on: no time left", shape.sequence));
      return;
    }
    try {
      measure_shape(gpu, library, shape, verdict_of(shape));
    } catch (const std::runtime_error& error) {  // not supported, or too little memory
      recover(gpu.bench.options.device);
      gpu.bench.left_out(fmt::format("attention {} tokens, {} of {} heads of {}", shape.sequence,
                                     shape.key_value_heads, shape.query_heads, shape.head_dim),
                         error.what());
    }
  }
}

}  // namespace headway::measure
