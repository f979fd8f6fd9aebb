// Files of the user, read whole, each with a limit on its size.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace headway::core {

/// What is read of a configuration file (scenario, catalogue entry, config.json) at most [B]. The
/// largest of the catalogue, tables of measured kernels, has less than a hundredth of it.
inline constexpr std::size_t kLargestConfiguration = std::size_t{16} << 20U;
/// What is read of a topology, a log or a table, and what a packed one may unpack to, at most [B]:
/// ibnetdiscover writes about 100 bytes a port, so a fabric of 100,000 GPUs in three tiers is 60
/// MB; JSON takes up to ten times its size in memory.
inline constexpr std::size_t kLargestMeasurement = std::size_t{256} << 20U;

/// What an empty name of a file is answered with.
inline constexpr const char* kEmptyName =
    "the name of the file is empty; is a variable of the shell unset? Name a file";

/// The content of a file, a pipe or a device.
/// @param limit  bytes; not one more than this and the next is read, so that /dev/zero ends
/// @throws Error naming the file if there is none, it is a directory, cannot be read or is larger
std::string read_file(const std::filesystem::path& path, std::size_t limit);

/// The complaint about a file of more than `limit` bytes, as read or as unpacked.
[[noreturn]] void refuse_larger(const std::filesystem::path& path,
                                std::size_t limit,
                                const char* how = "is");

}  // namespace headway::core
