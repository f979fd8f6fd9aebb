// What checkpoint storage is, and when and how a job saves to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::storage {

/// A megabyte a second is less than one hard drive gives, 1e18 more than all that were ever sold.
inline constexpr core::Range rate_range{1e6, 1e18, false, false, "from 1 MB/s to 1e9 GB/s"};
/// A zettabyte is more than is stored anywhere.
inline constexpr core::Range size_range{0, 1e21, false, false, "from 0 to 1e9 TB"};
inline constexpr core::Range some_size{0, 1e21, true, false, "above 0 and at most 1e9 TB"};
inline constexpr core::Range number_range{1, 1e6, false, false, "from 1 to 1,000,000"};

enum class StoragePath { shared, dual };
constexpr auto enum_words(StoragePath) {
  using E = core::EnumWord<StoragePath>;
  return std::array{E{StoragePath::shared, "shared"}, E{StoragePath::dual, "dual"}};
}

/// A client that keeps at most so many requests in flight, such as an NFS mount with its RPC slots.
struct ClientSlotsSpec {
  int slots = 128;
  core::Bytes request{1048576};
  core::Seconds latency{1e-3};
  template <class V>
  void fields(V& v) {
    v.required("slots", slots, "Requests in flight.", number_range);
    v.required("request", request, "Bytes of one request.",
               core::Range{1, 1e12, false, false, "from 1 B to 1 TB"});
    v.required("latency", latency, "Of one request, at the load of a save.",
               core::Range{1e-9, 3600, false, false, "between 1 ns and 1 h"});
  }
  bool operator==(const ClientSlotsSpec&) const = default;
};

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
  std::optional<int> servers;
  std::optional<ClientSlotsSpec> client_slots;
  std::optional<double> files_per_second;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("write_bandwidth", write_bandwidth, "All servers together, sustained writing.",
               rate_range);
    v.required("read_bandwidth", read_bandwidth, "All servers together, sustained reading.",
               rate_range);
    v.optional("client_write_bandwidth", client_write_bandwidth,
               "What one node can write (client, streams, RPC slots).", rate_range);
    v.optional("client_read_bandwidth", client_read_bandwidth, "What one node can read.",
               rate_range);
    v.optional("latency", latency, "Open, metadata and commit of one file.",
               core::Range{0, 3600, false, false, "between 0 and 1 h"});
    v.optional("capacity", capacity, "Usable capacity.", some_size);
    v.optional("path", path, "shared: over the compute fabric; dual: over a fabric of its own.");
    v.optional("servers", servers,
               "Storage servers on the compute fabric, spread evenly over its leaves; required for "
               "shared.",
               core::at_least_one);
    v.optional("client_slots", client_slots,
               "Requests one node keeps in flight; they bound its rate.");
    v.optional("files_per_second", files_per_second,
               "Files the servers can create or open, all together; absent: no limit.",
               core::Range{0.01, 1e12, false, false, "from 0.01 to 1e12"});
  }
  bool operator==(const StorageSpec&) const = default;
};

enum class CheckpointMode { synchronous, asynchronous };
constexpr auto enum_words(CheckpointMode) {
  using E = core::EnumWord<CheckpointMode>;
  return std::array{E{CheckpointMode::synchronous, "sync"},
                    E{CheckpointMode::asynchronous, "async"}};
}

/// Where a near save goes.
enum class NearPlace { host, nvme, peer };
constexpr auto enum_words(NearPlace) {
  using E = core::EnumWord<NearPlace>;
  return std::array{E{NearPlace::host, "host"}, E{NearPlace::nvme, "nvme"},
                    E{NearPlace::peer, "peer"}};
}

/// A level of checkpoints nearer than the storage: quick, but lost with its node.
struct CheckpointLevelSpec {
  NearPlace place = NearPlace::host;
  std::int64_t every = 1;
  std::optional<core::BytesPerSecond> write_bandwidth;
  std::optional<core::BytesPerSecond> read_bandwidth;
  std::optional<core::Bytes> capacity;
  int keep = 1;
  std::optional<core::Seconds> stall;
  std::optional<core::Seconds> persist;
  std::optional<core::Seconds> load;
  template <class V>
  void fields(V& v) {
    v.required("place", place, "host memory, the node's drives, or the memory of a peer node.");
    v.optional("every", every, "Each how many-th save goes here too.", number_range);
    v.optional("write_bandwidth", write_bandwidth,
               "One node into it; required for nvme, else computed.", rate_range);
    v.optional("read_bandwidth", read_bandwidth, "One node out of it; absent: as writing.",
               rate_range);
    v.optional("capacity", capacity,
               "Of one node; absent: not checked (host and peer: the host's memory).", some_size);
    v.optional("keep", keep, "Saves kept in it; one more is being written.", number_range);
    v.optional("stall", stall, "Measured time training stops; absent: computed.", core::duration);
    v.optional("persist", persist,
               "Measured time from the end of the stall until complete; absent: computed.",
               core::duration);
    v.optional("load", load, "Measured time to read it back; absent: computed.", core::duration);
  }
  bool operator==(const CheckpointLevelSpec&) const = default;
};

/// Who writes.
enum class Writers { all, one_replica };
constexpr auto enum_words(Writers) {
  using E = core::EnumWord<Writers>;
  return std::array{E{Writers::all, "all"}, E{Writers::one_replica, "one_replica"}};
}

/// When and how the job saves.
struct CheckpointSpec {
  core::OrAuto<core::Seconds> interval;
  std::optional<std::int64_t> interval_steps;
  CheckpointMode mode = CheckpointMode::asynchronous;
  double bytes_per_parameter = 14;
  int keep = 3;
  std::optional<core::Seconds> archive;
  std::int64_t every = 1;
  std::vector<CheckpointLevelSpec> levels;
  Writers writers = Writers::all;
  int files_per_writer = 1;
  double unreadable = 0;
  bool via_drives = false;
  core::Seconds fixed_cost{1};
  std::optional<core::Seconds> stall;
  std::optional<core::Seconds> persist;
  std::optional<core::Seconds> load;
  template <class V>
  void fields(V& v) {
    v.optional("interval", interval,
               "Useful work between saves; auto: the optimum for the failure rate.",
               core::Range{1e-3, core::kCentury, false, false, "between 1 ms and 100 years"});
    v.optional("interval_steps", interval_steps, "The same in steps; excludes interval.",
               core::Range{1, 1e12, false, false, "from 1 to 1e12"});
    v.optional("mode", mode,
               "sync: training waits for the last byte; async: it waits for the snapshot only.");
    v.optional(
        "bytes_per_parameter", bytes_per_parameter,
        "Saved bytes: 2 weights + 12 fp32 Adam state; left out: what training keeps of each.",
        core::Range{0.1, 1000, false, false, "from 0.1 to 1,000"});
    v.optional("keep", keep, "Checkpoints kept; older ones are deleted.", number_range);
    v.optional(
        "archive", archive,
        "Useful work after which a checkpoint is kept for good (nearest save; each, if saves "
        "are rarer); absent: none is.",
        core::period);
    v.optional("every", every,
               "Each how many-th save goes to storage; the others stay in `levels`.", number_range);
    v.optional("levels", levels, "Nearer places that saves go to as well.");
    v.optional("writers", writers,
               "all: every node writes its part; one_replica: the nodes of one data-parallel "
               "replica write it all.");
    v.optional("files_per_writer", files_per_writer, "Files each GPU that writes creates.",
               number_range);
    v.optional("unreadable", unreadable,
               "Chance that a save is found torn or stale when it is read; the one before it is "
               "then loaded.",
               core::Range{0, 1, false, true, "0 or more and below 1"});
    v.optional("via_drives", via_drives,
               "Saves to storage pass through a drive of each node, so that a bad drive holds them "
               "up; false: they go from memory.");
    v.optional(
        "fixed_cost", fixed_cost,
        "Of each save, whatever its size: training stops while ranks plan, agree on metadata, "
        "create files and wait for one another; part of a measured stall. 1 s lies between "
        "ByteCheckpoint (NSDI 2025, table 8: 0.59 s on 8,960 GPUs, of which the copy is 0.03 s) "
        "and PyTorch DCP with cached plans (pull request 149785: 1.5 s on 256 ranks; 90 s "
        "without).",
        core::Range{0, 3600, false, false, "between 0 and 1 h"});
    v.optional("stall", stall, "Measured time training stops at a save; absent: computed.",
               core::duration);
    v.optional("persist", persist, "Measured time from snapshot to durable; absent: computed.",
               core::duration);
    v.optional("load", load, "Measured time to read a checkpoint at restart; absent: computed.",
               core::duration);
  }
  bool operator==(const CheckpointSpec&) const = default;
};

/// What is read to train on.
struct DataSpec {
  core::Bytes bytes_per_token{4};
  core::Bytes dataset{0};
  core::Bytes node_cache{0};
  int islands = 1;
  core::BytesPerSecond staging_bandwidth{10e9};
  bool stage_at_start = true;
  bool refill_cache = false;
  double restart_moves = 0;
  template <class V>
  void fields(V& v) {
    v.optional("bytes_per_token", bytes_per_token,
               "Bytes read for one token (text: 4; images and video far more).",
               core::Range{1e-3, 1e9, false, false, "from 0.001 B to 1 GB"});
    v.optional("dataset", dataset, "The whole data set; 0: not staged and not cached.", size_range);
    v.optional("node_cache", node_cache, "Drives of one node that hold its part of the data set.",
               size_range);
    v.optional("islands", islands, "Storage islands that each need a copy of the data set.",
               core::Range{1, 10000, false, false, "from 1 to 10,000"});
    v.optional("staging_bandwidth", staging_bandwidth,
               "From where the data set lies to one more island.", rate_range);
    v.optional("stage_at_start", stage_at_start,
               "The copies are made before the first step; false: they are there.");
    v.optional("refill_cache", refill_cache,
               "A spare fills its part of the cache from storage before the job goes on; false: "
               "while it runs.");
    v.optional("restart_moves", restart_moves,
               "Chance that lost nodes send the restart to an island without the data, which is "
               "copied there first.",
               core::Range{0, 1, false, false, "from 0 to 1"});
  }
  bool operator==(const DataSpec&) const = default;
};

}  // namespace headway::storage
