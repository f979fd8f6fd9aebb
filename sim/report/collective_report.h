// What `headway collective` says: the table of nccl-tests, predicted, beside a measured log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/units.h"
#include "sim/import/measured/nccl_tests_log.h"
#include "sim/network/collective/collective.h"
#include "sim/network/collective/stepped.h"
#include "sim/report/machine.h"
#include "sim/report/table.h"

namespace headway::report {

/// What nccl-tests is told: -b, -e, -f, -d.
struct CollectiveRequest {
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  int gpus = 8;
  std::vector<std::uint64_t> sizes;                  ///< bytes asked for; see `size_steps`
  std::string type = "float";                        ///< a name of nccl-tests
  std::optional<network::Algorithm> algorithm = {};  ///< forces one
  network::Granularity granularity = network::Granularity::fluid;
  network::Dependency dependency = network::Dependency::pipelined;  ///< stepped only
};

/// Reads "fluid", "stepped" or "blocking" (stepped, a rank waits for its own sends), each alone or
/// with an algorithm, as "stepped:tree".
/// @throws core::Error if there is no such word
void set_granularity(CollectiveRequest& request, const std::string& words);

/// From `first` on, times `factor`, up to `last`.
/// @pre 1 <= first <= last and factor > 1
std::vector<std::uint64_t> size_steps(std::uint64_t first, std::uint64_t last, double factor);

/// Bytes of one element of a type of nccl-tests ("float": 4); 0 if there is no such type.
std::uint64_t element_bytes(const std::string& type);

/// One line of the table.
struct CollectiveRow {
  std::uint64_t bytes = 0, count = 0;           ///< as nccl-tests rounds and counts them
  std::optional<network::CollectiveTime> time;  ///< none: the size rounds down to no element
  core::BytesPerSecond algorithm_bandwidth, bus_bandwidth;
  std::optional<core::Seconds> measured;  ///< mean of the log's rows of this size
  std::optional<core::BytesPerSecond> measured_bus_bandwidth;

  /// predicted / measured - 1
  [[nodiscard]] std::optional<double> error() const;
};

struct CollectiveReport {
  std::string machine;
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  std::string type;
  int gpus = 0, nodes = 0;
  std::vector<CollectiveRow> rows;
  std::string log;                       ///< file compared with; empty: none
  std::vector<std::string> assumptions;  ///< what nobody said and was taken
};

/// Times of the collective over the first `gpus` GPUs of the machine, alone on its fabric.
/// @throws core::Error if the machine has fewer GPUs
CollectiveReport predict_collective(const Machine& machine, const CollectiveRequest& request);

/// Adds the measured columns.
/// @throws core::Error if the log lists another number of ranks, if its ratio of bus to algorithm
/// bandwidth is not that of this collective, or if no size is in both
void compare_with_log(CollectiveReport& report,
                      const import::NcclTestsLog& log,
                      const std::string& file_name);

/// The table of nccl-tests, column for column; measured columns follow.
std::string nccl_tests_text(const CollectiveReport& report);
/// The same as plain table, with algorithm, protocol and source of the time.
Table collective_table(const CollectiveReport& report);
Document collective_document(const CollectiveReport& report);
/// configs/schema/headway.collective-1.json has its keys.
std::string collective_json(const CollectiveReport& report);
/// What the comparison comes to, or the largest size's bandwidth.
std::string collective_sentence(const CollectiveReport& report);

}  // namespace headway::report
