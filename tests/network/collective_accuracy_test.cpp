// Catalogue defaults against public measurements of single nodes: no calibration of any machine.
// Every fourth size of the tables (tests/data/README.md). Named systems:
// tests/validation/collective_rows_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sim/network/collective/collective.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;
using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.push_back(cell);
      cell.clear();
    } else if (c != '\r') {
      cell += c;
    }
  }
  cells.push_back(cell);
  return cells;
}

std::vector<Row> read_csv(const std::string& name) {
  std::ifstream in(std::string(HEADWAY_SOURCE_DIR "/tests/data/") + name);
  std::string line;
  std::vector<Row> rows;
  if (!std::getline(in, line)) {
    return rows;
  }
  const auto heading = split(line);
  while (std::getline(in, line)) {
    const auto cells = split(line);
    Row row;
    for (std::size_t i = 0; i < std::min(heading.size(), cells.size()); ++i) {
      row[heading[i]] = cells[i];
    }
    rows.push_back(row);
  }
  return rows;
}

/// Data-sheet values of a node; NICs as given.
FabricInput node_of(const std::string& gpu, int nodes, int nics, core::BytesPerSecond nic) {
  auto in = dgx_h100(nodes);
  in.fabric.efficiency = FabricSpec{}.efficiency;
  in.nic.count = nics;
  in.nic.bandwidth = in.fabric.link_bandwidth = nic;
  const bool ampere = gpu.rfind("a100", 0) == 0 || gpu.rfind("A100", 0) == 0;
  const bool hopper = gpu.rfind("h", 0) == 0 || gpu.rfind("H", 0) == 0;
  in.scale_up.bandwidth = ampere ? 300_GBps : (hopper ? 450_GBps : 900_GBps);
  in.scale_up.in_switch_reduction = !ampere;
  return in;
}

NcclGeneration generation_of(const FabricInput& in) {
  const double rate = in.scale_up.bandwidth.si();
  return rate < 400e9 ? NcclGeneration::ampere
                      : (rate < 800e9 ? NcclGeneration::hopper : NcclGeneration::blackwell);
}

std::optional<CollectiveKind> kind_of(const std::string& word) {
  return word == "alltoall" ? CollectiveKind::all_to_all
                            : (word == "sendrecv" ? CollectiveKind::send_receive
                                                  : core::from_word<CollectiveKind>(word));
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// Errors of one group of rows: |predicted / measured - 1| above 1 MiB; the larger ratio below.
struct Errors {
  std::vector<double> large, small_ratio;
  void add(double bytes, double predicted, double measured) {
    if (bytes >= 1048576) {
      large.push_back(std::abs(predicted / measured - 1));
    } else {
      small_ratio.push_back(std::max(predicted / measured, measured / predicted));
    }
  }
};

void print(const std::string& name, const Errors& e) {
  std::printf("%-62s", name.c_str());
  if (!e.large.empty()) {
    std::printf("  >=1 MiB: n %3zu median %5.1f %% p90 %5.1f %%", e.large.size(),
                100 * quantile(e.large, 0.5), 100 * quantile(e.large, 0.9));
  }
  if (!e.small_ratio.empty()) {
    std::printf("  below: n %3zu median factor %.2f p90 %.2f", e.small_ratio.size(),
                quantile(e.small_ratio, 0.5), quantile(e.small_ratio, 0.9));
  }
  std::printf("\n");
}

TEST(CollectiveAccuracy, SingleNodeTablesWithinFifteenPercent) {
  const auto rows = read_csv("measured/nccl_single_node.csv");
  ASSERT_GT(rows.size(), 1500U);
  std::map<std::string, Errors> groups;
  Errors all;
  for (const auto& row : rows) {
    const auto in = node_of(row.at("gpu"), 1, 8, 400_Gbps);
    const auto machine = make_parameters(in, generation_of(in));
    const int n = std::stoi(row.at("n_gpus"));
    const double bytes = std::stod(row.at("elements")) * std::stod(row.at("element_bytes"));
    const auto kind = kind_of(row.at("collective"));
    ASSERT_TRUE(kind) << row.at("collective");
    const auto t = collective_time({*kind, core::Bytes{bytes}, {}, {}},
                                   regular_group(n, n, machine, 8), machine);
    const double measured = std::stod(row.at("time_us"));
    all.add(bytes, t.total.si() * 1e6, measured);
    groups[row.at("gpu") + " " + row.at("collective")].add(bytes, t.total.si() * 1e6, measured);
  }
  for (const auto& [name, errors] : groups) {
    print(name, errors);
    EXPECT_LE(quantile(errors.large, 0.5), 0.15) << name;
    EXPECT_LE(quantile(errors.small_ratio, 0.5), 1.5) << name;
  }
  print("all", all);
  EXPECT_LE(quantile(all.large, 0.5), 0.08);
  EXPECT_LE(quantile(all.small_ratio, 0.5), 1.2);
}

}  // namespace
}  // namespace headway::network
