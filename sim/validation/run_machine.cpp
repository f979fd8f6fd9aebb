// The machine of a published run: the catalogue's node of its GPU with what the row states.
#include <cmath>
#include <cstdlib>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/model_words.h"
#include "sim/validation/words/network_words.h"

namespace headway::validation {

namespace {

/// The node that the catalogue has for a GPU: of several, NVIDIA's own (DGX).
const training::NodeSpec* catalogue_node(const gpu::GpuSpec& gpu, const Catalogue& catalogue) {
  const training::NodeSpec* found = nullptr;
  for (const auto& [name, node] : catalogue.nodes) {
    if (node.gpu.name == gpu.name && (found == nullptr || name.starts_with("dgx-"))) {
      found = &node;
    }
  }
  return found;
}

/// The node of the same GPU on the same kind of board with another memory.
const training::NodeSpec* sibling_node(const std::string& entry, const Catalogue& catalogue) {
  for (const auto& [other, gpu] : catalogue.gpus) {
    if (other != entry && same_board(entry, other)) {
      if (const auto* node = catalogue_node(gpu, catalogue)) {
        return node;
      }
    }
  }
  return nullptr;
}

/// A server with cards in PCIe slots, for a GPU that has no node of its own in the catalogue.
training::NodeSpec slot_node(const gpu::GpuSpec& gpu, const Catalogue& catalogue) {
  const auto server = catalogue.nodes.find("h100-pcie-server");
  if (server == catalogue.nodes.end()) {
    throw core::Error("the catalogue has no node for GPU " + gpu.name);
  }
  training::NodeSpec node = server->second;
  node.gpu = gpu;
  return node;
}

/// GPUs of one node of this run.
/// @throws core::Error if the GPUs do not fill whole nodes
int node_gpus(const RunRow& row, int usual, int gpus, Assumed& assumed) {
  const int stated = row.gpus_per_node.value_or(0);
  if (stated < 1 && gpus > 1) {
    assume(assumed, "gpus_per_node");
  }
  const int most = std::min(stated >= 1 ? stated : usual, gpus);
  if (gpus % most == 0) {
    return most;
  }
  int fitting = most;
  while (gpus % fitting != 0) {
    --fitting;
  }
  if (2 * fitting < most) {
    throw core::Error(fmt::format("{} GPUs do not fill nodes of {}", gpus, most));
  }
  assume(assumed, "gpus_per_node");  // each node gives the job the same number of its GPUs
  return fitting;
}

void set_scale_up(const RunRow& row,
                  int gpus,
                  const Catalogue& catalogue,
                  training::NodeSpec& node) {
  const int usual = node.scale_up.domain_gpus;
  const int stated = row.nvlink_domain.value_or(usual);
  if (stated < std::min(node.gpus, usual) && node.scale_up.kind == network::ScaleUpKind::nvswitch) {
    // A domain smaller than the node: the GPUs meet over PCIe, as in the catalogue's server with
    // slots.
    node.scale_up = slot_node(node.gpu, catalogue).scale_up;
  }
  const bool inside = node.scale_up.kind == network::ScaleUpKind::mesh;  // a node, never several
  node.scale_up.domain_gpus =
      inside ? node.gpus : filled_domain(std::max(stated, 1), node.gpus, gpus);
}

/// What the row says of its network; of the instance in its GPU's cell where its words name none,
/// and none of a network that the instance does not have.
NetworkWords words_of_network(const RunRow& row, const Catalogue& catalogue) {
  NetworkWords words = network_words(row.network);
  if (!instance_of(words, row.gpu)) {
    const InstanceName instance = instance_in_gpu(row.gpu, catalogue);
    const bool own =
        row.network.empty() ||
        (instance.network[0] != '\0' && has_word(core::lower_case(row.network), instance.network));
    words.instance = own ? instance : InstanceName{};
  }
  return words;
}

/// The catalogue's node whose cards the words mean: of the instance that they name, or the only one
/// that has this GPU on that network.
const training::NodeSpec* node_of_words(const NetworkWords& words,
                                        const RunRow& row,
                                        const Catalogue& catalogue) {
  const bool a100 = contains(core::lower_case(row.gpu), "a100");
  const bool efa = has_word(core::lower_case(row.network), "efa");
  const std::string name = words.instance.node[0] != '\0' ? words.instance.node
                           : a100 && efa                  ? "p4d-24xlarge"
                                                          : "";
  const auto found = catalogue.nodes.find(name);
  return found == catalogue.nodes.end() ? nullptr : &found->second;
}

/// Cards of a node: the row's columns, else its words, else those of the instance that the words
/// name, else of the catalogue's node.
/// @throws core::Error if words give a card more than any has
void set_cards(const RunRow& row,
               const Catalogue& catalogue,
               bool several_nodes,
               Assumed& assumed,
               training::NodeSpec& machine) {
  const NetworkWords words = words_of_network(row, catalogue);
  network::NicSpec& nic = machine.nic;
  const int gpus = machine.gpus;
  if (const auto* meant = node_of_words(words, row, catalogue)) {
    nic = meant->nic;
  }
  const double stated_count = row.nics_per_node.value_or(0);
  const double worded = cards_of_node(words, gpus);
  const double count = stated_count >= 1 ? stated_count
                       : worded > 0      ? worded
                                         : std::min(nic.count, gpus);
  const double stated_rate = row.nic_gbps.value_or(0);
  double rate = stated_rate > 0           ? stated_rate
                : words.node_gigabits > 0 ? words.node_gigabits / count
                                          : words.card_gigabits;
  if (several_nodes && (stated_count < 1 || stated_rate <= 0)) {
    assume(assumed, "network");
  }
  if (several_nodes && stated_rate <= 0 && rate > fastest_card(row.network)) {
    throw core::Error(
        fmt::format("network '{}' has {:g} Gbps for each of {:g} cards: none is so fast",
                    row.network, rate, count));
  }
  if (rate <= 0) {
    rate = nic.bandwidth.si() * 8 / 1e9;
  }
  nic.count = std::max(1, std::min(static_cast<int>(count), gpus));
  // Two cards a GPU are one of twice the rate.
  nic.bandwidth = core::BytesPerSecond(rate * std::max(1.0, count / gpus) * 1e9 / 8);
}

/// The catalogue's node of one GPU a node, or of so many as the tensor ranks, the cards of a node
/// or the count in the GPU's cell ("4x GH200") need, where the row states none.
training::NodeSpec with_enough_gpus(const RunRow& row,
                                    training::NodeSpec node,
                                    const Catalogue& catalogue) {
  const std::string gpu = core::lower_case(row.gpu);
  const auto digits = std::min(gpu.find_first_not_of("0123456789 "), gpu.size());
  const int counted = gpu.substr(digits).starts_with('x') ? std::atoi(gpu.c_str()) : 1;
  const int cards = row.network.empty() ? 1 : words_of_network(row, catalogue).count;
  const int wanted = std::max({row.tp.value_or(1), counted, cards});
  if (row.gpus_per_node || node.gpus > 1 || wanted <= 1) {
    return node;
  }
  const training::NodeSpec* found = nullptr;
  for (const auto& [name, other] : catalogue.nodes) {
    const bool enough = other.gpu.name == node.gpu.name && other.gpus >= wanted;
    found = enough && (found == nullptr || other.gpus < found->gpus) ? &other : found;
  }
  return found != nullptr ? *found : node;
}

}  // namespace

void apply_network_words(const std::string& words,
                         const Catalogue& catalogue,
                         network::FabricSpec& fabric,
                         network::NicSpec& nic) {
  struct Named {
    const char* word;
    const char* fabric;
    const char* node;  ///< whose cards speak it; nullptr: any
  };
  static constexpr Named kNetworks[] = {{"omni-path", "omni-path-100", nullptr},
                                        {"omni path", "omni-path-100", nullptr},
                                        {"omnipath", "omni-path-100", nullptr},
                                        {"opa", "omni-path-100", nullptr},
                                        {"efa", "efa", "p5-48xlarge"},
                                        {"tcpx", "gpudirect-tcpx", "a3-highgpu-8g"},
                                        {"tcpxo", "gpudirect-tcpxo", "a3-megagpu-8g"}};
  for (const auto& [word, entry, node] : kNetworks) {
    // "EFAv2" is EFA.
    if (!has_word(words, word) && !has_word(words, std::string(word) + "v")) {
      continue;
    }
    fabric.efficiency = catalogue.fabrics.at(entry).efficiency;
    fabric.node_latency = catalogue.fabrics.at(entry).node_latency;
    if (node != nullptr) {
      nic.latency = catalogue.nodes.at(node).nic.latency;
    }
  }
}

training::NodeSpec node_of_gpu(const std::string& gpu_entry,
                               const Catalogue& catalogue,
                               Assumed& assumed) {
  const gpu::GpuSpec& gpu = catalogue.gpus.at(gpu_entry);
  const training::NodeSpec* known = catalogue_node(gpu, catalogue);
  if (known == nullptr) {
    known = sibling_node(gpu_entry, catalogue);
    assume(assumed, "node");
  }
  training::NodeSpec node = known != nullptr ? *known : slot_node(gpu, catalogue);
  node.gpu = gpu;
  return node;
}

int filled_domain(int most, int node_gpus, int gpus) {
  int nodes = std::max(1, std::min(most, gpus) / node_gpus);
  while (gpus / node_gpus % nodes != 0) {
    --nodes;
  }
  return nodes * node_gpus;
}

training::ClusterSpec row_cluster(const RunRow& row,
                                  const std::string& gpu_entry,
                                  const Catalogue& catalogue,
                                  Assumed& assumed) {
  training::ClusterSpec c;
  c.node = with_enough_gpus(row, node_of_gpu(gpu_entry, catalogue, assumed), catalogue);
  if (apply_variant(row.gpu, catalogue, c.node.gpu)) {
    assume(assumed, "gpu variant");
  }
  if (const double limit = training_words(row).power; limit > c.node.gpu.idle_power.si()) {
    c.node.gpu.power = core::Watts(limit);
  }
  const int gpus = row.n_gpus.value_or(0);
  const int usual = c.node.gpus;
  c.node.gpus = node_gpus(row, usual, gpus, assumed);
  c.node.nic.count = std::max(c.node.nic.count, c.node.nic.count * c.node.gpus / usual);
  c.nodes = gpus / c.node.gpus;
  c.node.name = "as published";
  set_scale_up(row, gpus, catalogue, c.node);
  set_cards(row, catalogue, c.nodes > 1, assumed, c.node);
  c.fabric.name = "as published";
  c.fabric.topology = c.node.nic.count < c.node.gpus ? network::Topology::fat_tree
                                                     : network::Topology::rail_optimized;
  c.fabric.link_bandwidth = c.node.nic.bandwidth;
  const NetworkWords words = words_of_network(row, catalogue);
  apply_network_words(core::lower_case(row.network) + " " + words.instance.network, catalogue,
                      c.fabric, c.node.nic);
  c.fabric.leaf_oversubscription = std::max(1.0, words.oversubscription);
  return c;
}

}  // namespace headway::validation
