// What `headway collective` asks: the time of a collective alone on a fabric, beside a measured
// log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/import/measured/nccl_tests_log.h"
#include "sim/network/collective/collective.h"
#include "sim/network/stepped/stepped.h"
#include "sim/study/machine.h"
#include "sim/study/packets/packets.h"

namespace headway::study {

/// What nccl-tests is told: -b, -e, -f, -d.
struct CollectiveRequest {
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  int gpus = 8;
  std::vector<std::uint64_t> sizes;                  ///< bytes asked for; see `size_steps`
  std::string type = "float";                        ///< a name of nccl-tests
  std::optional<network::Algorithm> algorithm = {};  ///< forces one
  network::Granularity granularity = network::Granularity::fluid;
  network::Dependency dependency = network::Dependency::pipelined;  ///< stepped and packet
  std::optional<network::Transport> transport = {};  ///< packet only; none: the fabric's
  int per_node = 0;                                  ///< of the GPUs, in each node; 0: all it has
  std::function<void(std::size_t done, std::size_t total)> count{};  ///< of the sizes
};

/// Reads "fluid", "stepped", "blocking" (stepped, a rank waits for its own sends) or "packet", each
/// alone or with an algorithm, as "stepped:tree"; packet also with a transport, as "packet:dcqcn"
/// or "packet:dcqcn:tree".
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
  std::optional<PacketFigures> packets;   ///< granularity packet
  std::optional<core::Seconds> measured;  ///< mean of the log's rows of this size
  std::optional<core::BytesPerSecond> measured_bus_bandwidth;

  /// predicted / measured - 1
  [[nodiscard]] std::optional<double> error() const;

  template <class V>
  void fields(V& v) const {
    const auto where_timed = [this](auto value) {
      return time ? std::optional(value) : std::nullopt;
    };
    const auto of = time.value_or(network::CollectiveTime{});
    v.figure("size_bytes", bytes, "B", "as nccl-tests rounds it", core::non_negative);
    v.figure("count", count, "", "elements, as nccl-tests counts them", core::non_negative);
    v.figure("time_s", where_timed(of.total), "s",
             "alone on the fabric; null: the size holds no whole part for every rank",
             core::non_negative);
    v.figure("algorithm_bandwidth_bytes_per_s", where_timed(algorithm_bandwidth), "B/s",
             "size / time", core::non_negative);
    v.figure("bus_bandwidth_bytes_per_s", where_timed(bus_bandwidth), "B/s",
             "the same x nccl-tests' factor of the collective", core::non_negative);
    v.part("algorithm", where_timed(of.algorithm), "that NCCL would choose, or was forced");
    v.part("protocol", where_timed(of.protocol), "that NCCL would choose");
    v.part("source", where_timed(of.source), "where the time comes from");
    v.figure("measured_time_s", measured, "s", "mean of the log's rows of this size",
             core::non_negative);
    v.figure("measured_bus_bandwidth_bytes_per_s", measured_bus_bandwidth, "B/s", "the same",
             core::non_negative);
    v.figure("error", error(), "1", "predicted / measured - 1");
    v.on_request("packets", packets, "With `--granularity packet`: what happened to packets.");
  }
};

struct CollectiveReport {
  std::string machine;
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  std::string type;
  int gpus = 0, nodes = 0;
  std::vector<CollectiveRow> rows;
  std::string log;                       ///< file compared with; empty: none
  std::vector<std::string> assumptions;  ///< what nobody said and was taken

  template <class V>
  void fields(V& v) const;
};

/// What the comparison comes to, or the largest size's bandwidth.
std::string collective_sentence(const CollectiveReport& report);

template <class V>
void CollectiveReport::fields(V& v) const {
  v.part("version", HEADWAY_VERSION, "of the program");
  v.part("collective", kind, "which");
  v.part("machine", machine, "the file or the entry");
  v.figure("gpus", gpus, "", "that take part", core::non_negative);
  v.figure("nodes", nodes, "", "they stand in", core::non_negative);
  v.part("type", type, "of an element, as nccl-tests calls it");
  v.part("compared_with", log.empty() ? std::nullopt : std::optional(log), "the log");
  v.part("rows", rows, "one a size");
  v.part("limit", collective_sentence(*this), "one sentence: what it comes to");
  v.part("assumptions", assumptions, "what nobody said and was taken");
}

/// Whether a collective of the first `nodes` nodes has a time: over sites some have none.
bool has_time(const training::ClusterSpec& cluster, core::CollectiveKind kind, std::int64_t nodes);

/// @throws core::Error if the machine has fewer GPUs or nodes than are asked for, if sites have
/// unequal parts of them, or if the collective has no time over the sites that take part
void check_call(const Machine& machine, const CollectiveRequest& request);

/// Times of the collective over the first `gpus` GPUs of the machine (of each node the first
/// `per_node`), alone on its fabric.
/// @throws core::Error as `check_call`
CollectiveReport predict_collective(const Machine& machine, const CollectiveRequest& request);

/// Adds the measured columns.
/// @throws core::Error if the log lists another number of ranks, if its ratio of bus to algorithm
/// bandwidth is not that of this collective, or if no size is in both
void compare_with_log(CollectiveReport& report,
                      const import::NcclTestsLog& log,
                      const std::string& file_name);

}  // namespace headway::study
