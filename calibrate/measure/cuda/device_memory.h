// CUDA's resources as values that free themselves.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>
#include <utility>

#include "calibrate/measure/cuda/cuda_check.h"

namespace headway::measure {

/// A handle of CUDA with the call that releases it; moves, never copies. A destructor cannot throw,
/// so a failing release is left to the next checked call, which reports it.
template <class Handle, cudaError_t (*release)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != Handle{}) {
      static_cast<void>(release(handle_));
    }
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

using DeviceBuffer = Owned<void*, cudaFree>;
using PinnedBuffer = Owned<void*, cudaFreeHost>;
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphRun = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

/// @throws GpuError, as when the memory is not there
inline DeviceBuffer device_buffer(std::size_t bytes) {
  void* pointer = nullptr;
  MEASURE_CUDA(cudaMalloc(&pointer, bytes));
  return DeviceBuffer(pointer);
}
inline PinnedBuffer pinned_buffer(std::size_t bytes) {
  void* pointer = nullptr;
  MEASURE_CUDA(cudaMallocHost(&pointer, bytes));
  return PinnedBuffer(pointer);
}
/// A stream that does not wait for the default stream.
inline Stream new_stream() {
  cudaStream_t stream = nullptr;
  MEASURE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}
inline Event new_event() {
  cudaEvent_t event = nullptr;
  MEASURE_CUDA(cudaEventCreate(&event));
  return Event(event);
}

/// Seconds of the GPU from `begin` to `end`, which has come to pass.
inline double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  MEASURE_CUDA(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return 1e-3 * static_cast<double>(milliseconds);
}

/// Whether everything before `event` is done. A "not ready" is CUDA's last error until it is
/// fetched, and would be taken for a failure of the next launch.
inline bool is_done(const Event& event) {
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  MEASURE_CUDA(state);
  return true;
}

}  // namespace headway::measure
