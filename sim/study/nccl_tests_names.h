// Words and sizes as the programs of nccl-tests take and print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/collective.h"

namespace headway::study {

/// "all_reduce", "alltoall", "sendrecv_perf", ...: our word or that of nccl-tests.
std::optional<core::CollectiveKind> collective_kind(std::string_view word);
/// All words that `collective_kind` takes, for messages.
std::string collective_words();

/// The program's name without "_perf": "alltoall".
std::string_view nccl_tests_name(core::CollectiveKind kind);
/// The `redop` column: "sum" or "none".
std::string_view reduction_word(core::CollectiveKind kind);
/// The `root` column: 0 for a broadcast, else -1.
int root_of(core::CollectiveKind kind);

/// Bytes of "8", "128K", "1.5M", "16G" (powers of 1024, as nccl-tests reads -b and -e), and of
/// "16 GiB", as `size_words` writes it. "16 GB" is none: it may mean either.
std::optional<std::uint64_t> parse_size(std::string_view text);
/// "16 GiB", "1.5 MiB", "100 B".
std::string size_words(std::uint64_t bytes);

}  // namespace headway::study
