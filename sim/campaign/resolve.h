// From a checked scenario and its healthy step to the plain numbers of a campaign.
#pragma once

#include <string>
#include <vector>

#include "sim/campaign/job.h"
#include "sim/campaign/step_times.h"
#include "sim/storage/closed_form.h"
#include "sim/training/check.h"
#include "sim/training/step_result.h"

namespace headway::campaign {

/// A job with every `auto` resolved, and what had to be assumed for it.
struct ResolvedJob {
  JobModel job;
  core::Bytes checkpoint_bytes;
  core::Bytes restart_bytes;  ///< read from storage at one restart
  std::vector<training::Assumption> assumptions;
  std::vector<std::string> warnings;
};

/// Who holds which bytes of this scenario's checkpoint.
storage::ShardLayout shard_layout(const training::CheckedScenario& checked);

/// All network cards of a node, one direction.
core::BytesPerSecond node_network(const training::CheckedScenario& checked);

/// Pipeline stage of the first rank of each node: places in one stage are alike.
std::vector<std::uint16_t> class_of_node(const training::CheckedScenario& checked);

/// Simulates the step in a state of the cluster. The first node of a class stands for all of them.
/// @param healthy  the healthy step
Slowness simulated_slowness(const training::CheckedScenario& checked, core::Seconds healthy);

/// Share of the network cards' rate that a background save leaves to training, and 1 where it goes
/// over a fabric of its own or training waits for it anyway.
double links_left_by_saves(const training::CheckedScenario& checked, core::Seconds persist);

/// @param checked  must have run.until
/// @param times    step times of degraded states; asked for the traffic of saves only
/// @throws Error if the checkpoints to keep do not fit into the storage
ResolvedJob resolve_job(const training::CheckedScenario& checked,
                        const training::StepResult& step,
                        StepTimes& times);

/// The same, with step times that are simulated when asked for.
ResolvedJob resolve_job(const training::CheckedScenario& checked, const training::StepResult& step);

}  // namespace headway::campaign
