// A cuBLASLt for the pretended GPU: D = alpha op(A) op(B) + beta C as its documentation defines it,
// column-major with leading dimensions, from the descriptors alone.
#include <cstring>

#include "calibrate/measure/host/number_formats.h"
#include "tests/measure_gpu/fake_gpu.h"
#include "tests/measure_gpu/fake_stream.h"

namespace headway::measure::fake {

namespace {

float spoiled = 1;

struct Product {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
};
struct Matrix {
  Format format = Format::fp32;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;
  [[nodiscard]] std::size_t bytes() const {
    return ((static_cast<std::size_t>(columns) - 1) * static_cast<std::size_t>(leading) +
            static_cast<std::size_t>(rows)) *
           static_cast<std::size_t>(element_bytes(format));
  }
  [[nodiscard]] float at(const void* array, std::uint64_t row, std::uint64_t column) const {
    return load(format, array, row + column * static_cast<std::uint64_t>(leading));
  }
};
const Matrix& of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<const Matrix*>(layout); }

Format format_of(cudaDataType type) {
  return type == CUDA_R_16BF      ? Format::bf16
         : type == CUDA_R_16F     ? Format::fp16
         : type == CUDA_R_8F_E4M3 ? Format::fp8_e4m3
                                  : Format::fp32;
}

constexpr cublasStatus_t kOk = CUBLAS_STATUS_SUCCESS;

cublasStatus_t multiply(cublasLtHandle_t,
                        cublasLtMatmulDesc_t product,
                        const void*,
                        const void* a,
                        cublasLtMatrixLayout_t a_layout,
                        const void* b,
                        cublasLtMatrixLayout_t b_layout,
                        const void*,
                        const void*,
                        cublasLtMatrixLayout_t,
                        void* d,
                        cublasLtMatrixLayout_t d_layout,
                        const cublasLtMatmulAlgo_t*,
                        void*,
                        std::size_t,
                        cudaStream_t stream) {
  const Product p = *reinterpret_cast<const Product*>(product);
  const Matrix left = of(a_layout), right = of(b_layout), out = of(d_layout);
  const bool ta = p.a == CUBLAS_OP_T, tb = p.b == CUBLAS_OP_T;
  const std::uint64_t inner = ta ? left.rows : left.columns;
  if ((ta ? left.columns : left.rows) != out.rows ||
      (tb ? right.rows : right.columns) != out.columns ||
      (tb ? right.columns : right.rows) != inner) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // Hopper multiplies 8-bit operands in one layout only.
  if (left.format == Format::fp8_e4m3 && (!ta || tb)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  require_inside(a, left.bytes());
  require_inside(b, right.bytes());
  require_inside(d, out.bytes());
  enqueue(stream, [=] {
    for (std::uint64_t column = 0; column < out.columns; ++column) {
      for (std::uint64_t row = 0; row < out.rows; ++row) {
        float sum = 0;
        for (std::uint64_t i = 0; i < inner; ++i) {
          sum += (ta ? left.at(a, i, row) : left.at(a, row, i)) *
                 (tb ? right.at(b, column, i) : right.at(b, i, column));
        }
        store(out.format, d, row + column * static_cast<std::uint64_t>(out.leading), sum * spoiled);
      }
    }
  });
  return kOk;
}

}  // namespace

void spoil_products(float factor) { spoiled = factor; }

CublasLt cublas_lt() {
  CublasLt lt;
  lt.create = [](cublasLtHandle_t* handle) {
    static int anything = 0;
    *handle = reinterpret_cast<cublasLtHandle_t>(&anything);
    return kOk;
  };
  lt.destroy = [](cublasLtHandle_t) { return kOk; };
  lt.version = []() -> std::size_t { return 130100; };
  lt.status_string = [](cublasStatus_t status) {
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "pretended status";
  };
  lt.product_create = [](cublasLtMatmulDesc_t* product, cublasComputeType_t, cudaDataType_t) {
    *product = reinterpret_cast<cublasLtMatmulDesc_t>(new Product);
    return kOk;
  };
  lt.product_destroy = [](cublasLtMatmulDesc_t product) {
    delete reinterpret_cast<Product*>(product);
    return kOk;
  };
  lt.product_set = [](cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t which,
                      const void* value, std::size_t bytes) {
    auto& mine = *reinterpret_cast<Product*>(product);
    if (which == CUBLASLT_MATMUL_DESC_TRANSA) {
      std::memcpy(&mine.a, value, bytes);
    } else if (which == CUBLASLT_MATMUL_DESC_TRANSB) {
      std::memcpy(&mine.b, value, bytes);
    }
    return kOk;
  };
  lt.layout_create = [](cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                        std::uint64_t columns, std::int64_t leading) {
    *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
        new Matrix{format_of(type), rows, columns, leading});
    return leading < static_cast<std::int64_t>(rows) ? CUBLAS_STATUS_INVALID_VALUE : kOk;
  };
  lt.layout_destroy = [](cublasLtMatrixLayout_t layout) {
    delete reinterpret_cast<Matrix*>(layout);
    return kOk;
  };
  lt.preference_create = [](cublasLtMatmulPreference_t* preference) {
    *preference = nullptr;
    return kOk;
  };
  lt.preference_destroy = [](cublasLtMatmulPreference_t) { return kOk; };
  lt.preference_set = [](cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                         const void*, std::size_t) { return kOk; };
  lt.heuristic = [](cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                    cublasLtMatmulPreference_t, int most, cublasLtMatmulHeuristicResult_t* results,
                    int* count) {
    const Product& p = *reinterpret_cast<const Product*>(product);
    if (of(a).format == Format::fp8_e4m3 && (p.a != CUBLAS_OP_T || p.b != CUBLAS_OP_N)) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    *count = most < 2 ? most : 2;
    for (int i = 0; i < *count; ++i) {
      std::memset(&results[i], 0, sizeof results[i]);
      results[i].state = CUBLAS_STATUS_SUCCESS;
    }
    return kOk;
  };
  lt.multiply = multiply;
  return lt;
}

}  // namespace headway::measure::fake
