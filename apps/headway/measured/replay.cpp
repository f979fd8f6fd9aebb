// headway replay: execution traces of Chakra, checked, and run on another machine.
#include "sim/study/replay/replay.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/read_file.h"
#include "sim/import/gzip.h"
#include "sim/import/text_file.h"
#include "sim/report/measured/replay_report.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;
using import::ChakraGroups;
using import::ChakraJob;
using import::ChakraTrace;

struct ReplayArguments {
  std::vector<std::string> files;
  std::string machine, groups;
  int ranks = 0;
  study::MachineOptions how;
};

/// Files as they are, and of folders the traces in them.
std::vector<std::string> trace_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (!fs::is_directory(name)) {
      files.push_back(name);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(name)) {
      if (entry.path().extension() == ".et") {
        files.push_back(entry.path().string());
      }
    }
    if (files.size() == before) {
      throw core::Error(fmt::format("{}: the folder has no trace (*.et)", name));
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

ChakraTrace read_trace(const std::string& file) {
  std::string bytes = core::read_file(file, core::kLargestMeasurement);
  if (import::is_gzip(bytes)) {
    bytes = import::gunzip(bytes, file);
  }
  return import::read_chakra(bytes, file);
}

/// Process groups that the traces do not define themselves.
ChakraGroups groups_of(const ReplayArguments& given) {
  return given.groups.empty()
             ? ChakraGroups{}
             : import::read_chakra_groups(import::read_input(given.groups), given.groups);
}

ChakraJob job_of(const ReplayArguments& given) {
  const auto files = trace_files(given.files);
  if (given.ranks > 0 && files.size() > 1) {
    throw core::Error("--ranks lays one trace on ranks that all do the same; give one file");
  }
  if (given.ranks > 0) {
    return import::join_traces(import::alike(read_trace(files.front()), given.ranks),
                               groups_of(given));
  }
  std::vector<ChakraTrace> traces;
  traces.reserve(files.size());
  for (const std::string& file : files) {
    traces.push_back(read_trace(file));
  }
  return import::join_traces(std::move(traces), groups_of(given));
}

}  // namespace

int run_replay(int argc, char** argv) {
  CLI::App app(
      "Checks execution traces (Chakra, .et) and runs them on a cluster: computations as long as "
      "recorded, transfers on its fabric.");
  CommonOptions options;
  ReplayArguments given;
  describe(app, "replay",
           "  headway replay step.*.et --cluster my.yaml\n"
           "  headway replay traces --cluster dgx-h100 --set fabric.use=fat-tree-2-tier");
  app.add_option("FILE", given.files, "Traces, one a rank (NAME.RANK.et), or a folder of them")
      ->required()
      ->expected(1, -1)
      ->option_text(" ");
  app.add_option("--cluster", given.machine, "Cluster, fabric, node or scenario: file or entry")
      ->check(file_name())
      ->option_text("FILE");
  app.add_option("--nodes", given.how.nodes, "Nodes, where FILE is a fabric or a node")
      ->transform(whole_number(1))
      ->option_text("N");
  app.add_option("--groups", given.groups, "Process groups: JSON, {\"1\": [0, 1], ...}")
      ->check(file_name())
      ->option_text("FILE");
  app.add_option("--ranks", given.ranks, "N ranks do what the one trace says")
      ->transform(whole_number(1, 1'000'000))
      ->option_text("N");
  app.add_option("--set", options.set, "Change a value of the cluster's FILE, as nodes=64")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  add_tables_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options, {options.tables});
  ChakraJob job = job_of(given);
  const auto report =
      given.machine.empty()
          ? study::describe_traces(job)
          : study::replay(std::move(job),
                          study::load_machine(given.machine, given.how, load_options(options)));
  deliver(options, printed_with_tables(report, options, report::replay_json, report::replay_csv,
                                       report::replay_document));
  return 0;
}

}  // namespace headway::apps
