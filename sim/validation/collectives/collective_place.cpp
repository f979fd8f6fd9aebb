// A published timing of a collective as a call on a machine of the catalogue.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <regex>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/network/collective/closed_form.h"
#include "sim/training/step/lower.h"
#include "sim/validation/collectives/collective_rows_parts.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/network_words.h"
#include "sim/workload/expert_shape.h"

namespace headway::validation {

namespace {

using import::CsvTable;

/// The text of a column that tables may leave out.
std::string text_or_none(const CsvTable& table, std::size_t row, const char* column) {
  const auto& columns = table.columns();
  return std::find(columns.begin(), columns.end(), column) == columns.end()
             ? ""
             : table.text(row, column);
}

std::optional<core::CollectiveKind> collective_named(const std::string& word) {
  return word == "alltoall" ? core::CollectiveKind::all_to_all
                            : (word == "sendrecv" ? core::CollectiveKind::send_receive
                                                  : core::from_word<core::CollectiveKind>(word));
}

/// The nodes that a row's ranks fill, all alike.
struct Places {
  int ranks = 0, nodes = 1;
  [[nodiscard]] int ranks_per_node() const { return ranks / nodes; }
};

/// @param node_gpus  of the machine's node
/// @throws core::Error if the ranks do not lie evenly on the nodes
Places places_of(const CsvTable& table, std::size_t row, int node_gpus) {
  Places places;
  places.ranks = stated_count(table, row, "n_gpus");
  places.nodes = stated_count(table, row, "n_nodes");
  if (places.nodes < 1) {
    places.nodes = (places.ranks + node_gpus - 1) / node_gpus;
  }
  if (places.ranks < 2) {
    throw core::Error(fmt::format("{} GPUs: a collective needs two", places.ranks));
  }
  if (places.ranks % places.nodes != 0 || places.ranks_per_node() > node_gpus) {
    throw core::Error(fmt::format("{} GPUs do not lie evenly on {} nodes of {}", places.ranks,
                                  places.nodes, node_gpus));
  }
  return places;
}

/// Sets the cards of a node by a source's words: "8x200G TCPXO", "32x100G EFAv2". InfiniBand whose
/// generation is not stated is that of the catalogue's node.
/// @returns whether the words name a network
bool set_cards(const std::string& stated, training::NodeSpec& node, Assumed& assumed) {
  const NetworkWords cards = network_words(stated);
  const double count = cards_of_node(cards, node.gpus);
  node.nic.count = count > 0 ? static_cast<int>(count) : node.nic.count;
  const double rate =
      cards.node_gigabits > 0 ? cards.node_gigabits / node.nic.count : cards.card_gigabits;
  if (rate <= 0) {
    assume(assumed, "network cards");
    return contains_any(core::lower_case(stated),
                        std::array{"ib", "infiniband", "roce", "not stated"});
  }
  node.nic.bandwidth = core::BytesPerSecond(rate * 1e9 / 8);
  return true;
}

network::FabricInput machine_of(const training::NodeSpec& node,
                                const std::string& words,
                                const Catalogue& catalogue,
                                const Places& places) {
  network::FabricInput in;
  in.fabric.name = "as published";
  in.fabric.topology = network::Topology::rail_optimized;
  // The published groups hang on one leaf a rail or two tiers: the same four links end to end.
  in.fabric.ports_per_leaf = 4;
  in.scale_up = node.scale_up;
  in.fabric.in_switch_reduction = contains(words, "SHARP");
  in.nic = node.nic;
  in.fabric.link_bandwidth = node.nic.bandwidth;
  apply_network_words(core::lower_case(words), catalogue, in.fabric, in.nic);
  in.nodes = places.nodes;
  in.gpus_per_node = node.gpus;
  return in;
}

/// Bytes of the call; "n/a (large)" is the rate that a message without end approaches.
std::optional<double> bytes_of(const CsvTable& table, std::size_t row, PlacedCollective& out) {
  constexpr double kLarge = 17179869184;  // 16 GiB, where published curves end
  if (contains(table.text(row, "message_bytes"), "large")) {
    out.assumed.emplace_back("'large' is 16 GiB");
    return kLarge;
  }
  return stated_number(table, row, "message_bytes");
}

/// The time, from the bus bandwidth where that alone is stated.
/// @param bus_bytes  that pass the bus, whose rate is the bandwidth
std::optional<double> measured_us(const CsvTable& table, std::size_t row, double bus_bytes) {
  if (const auto time = stated_number(table, row, "time_us")) {
    return time;
  }
  const auto bus = stated_number(table, row, "busbw_GBps");
  return bus ? std::optional(bus_bytes / *bus * 1e-3) : std::nullopt;
}

/// Ranks and nodes of a group on a machine nobody named, of nodes of eight.
network::GroupShape shape_on_unknown(const Places& places) {
  network::GroupShape group;
  group.ranks = places.ranks;
  group.nodes = group.domains = places.nodes;
  group.ranks_per_node = group.ranks_per_domain = places.ranks_per_node();
  return group;
}

/// Reads the machine and the group; `unknown_machine` says why only a calibration can.
void place_group(const CsvTable& table,
                 std::size_t row,
                 const Catalogue& catalogue,
                 PlacedCollective& out) {
  constexpr int kUsualNode = 8;
  const std::string& gpu = table.text(row, "gpu");
  const std::string& words = table.text(row, "inter_node_network");
  training::NodeSpec node;
  try {
    node = node_of_gpu(gpu_entry(gpu, catalogue, out.assumed), catalogue, out.assumed);
  } catch (const core::Error&) {
    out.unknown_machine = "unknown GPU " + gpu;
    out.group = shape_on_unknown(places_of(table, row, kUsualNode));
    return;
  }
  const Places places = places_of(table, row, node.gpus);
  const int domain =
      filled_domain(std::max(1, node.scale_up.domain_gpus / node.gpus) * places.ranks_per_node(),
                    places.ranks_per_node(), places.ranks);
  node.scale_up.domain_gpus = domain / places.ranks_per_node() * node.gpus;
  Assumed cards;
  if (domain < places.ranks && !set_cards(words, node, cards)) {
    out.unknown_machine = "unknown network: " + words;
    out.group = shape_on_unknown(places);
    return;
  }
  out.assumed.insert(out.assumed.end(), cards.begin(), cards.end());
  out.machine = network::make_parameters(machine_of(node, words, catalogue, places),
                                         training::nccl_generation(node.gpu.architecture));
  out.group = network::regular_group(places.ranks, domain, out.machine, node.gpus);
}

/// An exchange of experts as sources write it: "moe_dispatch_fp8 EP16" of "4096 tokens x 7168,
/// top-8 of 256".
struct ExpertExchange {
  double element = 2;  ///< bytes
  workload::ExpertsSpec experts;
  std::int64_t tokens = 0, hidden = 0;
};

/// @returns nothing where the row is no such exchange
/// @throws core::Error for kernels that are not modelled and for shapes that are not stated
std::optional<ExpertExchange> expert_exchange(const CsvTable& table, std::size_t row) {
  const std::string kind = core::lower_case(table.text(row, "collective"));
  if (!contains_any(kind, std::array{"dispatch", "combine"})) {
    return std::nullopt;
  }
  if (contains_any(kind, std::array{"lowlat", "low_lat", "low-lat", "_ll"})) {
    throw core::Error("unmodelled: low-latency kernels of inference: " + kind);
  }
  static const std::regex shape(R"((\d{1,9}) tokens x (\d{1,9}), top-(\d{1,6}) of (\d{1,6}))");
  std::smatch m;
  const std::string& text = table.text(row, "message_bytes");
  if (!std::regex_search(text, m, shape)) {
    throw core::Error("no shape such as '4096 tokens x 7168, top-8 of 256': " + text);
  }
  ExpertExchange e;
  // fp8 travels with an fp32 scale for each 128 elements. Source: DeepEP, tests/test_internode.py.
  e.element = contains(kind, "fp8") ? 1 + 4.0 / 128 : 2;
  e.tokens = std::stoll(m[1]);
  e.hidden = std::stoll(m[2]);
  e.experts.top_k = std::stoi(m[3]);
  e.experts.experts = std::stoi(m[4]);
  return e;
}

/// One copy of a token for each rank it visits inside a domain, and one for each domain between
/// them: what the step's deduplicated dispatch does. The stated bandwidth is that of the
/// bottleneck: between domains where there are several.
void place_exchange(const CsvTable& table,
                    std::size_t row,
                    const ExpertExchange& exchange,
                    PlacedCollective& out) {
  const int ranks = out.group.ranks;
  if (exchange.experts.experts % ranks != 0 || exchange.experts.top_k > exchange.experts.experts) {
    throw core::Error(fmt::format("{} experts, top {}, do not lie evenly on {} GPUs",
                                  exchange.experts.experts, exchange.experts.top_k, ranks));
  }
  workload::ExpertShape shape;
  shape.tokens = exchange.tokens;
  shape.width = exchange.hidden;
  shape.dispatch = workload::ExpertDispatch::deduplicated;
  shape.domains = out.group.domains;
  shape.distinct_ranks = workload::expected_places(exchange.experts, ranks);
  shape.distinct_domains = workload::expected_places(exchange.experts, shape.domains);
  const auto bytes = workload::dispatch_bytes(shape, exchange.element);
  const bool inside = bytes.rail == core::Bytes(0);
  const auto time = measured_us(table, row, (inside ? bytes.group : bytes.rail).si());
  if (!time) {
    throw core::Error("no time stated");
  }
  out.expert_exchange = true;
  out.assumed.emplace_back("routing without groups");
  out.measured_us = *time;
  out.call = {core::CollectiveKind::all_to_all, inside ? bytes.group : bytes.domain, {}, {}};
  if (!inside) {
    const int gpus_per_node = out.machine.gpus_per_node;
    out.beside = GroupCall{network::regular_group(shape.domains, 1, out.machine, gpus_per_node),
                           {core::CollectiveKind::all_to_all, bytes.rail, {}, {}}};
    out.group = network::regular_group(out.group.ranks_per_domain, out.group.ranks_per_domain,
                                       out.machine, gpus_per_node);
  }
}

/// @throws core::Error if the row states no call of NCCL, no size or no time
void place_call(const CsvTable& table, std::size_t row, PlacedCollective& out) {
  const auto kind = collective_named(table.text(row, "collective"));
  if (!kind) {
    throw core::Error("not one collective of NCCL: " + table.text(row, "collective"));
  }
  const auto bytes = bytes_of(table, row, out);
  const double bus_bytes =
      bytes ? *bytes * network::bus_factor(*kind, std::max(2, stated_count(table, row, "n_gpus")))
            : 0;
  const auto time = measured_us(table, row, bus_bytes);
  if (!time) {
    throw core::Error("no time stated");
  }
  if (!bytes) {
    throw core::Error("no message size stated");
  }
  out.measured_us = *time;
  out.call = {*kind, core::Bytes(*bytes), {}, {}};
  if (text_or_none(table, row, "algo_or_env").starts_with("Ring")) {
    out.call.algorithm = network::Algorithm::ring;
  }
}

}  // namespace

std::optional<double> stated_number(const CsvTable& table, std::size_t row, const char* column) {
  const std::string text = text_or_none(table, row, column);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size() && value > 0
             ? std::optional(value)
             : std::nullopt;
}

int stated_count(const CsvTable& table, std::size_t row, const char* column) {
  return says_nothing(text_or_none(table, row, column)) ? 0
                                                        : table.integer(row, column).value_or(0);
}

PlacedCollective place_collective(const CsvTable& table,
                                  std::size_t row,
                                  const Catalogue& catalogue) {
  PlacedCollective out;
  try {
    const auto exchange = expert_exchange(table, row);
    if (!exchange) {
      place_call(table, row, out);
    }
    place_group(table, row, catalogue, out);
    if (exchange && out.unknown_machine.empty()) {
      place_exchange(table, row, *exchange, out);
    } else if (exchange) {
      throw core::Error(out.unknown_machine);
    }
  } catch (const core::Error& error) {
    out.skipped = plain_message(error, table);
  }
  return out;
}

}  // namespace headway::validation
