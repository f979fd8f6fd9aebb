// One rank of a collective measurement: a thread with its GPU, its communicators and its arrays.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "calibrate/measure/cuda/nccl_library.h"
#include "calibrate/measure/host/groups.h"
#include "calibrate/measure/host/summary.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

/// What all ranks of this process share.
struct CollectiveRun {
  CollectiveRun(const Nccl& library, const GpuBench& gpu)
      : nccl(library), bench(gpu.bench), cublas(gpu.cublas) {}

  const Nccl& nccl;
  Bench& bench;
  const CublasLt* cublas;  ///< for a product beside a collective; null: without
  ncclUniqueId id{};
  int world = 1;
  std::vector<GroupCase> groups;
  std::vector<std::uint64_t> sizes;
  bool may_stop = true;  ///< one process only: all its ranks see the same clock

  std::mutex mutex;                       ///< of what follows
  std::vector<ncclComm_t> communicators;  ///< to be aborted if a rank fails
  std::string failure;                    ///< the first rank's message
  std::atomic<bool> failed = false;
  std::atomic<int> wrong_elsewhere = 0;  ///< wrong results on ranks that record nothing
};

/// Runs rank `global_rank` on GPU `device`: all groups, collectives and sizes. Rank 0 adds the
/// samples to the bench.
/// @throws GpuError
void run_rank(CollectiveRun& run, int global_rank, int device);

/// The collectives part with an opened library.
void measure_collectives_with(const GpuBench& gpu, const Nccl& nccl);

}  // namespace headway::measure
