// Fire drills against hand arithmetic: the job is given as plain figures, so that every time below
// can be added up on paper.
#include "sim/drill/drill.h"

#include <gmock/gmock.h>
#include <numeric>

namespace headway::drill {
namespace {

using core::Bytes;
using core::BytesPerSecond;
using core::Seconds;
using testing::Contains;

double seconds(core::Tick tick) { return core::Clock::campaign().to_seconds(tick).si(); }

/// 405e9 parameters at 14 bytes saved synchronously by 512 nodes of 8 GPUs: 11.07 GB a node, 5 GB/s
/// each: 2.2 s. Saves every 900 s; the fault strikes in the middle.
DrillSetup setup_405b() {
  DrillSetup s;
  s.gpus = 4096;
  s.nodes = 512;
  s.spares = 8;
  s.leaves = 128;
  s.nodes_per_leaf = 32;
  s.step = Seconds(10);
  s.saves.synchronous = true;
  s.saves.interval = Seconds(900);
  s.saves.via_drives = true;
  s.saves.node_bytes = Bytes(405e9 * 14 / 512);
  s.saves.node_rate = BytesPerSecond(5e9);
  s.saves.server_share = BytesPerSecond(5e9);
  s.saves.write = s.saves.node_bytes / s.saves.node_rate;
  s.recovery = JobRecovery::at_once();
  s.recovery.diagnosis = Seconds(60);
  s.recovery.replacement = Seconds(50);
  s.recovery.container_start = Seconds(100);
  s.recovery.load = Seconds(20);
  s.recovery.warm_up = Seconds(30);
  s.recovery.repair = Seconds(3 * 86400);
  s[Monitor::process_exit] = {true, Seconds(30), "test"};
  s[Monitor::transport] = {true, Seconds(7), "test"};
  s[Monitor::watchdog] = {true, Seconds(600), "test"};
  s[Monitor::health_check] = {true, Seconds(300), "test"};
  s[Monitor::people] = {true, Seconds(3600), "test"};
  s.rate.fill(1e-7);
  s.usd_per_second = 4096 * 3.0 / 3600;
  s.since_save = Seconds(450);
  return s;
}

double no_slowdown(const training::Degradation& /*part*/) { return 1.2; }

Fault fault_of(FaultKind kind) {
  Fault fault;
  fault.kind = kind;
  return fault;
}

Fault slow_drive(double bytes_per_second) {
  Fault fault = fault_of(FaultKind::nvme_slow);
  fault.rate = BytesPerSecond(bytes_per_second);
  return fault;
}

/// Time of the horizon that a job without fault does not work.
Seconds time_lost_to(const DrillSetup& setup) {
  DrillInput healthy;
  healthy.setup = &setup;
  const DrillTrace twin = run_drill(healthy);
  return setup.horizon - Seconds(seconds(twin[Account::useful] - twin.owed));
}

DrillTrace run(const DrillSetup& setup, const Fault& fault) {
  return drill_once(setup, fault, no_slowdown);
}

std::optional<double> happened(const DrillTrace& trace, Symptom symptom) {
  const auto& at = trace.happened[static_cast<std::size_t>(symptom)];
  return at ? std::optional(seconds(*at)) : std::nullopt;
}

TEST(Drill, ASlowDriveOnlyLengthensTheSaveAndAStalledOneLooksLikeTheNetwork) {
  // The watchdog waits 600 s for the last of 11.07 GB, so the drive must write less than
  //     11.07 GB / (600 s + 2.2 s that the others take) = 18.39 MB/s.
  const DrillSetup setup = setup_405b();
  const double edge = setup.saves.node_bytes.si() / (600 + setup.saves.write.si());
  EXPECT_NEAR(edge / 1e6, 18.4, 0.1);
  EXPECT_TRUE(happened(run(setup, slow_drive(0.99 * edge)), Symptom::collective_timeout));
  const DrillTrace slow = run(setup, slow_drive(1.01 * edge));
  EXPECT_FALSE(happened(slow, Symptom::collective_timeout));
  EXPECT_TRUE(happened(slow, Symptom::save_slow));
  EXPECT_TRUE(happened(slow, Symptom::writer_late));
}

TEST(Drill, AHalvedDriveCostsTheExtraTimeOfEachSaveAndNothingElse) {
  // 2.5 GB/s: each save takes 2.214 s more. Half an interval, then every 900 s + 4.43 s of 24 h.
  DrillSetup setup = setup_405b();
  setup[Monitor::people].on = false;
  const DrillTrace trace = run(setup, slow_drive(2.5e9));
  EXPECT_TRUE(trace.responses.empty());
  const double saves = std::floor((86400 - 450) / (900 + 2 * setup.saves.write.si())) + 1;
  EXPECT_NEAR(time_lost(setup, trace).si(), saves * setup.saves.write.si(), 3);
}

TEST(Drill, TheFirstTimeoutComesWhenTheArithmeticSaysAndItsTraceHasTheStory) {
  // Fault at 0, save begins after 450 s of work, the others are done 2.2 s later, 600 s of waiting.
  const DrillSetup setup = setup_405b();
  const DrillTrace trace = run(setup, fault_of(FaultKind::nvme_stalled));
  EXPECT_NEAR(*happened(trace, Symptom::collective_timeout), 450 + setup.saves.write.si() + 600,
              1e-3);
  ASSERT_FALSE(trace.responses.empty());
  const Response& first = trace.responses.front();
  EXPECT_EQ(first.alarm, Monitor::process_exit);
  EXPECT_NEAR(seconds(first.at), 450 + setup.saves.write.si() + 600 + 30, 1e-3);
  // Nobody looks at drives here, so what is visible is a timeout like any other.
  EXPECT_FALSE(trace.visible[static_cast<std::size_t>(Symptom::drive_silent)]);
  EXPECT_TRUE(happened(trace, Symptom::drive_silent));
}

TEST(Drill, BlameFollowsTheFailureRatesUntilSomebodyLooksAtDrives) {
  DrillSetup setup = setup_405b();
  setup.rate[static_cast<std::size_t>(FaultKind::hang)] = 1e-5;
  const Fault fault = fault_of(FaultKind::nvme_stalled);
  const DrillTrace blind = run(setup, fault);
  EXPECT_EQ(blind.responses.front().blamed, FaultKind::hang);
  EXPECT_FALSE(blind.responses.front().right);
  EXPECT_GT(blind.responses.size(), 1U);  // it comes back at the next save
  // A drive monitor raises the alarm long before any save, and names the node.
  setup[Monitor::drive_monitor] = {true, Seconds(60), "test"};
  const DrillTrace watched = run(setup, fault);
  EXPECT_EQ(watched.responses.front().alarm, Monitor::drive_monitor);
  EXPECT_EQ(seconds(watched.responses.front().at), 30);
  EXPECT_EQ(watched.responses.front().blamed, FaultKind::nvme_stalled);
  EXPECT_LT(time_lost(setup, watched), time_lost(setup, blind));
}

TEST(Drill, RemovingTheWatchdogChangesTheTimeline) {
  DrillSetup setup = setup_405b();
  const Fault fault = fault_of(FaultKind::hang);
  const DrillTrace with = run(setup, fault);
  EXPECT_NEAR(*happened(with, Symptom::collective_timeout), 600, 1e-3);
  EXPECT_EQ(with.responses.front().alarm, Monitor::process_exit);
  setup[Monitor::watchdog].on = false;
  const DrillTrace without = run(setup, fault);
  EXPECT_FALSE(happened(without, Symptom::collective_timeout));
  // Silence of three steps, then half an hour until someone looks.
  EXPECT_EQ(without.responses.front().alarm, Monitor::people);
  EXPECT_NEAR(seconds(without.responses.front().at), 30 + 1800, 1e-3);
  EXPECT_NEAR((time_lost(setup, without) - time_lost(setup_405b(), with)).si(), 1830 - 630, 10);
}

TEST(Drill, ADeadGpuCostsItsPhasesToTheSecond) {
  // Rolled back 450 s of work; detection 30, diagnosis 60, replacement 50, start 100, load 20 and
  // warm-up 30 s: 740 s. The saves of the twin fall elsewhere: up to one save of 2.2 s either way.
  const DrillSetup setup = setup_405b();
  const DrillTrace trace = run(setup, fault_of(FaultKind::gpu_dead));
  EXPECT_EQ(seconds(trace[Account::lost]), 450);
  EXPECT_EQ(seconds(trace[Account::detect]), 30);
  EXPECT_EQ(seconds(trace[Account::diagnose]), 60);
  EXPECT_EQ(seconds(trace[Account::restart]), 180);
  EXPECT_EQ(seconds(trace[Account::load]), 20);
  EXPECT_NEAR(time_lost(setup, trace).si(), 740, 2.3);
  EXPECT_EQ(seconds(*trace.running_again), 290);
}

TEST(Drill, WithoutSparesTheJobWaitsForTheRepair) {
  DrillSetup setup = setup_405b();
  setup.recovery.repair = Seconds(7200);
  setup.spares = 0;
  const DrillTrace trace = run(setup, fault_of(FaultKind::host_dead));
  EXPECT_EQ(seconds(trace[Account::wait]), 7200);
}

TEST(Drill, ASilentPeerIsFoundByTheTransportLongBeforeTheWatchdog) {
  const DrillTrace trace = run(setup_405b(), fault_of(FaultKind::nic_down));
  EXPECT_EQ(*happened(trace, Symptom::collective_error), 7);
  EXPECT_FALSE(happened(trace, Symptom::collective_timeout));
}

TEST(Drill, AFlapShorterThanTheTransportTimeoutOnlySlowsTheStep) {
  Fault fault = fault_of(FaultKind::optic_flapping);
  fault.down = Seconds(6);
  EXPECT_FALSE(happened(run(setup_405b(), fault), Symptom::collective_error));
  fault.down = Seconds(8);
  EXPECT_TRUE(happened(run(setup_405b(), fault), Symptom::collective_error));
}

TEST(Drill, CorruptionOlderThanEveryCheckpointKeptGoesBackToTheArchive) {
  // Found by people half an hour after the loss shows it at 6 h; three saves of 900 s are kept.
  DrillSetup setup = setup_405b();
  const DrillTrace few = run(setup, fault_of(FaultKind::silent_corruption));
  setup.saves.keep = 48;
  const DrillTrace many = run(setup, fault_of(FaultKind::silent_corruption));
  // Half a day of archive against half an interval: 43,200 s and 450 s of earlier work.
  EXPECT_NEAR(seconds(few[Account::lost] - many[Account::lost]), 43200, 1);
  // A save for good every 12 h, as `run.checkpoint.archive` says: a quarter of a day.
  setup = setup_405b();
  setup.saves.archive = Seconds(12 * 3600);
  const DrillTrace often = run(setup, fault_of(FaultKind::silent_corruption));
  EXPECT_NEAR(seconds(few[Account::lost] - often[Account::lost]), 21600, 1);
}

TEST(Drill, AWrongCheckpointIsAnEverydayRestartUntilTheStepNumberIsRead) {
  DrillSetup setup = setup_405b();
  const DrillTrace blind = run(setup, fault_of(FaultKind::wrong_checkpoint));
  setup[Monitor::restart_check] = {true, Seconds(0), "test"};
  const DrillTrace checked = run(setup, fault_of(FaultKind::wrong_checkpoint));
  EXPECT_TRUE(blind.responses.front().suspects.empty());
  ASSERT_EQ(checked.responses.size(), 2U);
  EXPECT_EQ(checked.responses[1].alarm, Monitor::restart_check);
  EXPECT_EQ(checked.responses[1].blamed, FaultKind::wrong_checkpoint);
  EXPECT_LT(time_lost(setup, checked), time_lost(setup, blind));
}

TEST(Drill, EveryKindEndsItsBooksToTheTickAndSaysWhatItIs) {
  DrillSetup setup = setup_405b();
  const core::Tick horizon = core::Clock::campaign().to_ticks(setup.horizon);
  for (const auto& [kind, word] : enum_words(FaultKind{})) {
    setup.saves.synchronous = !setup.saves.synchronous;  // and each neighbour the other way
    setup.saves.snapshot = Seconds(setup.saves.synchronous ? 0 : 1);
    const DrillTrace trace = run(setup, fault_of(kind));
    EXPECT_EQ(std::accumulate(trace.accounts.begin(), trace.accounts.end(), core::Tick{0}), horizon)
        << word;
    ASSERT_FALSE(trace.timeline.empty()) << word;
    EXPECT_EQ(trace.timeline.front().moment, Moment::fault) << word;
    EXPECT_THAT(trace.timeline.front().text, testing::StartsWith(std::string(word))) << word;
    for (std::size_t i = 1; i < trace.timeline.size(); ++i) {
      EXPECT_LE(trace.timeline[i - 1].at, trace.timeline[i].at) << word;
    }
    // Not better than without the fault, but for a snapshot that was left out.
    const double ahead =
        seconds(trace[Account::useful] - trace.owed) - (setup.horizon - time_lost_to(setup)).si();
    EXPECT_LE(ahead, 1 + 1e-3) << word;
    // Nothing depends on anything but the input.
    EXPECT_EQ(run(setup, fault_of(kind)).timeline, trace.timeline) << word;
  }
}

TEST(Drill, AFaultThatHealsInTimeLeavesNoTrace) {
  Fault fault = fault_of(FaultKind::nvme_stalled);
  fault.lasts = Seconds(400);  // the save begins at 450 s
  const DrillSetup setup = setup_405b();
  const DrillTrace trace = run(setup, fault);
  EXPECT_TRUE(trace.responses.empty());
  EXPECT_EQ(time_lost(setup, trace).si(), 0);
}

TEST(Drill, WorkThatNoSaveMakesDurableIsLost) {
  // Asynchronous saves stop nobody, but the one of the stalled drive never ends: what is done after
  // the save 450 s before the fault is lost when the day is over.
  DrillSetup setup = setup_405b();
  setup.saves.synchronous = false;
  setup[Monitor::people].on = false;
  const DrillTrace trace = run(setup, fault_of(FaultKind::nvme_stalled));
  EXPECT_FALSE(happened(trace, Symptom::collective_timeout));
  EXPECT_NEAR(time_lost(setup, trace).si(), 86400 + 450, 1e-3);
  EXPECT_EQ(seconds(trace.at_risk), 86400 + 450);
  ASSERT_TRUE(trace.last_durable);
  EXPECT_LE(seconds(*trace.last_durable), 0);
  // Left out is the save after the one that began at 450 s. Whoever reads the log sees that.
  EXPECT_EQ(happened(trace, Symptom::save_skipped), 450 + 900);
  setup[Monitor::people].on = true;
  const DrillTrace seen = run(setup, fault_of(FaultKind::nvme_stalled));
  EXPECT_EQ(seconds(seen.responses.front().at), 450 + 900 + 1800);
  EXPECT_EQ(seen.at_risk, 0);
  EXPECT_FALSE(seen.last_durable);
}

TEST(Drill, ARestartThatLeavesTheFaultThereFailsWhereItTouchesIt) {
  struct Case {
    FaultKind kind;
    Symptom symptom;
    double at;  // alarm after 7 + 30 s, diagnosis 60, one node replaced 50, start 100
  };
  for (const Case& one : {Case{FaultKind::rack_power_loss, Symptom::start_failed, 247},
                          Case{FaultKind::leaf_down, Symptom::init_failed, 247 + 17 + 7}}) {
    DrillSetup setup = setup_405b();
    setup[Monitor::health_check].on = false;
    setup.spares = 64;
    setup.recovery.communicators = Seconds(17);
    setup.rate[static_cast<std::size_t>(FaultKind::nic_down)] = 1e-2;
    const DrillTrace trace = run(setup, fault_of(one.kind));
    ASSERT_GE(trace.responses.size(), 2U);
    EXPECT_FALSE(trace.responses[0].right);
    EXPECT_NEAR(*happened(trace, one.symptom), one.at, 1e-3);
    // No step is made before it is mended.
    for (const auto& entry : trace.timeline) {
      if (entry.moment == Moment::running) {
        EXPECT_GE(entry.at, *trace.cured);
      }
    }
  }
}

TEST(Drill, ADeadLeafShowsAtTheHealthChecksOfItsNodes) {
  const DrillTrace trace = run(setup_405b(), fault_of(FaultKind::leaf_down));
  EXPECT_EQ(happened(trace, Symptom::port_down), 0);
  EXPECT_EQ(happened(trace, Symptom::ports_down), 0);
  EXPECT_TRUE(trace.visible[static_cast<std::size_t>(Symptom::port_down)]);
}

// Leaf 15 has ports for nodes 480 to 511, and with 48 nodes a leaf for the eight spares, too: these
// replace nobody who hangs on it.
TEST(Drill, SparesBehindADeadLeafReplaceNobody) {
  DrillSetup setup = setup_405b();
  setup.nodes_per_leaf = 8;
  Fault fault = fault_of(FaultKind::leaf_down);
  fault.node = 480;
  setup.room_of_leaf = 32;
  EXPECT_EQ(places_behind(setup, fault), 0);
  const auto beside = run(setup, fault);
  setup.room_of_leaf = 48;
  EXPECT_EQ(places_behind(setup, fault), 16);
  const auto behind = run(setup, fault);
  EXPECT_GT(seconds(behind[Account::wait]), seconds(beside[Account::wait]) + 3600);
  fault.node = 0;
  EXPECT_EQ(places_behind(setup, fault), 0);
  EXPECT_EQ(places_behind(setup, fault_of(FaultKind::host_dead)), 0);
}

TEST(Drill, AJobThatDiesWhileTheStorageIsMendedStartsAgainWhenItIs) {
  // Alarm after 150 s, diagnosis 60, mended 600 s later; the save at 450 s kills the job. Start
  // 100, load 20 and warm-up 30 s follow.
  DrillSetup setup = setup_405b();
  setup.rate[static_cast<std::size_t>(FaultKind::storage_full)] = 1e-5;
  const DrillTrace unwatched = run(setup, fault_of(FaultKind::storage_full));
  setup[Monitor::capacity_monitor] = {true, Seconds(300), "test"};
  const DrillTrace watched = run(setup, fault_of(FaultKind::storage_full));
  EXPECT_EQ(happened(watched, Symptom::no_space), 450);
  EXPECT_EQ(seconds(*watched.cured), 150 + 60 + 600);
  EXPECT_EQ(seconds(*watched.running_again), 810 + 150);
  EXPECT_LT(time_lost(setup, watched), time_lost(setup, unwatched));
  EXPECT_EQ(unwatched.responses.front().blamed, FaultKind::storage_full);
}

TEST(Drill, NobodyIsAlarmedByASilenceThatIsOver) {
  // A save of 583 s: the log is silent after 30 s, people would look 1,800 s later.
  const DrillSetup setup = setup_405b();
  const DrillTrace trace = run(setup, slow_drive(19e6));
  ASSERT_TRUE(happened(trace, Symptom::no_step));
  for (const auto& entry : trace.timeline) {
    EXPECT_FALSE(entry.moment == Moment::alarm && entry.symptom == Symptom::no_step);
  }
}

TEST(Drill, ASlowPartIsKeptOrLeavesAtOnceOrAfterASave) {
  DrillSetup setup = setup_405b();
  setup.rate[static_cast<std::size_t>(FaultKind::gpu_slow)] = 1e-5;
  const Fault fault = fault_of(FaultKind::gpu_slow);
  const DrillTrace saved = run(setup, fault);
  EXPECT_EQ(seconds(saved[Account::lost]), 0);
  setup.recovery.slow_part = failures::SlowPart::stop_at_once;
  const DrillTrace at_once = run(setup, fault);
  // 450 s, and until the stop at 150 + 60 s steps of 1.2 times the length.
  EXPECT_NEAR(seconds(at_once[Account::lost]), 450 + 210 / 1.2, 1e-3);
  setup.recovery.slow_part = failures::SlowPart::keep;
  const DrillTrace kept = run(setup, fault);
  EXPECT_EQ(seconds(kept[Account::restart]), 0);
  EXPECT_NEAR(time_lost(setup, kept).si(), 86400 * (1 - 1 / 1.2), 70);  // and saves
}

TEST(Drill, ProcessesStartInPlaceWhereNoNodeLeaves) {
  DrillSetup setup = setup_405b();
  const auto start = [&](FaultKind kind) {
    return seconds(run(setup, fault_of(kind))[Account::restart]);
  };
  const double crash = start(FaultKind::software_crash);
  const double dead = start(FaultKind::gpu_dead);
  setup.recovery.in_process_start = Seconds(10);
  setup.rate[static_cast<std::size_t>(FaultKind::software_crash)] = 1e-2;
  EXPECT_EQ(start(FaultKind::software_crash), crash - 90 - 50 * (crash > 130));
  setup.rate[static_cast<std::size_t>(FaultKind::software_crash)] = 1e-7;
  EXPECT_EQ(start(FaultKind::gpu_dead), dead);
}

TEST(Drill, ASwappedGpuNeedsNoSpareNode) {
  DrillSetup setup = setup_405b();
  setup.spares = 0;
  setup.rate[static_cast<std::size_t>(FaultKind::gpu_dead)] = 1e-3;
  EXPECT_GT(seconds(run(setup, fault_of(FaultKind::gpu_dead))[Account::wait]), 80000);
  setup.recovery.eviction = failures::Eviction::gpu;
  const DrillTrace trace = run(setup, fault_of(FaultKind::gpu_dead));
  EXPECT_EQ(seconds(trace[Account::wait]), 0);
  EXPECT_EQ(seconds(trace[Account::restart]), 50 + 100 + 30);
}

TEST(Drill, ARestartReadsTheNearestSaveThatTheFaultLeaves) {
  // Storage each 4th save, peers each. The storage's is 1,800 s + 450 s old when the fault strikes.
  DrillSetup setup = setup_405b();
  setup.rate[static_cast<std::size_t>(FaultKind::gpu_dead)] = 1e-3;
  setup.rate[static_cast<std::size_t>(FaultKind::rack_power_loss)] = 1e-4;
  setup.saves.storage_every = 4;
  const auto lost = [&](FaultKind kind) {
    return seconds(run(setup, fault_of(kind))[Account::lost]);
  };
  EXPECT_EQ(lost(FaultKind::gpu_dead), 2250);
  setup.saves.near.push_back({.name = "peer",
                              .survives = Reach::node,
                              .every = 1,
                              .stall = Seconds(1),
                              .persist = Seconds(5),
                              .load = Seconds(3)});
  EXPECT_EQ(lost(FaultKind::gpu_dead), 450);
  EXPECT_EQ(seconds(run(setup, fault_of(FaultKind::gpu_dead))[Account::load]), 3);
  EXPECT_EQ(lost(FaultKind::rack_power_loss), 2250);  // neighbours hold each other's copies
  setup.saves.near[0].survives = Reach::process;
  EXPECT_EQ(lost(FaultKind::gpu_dead), 2250);
}

TEST(Drill, StateFromPeersLosesTheStepUnderWayOnly) {
  DrillSetup setup = setup_405b();
  setup.since_save = Seconds(456);
  setup.recovery.peer_load = Seconds(7);
  const DrillTrace trace = run(setup, fault_of(FaultKind::gpu_dead));
  EXPECT_EQ(seconds(trace[Account::lost]), 6);
  EXPECT_EQ(seconds(trace[Account::load]), 7);
}

TEST(Drill, AnElasticJobGoesOnWithoutTheReplica) {
  // 16 replicas of 32 nodes. Alarm 30 s, stall 90 s; the spare is ready 60 + 50 + 100 + 20 + 30 s
  // after the alarm and joins in 100 s; between them, for 170 s, 15 replicas do the steps.
  DrillSetup setup = setup_405b();
  setup.replicas = 16;
  setup.recovery.elastic = failures::ElasticSpec{};
  const DrillTrace trace = run(setup, fault_of(FaultKind::gpu_dead));
  EXPECT_EQ(seconds(trace[Account::detect]), 30);
  EXPECT_EQ(seconds(trace[Account::restart]), 190);
  EXPECT_NEAR(seconds(trace[Account::degraded]), 170.0 / 16, 1e-3);
  EXPECT_EQ(seconds(*trace.running_again), 30 + 260 + 100);
  setup.recovery.elastic->fewest_replicas = 16;
  EXPECT_GT(seconds(run(setup, fault_of(FaultKind::gpu_dead))[Account::lost]), 0);
}

TEST(Drill, AReadCounterOutweighsARareCause) {
  // Leaves die a hundredth as often as hosts; the link monitor reads that all ports of one are
  // down.
  DrillSetup setup = setup_405b();
  setup.rate[static_cast<std::size_t>(FaultKind::leaf_down)] = 1e-9;
  const Fault fault = fault_of(FaultKind::leaf_down);
  EXPECT_NE(run(setup, fault).responses.front().blamed, FaultKind::leaf_down);
  setup[Monitor::link_monitor] = {true, Seconds(30), "test"};
  EXPECT_EQ(run(setup, fault).responses.front().blamed, FaultKind::leaf_down);
}

// A drive is in the path of those saves that the scenario leads over it, and of no others: without
// a near level on drives, and with saves that go from memory to the storage, a dead one stops none.
TEST(Drill, ADriveInNoSavesPathStopsNothing) {
  DrillSetup setup = setup_405b();
  EXPECT_TRUE(happened(run(setup, fault_of(FaultKind::nvme_stalled)), Symptom::collective_timeout));
  setup.saves.via_drives = false;
  const DrillTrace trace = run(setup, fault_of(FaultKind::nvme_stalled));
  EXPECT_FALSE(happened(trace, Symptom::collective_timeout));
  EXPECT_FALSE(happened(trace, Symptom::writer_late));
  EXPECT_EQ(time_lost(setup, trace), Seconds(0));
}

TEST(Drill, ADriveThatHoldsNearSavesDoesNotHoldUpTheStorage) {
  DrillSetup setup = setup_405b();
  setup.saves.via_drives = false;
  setup.saves.near.push_back({.name = "nvme",
                              .survives = Reach::process,
                              .every = 1,
                              .stall = Seconds(0),
                              .persist = Seconds(2),
                              .load = Seconds(1)});
  const DrillTrace trace = run(setup, fault_of(FaultKind::nvme_stalled));
  EXPECT_FALSE(happened(trace, Symptom::collective_timeout));
  EXPECT_NEAR(*happened(trace, Symptom::save_skipped), 450 + 900 + setup.saves.write.si(), 1e-3);
  EXPECT_FALSE(trace.last_durable);
}

TEST(Drill, OutagesTooCloseForARetryAreOneThatKillsTheJob) {
  Fault fault = fault_of(FaultKind::optic_flapping);
  fault.down = Seconds(6);
  fault.every = Seconds(6.0001);
  EXPECT_EQ(happened(run(setup_405b(), fault), Symptom::collective_error), 7);
}

TEST(Drill, AStepBeyondTheWatchdogTimesOut) {
  const auto crawl = [](const training::Degradation&) { return 100.0; };  // 990 s more
  DrillSetup setup = setup_405b();
  setup[Monitor::health_check].on = false;
  const Fault fault = fault_of(FaultKind::gpu_slow);
  EXPECT_EQ(happened(drill_once(setup, fault, crawl), Symptom::collective_timeout), 600);
  setup[Monitor::watchdog].on = false;
  const DrillTrace silent = drill_once(setup, fault, crawl);
  EXPECT_FALSE(happened(silent, Symptom::collective_timeout));
  EXPECT_EQ(happened(silent, Symptom::no_step), 30);
}

TEST(Drill, TheRightCheckpointIsGoneAfterAsManySavesAsAreKept) {
  // People see it after half an hour; with a save every 300 s and 3 of them kept, 6 have been made.
  DrillSetup setup = setup_405b();
  setup.saves.interval = Seconds(300);
  setup.since_save = Seconds(150);
  setup.rate[static_cast<std::size_t>(FaultKind::wrong_checkpoint)] = 1e-3;
  Fault fault = fault_of(FaultKind::wrong_checkpoint);
  fault.behind = 10;
  const double ten = time_lost(setup, run(setup, fault)).si();
  fault.behind = 50;
  EXPECT_NEAR(time_lost(setup, run(setup, fault)).si() - ten, 40 * 300, 1);
  setup.saves.keep = 100;
  EXPECT_LT(time_lost(setup, run(setup, fault)).si(), ten);
}

TEST(Signatures, AreWhatTheMonitorsOfTheJobShow) {
  DrillSetup setup = setup_405b();
  setup.saves.synchronous = false;
  setup[Monitor::people].on = false;
  const auto shown = [&](FaultKind kind, Symptom symptom) {
    for (const auto& signature : signatures_of(setup, no_slowdown)) {
      if (signature.kind == kind) {
        return signature.visible[static_cast<std::size_t>(symptom)].has_value();
      }
    }
    return false;
  };
  EXPECT_FALSE(shown(FaultKind::wrong_checkpoint, Symptom::loss_jump));
  EXPECT_FALSE(shown(FaultKind::wrong_checkpoint, Symptom::step_went_back));
  setup[Monitor::restart_check] = {true, Seconds(0), "test"};
  EXPECT_TRUE(shown(FaultKind::wrong_checkpoint, Symptom::step_went_back));
  EXPECT_FALSE(shown(FaultKind::wrong_checkpoint, Symptom::loss_jump));
}

TEST(Posterior, ACauseThatShowsNothingRaisesNoAlarm) {
  std::array<double, kFaultKinds> rate{};
  rate.fill(1);
  rate[1] = 1e9;
  Signature loud{FaultKind::gpu_dead, {}};
  const Signature mute{FaultKind::hbm_error, {}};
  loud.visible[static_cast<std::size_t>(Symptom::cuda_error)] = 0;
  Sightings seen;
  seen[static_cast<std::size_t>(Symptom::process_exit)] = 1;
  const auto suspects = posterior(rate, {loud, mute}, {seen, 1, {}});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(suspects[0].kind, FaultKind::gpu_dead);
}

TEST(Posterior, IsTheProductOfRateAndLikelihood) {
  // Two causes; both show the exit, only the second the timeout, which is seen:
  //     first 3 x 0.9 x 0.02 = 0.054, second 1 x 0.9 x 0.9 = 0.81.
  std::array<double, kFaultKinds> rate{};
  rate[0] = 3;
  rate[1] = 1;
  Signature first{FaultKind::gpu_dead, {}};
  Signature second{FaultKind::hbm_error, {}};
  const auto exit = static_cast<std::size_t>(Symptom::process_exit);
  const auto timeout = static_cast<std::size_t>(Symptom::collective_timeout);
  first.visible[exit] = second.visible[exit] = second.visible[timeout] = 0;
  Sightings seen;
  seen[exit] = seen[timeout] = 100;
  const auto suspects = posterior(rate, {first, second}, {seen, 100, {}});
  ASSERT_EQ(suspects.size(), 2U);
  EXPECT_EQ(suspects[0].kind, FaultKind::hbm_error);
  EXPECT_NEAR(suspects[0].probability, 0.81 / 0.864, 1e-12);
  EXPECT_EQ(posterior(rate, {first, second}, {seen, 100, {FaultKind::hbm_error}}).size(), 1U);
}

TEST(Posterior, ASymptomThatShouldBeThereAndIsNotSpeaksAgainstItsCause) {
  std::array<double, kFaultKinds> rate{};
  rate.fill(1);
  Signature loud{FaultKind::gpu_dead, {}};
  Signature mute{FaultKind::hang, {}};
  const auto exit = static_cast<std::size_t>(Symptom::process_exit);
  const auto counter = static_cast<std::size_t>(Symptom::gpu_off_bus);
  loud.visible[exit] = mute.visible[exit] = 0;
  loud.visible[counter] = 50;  // 50 ticks after the exit the counter is read
  Sightings seen;
  seen[exit] = 100;
  EXPECT_EQ(posterior(rate, {loud, mute}, {seen, 149, {}})[0].probability, 0.5);
  EXPECT_NEAR(posterior(rate, {loud, mute}, {seen, 150, {}})[0].probability, 1 / 1.1, 1e-12);
}

}  // namespace
}  // namespace headway::drill
