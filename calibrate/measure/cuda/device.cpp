#include "calibrate/measure/cuda/device.h"

#include <array>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "calibrate/measure/cuda/cuda_check.h"
#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/host/dynamic_library.h"

namespace headway::measure {

namespace {

std::string cuda_version_text(int number) {  // 1000 major + 10 minor
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

int device_count() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    try {
      const DynamicLibrary driver({"libcuda.so.1"});
    } catch (const std::runtime_error&) {
      throw NoGpu("the NVIDIA driver is missing (libcuda.so.1 is not found)");
    }
    throw NoGpu("the NVIDIA driver is too old for CUDA " + cuda_version_text(CUDART_VERSION) +
                ", with which this program was built");
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    throw NoGpu("the NVIDIA driver sees no GPU");
  }
  if (error != cudaSuccess) {
    throw NoGpu(fmt::format("the NVIDIA driver refuses its GPUs: {}", cudaGetErrorString(error)));
  }
  return count;
}

}  // namespace

DeviceFacts open_device(int device) {
  const int count = device_count();
  if (device < 0 || device >= count) {
    throw NoGpu(
        fmt::format("GPU {} is missing; the driver sees {} (0 to {})", device, count, count - 1));
  }
  cudaDeviceProp properties{};
  MEASURE_CUDA(cudaSetDevice(device));
  MEASURE_CUDA(cudaGetDeviceProperties(&properties, device));
  DeviceFacts facts;
  facts.name = properties.name;
  facts.capability = 10 * properties.major + properties.minor;
  facts.memory_bytes = static_cast<double>(properties.totalGlobalMem);
  facts.cache_bytes = static_cast<double>(properties.l2CacheSize);
  try {
    launch_nothing(nullptr);
    MEASURE_CUDA(cudaDeviceSynchronize());
  } catch (const GpuError& error) {
    throw NoGpu(
        fmt::format("{} (compute capability {}.{}) does not run this program's kernels, which are "
                    "built for 8.0, "
                    "9.0 and 10.0 ({})",
                    facts.name, properties.major, properties.minor, error.what()));
  }
  return facts;
}

std::string pci_bus_id(int device) {
  std::array<char, 32> text{};
  MEASURE_CUDA(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device));
  return text.data();
}

void record_circumstances(Bench& bench) {
  bench.fact("device", bench.device.name);
  bench.fact("memory_bytes", fmt::format("{:.0f}", bench.device.memory_bytes));
  if (bench.telemetry != nullptr) {
    const BoardFacts board = bench.telemetry->facts();
    bench.fact("driver", board.driver);
    bench.fact("power_limit", fmt::format("{:.0f} W", board.power_limit_w));
    bench.fact("clock", fmt::format("{:.0f} MHz maximum", board.maximum_clock_hz / 1e6));
  }
  int runtime = 0, driver = 0;
  MEASURE_CUDA(cudaRuntimeGetVersion(&runtime));
  MEASURE_CUDA(cudaDriverGetVersion(&driver));
  bench.fact("cuda", fmt::format("{} (driver for {})", cuda_version_text(runtime),
                                 cuda_version_text(driver)));
}

}  // namespace headway::measure
