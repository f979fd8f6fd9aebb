// An InfiniBand fabric of our own, written as ibnetdiscover writes it: every cable at both of its
// ends, with the vendors' lines, aggregation nodes and cards that were never told their server.
#pragma once

#include <fmt/format.h>
#include <string>

namespace headway::import {

/// Leaves in pods, every leaf joined to every spine. A pod has one leaf a rail, and every host one
/// card a rail: on rails, card r of a host is on leaf r of its pod; else all of them are on one.
struct InfinibandFabric {
  int pods = 8, rails = 4, hosts_per_pod = 16, spines = 8, cables = 2;
  bool on_rails = true;
  int unnamed_every =
      0;  ///< of so many cards, one states its model in place of its server; 0: none

  [[nodiscard]] int leaves() const { return pods * rails; }
  [[nodiscard]] int hosts() const { return pods * hosts_per_pod; }
  [[nodiscard]] int cards() const { return hosts() * rails; }
};

class IbnetdiscoverWriter {
 public:
  explicit IbnetdiscoverWriter(const InfinibandFabric& fabric) : fabric_(fabric) {}

  std::string text() {
    text_ = "#\n# Topology file: generated on Mon Jan  6 08:00:00 2025\n#\n";
    for (int leaf = 0; leaf < fabric_.leaves(); ++leaf) {
      write_leaf(leaf);
    }
    for (int spine = 0; spine < fabric_.spines; ++spine) {
      write_spine(spine);
    }
    for (int card = 0; card < fabric_.cards(); ++card) {
      write_card(card);
    }
    for (int at = 0; at < fabric_.leaves() + fabric_.spines; ++at) {
      write_aggregation_node(at);
    }
    return text_;
  }

 private:
  static constexpr int kAggregationPort = 65;

  // Spines are counted behind the leaves.
  [[nodiscard]] std::string switch_guid(int at) const {
    return fmt::format("aced{:012x}", at * 64);
  }
  static std::string card_guid(int card) { return fmt::format("beef{:012x}", card * 16); }
  static std::string node_guid(int at) { return fmt::format("aced{:012x}", at * 64 + 8); }
  [[nodiscard]] std::string switch_name(int at) const {
    return at < fabric_.leaves()
               ? fmt::format("MF0;row{}-leaf{:02}:QM/U1", at / fabric_.rails, at % fabric_.rails)
               : fmt::format("MF0;core-spine{:02}:QM/U1", at - fabric_.leaves());
  }
  /// Half of the servers call their cards mlx5_0 ..., the others HCA-1 ...
  [[nodiscard]] std::string card_name(int card) const {
    if (fabric_.unnamed_every > 0 && card % fabric_.unnamed_every == 0) {
      return "MT4129 ConnectX7   Mellanox Technologies";
    }
    const int host = card / fabric_.rails;
    const int rail = card % fabric_.rails;
    return host % 2 == 0 ? fmt::format("worker{:03} mlx5_{}", host, rail)
                         : fmt::format("worker{:03} HCA-{}", host, rail + 1);
  }
  [[nodiscard]] int leaf_of(int card) const {
    const int host = card / fabric_.rails;
    const int rail = fabric_.on_rails ? card % fabric_.rails : host % fabric_.rails;
    return host / fabric_.hosts_per_pod * fabric_.rails + rail;
  }
  [[nodiscard]] int leaf_port_of(int card) const {
    const int place = card / fabric_.rails % fabric_.hosts_per_pod;
    return 1 + (fabric_.on_rails ? place
                                 : place / fabric_.rails * fabric_.rails + card % fabric_.rails);
  }
  [[nodiscard]] int uplink_port(int spine, int cable) const {
    return 1 + fabric_.hosts_per_pod + spine * fabric_.cables + cable;
  }
  [[nodiscard]] int downlink_port(int leaf, int cable) const {
    return 1 + leaf * fabric_.cables + cable;
  }

  void begin_switch(int at) {
    text_ += fmt::format(
        "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{0}\nswitchguid=0x{0}({0})\n"
        "Switch\t65 \"S-{0}\"\t\t# \"{1}\" enhanced port 0 lid {2} lmc 0\n",
        switch_guid(at), switch_name(at), at + 1);
  }
  void write_trunk(int port, int peer, int peer_port) {
    text_ += fmt::format("[{}]\t\"S-{}\"[{}]\t\t# \"{}\" lid {} 4xNDR\n", port, switch_guid(peer),
                         peer_port, switch_name(peer), peer + 1);
  }
  void end_switch(int at) {
    text_ += fmt::format(
        "[{}]\t\"H-{}\"[1]({}) \t\t# \"Mellanox Technologies Aggregation Node\" "
        "lid {} 4xNDR\n",
        kAggregationPort, node_guid(at), node_guid(at), 2000 + at);
  }
  void write_leaf(int leaf) {
    begin_switch(leaf);
    for (int card = 0; card < fabric_.cards(); ++card) {
      if (leaf_of(card) == leaf) {
        text_ +=
            fmt::format("[{}]\t\"H-{}\"[1]({}) \t\t# \"{}\" lid {} 4xNDR\n", leaf_port_of(card),
                        card_guid(card), card_guid(card), card_name(card), 100 + card);
      }
    }
    for (int spine = 0; spine < fabric_.spines; ++spine) {
      for (int cable = 0; cable < fabric_.cables; ++cable) {
        write_trunk(uplink_port(spine, cable), fabric_.leaves() + spine,
                    downlink_port(leaf, cable));
      }
    }
    end_switch(leaf);
  }
  void write_spine(int spine) {
    begin_switch(fabric_.leaves() + spine);
    for (int leaf = 0; leaf < fabric_.leaves(); ++leaf) {
      for (int cable = 0; cable < fabric_.cables; ++cable) {
        write_trunk(downlink_port(leaf, cable), leaf, uplink_port(spine, cable));
      }
    }
    end_switch(fabric_.leaves() + spine);
  }
  void write_adapter(const std::string& guid, const std::string& name, int lid, int at, int port) {
    text_ += fmt::format(
        "\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x{0}\ncaguid=0x{0}\n"
        "Ca\t1 \"H-{0}\"\t\t# \"{1}\"\n"
        "[1]({0}) \t\"S-{2}\"[{3}]\t\t# lid {4} lmc 0 \"{5}\" lid {6} 4xNDR\n",
        guid, name, switch_guid(at), port, lid, switch_name(at), at + 1);
  }
  void write_card(int card) {
    write_adapter(card_guid(card), card_name(card), 100 + card, leaf_of(card), leaf_port_of(card));
  }
  void write_aggregation_node(int at) {
    write_adapter(node_guid(at), "Mellanox Technologies Aggregation Node", 2000 + at, at,
                  kAggregationPort);
  }

  InfinibandFabric fabric_;
  std::string text_;
};

/// The whole file.
inline std::string ibnetdiscover_text(const InfinibandFabric& fabric = {}) {
  return IbnetdiscoverWriter(fabric).text();
}

}  // namespace headway::import
