// Ranges of fields that physics sets, or that lie far beyond what anyone has built or announced.
//
// They catch slips (a forgotten unit, a digit too many) where they are written, and keep what is
// made of such fields inside the integers and the clock of the simulator. A new kind of machine or
// model that needs more changes a line here.
#pragma once

#include <cstdint>

#include "sim/core/fields.h"

namespace headway::core {

/// 2^24: GPUs, nodes and ranks of a cluster. The largest announced have a million GPUs.
inline constexpr std::int64_t kMostGpus = 16'777'216;
inline constexpr Range from_one_to_16m{1, double{kMostGpus}, false, false, "from 1 to 16,777,216"};
inline constexpr Range up_to_16m{0, double{kMostGpus}, false, false, "from 0 to 16,777,216"};

/// Parts of one node, heads, experts. Today's largest: 16 GPUs in a node, 512 ports on a switch,
/// 128 heads, 512 experts.
inline constexpr Range from_one_to_64k{1, 65'536, false, false, "from 1 to 65,536"};
inline constexpr Range up_to_64k{0, 65'536, false, false, "from 0 to 65,536"};

/// Layers and pipeline stages: the deepest published transformer has 1,000 layers (DeepNet, 2022).
inline constexpr Range from_one_to_10k{1, 10'000, false, false, "from 1 to 10,000"};
inline constexpr Range up_to_10k{0, 10'000, false, false, "from 0 to 10,000"};

/// Extra prediction layers: DeepSeek-V3 has 1, Gloeckle et al. ("Better & faster large language
/// models via multi-token prediction", 2024) try up to 31.
inline constexpr Range up_to_64{0, 64, false, false, "from 0 to 64"};

/// Planes of a fabric: at most the lanes of a network card's ports; today's have up to 8.
inline constexpr Range from_one_to_64{1, 64, false, false, "from 1 to 64"};

/// Tokens of a sequence: 2^27; the longest contexts announced are 100 million (LTM-2-mini, 2024).
inline constexpr Range sequence_tokens{1, 134'217'728, false, false, "from 1 to 134,217,728"};
inline constexpr Range window_tokens{0, 134'217'728, false, false, "from 0 to 134,217,728"};

/// One way over a link: light goes round the Earth in 0.13 s.
inline constexpr Range link_latency{0, 1, false, false, "from 0 to 1 s"};
/// Launching a kernel or a message takes microseconds; a second is a hang.
inline constexpr Range launch_time{0, 1, false, false, "from 0 to 1 s"};
/// A number as it is stored: one bit says yes or no, 64 hold whatever a GPU computes with.
inline constexpr Range number_bits{1, 64, false, false, "from 1 to 64"};
/// What software does in a step beside the model.
inline constexpr Range within_a_day{0, 86'400, false, false, "from 0 to 24 h"};

/// Links, from Ethernet of 1983 (10 Mbit/s) to a thousand times today's fastest.
inline constexpr Range link_rate{1e6, 1e15, false, false, "from 1 MB/s to 1 PB/s"};
/// Memories of GPUs and hosts; today's have 0.1 to 10 TB/s.
inline constexpr Range memory_rate{1e9, 1e16, false, false, "from 1 GB/s to 10 PB/s"};
/// Capacity of a GPU or a host.
inline constexpr Range memory_size{1e6, 1e18, false, false, "from 1 MB to 1 EB"};
/// Peak of a GPU; 0: not supported. A million times today's fastest.
inline constexpr Range peak_rate{0, 1e22, false, false, "from 0 to 1e22 FLOP/s"};
/// A GPU, a node's other parts, a port of a switch.
inline constexpr Range part_power{0, 1e6, false, false, "from 0 to 1 MW"};
inline constexpr Range board_power{0, 1e6, true, false, "above 0 and at most 1 MW"};

/// Bytes a parameter or an element in one of its forms: 64 bytes are eight numbers of 64 bits.
inline constexpr Range element_size{0, 64, true, false, "above 0 and at most 64"};
inline constexpr Range extra_bytes{0, 1024, false, false, "from 0 to 1,024"};
/// Weight among others.
inline constexpr Range relative_share{0, 1e12, true, false, "above 0 and at most 1e12"};
/// Speed against a usual one.
inline constexpr Range speed_ratio{0, 100, true, false, "above 0 and at most 100"};
/// Seconds lost a second of another's work.
inline constexpr Range lost_share{0, 100, false, false, "from 0 to 100"};
/// Load against the mean, host rate against uplink rate.
inline constexpr Range load_ratio{1, 65'536, false, false, "from 1 to 65,536"};
inline constexpr Range load_ratio_or_none{0, 65'536, false, false, "from 0 to 65,536"};

}  // namespace headway::core
