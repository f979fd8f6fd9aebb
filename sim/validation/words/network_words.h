// Cards of a node in a source's words for its network: how many, how fast.
#pragma once

#include <string>

#include "sim/validation/words/cell_words.h"

namespace headway::validation {

/// What words say of a node's cards; 0: not said.
struct NetworkWords : ReadCell {
  int count = 0;             ///< cards of a node
  bool card_a_gpu = false;   ///< as many as GPUs
  double card_gigabits = 0;  ///< rate of one card [Gbps]
  double node_gigabits = 0;  ///< rate of all cards of a node [Gbps]
};

/// "8x NDR-400", "4 NICs of 200 Gbps", "1.6 Tbps per node", "InfiniBand HDR", "100 GbE" ... A rate
/// without a count is of each card where InfiniBand or RoCE is named or it is 200 Gbps or more; of
/// the one card of a node with Ethernet, and of the whole node with EFA or in Tbps.
NetworkWords network_words(const std::string& cell);

}  // namespace headway::validation
