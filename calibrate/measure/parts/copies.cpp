// Copies between host and GPU, pinned and pageable, one way and both ways; and between GPUs.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

fit::Sample copy_sample(const std::string& op, const std::string& variant, std::size_t bytes) {
  fit::Sample sample;
  sample.kind = fit::SampleKind::copy;
  sample.op = op;
  sample.variant = variant;
  sample.bytes = static_cast<double>(bytes);
  return sample;
}

TimingPlan copy_plan(const Bench& bench) {
  TimingPlan plan;
  plan.repeats = bench.repeats();
  plan.graph_below_s = 0;  // pageable copies cannot be recorded
  return plan;
}

void time_copy(const GpuBench& gpu, fit::Sample sample, const Launch& launch, bool right) {
  gpu.bench.progress.step(sample_text(sample));
  const Timing timing =
      time_calls(gpu.stream, launch, copy_plan(gpu.bench), gpu.bench.telemetry.get());
  record_timing(timing, sample);
  if (!right) {
    sample.add(fit::SampleFlag::wrong);
  }
  gpu.bench.add(std::move(sample));
}

/// Host memory of both kinds and GPU memory, equal in size.
struct CopyArrays {
  explicit CopyArrays(std::size_t bytes)
      : pageable(bytes),
        pinned(pinned_buffer(bytes)),
        pinned_back(pinned_buffer(bytes)),
        device(device_buffer(bytes)),
        device_back(device_buffer(bytes)) {}
  std::vector<char> pageable;
  PinnedBuffer pinned, pinned_back;
  DeviceBuffer device, device_back;
};

/// Host -> GPU -> host must give the bytes back.
bool round_trip(const CopyArrays& arrays, void* host, std::size_t bytes, cudaStream_t stream) {
  auto* text = static_cast<unsigned char*>(host);
  for (std::size_t i = 0; i < bytes; ++i) {
    text[i] = static_cast<unsigned char>(mixed_bits(bytes, i));
  }
  MEASURE_CUDA(cudaMemcpyAsync(arrays.device.get(), host, bytes, cudaMemcpyHostToDevice, stream));
  MEASURE_CUDA(cudaStreamSynchronize(stream));
  std::memset(host, 0, bytes);
  MEASURE_CUDA(cudaMemcpyAsync(host, arrays.device.get(), bytes, cudaMemcpyDeviceToHost, stream));
  MEASURE_CUDA(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < bytes; ++i) {
    if (text[i] != static_cast<unsigned char>(mixed_bits(bytes, i))) {
      return false;
    }
  }
  return true;
}

void measure_one_way(const GpuBench& gpu, CopyArrays& arrays, std::size_t bytes, bool pinned) {
  void* host = pinned ? arrays.pinned.get() : static_cast<void*>(arrays.pageable.data());
  // A prefix is enough to see whether copies arrive, and quick on the CPU.
  const bool right = round_trip(arrays, host, std::min(bytes, kMiB), gpu.stream);
  const char* variant = pinned ? "pinned" : "pageable";
  time_copy(
      gpu, copy_sample("host_to_device", variant, bytes),
      [&](int) {
        MEASURE_CUDA(
            cudaMemcpyAsync(arrays.device.get(), host, bytes, cudaMemcpyHostToDevice, gpu.stream));
      },
      right);
  time_copy(
      gpu, copy_sample("device_to_host", variant, bytes),
      [&](int) {
        MEASURE_CUDA(
            cudaMemcpyAsync(host, arrays.device.get(), bytes, cudaMemcpyDeviceToHost, gpu.stream));
      },
      right);
}

/// `bytes` in each direction at the same time; the time until both have arrived.
void measure_both_ways(const GpuBench& gpu, CopyArrays& arrays, std::size_t bytes) {
  const Stream back = new_stream();
  const Event fork = new_event(), join = new_event();
  time_copy(
      gpu, copy_sample("both_ways", "pinned", bytes),
      [&](int) {
        MEASURE_CUDA(cudaEventRecord(fork.get(), gpu.stream));
        MEASURE_CUDA(cudaStreamWaitEvent(back.get(), fork.get(), 0));
        MEASURE_CUDA(cudaMemcpyAsync(arrays.device.get(), arrays.pinned.get(), bytes,
                                     cudaMemcpyHostToDevice, gpu.stream));
        MEASURE_CUDA(cudaMemcpyAsync(arrays.pinned_back.get(), arrays.device_back.get(), bytes,
                                     cudaMemcpyDeviceToHost, back.get()));
        MEASURE_CUDA(cudaEventRecord(join.get(), back.get()));
        MEASURE_CUDA(cudaStreamWaitEvent(gpu.stream, join.get(), 0));
      },
      true);
}

/// Buffers of one pair of GPUs, the second one's access enabled.
struct PeerPair {
  PeerPair(int from_gpu, int to_gpu, std::size_t bytes) : from(from_gpu), to(to_gpu) {
    MEASURE_CUDA(cudaSetDevice(to));
    target = device_buffer(bytes);
    MEASURE_CUDA(cudaSetDevice(from));
    source = device_buffer(bytes);
    const cudaError_t enabled = cudaDeviceEnablePeerAccess(to, 0);
    if (enabled != cudaSuccess && enabled != cudaErrorPeerAccessAlreadyEnabled) {
      MEASURE_CUDA(enabled);
    }
    static_cast<void>(cudaGetLastError());  // "already enabled" is no error here
    stream = new_stream();
  }
  int from, to;
  DeviceBuffer target, source;
  Stream stream;
};

bool peer_copy_is_right(const PeerPair& pair, std::size_t bytes) {
  std::vector<unsigned char> back(bytes);
  cudaStream_t stream = pair.stream.get();
  launch_random_fill(pair.source.get(), Format::fp32, bytes / 4, 5, stream);
  MEASURE_CUDA(
      cudaMemcpyPeerAsync(pair.target.get(), pair.to, pair.source.get(), pair.from, bytes, stream));
  MEASURE_CUDA(
      cudaMemcpyAsync(back.data(), pair.target.get(), bytes, cudaMemcpyDeviceToHost, stream));
  MEASURE_CUDA(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    if (load(Format::fp32, back.data(), i) != random_value(5, i)) {
      return false;
    }
  }
  return true;
}

void measure_pair(const GpuBench& gpu, int from, int to, const std::vector<std::size_t>& sizes) {
  const std::string variant = std::to_string(from) + " to " + std::to_string(to);
  int possible = 0;
  MEASURE_CUDA(cudaDeviceCanAccessPeer(&possible, from, to));
  if (possible == 0) {
    gpu.bench.left_out("peer copy " + variant, "the driver allows no direct access");
    return;
  }
  const PeerPair pair(from, to, sizes.back());
  const bool right = peer_copy_is_right(pair, sizes.front());
  const GpuBench on_pair{gpu.bench, pair.stream.get(), gpu.cublas};
  for (const std::size_t bytes : sizes) {
    time_copy(
        on_pair, copy_sample("peer", variant, bytes),
        [&](int) {
          MEASURE_CUDA(cudaMemcpyPeerAsync(pair.target.get(), to, pair.source.get(), from, bytes,
                                           pair.stream.get()));
        },
        right);
  }
}

}  // namespace

void measure_copies(const GpuBench& gpu) {
  const BenchOptions& options = gpu.bench.options;
  const std::vector<std::size_t> sizes =
      options.tiny    ? std::vector<std::size_t>{65536}
      : options.quick ? std::vector<std::size_t>{kMiB, 64 * kMiB, 256 * kMiB}
                      : std::vector<std::size_t>{65536,     kMiB,       4 * kMiB,   16 * kMiB,
                                                 64 * kMiB, 256 * kMiB, 1024 * kMiB};
  CopyArrays arrays(sizes.back());
  for (const std::size_t bytes : sizes) {
    if (!gpu.bench.time_left()) {
      gpu.bench.left_out("copies", "from " + std::to_string(bytes) + " B on: no time left");
      return;
    }
    measure_one_way(gpu, arrays, bytes, true);
    measure_one_way(gpu, arrays, bytes, false);
    measure_both_ways(gpu, arrays, bytes);
  }
}

void measure_peer(const GpuBench& gpu) {
  int count = 0;
  MEASURE_CUDA(cudaGetDeviceCount(&count));
  if (count < 2) {
    gpu.bench.left_out("peer copies", "one GPU");
    return;
  }
  const std::vector<std::size_t> sizes =
      gpu.bench.options.tiny ? std::vector<std::size_t>{65536}
                             : std::vector<std::size_t>{kMiB, 16 * kMiB, 256 * kMiB};
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      // Quickly: the first GPU to each other one, and back.
      const bool wanted = from != to && (!gpu.bench.options.quick || from == 0 || to == 0);
      if (wanted && gpu.bench.time_left()) {
        measure_pair(gpu, from, to, sizes);
      }
    }
  }
  MEASURE_CUDA(cudaSetDevice(gpu.bench.options.device));
}

}  // namespace headway::measure
