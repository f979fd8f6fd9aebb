#include "sim/campaign/saves/simulated_saves.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/training/step/side_traffic.h"

namespace headway::campaign {

using core::Seconds;

namespace {

/// A measured time says how fast the clients are.
void slow_to(const std::optional<Seconds>& measured, training::SideTransfers& side) {
  if (!measured || measured->si() <= 0) {
    return;
  }
  for (auto& transfer : side.transfers) {
    transfer.bound = std::min(transfer.bound, transfer.bytes / *measured);
  }
}

class SimulatedSaves {
 public:
  SimulatedSaves(StepSource& source,
                 const storage::ShardLayout& layout,
                 Seconds healthy,
                 ResolvedJob& resolved)
      : source_(source),
        layout_(layout),
        healthy_(healthy),
        resolved_(resolved),
        spec_(source.checked().scenario().run.checkpoint),
        storage_(*source.checked().scenario().cluster.storage) {}

  void to_storage() {
    training::SideTransfers save{storage::save_transfers(layout_, spec_, storage_), latency()};
    JobModel& job = resolved_.job;
    if (spec_.mode == storage::CheckpointMode::synchronous) {
      if (!spec_.stall && !spec_.persist) {
        const Seconds more = training::alone(source_.prepared(), save) -
                             storage::persist_time(layout_, spec_, storage_);
        add(more, Seconds(0));
      }
    } else {
      slow_to(spec_.persist, save);
      const auto beside =
          training::beside_training(source_.prepared(), save, healthy_, source_.progress());
      add(beside.takes, spec_.persist ? Seconds(0) : beside.lasts - job.persist);
      tell_traffic("storage", beside);
    }
    if (!spec_.load && !job.hazards.empty()) {
      job.recovery.load = training::alone(
          source_.prepared(), {storage::load_transfers(layout_, spec_, storage_), latency()});
    }
  }

  void to_peers(std::size_t level) {
    const auto& given = spec_.levels[level];
    training::SideTransfers save{
        storage::peer_transfers(layout_, spec_, given, node_network(source_.checked())),
        Seconds(0)};
    slow_to(given.persist, save);
    const auto beside =
        training::beside_training(source_.prepared(), save, healthy_, source_.progress());
    NearLevel& near = resolved_.job.near[level];
    near.stall += beside.takes;
    const Seconds longer = given.persist ? Seconds(0) : beside.lasts - near.persist;
    near.persist += longer;
    for (auto& drive : resolved_.job.slow_drives) {
      drive.near_stall[level] += beside.takes;
      drive.near_persist[level] += longer;
    }
    tell_traffic("peers", beside);
  }

 private:
  [[nodiscard]] Seconds latency() const {
    return storage_.latency + storage::file_time(layout_, spec_, storage_);
  }

  void add(Seconds stall, Seconds persist) {
    JobModel& job = resolved_.job;
    job.stall += stall;
    job.persist += persist;
    for (auto& drive : job.slow_drives) {
      drive.stall += stall;
      drive.persist += persist;
    }
  }

  void tell_traffic(const char* where, const training::SideTraffic& beside) {
    resolved_.assumptions.push_back(
        {fmt::format("run.checkpoint.traffic.{}", where),
         fmt::format("{:.4g} s a save", beside.takes.si()),
         fmt::format("what training loses beside a save that lasts {:.4g} s: both as flows over {} "
                     "steps{}; counted with its stall",
                     beside.lasts.si(), beside.steps,
                     beside.scaled ? ", a part of the save scaled up" : "")});
  }

  StepSource& source_;
  const storage::ShardLayout& layout_;
  Seconds healthy_;
  ResolvedJob& resolved_;
  const storage::CheckpointSpec& spec_;
  const storage::StorageSpec& storage_;
};

}  // namespace

double simulated_feed(StepSource& source,
                      core::Bytes step_bytes,
                      const std::vector<double>& shares,
                      Seconds healthy) {
  if (step_bytes.si() <= 0) {
    return 1;
  }
  const auto& cluster = source.checked().scenario().cluster;
  const auto beside = training::beside_training(
      source.prepared(),
      {storage::feed_transfers(cluster.nodes, step_bytes, *cluster.storage, shares),
       cluster.storage->latency},
      healthy, source.progress());
  return std::max(1 + beside.takes / healthy, beside.lasts / healthy);
}

void simulate_saves(StepSource& source,
                    const storage::ShardLayout& layout,
                    Seconds healthy,
                    ResolvedJob& resolved) {
  const auto& scenario = source.checked().scenario();
  SimulatedSaves saves(source, layout, healthy, resolved);
  if (training::on_compute_fabric(scenario.cluster)) {
    saves.to_storage();
  }
  const auto& levels = scenario.run.checkpoint.levels;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (levels[level].place == storage::NearPlace::peer && scenario.cluster.nodes > 1) {
      saves.to_peers(level);
    }
  }
}

}  // namespace headway::campaign
