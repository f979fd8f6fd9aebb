// From a checked scenario and its healthy step to the plain numbers of a campaign.
#pragma once

#include <string>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/campaign/slow/degraded_states.h"
#include "sim/campaign/step_times.h"
#include "sim/storage/closed_form.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::campaign {

/// A job with every `auto` resolved, and what had to be assumed for it.
struct ResolvedJob {
  JobModel job;
  core::Bytes checkpoint_bytes;
  core::Bytes restart_bytes;        ///< read from storage at one restart
  core::Bytes input_bytes;          ///< in storage: data sets of all islands, cached logits
  core::Bytes logits_bytes;         ///< of these cached logits, in one island
  core::BytesPerSecond input_rate;  ///< read at healthy speed, caches not counted; 0: not said
  std::vector<training::Assumption> assumptions;
  std::vector<std::string> warnings;
};

/// Who holds which bytes of this scenario's checkpoint.
storage::ShardLayout shard_layout(const training::CheckedScenario& checked);

/// All network cards of a node, one direction.
core::BytesPerSecond node_network(const training::CheckedScenario& checked);

/// @param source  its scenario must have run.until
/// @param step    the healthy step
/// @throws Error if the checkpoints to keep do not fit into the storage
ResolvedJob resolve_job(StepSource& source, const training::StepResult& step);
ResolvedJob resolve_job(const training::CheckedScenario& checked, const training::StepResult& step);

}  // namespace headway::campaign
