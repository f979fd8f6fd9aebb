// cuBLASLt, opened at run time: the functions a matrix product needs.
#pragma once

#include <cublasLt.h>
#include <memory>
#include <string>

#include "calibrate/measure/cuda/cuda_check.h"

namespace headway::measure {

/// The library's functions, one member each, named as in cublasLt.h without the prefix.
struct CublasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtGetStatusString) status_string = nullptr;
  decltype(&cublasLtMatmulDescCreate) product_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) product_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) product_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;
};

/// @throws std::runtime_error with the loader's reason
std::unique_ptr<CublasLt> open_cublas_lt();

/// "13.1.0" from cublasLtGetVersion's number.
std::string version_text(const CublasLt& cublas);

}  // namespace headway::measure

/// Checks a cuBLASLt call; `cublas` is the CublasLt it came from.
#define MEASURE_CUBLAS(cublas, call)                                                           \
  do {                                                                                         \
    const cublasStatus_t measure_status = (call);                                              \
    if (measure_status != CUBLAS_STATUS_SUCCESS) {                                             \
      ::headway::measure::call_failed((cublas).status_string(measure_status), #call, __FILE__, \
                                      __LINE__);                                               \
    }                                                                                          \
  } while (false)
