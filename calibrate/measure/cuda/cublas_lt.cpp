#include "calibrate/measure/cuda/cublas_lt.h"

#include "calibrate/measure/host/dynamic_library.h"

namespace headway::measure {

std::unique_ptr<CublasLt> open_cublas_lt() {
  const std::string major = std::to_string(CUBLAS_VER_MAJOR);
  const DynamicLibrary library({"libcublasLt.so." + major});
  auto f = std::make_unique<CublasLt>();
  library.load(f->create, "cublasLtCreate");
  library.load(f->destroy, "cublasLtDestroy");
  library.load(f->version, "cublasLtGetVersion");
  library.load(f->status_string, "cublasLtGetStatusString");
  library.load(f->product_create, "cublasLtMatmulDescCreate");
  library.load(f->product_destroy, "cublasLtMatmulDescDestroy");
  library.load(f->product_set, "cublasLtMatmulDescSetAttribute");
  library.load(f->layout_create, "cublasLtMatrixLayoutCreate");
  library.load(f->layout_destroy, "cublasLtMatrixLayoutDestroy");
  library.load(f->preference_create, "cublasLtMatmulPreferenceCreate");
  library.load(f->preference_destroy, "cublasLtMatmulPreferenceDestroy");
  library.load(f->preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.load(f->heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.load(f->multiply, "cublasLtMatmul");
  return f;
}

std::string version_text(const CublasLt& cublas) {
  const std::size_t number = cublas.version();  // major x 10000 + minor x 100 + patch
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

}  // namespace headway::measure
