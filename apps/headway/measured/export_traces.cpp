#include "apps/headway/measured/export_traces.h"

#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "sim/core/error.h"
#include "sim/study/replay/step_traces.h"
#include "sim/training/check.h"
#include "sim/training/estimate.h"

#include "apps/headway/measured/rank_list.h"
#include "apps/headway/output.h"

namespace headway::apps {

namespace {

/// About 100 bytes each: 5 GB. Source: chosen, so that nobody fills a disk by accident.
constexpr std::int64_t kMostNodes = 50'000'000;

std::vector<std::int64_t> chosen_ranks(const std::string& text, std::int64_t there) {
  if (!text.empty()) {
    return ranks_of(text, "--ranks", there);
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(there));
  std::iota(all.begin(), all.end(), 0);
  return all;
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
  const auto chosen = chosen_ranks(ranks, traces.ranks());
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
