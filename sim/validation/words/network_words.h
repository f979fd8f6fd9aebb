// Cards of a node in a source's words for its network: how many, how fast; how much narrower the
// switches above are.
#pragma once

#include <string>

#include "sim/validation/cells/cell_words.h"
#include "sim/validation/names/instance_names.h"

namespace headway::validation {

/// What words say of a node's cards; 0: not said.
struct NetworkWords : ReadCell {
  int count = 0;                ///< cards of a node
  double cards_a_gpu = 0;       ///< cards / GPUs of a node: "per GPU" 1, "per 4 GPUs" 0.25
  double card_gigabits = 0;     ///< rate of one card [Gbps]
  double node_gigabits = 0;     ///< rate of all cards of a node [Gbps]
  double oversubscription = 0;  ///< host bandwidth / uplink bandwidth of a leaf
  InstanceName instance;        ///< a cloud's that the catalogue has; without a node: none
  std::string rest;             ///< the cell without names of instances
};

/// "8x NDR-400", "4 NICs of 200 Gbps", "1.6 Tbps per node", "InfiniBand HDR", "100 GbE", "1:4
/// oversubscribed" ... A rate without a count is of each card where InfiniBand or RoCE is named or
/// it is 200 Gbps or more; of the one card of a node with Ethernet, and of the whole node with EFA,
/// in Tbps, or above what a card can have. Rates of NVLink, PCIe, memory and switches are not its
/// cards'.
NetworkWords network_words(const std::string& cell);

/// Whether the words name an instance of the catalogue whose GPU this is.
bool instance_of(const NetworkWords& words, const std::string& gpu);

/// Cards of a node with so many GPUs; 0: not said.
double cards_of_node(const NetworkWords& words, int gpus);

/// The most that a card has [Gbps], of the generation that the cell names.
double fastest_card(const std::string& cell);

}  // namespace headway::validation
