// A drill and a campaign of the same job that is struck once book the same times: recovery and
// checkpoint levels mean the same in both.
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "sim/campaign/trial.h"
#include "sim/drill/drill.h"

namespace headway::drill {
namespace {

using campaign::JobTicks;
using campaign::TrialResult;
using core::Seconds;

constexpr double kInterval = 900, kSinceSave = 450, kStrike = 2 * kInterval + kSinceSave,
                 kDay = 86400;

/// 8 nodes of 8 GPUs, 4 replicas, saves that take no time, struck once.
JobModel job() {
  JobModel job;
  job.recovery = JobRecovery::at_once();
  job.gpus = 64;
  job.gpus_per_node = 8;
  job.spare_nodes = 2;
  job.replicas = 4;
  job.end.wall = Seconds(kStrike + kDay);
  job.step = Seconds(10);
  job.interval = Seconds(kInterval);
  job.recovery.detection = Seconds(30);
  job.recovery.diagnosis = Seconds(60);
  job.recovery.replacement = Seconds(50);
  job.recovery.container_start = Seconds(100);
  job.recovery.communicators = Seconds(17);
  job.recovery.load = Seconds(20);
  job.recovery.warm_up = Seconds(33);
  job.recovery.repair = Seconds(3 * kDay);
  failures::Hazard hazard;
  hazard.recorded = {{Seconds(kStrike), {}}};
  job.hazards = {hazard};
  return job;
}

/// The same job in the words of the drill; the right cause is the likely one.
DrillSetup setup_of(const JobModel& job, FaultKind kind) {
  const auto& r = job.recovery;
  DrillSetup s;
  s.gpus = job.gpus;
  s.nodes = job.gpus / job.gpus_per_node;
  s.spares = job.spare_nodes;
  s.replicas = job.replicas;
  s.step = job.step;
  s.saves.interval = job.interval;
  s.saves.snapshot = job.stall;
  s.saves.write = job.persist;
  s.saves.near = job.near;
  s.saves.storage_every = job.storage_every;
  s.saves.node_bytes = core::Bytes(1);
  s.saves.node_rate = s.saves.server_share = core::BytesPerSecond(1e9);
  s.recovery = r;
  s.recovery.eviction = job.hazards[0].swapped ? failures::Eviction::gpu : failures::Eviction::node;
  s.evicted = std::max<std::int64_t>(1, job.hazards[0].evicted);
  s[Monitor::process_exit] = {true, r.detection, "test"};
  s.rate.fill(1e-12);
  s.rate[static_cast<std::size_t>(kind)] = 1;
  s.since_save = Seconds(kSinceSave);
  return s;
}

/// @param saves_cost  saves stop the job, so that its useful time depends on when the last one is
void expect_same(const std::string& name,
                 const JobModel& job,
                 FaultKind kind,
                 bool saves_cost = false) {
  const TrialResult trial = run_trial(job, JobTicks(job), 0);
  Fault fault;
  fault.kind = kind;
  const DrillTrace drill = drill_once(setup_of(job, kind), fault, [](const auto&) { return 1.0; });
  for (const Account account : {Account::detect, Account::diagnose, Account::restart, Account::load,
                                Account::wait, Account::lost, Account::degraded}) {
    EXPECT_NEAR(static_cast<double>(drill[account]), static_cast<double>(trial[account]), 1)
        << name << ": " << core::to_word(account);
  }
  if (!saves_cost) {
    const double before = job.hazards[0].recorded[0].at.si();
    EXPECT_EQ(drill[Account::useful] + static_cast<core::Tick>(before * 1e6),
              trial[Account::useful])
        << name;
  }
}

NearLevel level(const char* name, Reach survives) {
  return {.name = name,
          .survives = survives,
          .every = 1,
          .stall = Seconds(0),
          .persist = Seconds(0),
          .load = Seconds(3)};
}

TEST(DrillAndCampaign, BookTheSameTimes) {
  expect_same("a lost node", job(), FaultKind::gpu_dead);
  JobModel crash = job();
  crash.hazards[0].nodes_lost = 0;
  expect_same("a crash", crash, FaultKind::software_crash);
  crash.recovery.in_process_start = Seconds(5);
  expect_same("a crash, in place", crash, FaultKind::software_crash);
  JobModel dead = job();
  dead.recovery.in_process_start = Seconds(5);
  expect_same("a lost node, not in place", dead, FaultKind::gpu_dead);
  JobModel swapped = job();
  swapped.spare_nodes = 0;
  swapped.hazards[0].nodes_lost = 0;
  swapped.hazards[0].swapped = true;
  expect_same("a swapped GPU", swapped, FaultKind::gpu_dead);
  JobModel rack = job();
  rack.hazards[0].evicted = 2;
  expect_same("two nodes leave", rack, FaultKind::gpu_dead);
}

TEST(DrillAndCampaign, ReadTheSameSaves) {
  JobModel rare = job();
  rare.storage_every = 4;
  rare.near = {level("host", Reach::process)};
  expect_same("host copies are gone", rare, FaultKind::gpu_dead);
  rare.near = {level("peer", Reach::node)};
  expect_same("peer copies", rare, FaultKind::gpu_dead);
  rare.hazards[0].nodes_lost = 0;
  rare.near = {level("host", Reach::process)};
  expect_same("host copies", rare, FaultKind::software_crash);
  JobModel peers = job();
  peers.recovery.peer_load = Seconds(7);
  peers.step = Seconds(8);  // the saves before are at the end of one
  expect_same("state from peers", peers, FaultKind::gpu_dead);
}

TEST(DrillAndCampaign, GoOnElasticallyAlike) {
  JobModel elastic = job();
  elastic.recovery.elastic = failures::ElasticSpec{};
  expect_same("one replica leaves", elastic, FaultKind::gpu_dead);
  elastic.recovery.elastic->fewest_replicas = 4;
  expect_same("too few are left", elastic, FaultKind::gpu_dead);
}

TEST(DrillAndCampaign, MoveToSparesAlike) {
  JobModel moving = job();
  moving.step = Seconds(8);  // the saves before are at the end of one
  moving.recovery.migration = failures::MigrationSpec{Seconds(40), 0, {}};
  moving.recovery.repair = Seconds(5000);
  moving.hazards[0].recorded[0].repair = moving.recovery.repair;
  expect_same("a spare is ready", moving, FaultKind::gpu_dead);
  moving.spare_nodes = 0;
  expect_same("none is", moving, FaultKind::gpu_dead);
  moving.hazards[0].nodes_lost = 0;
  expect_same("nothing to move", moving, FaultKind::software_crash);
}

/// A recovery, saves and spares at random; whole seconds.
class RandomJob {
 public:
  explicit RandomJob(unsigned seed) : random_(seed) {}

  /// @param kind  the fault of the drill that is the job's one hazard
  JobModel draw(FaultKind& kind) {
    JobModel model = job();
    model.spare_nodes = below(4);
    set_times(model.recovery);
    set_saves(model);
    failures::Hazard& hazard = model.hazards[0];
    hazard.nodes_lost = coin() ? 1 : 0;
    hazard.swapped = hazard.nodes_lost == 0 && below(3) == 0;
    hazard.evicted = std::int64_t{1} << below(3);
    kind =
        hazard.nodes_lost > 0 || hazard.swapped ? FaultKind::gpu_dead : FaultKind::software_crash;
    if (hazard.swapped) {
      hazard.evicted = 1;
    }
    if (hazard.evicted <= 2 &&
        below(4) == 0) {  // of several replicas a drill lets all join at once
      model.recovery.elastic =
          failures::ElasticSpec{seconds(100), seconds(100), 1 + static_cast<int>(below(4))};
    }
    if (below(4) == 0) {
      model.recovery.migration = failures::MigrationSpec{seconds(100), 0, {}};
    }
    // After whole rhythms of all levels, in the middle of that of the storage.
    const auto segments = static_cast<double>(12 * model.storage_every + model.storage_every / 2);
    const Seconds strike = segments * (model.interval + model.stall) + Seconds(kSinceSave);
    hazard.recorded = {{strike, model.recovery.repair}};
    model.end.wall = strike + Seconds(kDay);
    return model;
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_()) % n; }
  bool coin() { return below(2) == 0; }
  Seconds seconds(std::int64_t most) { return Seconds(static_cast<double>(below(most))); }

  void set_times(JobRecovery& r) {
    for (Seconds* time : {&r.detection, &r.diagnosis, &r.replacement, &r.container_start,
                          &r.communicators, &r.load, &r.warm_up}) {
      *time = seconds(300);
    }
    r.detection += Seconds(1);
    r.repair = Seconds(1) + seconds(40'000);
    r.retest = Seconds(1) + seconds(40'000);
    r.refill = coin() ? Seconds(0) : seconds(200);
    if (coin()) {
      r.in_process_start = seconds(20);
    }
    if (below(4) == 0) {
      r.peer_load = seconds(50);
    }
  }

  void set_saves(JobModel& model) {
    model.stall = coin() ? Seconds(0) : seconds(30);
    model.persist = coin() ? Seconds(0) : seconds(800);
    if (coin()) {
      return;
    }
    model.storage_every = 1 + below(4);
    model.stall = Seconds(0);
    for (const auto& [name, survives] :
         {std::pair{"host", Reach::process}, std::pair{"peer", Reach::node}}) {
      if (coin()) {
        NearLevel near = level(name, survives);
        near.every = 1 + below(4);
        near.load = seconds(20);
        near.persist = seconds(static_cast<std::int64_t>(kSinceSave));
        model.near.push_back(near);
      }
    }
  }

  std::mt19937 random_;
};

/// What to try again by hand.
std::string described(int number, const JobModel& model) {
  const auto& r = model.recovery;
  const auto& hazard = model.hazards[0];
  std::string text = fmt::format(
      "job {}: {} spares, {} lost, {} evicted{}, repair {} s, retest {} s, refill {} s, stall {} "
      "s, "
      "persist {} s, every {}",
      number, model.spare_nodes, hazard.nodes_lost, hazard.evicted,
      hazard.swapped ? ", swapped" : "", r.repair.si(), r.retest.si(), r.refill.si(),
      model.stall.si(), model.persist.si(), model.storage_every);
  for (const auto& near : model.near) {
    text += fmt::format(", {} every {} in {} s", near.name, near.every, near.persist.si());
  }
  text += r.in_process_start ? ", in place" : "";
  text += r.peer_load ? ", from peers" : "";
  text += r.migration ? fmt::format(", moves in {} s", r.migration->stall.si()) : "";
  text += r.elastic ? fmt::format(", elastic to {}", r.elastic->fewest_replicas) : "";
  return text;
}

// The law behind the cases above, over random jobs: one that is struck once books the same ticks in
// a drill and in a campaign, which are two state machines.
TEST(DrillAndCampaign, AgreeToTheTickOverRandomJobs) {
  RandomJob random(20261122);
  for (int i = 0; i < 400; ++i) {
    FaultKind kind = FaultKind::gpu_dead;
    const JobModel model = random.draw(kind);
    expect_same(described(i, model), model, kind, model.stall.si() > 0 || model.persist.si() > 0);
    if (HasFailure()) {
      return;  // one at a time
    }
  }
}

}  // namespace
}  // namespace headway::drill
