#include "sim/import/measured/kernel_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace headway::import {

namespace {

using core::GpuWork;

struct NamedWork {
  std::string_view part;  ///< in lower case, without underscores
  GpuWork work;
};

/// The first that a name has is taken.
constexpr std::array<NamedWork, 9> kCollectives{{{"reducescatter", GpuWork::reduce_scatter},
                                                 {"allreduce", GpuWork::all_reduce},
                                                 {"allgather", GpuWork::all_gather},
                                                 {"alltoall", GpuWork::all_to_all},
                                                 {"broadcast", GpuWork::broadcast},
                                                 {"sendrecv", GpuWork::send_receive},
                                                 {"send", GpuWork::send_receive},
                                                 {"recv", GpuWork::send_receive},
                                                 {"barrier", GpuWork::all_reduce}}};
/// Libraries whose kernels move bytes between GPUs.
constexpr std::array<std::string_view, 4> kCommunication{"nccl", "rccl", "nvshmem", "deepep"};
constexpr std::array<NamedWork, 15> kComputation{{{"flash", GpuWork::attention},
                                                  {"fmha", GpuWork::attention},
                                                  {"attention", GpuWork::attention},
                                                  {"attn", GpuWork::attention},
                                                  {"sdpa", GpuWork::attention},
                                                  {"splitkreduce", GpuWork::matrix_products},
                                                  {"gemm", GpuWork::matrix_products},
                                                  {"gemv", GpuWork::matrix_products},
                                                  {"nvjet", GpuWork::matrix_products},
                                                  {"cutlass", GpuWork::matrix_products},
                                                  {"cublas", GpuWork::matrix_products},
                                                  {"xmma", GpuWork::matrix_products},
                                                  {"wgmma", GpuWork::matrix_products},
                                                  {"cijk", GpuWork::matrix_products},
                                                  {"matmul", GpuWork::matrix_products}}};

/// "ncclDevKernel_AllReduce_Sum" and "all_reduce" alike.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

GpuWork collective_of(const std::string& text) {
  for (const NamedWork& named : kCollectives) {
    if (has(text, named.part)) {
      return named.work;
    }
  }
  return GpuWork::other_communication;
}

}  // namespace

GpuWork work_of_kernel(std::string_view name, std::string_view collective) {
  const std::string text = plain(name);
  if (text.starts_with("memcpy") || text.starts_with("memset")) {
    return GpuWork::memory;
  }
  const bool communicates = std::any_of(kCommunication.begin(), kCommunication.end(),
                                        [&](std::string_view part) { return has(text, part); });
  if (communicates || !collective.empty()) {
    const GpuWork told = collective_of(plain(collective));
    return told == GpuWork::other_communication ? collective_of(text) : told;
  }
  for (const NamedWork& named : kComputation) {
    if (has(text, named.part)) {
      return named.work;
    }
  }
  return GpuWork::other_computation;
}

}  // namespace headway::import
