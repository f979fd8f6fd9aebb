// What a group of ranks asks of the network, without saying how: the words between `workload` and
// `network`.
#pragma once

#include <cstdint>

#include "sim/core/fields.h"

namespace headway::core {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
};

constexpr auto enum_words(CollectiveKind) {
  using E = EnumWord<CollectiveKind>;
  return std::array{E{CollectiveKind::all_reduce, "all_reduce"},
                    E{CollectiveKind::all_gather, "all_gather"},
                    E{CollectiveKind::reduce_scatter, "reduce_scatter"},
                    E{CollectiveKind::all_to_all, "all_to_all"},
                    E{CollectiveKind::broadcast, "broadcast"},
                    E{CollectiveKind::send_receive, "send_receive"}};
}

/// Whether what each rank gets is of its own: nothing is added up on the way or passed on.
constexpr bool is_exchange(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive;
}

}  // namespace headway::core
