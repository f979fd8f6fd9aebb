// One matrix product on the GPU through cuBLASLt: arrays filled, algorithms found, launched,
// checked.
#pragma once

#include <vector>

#include "calibrate/measure/cuda/cublas_lt.h"
#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/host/gemm_layout.h"

namespace headway::measure {

/// Handle and workspace shared by all products of one device.
class GemmLibrary {
 public:
  explicit GemmLibrary(const CublasLt& cublas);
  ~GemmLibrary();
  GemmLibrary(const GemmLibrary&) = delete;
  GemmLibrary& operator=(const GemmLibrary&) = delete;

  [[nodiscard]] const CublasLt& functions() const { return cublas_; }
  [[nodiscard]] cublasLtHandle_t handle() const { return handle_; }
  [[nodiscard]] void* workspace() const { return workspace_.get(); }
  /// 64 MiB: cuBLAS itself takes 32 MiB on Hopper; split-k algorithms want more.
  static constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

 private:
  const CublasLt& cublas_;
  cublasLtHandle_t handle_ = nullptr;
  DeviceBuffer workspace_;
};

/// One product of one layout and precision with its arrays.
class GemmRunner {
 public:
  /// @param sets  copies of the arrays that launches go through in turn
  /// @throws GpuError, as when the memory is not there
  GemmRunner(GemmLibrary& library,
             const GemmLayout& layout,
             core::Precision precision,
             int sets,
             cudaStream_t stream);
  ~GemmRunner();
  GemmRunner(const GemmRunner&) = delete;
  GemmRunner& operator=(const GemmRunner&) = delete;

  /// Algorithms that cuBLASLt proposes, best guess first; at most `most`. Empty: the product is not
  /// supported on this GPU.
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> algorithms(int most) const;

  /// Enqueues the product on the arrays of set `call` mod sets.
  void launch(const cublasLtMatmulAlgo_t& algorithm, int call, cudaStream_t stream) const;

  /// Compares entries of set 0 with `expected_entry`: the corners and `samples` random ones.
  /// @returns entries that are further off than `tolerance`
  [[nodiscard]] int wrong_entries(int samples, cudaStream_t stream) const;

  /// Bytes of one set of arrays.
  static double set_bytes(const GemmLayout& layout, core::Precision precision);

 private:
  struct Set {
    DeviceBuffer a, b, d;
  };
  void describe();

  GemmLibrary& library_;
  GemmLayout layout_;
  core::Precision precision_;
  std::vector<Set> sets_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
};

}  // namespace headway::measure
