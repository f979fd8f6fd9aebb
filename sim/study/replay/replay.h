// What `headway replay` asks: a step of recorded traces on another machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/import/chakra/chakra_job.h"
#include "sim/network/collective/collective.h"
#include "sim/study/machine.h"
#include "sim/training/step/step_result.h"

namespace headway::study {

/// Ranks that take equally long and compute equally much.
struct ReplayRanks {
  std::int64_t first = 0, count = 0;
  core::Seconds computation;         ///< of the busiest stream
  std::optional<core::Seconds> end;  ///< simulated
  /// Share of the whole replay in which that stream computes.
  [[nodiscard]] std::optional<double> busy(std::optional<core::Seconds> whole) const {
    return whole ? std::optional(computation / *whole) : std::nullopt;
  }

  template <class V>
  void fields(V& v) const {
    v.figure("first", first, "", "least of these ranks", core::non_negative);
    v.figure("count", count, "", "ranks that take equally long and compute equally much",
             core::at_least_one);
    v.figure("computation_s", computation, "s",
             "computations of the stream of the GPU that has most, or of the CPU where none has",
             core::non_negative);
    v.figure("end_s", end, "s", "when their last node ends; null without a cluster",
             core::non_negative);
  }
};

/// Transfers of one kind and size between ranks that lie alike.
struct ReplayCollective {
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  core::Bytes bytes;
  int ranks = 0;
  std::int64_t calls = 0;
  std::optional<int> nodes;
  std::optional<core::Seconds> alone;
  std::optional<network::Algorithm> algorithm;

  template <class V>
  void fields(V& v) const {
    v.part("collective", kind, "which");
    v.figure("message_bytes", bytes, "B", "of one call, as nccl-tests counts", core::non_negative);
    v.figure("ranks", ranks, "", "of a group", core::at_least_one);
    v.figure("calls", calls, "", "of all groups together", core::non_negative);
    v.figure("nodes", nodes, "", "that a group stands in; null without a cluster",
             core::at_least_one);
    v.figure("alone_s", alone, "s", "one call with the fabric to itself; null without a cluster",
             core::non_negative);
    v.part("algorithm", algorithm, "that NCCL would choose; null without a cluster");
  }
};

struct ReplayReport {
  std::optional<std::string> machine;
  std::int64_t ranks = 0, nodes = 0;
  std::optional<core::Seconds> time;
  std::vector<ReplayRanks> rows;
  std::vector<ReplayCollective> collectives;
  std::vector<training::LinkUse> links;
  std::vector<std::string> assumptions;
  std::string limit;  ///< one sentence: what it comes to

  template <class V>
  void fields(V& v) const {
    v.part("version", HEADWAY_VERSION, "of the program");
    v.part("machine", machine, "the file or the entry; null: the traces were only checked");
    v.figure("ranks", ranks, "", "that have a trace", core::at_least_one);
    v.figure("trace_nodes", nodes, "", "of all traces together", core::at_least_one);
    v.figure("time_s", time, "s",
             "from the first node to the end of the last; null without a "
             "cluster",
             core::non_negative);
    v.part("rows", rows, "ranks that do the same, in one row");
    v.part("collectives", collectives, "what is communicated, by kind and size");
    v.part("links", links, "of each tier of links, bytes carried / (capacity x time)");
    v.part("limit", limit, "one sentence: what it comes to");
    v.part("assumptions", assumptions, "what nobody said and was taken");
  }
};

/// Checks traces, and without a machine tells what is in them.
/// @throws core::Error if ranks wait for one another in a circle
ReplayReport describe_traces(const import::ChakraJob& job);

/// Runs them on the first GPUs of a machine: computations take as long as the traces say, or where
/// they do not what the GPU's roofline gives (roofline.h); transfers are simulated on the fabric.
/// @throws core::Error if the machine has fewer GPUs, several sites or other jobs on it, or as
///         `describe_traces`
ReplayReport replay(import::ChakraJob job, const Machine& machine);

}  // namespace headway::study
