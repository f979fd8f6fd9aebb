// Ranks as options name them: "0-7,64".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway::apps {

/// Ranks and ranges of them, each once and in order.
/// @param option  that says so, for messages
/// @param there   ranks of the job
/// @throws core::Error if a part is no rank or range, or a rank is not there
std::vector<std::int64_t> ranks_of(std::string_view text,
                                   const std::string& option,
                                   std::int64_t there);

}  // namespace headway::apps
