// Published throughput of jobs that run on with broken GPUs: what their replicas do without them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/campaign/unequal_form.h"
#include "sim/failures/recovery_spec.h"
#include "sim/import/csv.h"

namespace headway::validation {

/// Of all draws for cases of goodput.
inline constexpr std::uint64_t kGoodputSeed = 1;

/// A job with so many of its GPUs broken at any time, a tensor group in each NVLink domain.
struct BrokenGpus {
  std::int64_t gpus = 1;
  double broken = 0;  ///< share of the GPUs
  campaign::TensorGroup group;
  int stages = 1;  ///< of a replica; each is one domain
  int micro_batches = 1;
  failures::BrokenReplica replica = failures::BrokenReplica::leaves;
  double speed = 1;  ///< of boards in domains with broken GPUs / others, by more power
};

/// @returns nothing where the case states no `broken_share`
/// @throws core::Error naming what it has to state beside it
std::optional<BrokenGpus> read_broken_gpus(const import::CsvTable& table, std::size_t row);

/// What a replica does / what a whole one does, when its domains lost so many GPUs.
double share_of_replica(const BrokenGpus& given, int lost);

/// Throughput / that of the job with all GPUs, drawn: broken GPUs anywhere, domains that have some
/// dealt to as few replicas as possible, the worst together.
/// @param trial  number of the draw
double drawn_throughput(const BrokenGpus& given, const std::string& name, std::uint32_t trial);

}  // namespace headway::validation
