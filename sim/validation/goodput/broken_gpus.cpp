#include "sim/validation/goodput/broken_gpus.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/core/shown_text.h"
#include "sim/validation/goodput/stated.h"

namespace headway::validation {

namespace {

/// A cell that such a case must fill.
double needed(const import::CsvTable& table,
              std::size_t row,
              const char* column,
              const core::Range& range) {
  const auto value =
      has_column(table, column) ? table.number(row, column) : std::optional<double>();
  if (!value || !range.contains(*value)) {
    throw core::Error(fmt::format("{}:{}: a case with a broken_share states {}, {}; found '{}'",
                                  table.file(), table.line(row), column, range.words,
                                  value ? core::shortened(table.text(row, column)) : ""));
  }
  return *value;
}

failures::BrokenReplica replica_of_case(const import::CsvTable& table, std::size_t row) {
  const std::string word =
      has_column(table, "broken_replica") ? table.text(row, "broken_replica") : "";
  if (word == "leaves") {
    return failures::BrokenReplica::leaves;
  }
  if (word == "narrows") {
    return failures::BrokenReplica::narrows;
  }
  throw core::Error(
      fmt::format("{}:{}: a case with a broken_share states broken_replica, leaves "
                  "or narrows; found '{}'",
                  table.file(), table.line(row), core::shortened(word)));
}

/// Broken GPUs of each domain, by the inverse of the binomial law.
std::vector<int> drawn_losses(const BrokenGpus& given,
                              const std::string& name,
                              std::uint32_t trial) {
  const int n = given.group.ranks;
  const core::RandomStream stream(kGoodputSeed, name + " broken", trial);
  std::vector<int> lost(static_cast<std::size_t>(given.gpus / n));
  for (std::size_t domain = 0; domain < lost.size(); ++domain) {
    double chance = 1;
    for (int i = 0; i < n; ++i) {
      chance *= 1 - given.broken;
    }
    double left = stream.uniform(domain) - chance;
    for (int k = 1; left > 0 && k <= n; ++k) {
      chance *= given.broken / (1 - given.broken) * (n - k + 1) / k;
      left -= chance;
      lost[domain] = k;
    }
  }
  return lost;
}

}  // namespace

std::optional<BrokenGpus> read_broken_gpus(const import::CsvTable& table, std::size_t row) {
  if (!has_column(table, "broken_share") || !table.number(row, "broken_share")) {
    return std::nullopt;
  }
  const core::Range share{0, 0.5, true, false, "above 0 and at most 0.5"};
  const core::Range counted{1, 1e6, false, false, "from 1 to 1,000,000"};
  const auto count = [&](const char* column) {
    return static_cast<int>(needed(table, row, column, counted));
  };
  BrokenGpus given;
  given.broken = needed(table, row, "broken_share", share);
  given.gpus = static_cast<std::int64_t>(
      needed(table, row, "gpus", {1, 1e7, false, false, "from 1 to 10,000,000"}));
  given.group.ranks = count("tensor");
  given.stages = count("stages");
  given.replica = replica_of_case(table, row);
  if (given.replica == failures::BrokenReplica::narrows) {
    given.group.heads = count("heads");
    given.group.columns = count("ffn");
    given.group.attention = needed(table, row, "attention_share", core::probability);
    given.micro_batches = count("micro_batches");
    given.speed = needed(table, row, "speed", {1, 2, false, false, "from 1 to 2"});
  }
  return given;
}

double share_of_replica(const BrokenGpus& given, int lost) {
  const int left = given.group.ranks - lost;
  if (given.replica == failures::BrokenReplica::leaves || left <= 0) {
    return 0;
  }
  const double pass = std::max(1.0, campaign::narrow_pass(given.group, left) / given.speed);
  return static_cast<double>(
             campaign::micro_batches_in_pace(given.micro_batches, given.stages, pass)) /
         given.micro_batches;
}

double drawn_throughput(const BrokenGpus& given, const std::string& name, std::uint32_t trial) {
  std::vector<int> lost = drawn_losses(given, name, trial);
  std::sort(lost.begin(), lost.end(), std::greater<>());
  const auto stages = static_cast<std::size_t>(given.stages);
  const std::size_t replicas = lost.size() / stages;
  double done = 0;
  for (std::size_t r = 0; r < replicas; ++r) {
    const int worst = lost[r * stages];
    done += worst == 0 ? 1 : share_of_replica(given, worst);
  }
  return done / static_cast<double>(replicas);
}

}  // namespace headway::validation
