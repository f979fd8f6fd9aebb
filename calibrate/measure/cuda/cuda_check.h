// Every CUDA, cuBLAS, cuDNN and NCCL call is checked: a failure names the call, the place and the
// library's own words.
#pragma once

#include <stdexcept>
#include <string>

namespace headway::measure {

/// A call of a GPU library failed.
class GpuError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @throws GpuError if `code` is not 0 (cudaSuccess)
void check_cuda(int code, const char* call, const char* file, int line);

/// After a GpuError: selects `device` again, so that the measurement can go on.
/// @throws GpuError if the GPU is lost to this process
void recover(int device);

/// Throws "file:line: call: reason".
[[noreturn]] void call_failed(const std::string& reason,
                              const char* call,
                              const char* file,
                              int line);

}  // namespace headway::measure

#define MEASURE_CUDA(call) ::headway::measure::check_cuda((call), #call, __FILE__, __LINE__)
