// The CUDA runtime of the pretended GPU. Work runs when it is enqueued, or is recorded while a
// stream is being captured.
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "calibrate/measure/cuda/timing.h"
#include "tests/measure_gpu/fake_gpu.h"
#include "tests/measure_gpu/fake_stream.h"

namespace headway::measure::fake {

namespace {

struct Memory {
  std::mutex mutex;
  std::map<const char*, std::size_t> blocks;  // start -> bytes
  std::size_t in_use = 0;
};
Memory& memory() {
  static Memory one;
  return one;
}

int devices = 1;
thread_local int current_device = 0;

void* allocate(std::size_t bytes) {
  // Filled with a pattern: what is read before it is written shows in the results.
  void* pointer = std::malloc(bytes == 0 ? 1 : bytes);
  std::memset(pointer, 0x5A, bytes);
  const std::lock_guard lock(memory().mutex);
  memory().blocks[static_cast<const char*>(pointer)] = bytes;
  memory().in_use += bytes;
  return pointer;
}

cudaError_t release(void* pointer) {
  if (pointer == nullptr) {
    return cudaSuccess;
  }
  const std::lock_guard lock(memory().mutex);
  const auto block = memory().blocks.find(static_cast<const char*>(pointer));
  if (block == memory().blocks.end()) {
    return cudaErrorInvalidValue;
  }
  memory().in_use -= block->second;
  memory().blocks.erase(block);
  std::free(pointer);
  return cudaSuccess;
}

}  // namespace

bool inside_one_block(const void* begin, std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  const char* address = static_cast<const char*>(begin);
  auto block = memory().blocks.upper_bound(address);
  if (block == memory().blocks.begin()) {
    return false;
  }
  --block;
  return address + bytes <= block->first + block->second;
}

void require_inside(const void* begin, std::size_t bytes) {
  if (!inside_one_block(begin, bytes)) {
    throw GpuError("a kernel went beyond its array");
  }
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
  auto* mine = reinterpret_cast<FakeStream*>(stream);
  if (mine != nullptr && mine->captured != nullptr) {
    mine->captured->push_back(std::move(work));
  } else {
    work();
  }
}

void set_device_count(int count) { devices = count; }
std::size_t bytes_in_use() { return memory().in_use; }

}  // namespace headway::measure::fake

using namespace headway::measure;
using fake::FakeStream;

namespace {

struct FakeEvent {
  double seconds = 0;
  bool asked = false;  // the first question is always too early
};
thread_local cudaError_t last_error = cudaSuccess;
using FakeGraph = fake::Recording;

FakeEvent* of(cudaEvent_t event) { return reinterpret_cast<FakeEvent*>(event); }

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "pretended error";
}
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake::devices;
  return fake::devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  fake::current_device = device;
  return device < fake::devices ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDevice(int* device) {
  *device = fake::current_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "Pretended GPU");
  properties->major = 9;
  properties->totalGlobalMem = std::size_t{1} << 30;
  properties->l2CacheSize = 4096;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int) {
  std::strncpy(text, "00000000:18:00.0", static_cast<std::size_t>(length));
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = *total = std::size_t{1} << 30;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = fake::allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) { return fake::release(pointer); }
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaFreeHost(void* pointer) { return fake::release(pointer); }

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((to_device && !fake::inside_one_block(to, bytes)) ||
      (from_device && !fake::inside_one_block(from, bytes))) {
    return cudaErrorInvalidValue;
  }
  fake::enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(
    void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (!fake::inside_one_block(to, bytes)) {
    return cudaErrorInvalidValue;
  }
  fake::enqueue(stream, [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new FakeStream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<FakeStream*>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  reinterpret_cast<FakeStream*>(stream)->captured = std::make_unique<FakeGraph>();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(reinterpret_cast<FakeStream*>(stream)->captured.release());
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* run, cudaGraph_t graph, unsigned long long) {
  *run = reinterpret_cast<cudaGraphExec_t>(new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t) {
  for (const auto& work : *reinterpret_cast<FakeGraph*>(run)) {
    work();
  }
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<FakeGraph*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run) {
  delete reinterpret_cast<FakeGraph*>(run);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new FakeEvent);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete of(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  of(event)->seconds = steady_seconds();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (std::exchange(of(event)->asked, true)) {
    return cudaSuccess;
  }
  return last_error = cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  // Never quite nothing, as on a GPU.
  const double seconds = of(end)->seconds - of(begin)->seconds;
  *milliseconds = static_cast<float>(1e3 * (seconds > 1e-7 ? seconds : 1e-7));
  return cudaSuccess;
}

}  // extern "C"
