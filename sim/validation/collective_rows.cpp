#include "sim/validation/collective_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "sim/core/statistics.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/fabric/fabric_shape.h"
#include "sim/validation/collective_rows_parts.h"

namespace headway::validation {

namespace {

using import::CsvTable;
using network::NcclGeneration;

constexpr double kMiB = 1048576;
constexpr int kGpusPerNode = 8;  // every published system that can be placed

/// Generation and data-sheet rate of NVLink: one GPU, one direction (half of the two-way figure).
struct GpuKind {
  const char* prefix;
  NcclGeneration generation;
  double scale_up_bytes_per_s;
  bool in_switch_reduction;  // third-generation NVSwitch (Hopper) and later reduce
};
constexpr GpuKind kGpus[] = {{"A100", NcclGeneration::ampere, 300e9, false},
                             {"H100", NcclGeneration::hopper, 450e9, true},
                             {"H200", NcclGeneration::hopper, 450e9, true},
                             {"B200", NcclGeneration::blackwell, 900e9, true}};

const GpuKind* gpu_kind(const std::string& gpu) {
  const auto* found = std::find_if(std::begin(kGpus), std::end(kGpus), [&](const GpuKind& kind) {
    return gpu.rfind(kind.prefix, 0) == 0;
  });
  return found == std::end(kGpus) ? nullptr : found;
}

/// A cell as a number; nothing for the words that sources have in place of one ("n/a (large)").
std::optional<double> stated(const CsvTable& table, std::size_t row, const char* column) {
  const std::string& text = table.text(row, column);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size() && value > 0
             ? std::optional(value)
             : std::nullopt;
}

std::optional<core::CollectiveKind> kind_of(const std::string& word) {
  return word == "alltoall" ? core::CollectiveKind::all_to_all
                            : (word == "sendrecv" ? core::CollectiveKind::send_receive
                                                  : core::from_word<core::CollectiveKind>(word));
}

/// Network cards of a node.
struct Cards {
  int count = 8;
  double gigabits_per_s = 400;
  bool stated = true;
};

/// In the system's own words: "8x200G TCPXO" is 8 of 200 Gbps. NDR InfiniBand is 400 Gbps a card;
/// an unnamed InfiniBand is taken as one such card a GPU, as in NVIDIA's reference designs.
std::optional<Cards> cards_of(const std::string& words) {
  if (words == "single node" || words.find("NDR-400") != std::string::npos) {
    return Cards{};
  }
  if (words.find("IB (not stated)") != std::string::npos) {
    return Cards{8, 400, false};
  }
  const auto at = words.find_first_of("0123456789");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream in(words.substr(at));
  Cards cards;
  char x = 0;
  const bool read = static_cast<bool>(in >> cards.count >> x >> cards.gigabits_per_s);
  return read && x == 'x' && cards.gigabits_per_s >= 25 ? std::optional(cards) : std::nullopt;
}

network::FabricInput machine_of(const GpuKind& gpu,
                                const Cards& cards,
                                const std::string& words,
                                int nodes) {
  network::FabricInput in;
  in.fabric.name = "as published";
  in.fabric.topology = network::Topology::rail_optimized;
  // The published groups hang on one leaf a rail or two tiers: the same four links end to end.
  in.fabric.ports_per_leaf = 4;
  in.scale_up.bandwidth = core::BytesPerSecond(gpu.scale_up_bytes_per_s);
  in.scale_up.in_switch_reduction = gpu.in_switch_reduction;
  in.fabric.in_switch_reduction = words.find("SHARP") != std::string::npos;
  in.nic.count = cards.count;
  in.nic.bandwidth = in.fabric.link_bandwidth =
      core::BytesPerSecond(cards.gigabits_per_s * 1e9 / 8);
  if (words.find("EFA") != std::string::npos) {
    // SRD, process to process: 15.5 us (Shalev et al., IEEE Micro 2020), 2 us of it our four links.
    in.nic.latency = core::Seconds(6.75e-6);
  }
  in.nodes = nodes;
  in.gpus_per_node = kGpusPerNode;
  return in;
}

/// The text of a column that tables may leave out.
std::string text_or_none(const CsvTable& table, std::size_t row, const char* column) {
  const auto& columns = table.columns();
  return std::find(columns.begin(), columns.end(), column) == columns.end()
             ? ""
             : table.text(row, column);
}

/// Bytes of the call; "n/a (large)" is the rate that a message without end approaches.
std::optional<double> bytes_of(const CsvTable& table, std::size_t row, PlacedCollective& out) {
  constexpr double kLarge = 17179869184;  // 16 GiB, where published curves end
  if (table.text(row, "message_bytes").find("large") != std::string::npos) {
    out.assumed.emplace_back("'large' is 16 GiB");
    return kLarge;
  }
  return stated(table, row, "message_bytes");
}

/// The time, from the bus bandwidth where that alone is stated.
std::optional<double> measured_us(const CsvTable& table,
                                  std::size_t row,
                                  core::CollectiveKind kind,
                                  int ranks,
                                  std::optional<double> bytes) {
  if (const auto time = stated(table, row, "time_us")) {
    return time;
  }
  const std::string text = text_or_none(table, row, "busbw_GBps");
  const auto bus = text.empty() ? std::nullopt : stated(table, row, "busbw_GBps");
  return bus && bytes ? std::optional(*bytes * network::bus_factor(kind, ranks) / *bus * 1e-3)
                      : std::nullopt;
}

/// Ranks and nodes of a group on a machine nobody named.
network::GroupShape shape_on_unknown(int ranks, int nodes) {
  network::GroupShape group;
  group.ranks = ranks;
  group.nodes = group.domains = nodes;
  group.ranks_per_node = group.ranks_per_domain = std::min(ranks, kGpusPerNode);
  return group;
}

}  // namespace

CollectivePrediction blank_prediction(const CsvTable& table,
                                      std::size_t row,
                                      const PlacedCollective& placed) {
  CollectivePrediction p;
  p.system = table.text(row, "system");
  p.collective = table.text(row, "collective");
  p.n_gpus = table.integer(row, "n_gpus").value_or(0);
  p.message_bytes = placed.call.bytes.si() > 0 ? placed.call.bytes.si()
                                               : stated(table, row, "message_bytes").value_or(0);
  p.measured_us =
      placed.measured_us > 0 ? std::optional(placed.measured_us) : stated(table, row, "time_us");
  return p;
}

void fill_prediction(CollectivePrediction& p, const PlacedCollective& placed, double predicted_us) {
  p.predicted_us = predicted_us;
  p.error = predicted_us / placed.measured_us - 1;
  p.status = placed.assumed.empty() ? "ok" : "ok-assumed";
}

PlacedCollective place_collective(const CsvTable& table, std::size_t row) {
  PlacedCollective out;
  const std::string& words = table.text(row, "inter_node_network");
  const auto kind = kind_of(table.text(row, "collective"));
  const auto* gpu = gpu_kind(table.text(row, "gpu"));
  const auto cards = cards_of(words);
  const auto bytes = bytes_of(table, row, out);
  const int n = table.integer(row, "n_gpus").value_or(0);
  const int nodes = std::max(1, table.integer(row, "n_nodes").value_or(1));
  const auto time = kind ? measured_us(table, row, *kind, n, bytes) : std::nullopt;
  if (!kind) {
    out.skipped = "not one collective of NCCL: " + table.text(row, "collective");
  } else if (!time) {
    out.skipped = "no time stated";
  } else if (!bytes) {
    out.skipped = "no message size stated";
  } else if (n < 2 || (nodes > 1 && n != nodes * kGpusPerNode) || n > nodes * kGpusPerNode) {
    out.skipped =
        fmt::format("{} GPUs on {} nodes do not fill nodes of {}", n, nodes, kGpusPerNode);
  }
  if (!out.skipped.empty()) {
    return out;
  }
  out.measured_us = *time;
  out.call = {*kind, core::Bytes(*bytes), {}, {}};
  if (text_or_none(table, row, "algo_or_env").starts_with("Ring")) {
    out.call.algorithm = network::Algorithm::ring;
  }
  if (gpu == nullptr || !cards) {
    out.unknown_machine =
        gpu == nullptr ? "unknown GPU " + table.text(row, "gpu") : "unknown network: " + words;
    out.group = shape_on_unknown(n, nodes);
    return out;
  }
  if (!cards->stated) {
    out.assumed.emplace_back("network cards");
  }
  out.machine = network::make_parameters(machine_of(*gpu, *cards, words, nodes), gpu->generation);
  out.group = network::regular_group(n, std::min(n, kGpusPerNode), out.machine, kGpusPerNode);
  return out;
}

std::vector<CollectivePrediction> predict_collectives(const CsvTable& table) {
  std::vector<CollectivePrediction> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const PlacedCollective placed = place_collective(table, row);
    CollectivePrediction p = blank_prediction(table, row, placed);
    const std::string& why = placed.skipped.empty() ? placed.unknown_machine : placed.skipped;
    if (!why.empty()) {
      p.status = "skipped:" + why;
    } else {
      const auto time = collective_time(placed.call, placed.group, placed.machine);
      fill_prediction(p, placed, time.total.si() * 1e6);
    }
    rows.push_back(std::move(p));
  }
  return rows;
}

CollectiveSummary summarize(const std::vector<CollectivePrediction>& rows) {
  CollectiveSummary summary;
  std::vector<double> large;
  std::vector<double> small;
  std::vector<double> all;
  for (const auto& row : rows) {
    if (row.error) {
      all.push_back(std::abs(*row.error));
    }
    if (!row.error) {
      ++summary.n_skipped;
    } else if (row.message_bytes >= kMiB) {
      large.push_back(std::abs(*row.error));
    } else {
      small.push_back(std::max(1 + *row.error, 1 / (1 + *row.error)));
    }
  }
  std::sort(large.begin(), large.end());
  std::sort(small.begin(), small.end());
  std::sort(all.begin(), all.end());
  summary.median_abs_error = all.empty() ? 0 : core::quantile_of_sorted(all, 0.5);
  summary.n_large = large.size();
  summary.n_small = small.size();
  summary.n = large.size() + small.size();
  if (!large.empty()) {
    summary.median_abs_error_large = core::quantile_of_sorted(large, 0.5);
    summary.p90_abs_error_large = core::quantile_of_sorted(large, 0.9);
  }
  summary.median_factor_small = small.empty() ? 0 : core::quantile_of_sorted(small, 0.5);
  return summary;
}

}  // namespace headway::validation
