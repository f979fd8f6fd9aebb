// A drill and a campaign of the same job that is struck once book the same times: recovery and
// checkpoint levels mean the same in both.
#include <functional>
#include <gtest/gtest.h>
#include <string>

#include "sim/campaign/trial.h"
#include "sim/drill/drill.h"

namespace headway::drill {
namespace {

using campaign::JobTicks;
using campaign::TrialResult;
using core::Seconds;

constexpr double kInterval = 900, kStrike = 2 * kInterval + 450, kDay = 86400;

/// 8 nodes of 8 GPUs, 4 replicas, saves that take no time, struck once.
JobModel job() {
  JobModel job;
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
  job.recovery.start = Seconds(100);
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
  s.saves.near = job.near;
  s.saves.storage_every = job.storage_every;
  s.saves.node_bytes = core::Bytes(1);
  s.saves.node_rate = s.saves.server_share = core::BytesPerSecond(1e9);
  s.recovery = {
      .diagnosis = r.diagnosis,
      .replacement = r.replacement,
      .start = r.start,
      .load = r.load,
      .warm_up = r.warm_up,
      .repair = r.repair,
      .communicators = r.communicators,
      .in_process_start = r.in_process_start,
      .peer_load = r.peer_load,
      .eviction = job.hazards[0].swapped ? failures::Eviction::gpu : failures::Eviction::node,
      .evicted = std::max<std::int64_t>(1, job.hazards[0].evicted),
      .elastic = r.elastic};
  s[Monitor::process_exit] = {true, r.detection, "test"};
  s.rate.fill(1e-12);
  s.rate[static_cast<std::size_t>(kind)] = 1;
  s.since_save = Seconds(450);
  return s;
}

void expect_same(const std::string& name, const JobModel& job, FaultKind kind) {
  const TrialResult trial = run_trial(job, JobTicks(job), 0);
  Fault fault;
  fault.kind = kind;
  const DrillTrace drill = drill_once(setup_of(job, kind), fault, [](const auto&) { return 1.0; });
  for (const Account account : {Account::detect, Account::diagnose, Account::restart, Account::load,
                                Account::wait, Account::lost, Account::degraded}) {
    EXPECT_NEAR(static_cast<double>(drill[account]), static_cast<double>(trial[account]), 1)
        << name << ": " << core::to_word(account);
  }
  EXPECT_EQ(drill[Account::useful] + static_cast<core::Tick>(kStrike * 1e6), trial[Account::useful])
      << name;
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

}  // namespace
}  // namespace headway::drill
