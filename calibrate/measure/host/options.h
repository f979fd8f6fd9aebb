// The command line of headway-calibrate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/host/bench.h"

namespace headway::measure {

/// The parts in the order they run.
const std::vector<std::string>& part_names();

/// A part that needs no GPU.
bool works_without_gpu(const std::string& part);

/// Reads the arguments and the environment (process rank and count from mpirun or srun).
/// @returns nothing when help or version was printed; then `exit_code` says how to end
std::optional<BenchOptions> read_options(int argc, const char* const* argv, int& exit_code);

/// Rank and number of processes as mpirun (Open MPI, MPICH) or srun set them; 0 of 1 otherwise.
struct ProcessPlace {
  int rank = 0, ranks = 1, local_rank = 0, local_ranks = 1;
  bool operator==(const ProcessPlace&) const = default;
};
ProcessPlace process_place();

/// The CSV beside profile `out`: my-node.yaml -> my-node.csv.
std::string samples_path(const std::string& out);

}  // namespace headway::measure
