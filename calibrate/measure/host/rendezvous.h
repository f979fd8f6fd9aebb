// How the processes of a measurement over several nodes find each other: files in a folder that all
// of them see. No MPI is linked; mpirun and srun only start the processes.
#pragma once

#include <string>
#include <vector>

namespace headway::measure {

/// What one process tells the others.
struct Introduction {
  std::string host;
  int gpus = 1;
  bool operator==(const Introduction&) const = default;
};

/// What every process knows afterwards.
struct Roster {
  std::vector<Introduction> processes;  ///< by rank
  std::string payload;                  ///< from rank 0: NCCL's unique id
};

/// Meets the other `ranks - 1` processes. Files that an earlier or broken run left behind do no
/// harm: every process draws a nonce, and a roster counts only with the nonces of the living.
/// @param folder   seen by all; made if it is not there
/// @param payload  of rank 0; ignored from others
/// @throws std::runtime_error naming who is missing after `patience_s`
Roster meet(const std::string& folder,
            int rank,
            int ranks,
            const Introduction& me,
            const std::string& payload,
            double patience_s);

}  // namespace headway::measure
