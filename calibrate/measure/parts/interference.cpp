// A matrix product beside a copy: what overlap costs on one GPU. (A product beside a collective is
// measured by the collectives part, which has the communicators.)
#include <cstddef>

#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/parts/overlap.h"

namespace headway::measure {

namespace {

fit::Sample copy_sample(const char* op, const char* variant, std::size_t bytes) {
  fit::Sample sample;
  sample.kind = fit::SampleKind::copy;
  sample.op = op;
  sample.variant = variant;
  sample.bytes = static_cast<double>(bytes);
  sample.beside = "gemm";
  return sample;
}

}  // namespace

void measure_interference(const GpuBench& gpu) {
  const bool tiny = gpu.bench.options.tiny;
  const std::size_t bytes = tiny ? 65536 : std::size_t{256} << 20;
  const Stream side = new_stream();
  const ProductLoad product(*gpu.cublas, tiny, gpu.stream);
  const DeviceBuffer device = device_buffer(bytes), other = device_buffer(bytes);
  const PinnedBuffer host = pinned_buffer(bytes);
  const int calls = tiny ? 4 : 100;
  const auto measure = [&](const Launch& launch, fit::Sample copy, const char* beside) {
    fit::Sample gemm = product.sample();
    gemm.beside = beside;
    gpu.bench.progress.step(sample_text(gemm));
    const OverlapTimes times =
        time_together({gpu.stream, product.launch(), calls}, {side.get(), launch, 0});
    add_together(gpu.bench, times, gemm, std::move(copy));
  };
  measure(
      [&](int) {
        MEASURE_CUDA(
            cudaMemcpyAsync(host.get(), device.get(), bytes, cudaMemcpyDeviceToHost, side.get()));
      },
      copy_sample("device_to_host", "pinned", bytes), "device_to_host");
  measure(
      [&](int) {
        MEASURE_CUDA(
            cudaMemcpyAsync(device.get(), host.get(), bytes, cudaMemcpyHostToDevice, side.get()));
      },
      copy_sample("host_to_device", "pinned", bytes), "host_to_device");
  // A kernel that only moves memory, as an optimizer or a normalisation on another stream.
  fit::Sample on_gpu = copy_sample("copy", "", 2 * bytes);
  on_gpu.kind = fit::SampleKind::memory;
  measure([&](int) { launch_copy(other.get(), device.get(), bytes, side.get()); }, on_gpu, "copy");
}

}  // namespace headway::measure
