// The saves of a job: times of each level, slow drives.
#pragma once

#include "sim/campaign/job/job.h"
#include "sim/storage/closed_form.h"
#include "sim/training/check.h"

namespace headway::campaign {

/// A local drive is in the path of saves: of a near level on drives, or of those to storage.
bool saves_pass_drives(const storage::CheckpointSpec& checkpoint);

/// Saves in storage at a time, on average over a run that makes `saves` of them evenly, the last at
/// its end, and keeps `keep`:
///     integral of min(n(t), keep) / wall = k - k (k + 1) / (2 saves),  k = min(saves, keep)
double mean_kept(std::int64_t saves, int keep);

/// @param data  what is read to train on, in storage
/// @param job   its interval and its end say how many saves there can be to be kept
/// @throws Error if what is to be kept fits neither the storage nor the nodes
void check_capacity(const training::CheckedScenario& checked,
                    const storage::ShardLayout& layout,
                    const JobModel& job,
                    core::Bytes data);

/// Stall, persist and load of the storage and of the nearer levels.
void set_saves(const training::CheckedScenario& checked,
               const storage::ShardLayout& layout,
               JobModel& job);

/// Times of the saves while one node's drive is slow, for each such hazard of the job.
void set_slow_drives(const training::CheckedScenario& checked,
                     const storage::ShardLayout& layout,
                     JobModel& job);

}  // namespace headway::campaign
