#include "calibrate/measure/host/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "sim/core/text.h"

namespace headway::measure {

namespace {

/// The environment variable as a number, if it is one.
std::optional<int> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  return core::whole_text_as<int>(text);
}

struct LauncherVariables {
  const char *rank, *ranks, *local_rank, *local_ranks;
};
// Open MPI; MPICH and Intel MPI; srun. SLURM_NTASKS is set in a batch script too, where no other
// process comes; SLURM_STEP_NUM_TASKS only in what srun starts.
constexpr LauncherVariables kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"}};

constexpr const char* kExamples =
    "\nExamples:\n"
    "  headway-calibrate --out my-node.yaml\n"
    "  headway-calibrate --out my-node.yaml --quick --only gemm,attention\n"
    "  mpirun -N 1 -n 4 headway-calibrate --out /shared/four-nodes.yaml --only collectives\n"
    "\nWrites the profile, and the samples beside it as CSV. Exit codes: 0 done, 1 a result was "
    "wrong\nor a GPU call failed, 2 usage, or no usable GPU (the message names what is missing).";

}  // namespace

const std::vector<std::string>& part_names() {
  static const std::vector<std::string> names{"launch",    "copies", "memory",      "gemm",
                                              "attention", "peer",   "collectives", "interference",
                                              "sustained", "storage"};
  return names;
}

bool works_without_gpu(const std::string& part) { return part == "storage"; }

ProcessPlace process_place() {
  for (const LauncherVariables& names : kLaunchers) {
    const auto rank = environment_number(names.rank);
    const auto ranks = environment_number(names.ranks);
    if (rank && ranks) {
      return {*rank, *ranks, environment_number(names.local_rank).value_or(0),
              environment_number(names.local_ranks).value_or(1)};
    }
  }
  return {};
}

std::string samples_path(const std::string& out) {
  const std::size_t dot = out.rfind('.');
  const std::size_t slash = out.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return out.substr(0, has_ending ? dot : out.size()) + ".csv";
}

std::optional<BenchOptions> read_options(int argc, const char* const* argv, int& exit_code) {
  BenchOptions options;
  const ProcessPlace place = process_place();
  options.rank = place.rank;
  options.ranks = place.ranks;
  options.one_gpu_a_process = place.local_ranks > 1;
  options.device = options.one_gpu_a_process ? place.local_rank : 0;
  std::vector<std::string> only;
  CLI::App app("Measures this GPU node and writes a calibration profile for Headway.",
               "headway-calibrate");
  app.set_version_flag("--version", HEADWAY_VERSION);
  app.footer(kExamples);
  app.add_option("--out", options.out, "The profile to write, such as my-node.yaml")->required();
  app.add_option("--name", options.name, "Name of the profile [the GPU's name]");
  app.add_flag("--quick", options.quick, "At most 3 minutes instead of 15");
  app.add_option("--seconds", options.seconds,
                 "Time that the measurement may take [870, with --quick 165]")
      ->check(CLI::Range(10.0, 86400.0));
  app.add_option("--only", only,
                 "Parts to measure, with commas [all]: launch, copies, memory, gemm,\n"
                 "attention, peer, collectives, interference, sustained, storage")
      ->delimiter(',')
      ->check(CLI::IsMember(part_names()));
  app.add_option("--device", options.device, "Which GPU [0, or the local rank]");
  app.add_option("--storage", options.storage_paths,
                 "A folder on a file system to measure; may be "
                 "repeated [the folder of --out]");
  app.add_option("--rank", options.rank, "Rank of this process [from mpirun or srun]");
  app.add_option("--ranks", options.ranks, "Number of processes [from mpirun or srun]");
  app.add_option("--rendezvous", options.rendezvous,
                 "Folder that all processes see [the folder of --out]");
  app.add_flag("--tiny", options.tiny, "Smallest sizes alone: checks results, times nothing");
  app.add_flag("--force", options.force, "Overwrite the profile and the samples");
  app.add_flag("--quiet", options.quiet, "No progress");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    exit_code = app.exit(success);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::cerr << "headway-calibrate: " << error.what() << "\n";
    exit_code = 2;
    return std::nullopt;
  }
  options.only = {only.begin(), only.end()};
  if (options.rank < 0 || options.rank >= options.ranks) {
    std::cerr << "headway-calibrate: --rank " << options.rank << " is not below --ranks "
              << options.ranks << "\n";
    exit_code = 2;
    return std::nullopt;
  }
  return options;
}

}  // namespace headway::measure
