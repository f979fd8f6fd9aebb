// What checkpoint storage is, and when and how a job saves to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::storage {

enum class StoragePath { shared, dual };
constexpr auto enum_words(StoragePath) {
  using E = core::EnumWord<StoragePath>;
  return std::array{E{StoragePath::shared, "shared"}, E{StoragePath::dual, "dual"}};
}

/// One storage tier that all nodes reach.
struct StorageSpec {
  static constexpr const char* kCatalogue = "storage";
  std::string name;
  core::BytesPerSecond write_bandwidth;
  core::BytesPerSecond read_bandwidth;
  core::BytesPerSecond client_write_bandwidth{5e9};
  core::BytesPerSecond client_read_bandwidth{5e9};
  core::Seconds latency{1e-3};
  core::Bytes capacity{1e15};
  StoragePath path = StoragePath::dual;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("write_bandwidth", write_bandwidth, "All servers together, sustained writing.", core::positive);
    v.required("read_bandwidth", read_bandwidth, "All servers together, sustained reading.", core::positive);
    v.optional("client_write_bandwidth", client_write_bandwidth, "What one node can write (client, streams, RPC slots).", core::positive);
    v.optional("client_read_bandwidth", client_read_bandwidth, "What one node can read.", core::positive);
    v.optional("latency", latency, "Open, metadata and commit of one file.", core::non_negative);
    v.optional("capacity", capacity, "Usable capacity.", core::positive);
    v.optional("path", path, "shared: over the compute fabric; dual: over a fabric of its own.");
  }
  bool operator==(const StorageSpec&) const = default;
};

enum class CheckpointMode { synchronous, asynchronous };
constexpr auto enum_words(CheckpointMode) {
  using E = core::EnumWord<CheckpointMode>;
  return std::array{E{CheckpointMode::synchronous, "sync"}, E{CheckpointMode::asynchronous, "async"}};
}

/// When and how the job saves.
struct CheckpointSpec {
  core::OrAuto<core::Seconds> interval;
  std::optional<std::int64_t> interval_steps;
  CheckpointMode mode = CheckpointMode::asynchronous;
  double bytes_per_parameter = 14;
  int keep = 3;
  std::optional<core::Seconds> stall;
  std::optional<core::Seconds> persist;
  std::optional<core::Seconds> load;
  template <class V>
  void fields(V& v) {
    v.optional("interval", interval, "Useful work between saves; auto: the optimum for the failure rate.", core::positive);
    v.optional("interval_steps", interval_steps, "The same in steps; excludes interval.", core::at_least_one);
    v.optional("mode", mode, "sync: training waits for the last byte; async: it waits for the snapshot only.");
    v.optional("bytes_per_parameter", bytes_per_parameter, "Saved bytes: 2 weights + 12 fp32 Adam state.", core::positive);
    v.optional("keep", keep, "Checkpoints kept; older ones are deleted.", core::at_least_one);
    v.optional("stall", stall, "Measured time training stops at a save; absent: computed.", core::non_negative);
    v.optional("persist", persist, "Measured time from snapshot to durable; absent: computed.", core::non_negative);
    v.optional("load", load, "Measured time to read a checkpoint at restart; absent: computed.", core::non_negative);
  }
  bool operator==(const CheckpointSpec&) const = default;
};

}  // namespace headway::storage
