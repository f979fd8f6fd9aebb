#include "calibrate/measure/cuda/cuda_check.h"

#include <cuda_runtime_api.h>

namespace headway::measure {

void call_failed(const std::string& reason, const char* call, const char* file, int line) {
  const std::string path = file;
  const std::size_t room = path.find("calibrate/measure/");
  throw GpuError((room == std::string::npos ? path : path.substr(room)) + ":" +
                 std::to_string(line) + ": " + call + ": " + reason);
}

void check_cuda(int code, const char* call, const char* file, int line) {
  if (code != cudaSuccess) {
    const auto error = static_cast<cudaError_t>(code);
    call_failed(std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error), call, file,
                line);
  }
}

void recover(int device) {
  static_cast<void>(cudaGetLastError());
  MEASURE_CUDA(cudaSetDevice(device));
  MEASURE_CUDA(cudaDeviceSynchronize());
}

}  // namespace headway::measure
