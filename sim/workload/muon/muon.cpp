#include "sim/workload/muon/muon.h"

#include <algorithm>
#include <cstdint>

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/number_formats.h"

namespace headway::workload {

namespace {

using core::Bytes;
using core::CollectiveKind;

/// Source: Megatron-Core, muon_num_ns_steps; K. Jordan et al., "Muon", 2024.
constexpr int kIterations = 5;

/// Momentum is fp32. Source: NVIDIA-NeMo/Emerging-Optimizers, muon_utils.py, newton_schulz, commit
/// a045ea1a, 2026.
constexpr double kMomentumBytes = 4;

/// What a rank multiplies of one matrix.
struct Sides {
  std::int64_t gram = 0, other = 0;
  [[nodiscard]] double elements() const {
    return static_cast<double>(gram) * static_cast<double>(other);
  }
};

bool gathers(const OwnedMatrices& one, MuonTensorMode mode) {
  return one.parts() > 1 && mode == MuonTensorMode::duplicated;
}

bool sums(const OwnedMatrices& one, MuonTensorMode mode) {
  return one.parts() > 1 && mode == MuonTensorMode::distributed;
}

Sides sides(const OwnedMatrices& one, MuonTensorMode mode) {
  if (sums(one, mode)) {
    return one.row_parts > 1 ? Sides{one.columns, one.rows} : Sides{one.rows, one.columns};
  }
  const bool whole = gathers(one, mode);
  const std::int64_t rows = one.rows * (whole ? one.row_parts : 1);
  const std::int64_t columns = one.columns * (whole ? one.column_parts : 1);
  return {std::min(rows, columns), std::max(rows, columns)};
}

/// The three products of an iteration, of all iterations of `count` matrices.
void add_products(std::vector<core::Kernel>& kernels, const Sides& sides, std::int64_t count) {
  const double element = element_bytes(core::Precision::bf16);
  const auto product = [&](const char* name, std::int64_t columns, std::int64_t inner) {
    core::Kernel kernel;
    kernel.kind = core::KernelKind::gemm;
    kernel.name = name;
    kernel.m = sides.gram;
    kernel.n = columns;
    kernel.k = inner;
    const auto elements =
        static_cast<double>(sides.gram * columns + sides.gram * inner + inner * columns);
    kernel.work =
        core::Flops(2.0 * static_cast<double>(sides.gram * columns) * static_cast<double>(inner));
    kernel.traffic = Bytes(element * elements);
    kernel.count = kIterations * count;
    kernels.push_back(kernel);
  };
  product("Newton-Schulz square", sides.gram, sides.other);
  product("Newton-Schulz polynomial", sides.gram, sides.gram);
  product("Newton-Schulz update", sides.other, sides.gram);
}

/// Each matrix has its own, `times` of them.
void write_transfers(BlockWriter& writer,
                     const OwnedMatrices& one,
                     CollectiveKind kind,
                     double bytes,
                     std::int64_t times,
                     const char* name) {
  const Group group = one.experts ? Group::expert_tensor : Group::tensor;
  for (std::int64_t i = 0; i < one.count * times; ++i) {
    writer.collective(kind, group, core::Activity::tensor, Bytes(bytes), name);
  }
}

double gram_bytes(const Sides& sides) {
  const auto g = static_cast<double>(sides.gram);
  return element_bytes(core::Precision::bf16) * g * g;
}

}  // namespace

MuonTensorMode muon_mode(const TrainingSpec& training) {
  return training.muon.value_or(MuonSpec{}).tensor_mode;
}

std::vector<OwnedMatrices> muon_matrices(const std::vector<OwnedMatrices>& matrices,
                                         MuonTensorMode mode) {
  std::vector<OwnedMatrices> taken;
  for (OwnedMatrices one : matrices) {
    if (mode == MuonTensorMode::blockwise) {
      one.row_parts = one.column_parts = 1;
    }
    const auto same = std::find_if(taken.begin(), taken.end(), [&](const OwnedMatrices& other) {
      return other.same_shape(one);
    });
    if (same == taken.end()) {
      taken.push_back(one);
    } else {
      same->count += one.count;
    }
  }
  const auto cost = [&](OwnedMatrices one) {
    one.count = 1;
    return newton_schulz_flops(one, mode);
  };
  std::stable_sort(taken.begin(), taken.end(), [&](const OwnedMatrices& a, const OwnedMatrices& b) {
    return cost(a) > cost(b);
  });
  return taken;
}

double newton_schulz_flops(const OwnedMatrices& matrices, MuonTensorMode mode) {
  const Sides multiplied = sides(matrices, mode);
  const auto g = static_cast<double>(multiplied.gram);
  const auto n = static_cast<double>(multiplied.other);
  return kIterations * static_cast<double>(matrices.count) * (4 * g * g * n + 2 * g * g * g);
}

std::vector<core::Kernel> newton_schulz(const std::vector<OwnedMatrices>& matrices,
                                        MuonTensorMode mode) {
  std::vector<core::Kernel> kernels;
  double multiplied = 0, joined = 0;
  for (const OwnedMatrices& one : matrices) {
    const Sides both = sides(one, mode);
    const double elements = static_cast<double>(one.count) * both.elements();
    multiplied += elements;
    joined += gathers(one, mode) ? elements : 0.0;
    add_products(kernels, both, one.count);
  }
  if (joined > 0) {
    kernels.push_back(memory_kernel("join momentum", 2 * kMomentumBytes * joined));
  }
  // fp32 momentum in, its normed copy out; the result in.
  kernels.push_back(memory_kernel("Newton-Schulz ends", 8.0 * multiplied));
  return kernels;
}

double newton_schulz_bytes(const std::vector<OwnedMatrices>& matrices, MuonTensorMode mode) {
  // Source: NVIDIA-NeMo/Emerging-Optimizers, muon_utils.py, newton_schulz, 2026.
  constexpr double kNormed = 4 + 2, kTwo = 2 * 2;
  // Parts as they come, and joined. Source: the same, newton_schulz_tp.
  constexpr double kGathered = 2 * kMomentumBytes;
  double most = 0;
  for (const OwnedMatrices& one : matrices) {
    const Sides both = sides(one, mode);
    const auto g = static_cast<double>(both.gram);
    const double start = kNormed * both.elements();
    const double iteration = kTwo * (both.elements() + g * g);
    const double gathered = gathers(one, mode) ? kGathered * both.elements() : 0.0;
    most = std::max(most, std::max(start, iteration) + gathered);
  }
  return most;
}

void write_newton_schulz(BlockWriter& writer,
                         const std::vector<OwnedMatrices>& owned,
                         MuonTensorMode mode) {
  if (owned.empty()) {
    return;
  }
  for (const OwnedMatrices& one : owned) {
    const Sides multiplied = sides(one, mode);
    if (gathers(one, mode)) {
      write_transfers(writer, one, CollectiveKind::all_gather,
                      kMomentumBytes * multiplied.elements(), 1, "gather momentum");
    } else if (sums(one, mode)) {
      write_transfers(writer, one, CollectiveKind::all_reduce, kMomentumBytes, 1,
                      "norm of momentum");
      write_transfers(writer, one, CollectiveKind::all_reduce, gram_bytes(multiplied), kIterations,
                      "sum Gram matrix");
    }
  }
  writer.compute(newton_schulz(owned, mode), core::Activity::optimizer);
}

}  // namespace headway::workload
