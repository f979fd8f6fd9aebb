// What a GPU does at a time, as profilers see it: the words between `import`, which reads profiles,
// and `training`, which predicts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/core/collective.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::core {

/// Kinds of kernels and copies: computation, communication by collective, and memory.
enum class GpuWork : std::uint8_t {
  matrix_products,
  attention,
  other_computation,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
  other_communication,
  memory,  ///< copies and fills by the GPU's copy engines
};

constexpr auto enum_words(GpuWork) {
  using E = EnumWord<GpuWork>;
  return std::array{E{GpuWork::matrix_products, "matrix_products"},
                    E{GpuWork::attention, "attention"},
                    E{GpuWork::other_computation, "other_computation"},
                    E{GpuWork::all_reduce, "all_reduce"},
                    E{GpuWork::all_gather, "all_gather"},
                    E{GpuWork::reduce_scatter, "reduce_scatter"},
                    E{GpuWork::all_to_all, "all_to_all"},
                    E{GpuWork::broadcast, "broadcast"},
                    E{GpuWork::send_receive, "send_receive"},
                    E{GpuWork::other_communication, "other_communication"},
                    E{GpuWork::memory, "memory"}};
}
inline constexpr std::size_t kGpuWorks = enum_words(GpuWork{}).size();

constexpr bool is_computation(GpuWork work) { return work <= GpuWork::other_computation; }
constexpr bool is_communication(GpuWork work) {
  return !is_computation(work) && work != GpuWork::memory;
}

/// The work that a collective is.
constexpr GpuWork work_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return GpuWork::all_reduce;
    case CollectiveKind::all_gather:
      return GpuWork::all_gather;
    case CollectiveKind::reduce_scatter:
      return GpuWork::reduce_scatter;
    case CollectiveKind::all_to_all:
      return GpuWork::all_to_all;
    case CollectiveKind::broadcast:
      return GpuWork::broadcast;
    case CollectiveKind::send_receive:
      return GpuWork::send_receive;
  }
  return GpuWork::other_communication;
}

/// A time in which a GPU does one kind of work.
struct GpuSpan {
  Seconds begin, end;
  GpuWork work = GpuWork::other_computation;
  double busy = 1;            ///< share of it in which a kernel runs: the rest are gaps
  std::int64_t launches = 1;  ///< kernels in it
  Bytes scale_up_bytes{};     ///< of a prediction: what the GPU sends over NVLink in it
  Bytes nic_bytes{};          ///< and over network cards
};

}  // namespace headway::core
