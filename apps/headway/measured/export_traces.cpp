#include "apps/headway/measured/export_traces.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "sim/core/error.h"
#include "sim/study/replay/step_traces.h"
#include "sim/training/check.h"
#include "sim/training/estimate.h"

#include "apps/headway/output.h"

namespace headway::apps {

namespace {

/// About 100 bytes each: 5 GB. Source: chosen, so that nobody fills a disk by accident.
constexpr std::int64_t kMostNodes = 50'000'000;

[[noreturn]] void refuse_ranks(std::string_view part) {
  throw core::Error(fmt::format("--ranks '{}': is no rank and no range; write 0-7,64", part));
}

/// A range as "0-7" or a rank as "64".
std::pair<std::int64_t, std::int64_t> range_of(std::string_view part) {
  const char* const end = part.data() + part.size();
  std::int64_t first = 0;
  auto read = std::from_chars(part.data(), end, first);
  std::int64_t last = first;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, last);
  }
  if (read.ec != std::errc{} || read.ptr != end || first < 0 || last < first) {
    refuse_ranks(part);
  }
  return {first, last};
}

std::vector<std::int64_t> ranks_of(std::string_view text, std::int64_t there) {
  if (text.empty()) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(there));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::set<std::int64_t> ranks;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto [first, last] = range_of(text.substr(0, comma));
    if (last >= there) {
      throw core::Error(
          fmt::format("--ranks: there is no rank {}; the job has {}, from 0", last, there));
    }
    for (std::int64_t rank = first; rank <= last; ++rank) {
      ranks.insert(rank);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {ranks.begin(), ranks.end()};
}

/// The folder, made if it is not there.
std::filesystem::path folder_of(const CommonOptions& options) {
  if (options.out.empty()) {
    throw core::Error("chakra writes a file each rank: name a folder for them with --out");
  }
  std::error_code why;
  std::filesystem::create_directories(options.out, why);
  if (why) {
    throw core::Error(fmt::format("--out {}: {}", options.out, why.message()));
  }
  return options.out;
}

}  // namespace

void export_traces(const std::string& scenario,
                   const std::string& ranks,
                   const CommonOptions& options) {
  const auto loaded = config::load_scenario(scenario, load_options(options));
  const auto checked = training::check(loaded.scenario, loaded.marks);
  training::require_memory(training::estimate_step(checked, false), training::machine_memory(),
                           false);
  const study::StepTraces traces(checked);
  const auto chosen = ranks_of(ranks, traces.ranks());
  if (const std::int64_t nodes = traces.nodes(chosen); nodes > kMostNodes) {
    throw core::Error(fmt::format(
        "the traces of {} ranks have {} nodes, more than {}; name some of the ranks (--ranks 0-7), "
        "or take fewer micro-batches or GPUs",
        chosen.size(), nodes, kMostNodes));
  }
  const auto folder = folder_of(options);
  const auto file_of = [&folder](std::int64_t rank) {
    return (folder / fmt::format("step.{}.et", rank)).string();
  };
  const std::string groups = (folder / "comm_groups.json").string();
  CommonOptions each = options;
  each.out.clear();
  check_out(each, {groups, file_of(chosen.front())});
  each.quiet = true;  // one word for all files
  for (const std::int64_t rank : chosen) {
    deliver(each, OutFile{file_of(rank), import::write_chakra(traces.trace(rank))});
  }
  deliver(each, OutFile{groups, import::write_chakra_groups(traces.groups())});
  remark(options, fmt::format("wrote {} traces of {} ranks into {}", chosen.size(), traces.ranks(),
                              folder.string()));
}

}  // namespace headway::apps
