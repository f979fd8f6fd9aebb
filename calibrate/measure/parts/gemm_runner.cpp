#include "calibrate/measure/parts/gemm_runner.h"

#include <algorithm>
#include <cmath>

#include "calibrate/measure/cuda/kernels.h"

namespace headway::measure {

namespace {

constexpr std::uint64_t kSeedA = 1, kSeedB = 2;

cudaDataType_t cuda_type(Format format) {
  switch (format) {
    case Format::bf16:
      return CUDA_R_16BF;
    case Format::fp16:
      return CUDA_R_16F;
    case Format::fp8_e4m3:
      return CUDA_R_8F_E4M3;
    default:
      return CUDA_R_32F;
  }
}

std::uint64_t a_count(const GemmLayout& l) { return static_cast<std::uint64_t>(l.rows * l.inner); }
std::uint64_t b_count(const GemmLayout& l) {
  return static_cast<std::uint64_t>(l.inner * l.columns);
}
std::uint64_t d_count(const GemmLayout& l) {
  return static_cast<std::uint64_t>(l.rows * l.columns);
}

std::size_t bytes_of(std::uint64_t count, Format format) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(element_bytes(format));
}

}  // namespace

GemmLibrary::GemmLibrary(const CublasLt& cublas)
    : cublas_(cublas), workspace_(device_buffer(kWorkspaceBytes)) {
  MEASURE_CUBLAS(cublas_, cublas_.create(&handle_));
}

GemmLibrary::~GemmLibrary() { static_cast<void>(cublas_.destroy(handle_)); }

double GemmRunner::set_bytes(const GemmLayout& layout, core::Precision precision) {
  const Format in = operand_format(precision);
  return static_cast<double>(bytes_of(a_count(layout), in) + bytes_of(b_count(layout), in) +
                             bytes_of(d_count(layout), result_format(precision)));
}

GemmRunner::GemmRunner(GemmLibrary& library,
                       const GemmLayout& layout,
                       core::Precision precision,
                       int sets,
                       cudaStream_t stream)
    : library_(library), layout_(layout), precision_(precision) {
  const Format in = operand_format(precision);
  for (int i = 0; i < sets; ++i) {
    Set set{device_buffer(bytes_of(a_count(layout), in)),
            device_buffer(bytes_of(b_count(layout), in)),
            device_buffer(bytes_of(d_count(layout), result_format(precision)))};
    const auto turn = static_cast<std::uint64_t>(i);
    launch_random_fill(set.a.get(), in, a_count(layout), kSeedA + 2 * turn, stream);
    launch_random_fill(set.b.get(), in, b_count(layout), kSeedB + 2 * turn, stream);
    sets_.push_back(std::move(set));
  }
  describe();
}

void GemmRunner::describe() {
  const CublasLt& lt = library_.functions();
  const cublasComputeType_t compute =
      precision_ == core::Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  MEASURE_CUBLAS(lt, lt.product_create(&product_, compute, CUDA_R_32F));
  const cublasOperation_t a = layout_.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t b = layout_.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  MEASURE_CUBLAS(lt, lt.product_set(product_, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a));
  MEASURE_CUBLAS(lt, lt.product_set(product_, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b));
  if (precision_ == core::Precision::fp8) {
    const std::int8_t fast = 1;
    MEASURE_CUBLAS(lt,
                   lt.product_set(product_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
  }
  const auto in = cuda_type(operand_format(precision_));
  const auto out = cuda_type(result_format(precision_));
  const auto u = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const GemmLayout& l = layout_;
  const std::int64_t a_rows = l.transpose_a ? l.inner : l.rows;
  const std::int64_t b_rows = l.transpose_b ? l.columns : l.inner;
  MEASURE_CUBLAS(lt, lt.layout_create(&a_, in, u(a_rows), u(l.rows * l.inner / a_rows), a_rows));
  MEASURE_CUBLAS(lt, lt.layout_create(&b_, in, u(b_rows), u(l.inner * l.columns / b_rows), b_rows));
  MEASURE_CUBLAS(lt, lt.layout_create(&d_, out, u(l.rows), u(l.columns), l.rows));
}

GemmRunner::~GemmRunner() {
  const CublasLt& lt = library_.functions();
  static_cast<void>(lt.layout_destroy(a_));
  static_cast<void>(lt.layout_destroy(b_));
  static_cast<void>(lt.layout_destroy(d_));
  static_cast<void>(lt.product_destroy(product_));
}

std::vector<cublasLtMatmulAlgo_t> GemmRunner::algorithms(int most) const {
  const CublasLt& lt = library_.functions();
  cublasLtMatmulPreference_t preference = nullptr;
  MEASURE_CUBLAS(lt, lt.preference_create(&preference));
  const std::uint64_t workspace = GemmLibrary::kWorkspaceBytes;
  MEASURE_CUBLAS(lt, lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &workspace, sizeof workspace));
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
  int count = 0;
  const cublasStatus_t status = lt.heuristic(library_.handle(), product_, a_, b_, d_, d_,
                                             preference, most, found.data(), &count);
  static_cast<void>(lt.preference_destroy(preference));
  std::vector<cublasLtMatmulAlgo_t> out;
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) {
    return out;
  }
  MEASURE_CUBLAS(lt, status);
  for (int i = 0; i < count; ++i) {
    if (found[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS) {
      out.push_back(found[static_cast<std::size_t>(i)].algo);
    }
  }
  return out;
}

void GemmRunner::launch(const cublasLtMatmulAlgo_t& algorithm,
                        int call,
                        cudaStream_t stream) const {
  const CublasLt& lt = library_.functions();
  const Set& set = sets_[static_cast<std::size_t>(call) % sets_.size()];
  const float one = 1, zero = 0;
  MEASURE_CUBLAS(lt, lt.multiply(library_.handle(), product_, &one, set.a.get(), a_, set.b.get(),
                                 b_, &zero, set.d.get(), d_, set.d.get(), d_, &algorithm,
                                 library_.workspace(), GemmLibrary::kWorkspaceBytes, stream));
}

int GemmRunner::wrong_entries(int samples, cudaStream_t stream) const {
  const Format out = result_format(precision_);
  const auto element = static_cast<std::size_t>(element_bytes(out));
  int wrong = 0;
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t bits = mixed_bits(99, static_cast<std::uint64_t>(i));
    std::int64_t row = static_cast<std::int64_t>(bits >> 33) % layout_.rows;
    std::int64_t column = static_cast<std::int64_t>(bits & 0x7FFFFFFFU) % layout_.columns;
    if (i < 4) {  // the corners: a wrong leading dimension shows there
      row = i % 2 == 0 ? 0 : layout_.rows - 1;
      column = i < 2 ? 0 : layout_.columns - 1;
    }
    float bits_of_entry = 0;  // room for any format
    const char* place = static_cast<const char*>(sets_[0].d.get()) +
                        static_cast<std::size_t>(layout_.d_index(row, column)) * element;
    MEASURE_CUDA(cudaMemcpyAsync(&bits_of_entry, place, element, cudaMemcpyDeviceToHost, stream));
    MEASURE_CUDA(cudaStreamSynchronize(stream));
    const double measured = static_cast<double>(load(out, &bits_of_entry, 0));
    const ExpectedEntry expected =
        expected_entry(layout_, operand_format(precision_), kSeedA, kSeedB, row, column);
    // Written so that a NaN counts as wrong.
    wrong += std::abs(measured - expected.value) <= tolerance(expected, precision_) ? 0 : 1;
  }
  return wrong;
}

}  // namespace headway::measure
