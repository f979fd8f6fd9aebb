// Job files that run the shards of a sweep on many machines.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/core/fields.h"

namespace headway::report {

/// Slurm (job array), Kubernetes (indexed job), HyperQueue (task array), HTCondor (queue).
enum class JobSystem { slurm, k8s, hq, condor };
constexpr auto enum_words(JobSystem) {
  using E = core::EnumWord<JobSystem>;
  return std::array{E{JobSystem::slurm, "slurm"}, E{JobSystem::k8s, "k8s"}, E{JobSystem::hq, "hq"},
                    E{JobSystem::condor, "condor"}};
}

/// What the file of a system is called.
std::string job_file_name(JobSystem system);

/// A file that this system takes: one task a shard, each `headway worker FOLDER --shard K/N`, which
/// may run twice or be killed at any time.
/// @param folder  of the sweep, as every machine sees it
std::string job_file(JobSystem system, const std::string& folder, std::int64_t shards);

/// The command that hands the file in.
std::string job_command(JobSystem system, const std::string& file);

}  // namespace headway::report
