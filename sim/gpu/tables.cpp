#include "sim/gpu/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace headway::gpu {

namespace {

/// Where a coordinate lies on an axis: the node below and the share of the way to the next.
struct Place {
  std::size_t node = 0;
  double share = 0;
};

Place place_on(const std::vector<double>& axis, double x) {
  if (axis.size() < 2 || x <= axis.front()) {
    return {0, 0};
  }
  if (x >= axis.back()) {
    return {axis.size() - 2, 1};
  }
  const auto above =
      static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), x) - axis.begin());
  return {above - 1, std::log(x / axis[above - 1]) / std::log(axis[above] / axis[above - 1])};
}

/// Multilinear interpolation of logarithms; the last axis varies fastest.
template <std::size_t Axes>
double interpolate(const std::array<const std::vector<double>*, Axes>& axes,
                   const std::array<double, Axes>& at,
                   const std::vector<double>& values) {
  std::array<Place, Axes> places;
  for (std::size_t a = 0; a < Axes; ++a) {
    places[a] = place_on(*axes[a], at[a]);
  }
  double sum = 0;
  for (std::size_t corner = 0; corner < (std::size_t{1} << Axes); ++corner) {
    double weight = 1;
    std::size_t index = 0;
    for (std::size_t a = 0; a < Axes; ++a) {
      const bool upper = (corner >> a & 1U) != 0;
      weight *= upper ? places[a].share : 1 - places[a].share;
      const std::size_t node = std::min(places[a].node + (upper ? 1 : 0), axes[a]->size() - 1);
      index = index * axes[a]->size() + node;
    }
    if (weight > 0) {
      sum += weight * std::log(values[index]);
    }
  }
  return std::exp(sum);
}

core::Precision table_of(core::Precision precision) {
  switch (precision) {
    case core::Precision::fp16:
      return core::Precision::bf16;
    case core::Precision::mxfp8:
      return core::Precision::fp8;
    default:
      return precision;
  }
}

bool ascending(const std::vector<double>& axis) {
  return !axis.empty() && std::is_sorted(axis.begin(), axis.end(), std::less_equal<>());
}

}  // namespace

std::optional<double> gemm_table_share(
    const GpuSpec& gpu, core::Precision precision, std::int64_t m, std::int64_t n, std::int64_t k) {
  if (!gpu.kernels) {
    return std::nullopt;
  }
  for (const GemmTable& table : gpu.kernels->gemm) {
    if (table.precision == table_of(precision)) {
      return interpolate<3>(
          {&table.m, &table.n, &table.k},
          {static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)}, table.shares);
    }
  }
  return std::nullopt;
}

std::optional<double> attention_table_share(const GpuSpec& gpu,
                                            std::int64_t sequence,
                                            std::int64_t heads,
                                            std::int64_t head_dim) {
  if (!gpu.kernels || gpu.kernels->attention.empty()) {
    return std::nullopt;
  }
  const auto& tables = gpu.kernels->attention;
  const AttentionTable* best = nullptr;
  for (const AttentionTable& table : tables) {
    const bool below = table.head_dim <= static_cast<double>(head_dim);
    if (below && (best == nullptr || table.head_dim > best->head_dim)) {
      best = &table;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  return interpolate<2>({&best->sequence, &best->heads},
                        {static_cast<double>(sequence), static_cast<double>(heads)}, best->shares);
}

std::string table_problem(const KernelTables& tables) {
  for (const GemmTable& t : tables.gemm) {
    if (!ascending(t.m) || !ascending(t.n) || !ascending(t.k)) {
      return fmt::format("the axes of the {} table must ascend", core::to_word(t.precision));
    }
    if (t.shares.size() != t.m.size() * t.n.size() * t.k.size()) {
      return fmt::format("the {} table has {} shares for {} x {} x {} shapes",
                         core::to_word(t.precision), t.shares.size(), t.m.size(), t.n.size(),
                         t.k.size());
    }
  }
  for (const AttentionTable& t : tables.attention) {
    if (!ascending(t.sequence) || !ascending(t.heads)) {
      return fmt::format("the axes of the attention table for width {} must ascend", t.head_dim);
    }
    if (t.shares.size() != t.sequence.size() * t.heads.size()) {
      return fmt::format("the attention table for width {} has {} shares for {} x {} shapes",
                         t.head_dim, t.shares.size(), t.sequence.size(), t.heads.size());
    }
  }
  return "";
}

}  // namespace headway::gpu
