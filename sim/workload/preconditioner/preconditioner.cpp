#include "sim/workload/preconditioner/preconditioner.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/closed_form.h"

namespace headway::workload {

namespace {

/// Bytes of an fp32 number. Source: IEEE 754.
constexpr double kElement = 4;

/// Passes beside the products [B]. Source: preconditioner_kernels says what each is.
constexpr double kFactorPass = 12;
constexpr double kBlockPass = 16;

double cube(std::int64_t side) {
  const auto s = static_cast<double>(side);
  return s * s * s;
}

/// Pieces of a side: whole blocks and what is left, each with its count.
std::array<std::pair<std::int64_t, std::int64_t>, 2> pieces(std::int64_t side, std::int64_t block) {
  return {{{block, side / block}, {side % block, side % block > 0 ? 1 : 0}}};
}

double work_of_block(const OwnedMatrices& one) {
  return static_cast<double>(one.rows) * static_cast<double>(one.columns) *
         static_cast<double>(one.rows + one.columns);
}

bool costlier_block(const OwnedMatrices& a, const OwnedMatrices& b) {
  return work_of_block(a) > work_of_block(b);
}

/// Appends kernels of blocks of one shape, one after another or together.
class BlockKernels {
 public:
  BlockKernels(std::int64_t blocks, bool batched, std::vector<core::Kernel>& out)
      : blocks_(blocks), batched_(batched), out_(out) {}

  /// m x k by k x n, `times` a block, once in so many steps.
  void product(const char* name,
               std::int64_t m,
               std::int64_t n,
               std::int64_t k,
               std::int64_t times = 1,
               std::int64_t every = 1) {
    core::Kernel kernel;
    kernel.kind = core::KernelKind::gemm;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    const auto elements = static_cast<double>(m * k + k * n + m * n);
    add(name, kernel, 2.0 * static_cast<double>(m * n) * static_cast<double>(k),
        kElement * elements, times, every);
  }

  void decomposition(core::KernelKind kind,
                     const char* name,
                     std::int64_t side,
                     double work,
                     double traffic,
                     std::int64_t every) {
    core::Kernel kernel;
    kernel.kind = kind;
    kernel.n = side;
    add(name, kernel, work, traffic, 1, every);
  }

 private:
  void add(const char* name,
           core::Kernel kernel,
           double work,
           double traffic,
           std::int64_t times,
           std::int64_t every) {
    const auto together = static_cast<double>(batched_ ? blocks_ : 1);
    kernel.name = name;
    kernel.precision = core::Precision::fp32;
    kernel.batch = batched_ ? blocks_ : 1;
    kernel.count = batched_ ? times : times * blocks_;
    kernel.work = core::Flops(work * together);
    kernel.traffic = core::Bytes(traffic * together);
    kernel.every = every;
    out_.push_back(kernel);
  }

  std::int64_t blocks_;
  bool batched_;
  std::vector<core::Kernel>& out_;
};

/// Eigenvalues and vectors of a factor, and its inverse root. Half of the work of making it
/// tridiagonal is products with vectors, for each of which what is left of the matrix is read:
/// s^3 / 3 numbers.
void add_root(BlockKernels& kernels, std::int64_t side, std::int64_t every) {
  kernels.decomposition(core::KernelKind::eigenvalues, "eigenvalues of a factor", side,
                        9 * cube(side), kElement * cube(side) / 3, every);
  kernels.product("inverse root of a factor", side, side, side, 1, every);
}

/// One power iteration and its QR, which reads and writes the vectors.
void add_basis(BlockKernels& kernels, std::int64_t side, std::int64_t every) {
  kernels.product("power iteration", side, side, side, 1, every);
  const auto s = static_cast<double>(side);
  kernels.decomposition(core::KernelKind::decomposition, "QR of a basis", side,
                        8.0 / 3 * cube(side), 2 * kElement * s * s, every);
}

}  // namespace

PreconditionerSpec preconditioner_of(const TrainingSpec& training) {
  return training.preconditioner.value_or(PreconditionerSpec{});
}

int steps_between_decompositions(const TrainingSpec& training) {
  const int usual = training.optimizer_state == OptimizerState::soap ? 10 : 100;
  return preconditioner_of(training).every.value.value_or(usual);
}

std::vector<OwnedMatrices> preconditioned_blocks(const std::vector<OwnedMatrices>& matrices,
                                                 int block) {
  std::map<std::pair<bool, std::pair<std::int64_t, std::int64_t>>, std::int64_t> found;
  for (const OwnedMatrices& one : matrices) {
    for (const auto& [rows, down] : pieces(one.rows, block)) {
      for (const auto& [columns, across] : pieces(one.columns, block)) {
        found[{one.experts, {rows, columns}}] += one.count * down * across;
      }
    }
  }
  std::vector<OwnedMatrices> blocks;
  for (const auto& [shape, count] : found) {
    if (count > 0) {
      blocks.push_back({shape.second.first, shape.second.second, count, shape.first});
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(), costlier_block);
  return blocks;
}

std::vector<OwnedMatrices> busiest_blocks(const std::vector<OwnedMatrices>& matrices,
                                          const TrainingSpec& training,
                                          const ParallelismSpec& parallelism,
                                          const DataRanks& ranks) {
  return busiest_share(preconditioned_blocks(matrices, preconditioner_of(training).block),
                       parallelism, ranks);
}

double factor_bytes(const std::vector<OwnedMatrices>& blocks) {
  double bytes = 0;
  for (const OwnedMatrices& one : blocks) {
    const auto m = static_cast<double>(one.rows);
    const auto n = static_cast<double>(one.columns);
    bytes += 2 * kElement * (m * m + n * n) * static_cast<double>(one.count);
  }
  return bytes;
}

double mean_factor_bytes(const ModelSpec& model, const PreconditionerSpec& preconditioner) {
  const ParallelismSpec whole;
  if (model.layers == 0 || model.hidden == 0 || model.vision) {
    return 0;  // of a launch file that says no more; beside an encoder, which is refused
  }
  const auto matrices = stage_matrices(model, whole, StageLayout(model, whole), 0);
  const ParameterCount count = count_parameters(model);
  return factor_bytes(preconditioned_blocks(matrices, preconditioner.block)) /
         (count.total() + count.prediction);
}

std::vector<core::Kernel> preconditioner_kernels(const TrainingSpec& training,
                                                 const std::vector<OwnedMatrices>& blocks) {
  const bool soap = training.optimizer_state == OptimizerState::soap;
  const bool batched = preconditioner_of(training).batched;
  const std::int64_t every = steps_between_decompositions(training);
  std::vector<core::Kernel> list;
  for (const OwnedMatrices& one : blocks) {
    const std::int64_t m = one.rows, n = one.columns;
    BlockKernels kernels(one.count, batched, list);
    kernels.product("left factor", m, m, n);
    kernels.product("right factor", n, n, m);
    kernels.product(soap ? "left rotation" : "left root", m, n, m, soap ? 2 : 1);
    kernels.product(soap ? "right rotation" : "right root", m, n, n, soap ? 2 : 1);
    for (const std::int64_t side : {m, n}) {
      soap ? add_basis(kernels, side, every) : add_root(kernels, side, every);
    }
    if (soap) {
      kernels.product("moment to the new basis, left", m, n, m, 2, every);
      kernels.product("moment to the new basis, right", m, n, n, 2, every);
    }
  }
  const double factors = factor_bytes(blocks) / (2 * kElement);
  list.push_back(memory_kernel("preconditioner passes",
                               kFactorPass * factors + kBlockPass * matrix_elements(blocks)));
  return list;
}

}  // namespace headway::workload
