// Degraded states, detectors, two levels, elastic jobs, shared shocks and ageing parts: oracles O9
// to O12 of the field notes and closed forms of the same kind.
//
// Each test asks twice: does the simulation agree within four standard errors at a fixed seed, and
// would the same bound have caught an error of 1 %? Where the formula is of first or second order
// only, the test says by how much it may be off.
#include <cmath>
#include <gtest/gtest.h>

#include "sim/campaign/job/detection.h"
#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"
#include "sim/failures/closed_form.h"

#include "tests/oracle/campaign_terms.h"

namespace headway::campaign {
namespace {

using core::Seconds;

/// No saves, no failures, nothing but what a test adds.
JobModel bare_job(double days) {
  JobModel model;
  model.recovery = JobRecovery::at_once();
  model.gpus = 16384;
  model.gpus_per_node = 8;
  model.end.wall = Seconds(days * kDay);
  model.step = Seconds(1);
  model.interval = Seconds(1e9);
  return model;
}

template <class Value>
core::MeanEstimate mean_of(const JobModel& model, int trials, const Value& value) {
  core::Moments moments;
  for (const auto& trial : run_trials(model, trials, 0)) {
    moments.add(value(trial));
  }
  return moments.estimate();
}

TEST(DegradedOracle, SlowPartsComeAndGoAsServersThatNeverQueue) {
  // Slow parts appear at rate a and last d: their number is Poisson of mean a d (M/G/infinity), and
  // the job is at healthy speed with probability e^(-a d), else at half of it.
  JobModel model = bare_job(400);
  failures::Hazard slow = hazard("slow", 7200);
  slow.effect = failures::Effect::slow_gpu;
  slow.keeps = 0.5;
  slow.lasts = Seconds(3600);
  model.hazards = {slow};
  model.recovery.slow_part = failures::SlowPart::keep;
  const double healthy = std::exp(-0.5);
  const auto degraded = mean_of(model, 80, [](const TrialResult& t) {
    return static_cast<double>(t[Account::degraded]) / static_cast<double>(t.wall);
  });
  expect_agreement(degraded, (1 - healthy) / 2);
}

TEST(DegradedOracle, SlowPartsThatAreReplacedCostWhatTheClosedFormSays) {
  // A slow part every 6 h, known after a window of 600 s and 300 s of diagnosis, then a replacement
  // of 200 s. The job runs at half speed for 900 s and stands for 200 s; parts that become slow
  // meanwhile are rare but not absent: within 900 s of a first one there are 900 / 21600 more, each
  // of which stops the job again but slows it no further. With x the exposed time of a cycle:
  // cycles begin at rate a while healthy, a busy period lasts 900 s + overlap.
  JobModel model = bare_job(200);
  model.spare_nodes = 100;
  failures::Hazard slow = hazard("slow", 21600, 1);
  slow.effect = failures::Effect::slow_gpu;
  slow.keeps = 0.5;
  model.hazards = {slow};
  failures::DetectorsSpec detectors;
  detectors.straggler_monitor = failures::StragglerMonitorSpec{Seconds(600), 1, {}};
  model.recovery.detectors = detectors;
  model.recovery.diagnosis = Seconds(300);
  model.recovery.replacement = Seconds(200);
  model.recovery.repair = Seconds(3600);
  // Per fault: 200 s standing, whatever the overlap.
  const auto standing = mean_of(model, 60, [](const TrialResult& t) {
    return static_cast<double>(t[Account::restart]) / static_cast<double>(t.interruptions[0]) / 1e6;
  });
  EXPECT_NEAR(standing.mean, 200, 200 * 0.01);
  // Slow while at least one of the last 900 s of exposure had a fault, stretched by the 200 s that
  // the detectors' clocks run on while the job stands for another: second order, so this formula is
  // not exact and its bound is its own size, 0.5 % of the share, on top of four standard errors.
  const auto share = mean_of(model, 60, [](const TrialResult& t) {
    return static_cast<double>(t[Account::degraded]) /
           static_cast<double>(t[Account::degraded] + t[Account::useful] + t[Account::lost]);
  });
  EXPECT_NEAR(share.mean, (1 - std::exp(-900 / 21600.0)) / 2, 4 * share.standard_error + 1e-4);
}

TEST(DegradedOracle, HealthChecksTakeTheirMeanTime) {
  JobModel model = bare_job(300);
  failures::Hazard hang = hazard("hang", 3600);
  hang.effect = failures::Effect::hang;
  model.hazards = {hang};
  model.interval = Seconds(10);
  failures::DetectorsSpec detectors;
  detectors.watchdog = Seconds(600);
  detectors.health_check = failures::HealthCheckSpec{Seconds(250), 0.6};
  model.recovery.detectors = detectors;
  const double exact = mean_detection(model.recovery, hang).si();
  const auto detection = mean_of(model, 40, [](const TrialResult& t) {
    return static_cast<double>(t[Account::detect]) / static_cast<double>(t.interruptions[0]) / 1e6;
  });
  expect_agreement(detection, exact);
  // The closed forms use it: D of the exact ETTR.
  const auto ettr = mean_of(model, 40, ettr_of);
  expect_agreement(ettr, exact_ettr(model).value());
}

/// O11, exact: time for `n` near segments and the storage save at their end, from one storage save
/// to the next, when downtime lets nothing fail. E_i = (t_i + p_i E_(i+1) + (1 - p_i)(1 - q) E_0) /
/// (1 - (1 - p_i) q), with p the chance that a segment ends, t its mean time with the downtime.
double two_level_exact(const Level& near, const Level& far, double q, double mu) {
  const int n = static_cast<int>(std::lround(far.interval / near.interval));
  const double down = q * near.restart.si() + (1 - q) * far.restart.si();
  double a = 0;  // E_i = a + b E_0
  double b = 0;
  for (int i = n - 1; i >= 0; --i) {
    const double s = near.interval.si() + near.stall.si() + (i == n - 1 ? far.stall.si() : 0);
    const double p = std::exp(-s / mu);
    const double t = mu * (1 - p) + (1 - p) * down;
    const double rest = 1 - (1 - p) * q;
    a = (t + p * a) / rest;
    b = (p * b + (1 - p) * (1 - q)) / rest;
  }
  return n * near.interval.si() / (a / (1 - b));
}

TEST(DegradedOracle, TwoLevelsOfSavesAreTheExactChain) {
  // O11: 60 s and 1,800 s, stalls 0.5 and 5 s, nine failures in ten leave the near level, restarts
  // of 90 and 600 s; first order 0.9657.
  const Level near{Seconds(60), Seconds(0.5), Seconds(90)};
  const Level far{Seconds(1800), Seconds(5), Seconds(600)};
  const double first_order = two_level_efficiency(near, far, 0.9, Seconds(kMu));
  EXPECT_NEAR(first_order, 0.9657, 5e-5);
  const double exact = two_level_exact(near, far, 0.9, kMu);
  // What first order leaves out is of the order of the squared ratios.
  EXPECT_NEAR(exact, first_order, std::pow(1805 / kMu, 2));
  JobModel model = bare_job(0);
  model.end = {.work = Seconds(300 * kDay), .wall = {}};
  model.interval = near.interval;
  model.stall = far.stall;
  model.storage_every = 30;
  model.near = {{"host", Reach::process, 1, near.stall, Seconds(0), Seconds(0)}};
  model.spare_nodes = 10000;
  model.recovery.repair = Seconds(1);
  model.hazards = {hazard("process", kMu / 0.9), hazard("node", kMu / 0.1, 1)};
  model.hazards[0].detection = near.restart;
  model.hazards[1].detection = far.restart;
  expect_agreement(mean_of(model, 60, ettr_of), exact);
}

TEST(DegradedOracle, ElasticJobsTendToTheFirstOrderFormula) {
  // O12: stall and rejoin of 100 s together, then one of 12 replicas is missing for 420 s.
  const double published =
      elastic_efficiency(Seconds(90 + 100), Seconds(420), 12, Seconds(18 * 60));
  EXPECT_NEAR(published, 0.79, 0.005);
  JobModel model = bare_job(400);
  model.replicas = 12;
  model.gpus = 12 * 8 * 8;
  model.spare_nodes = 1000;
  model.step = Seconds(1e-3);
  failures::ElasticSpec elastic;
  elastic.stall = Seconds(60);
  elastic.rejoin = Seconds(40);
  model.recovery.elastic = elastic;
  model.recovery.container_start =
      Seconds(480);  // from the alarm, of which the 60 s of the stall stand
  model.recovery.repair = Seconds(1);
  model.hazards = {hazard("node", kMu, 1)};
  const double first_order = elastic_efficiency(Seconds(100), Seconds(420), 12, Seconds(kMu));
  const auto simulated = mean_of(model, 60, [](const TrialResult& t) {
    // What is lost at the end of the run, which has no save, is no part of the question.
    return 1 - static_cast<double>(t[Account::degraded] + t[Account::restart]) /
                   static_cast<double>(t.wall);
  });
  // First order counts failures per wall clock, the simulation per exposed time: 1 / (1 + 100 /
  // mu).
  EXPECT_NEAR(simulated.mean, first_order, 4 * simulated.standard_error + std::pow(520 / kMu, 2));
  EXPECT_LT(4 * simulated.standard_error + std::pow(520 / kMu, 2), 0.01 * first_order);
}

TEST(DegradedOracle, CutWaysCostWhatTheClosedFormSays) {
  // A way is cut every 20 h of running and back after L = 600 s in the mean, exponential. All stand
  // for min(L, d), d = 300 s; with p = e^(-d / L) the job ends, is diagnosed in 200 s, waits for
  // what is left, L e^(-200 / L), and does again what it did since the last save: of saves each
  // 1,000 s that cost nothing 500 s.
  const double mean = 600, detection = 300, diagnosis = 200, between = 72000;
  JobModel model = bare_job(400);
  model.sites = 2;
  model.interval = Seconds(1000);
  model.recovery.detection = Seconds(detection);
  model.recovery.diagnosis = Seconds(diagnosis);
  failures::Hazard cut = hazard("cut", between);
  cut.effect = failures::Effect::cut_site;
  cut.lasts = Seconds(mean);
  model.hazards = {cut};
  const double p = std::exp(-detection / mean);
  const double standing = mean * (1 - p) + p * (diagnosis + mean * std::exp(-diagnosis / mean));
  const auto per_cut = mean_of(model, 500, [](const TrialResult& t) {
    const auto stood = t[Account::cut_off] + t[Account::diagnose];
    return static_cast<double>(stood) / static_cast<double>(t.interruptions[0]) / 1e6;
  });
  expect_agreement(per_cut, standing);
  const auto lost = mean_of(model, 500, [](const TrialResult& t) {
    return static_cast<double>(t[Account::lost]) / static_cast<double>(t.interruptions[0]) / 1e6;
  });
  expect_agreement(lost, 500 * p);
  const auto ended = mean_of(model, 500, [](const TrialResult& t) {
    return static_cast<double>(t.loads) / static_cast<double>(t.interruptions[0]);
  });
  expect_agreement(ended, p);
  EXPECT_NEAR(ended.mean, ending_rate(model, cut) / cut.rate, 4 * ended.standard_error);
}

TEST(DegradedOracle, CutWaysAreFeltByTrainingApartAsOftenAsTheyReachAnExchange) {
  // Cuts come at a uniform moment of the E = 1,000 s between exchanges, which may come b = 100 s
  // late: they are felt with e^(-b / L) L / E (1 - e^(-E / L)), L = 600 s, and stand L then.
  const double mean = 600, every = 1000, beside = 100;
  JobModel model = bare_job(4000);
  model.sites = 2;
  model.recovery.detection = Seconds(1e6);  // nobody ends the job
  model.exchange_every = Seconds(every);
  model.exchange_beside = Seconds(beside);
  failures::Hazard cut = hazard("cut", 720000);
  cut.effect = failures::Effect::cut_site;
  cut.lasts = Seconds(mean);
  model.hazards = {cut};
  const double felt = std::exp(-beside / mean) * mean / every * (1 - std::exp(-every / mean));
  const auto stops = mean_of(
      model, 2500, [](const TrialResult& t) { return static_cast<double>(t.interruptions[0]); });
  // Strikes per running time; while all stand none come.
  const double running = 4000 * kDay / (1 + felt * mean / 720000);
  expect_agreement(stops, felt * running / 720000);
  const auto stood = mean_of(model, 2500, [](const TrialResult& t) {
    return static_cast<double>(t[Account::cut_off]) / 1e6;
  });
  expect_agreement(stood, felt * mean * running / 720000);
}

TEST(DegradedOracle, SharedShocksOfZonePairsGrowFasterThanTheJob) {
  // O10 and the published pair of figures: 153 minutes between failures at 32,768 GPUs, where all
  // servers are in one zone, and 18 at 98,304, where 2.3 per 1,000 server-days alone would give 51.
  failures::FailureSpec table;
  failures::HazardSpec server;
  server.name = "server";
  server.per = failures::Population::node;
  server.mtbf = Seconds(kDay * 1000 / 2.3);
  failures::HazardSpec zones;
  zones.name = "network between zones";
  zones.per = failures::Population::domain_pair;
  zones.nodes_lost = 4096;
  zones.node_lost = false;
  zones.mtbf = Seconds(83.5 * 60);
  table.hazards = {server, zones};
  const auto minutes = [&](std::int64_t gpus) {
    return 1 / job_rate(table, failures::Fleet{gpus, gpus / 8}).si() / 60;
  };
  EXPECT_NEAR(minutes(32768), 153, 0.5);
  EXPECT_NEAR(minutes(98304), 18, 0.05);
  table.hazards.pop_back();
  EXPECT_NEAR(minutes(98304), 51, 0.1);
  table.hazards.push_back(zones);
  JobModel model = bare_job(20);
  model.gpus = 98304;
  model.spare_nodes = 20000;
  model.recovery.repair = Seconds(kDay);
  model.hazards = failures::hazards_of(table, {98304, 12288});
  const auto count = mean_of(model, 150, [](const TrialResult& t) {
    return static_cast<double>(t.interruptions[0] + t.interruptions[1]);
  });
  expect_agreement(count, 20 * 24 * 60 / minutes(98304));
}

TEST(DegradedOracle, DefectivePartsFailOnceAndBurnInFindsMostOfThem) {
  // 10.4 % of new nodes defective with a mean life of 200 h; 24 h and 500 h of burn-in. Failures in
  // the first 30 days of 2,000 nodes: N x share left x (1 - e^(-720 / 200)).
  constexpr double kDefective = 0.104;
  for (const double tested : {24.0, 500.0}) {
    failures::FailureSpec table;
    failures::HazardSpec spec;
    spec.name = "infant mortality";
    spec.per = failures::Population::node;
    spec.mtbf = Seconds(200 * 3600);
    spec.law.kind = failures::LawKind::defects;
    spec.law.defective = kDefective;
    spec.age = Seconds(tested * 3600);
    spec.after_failure = failures::AfterFailure::as_old;
    table.hazards = {spec};
    JobModel model = bare_job(30);
    model.spare_nodes = 1000;
    model.recovery.repair = Seconds(1);
    model.hazards = failures::hazards_of(table, {16000, 2000});
    const double left = failures::infant_hazard_left(kDefective, *spec.mtbf, spec.age);
    // Mended parts go on: a Poisson process of mean N (H(a + t) - H(a)), H = -ln S.
    const auto survival = [&](double hours) {
      return 1 - kDefective + kDefective * std::exp(-hours / 200);
    };
    const double exact = 2000 * std::log(survival(tested) / survival(tested + 720));
    EXPECT_NEAR(exact, 2000 * left * (1 - std::exp(-3.6)),
                0.06 * exact);  // few, so nearly the same
    const auto count = mean_of(
        model, 10000, [](const TrialResult& t) { return static_cast<double>(t.interruptions[0]); });
    expect_agreement(count, exact);
    // Who passes the test and who does not add up.
    const double passed = failures::burn_in_yield(kDefective, *spec.mtbf, spec.age);
    EXPECT_NEAR(passed * left, kDefective * std::exp(-tested / 200), 1e-12);
  }
}

TEST(WeibullOracle, TheFirstFailureOfManyIsWeibullAgain) {
  // O9: 512 parts of shape k = 0.7 in a job. Y = X^k of the first failure X is exponential with
  // mean m = scale^k / N; runs end at Y = 2 m, so that E[min(Y, 2 m)] = m (1 - e^-2).
  constexpr double kShape = 0.7;
  const auto part = failures::weibull_with_mean(kShape, Seconds(100 * kDay));
  const auto first = failures::first_of(512, part);
  const double mean = std::pow(first.scale.si(), kShape);
  JobModel model = bare_job(0);
  model.end.wall = Seconds(std::pow(2 * mean, 1 / kShape));
  failures::LawSpec law;
  law.kind = failures::LawKind::weibull;
  law.shape = kShape;
  model.hazards = {hazard("part", 100 * kDay / 512)};
  model.hazards[0].ageing =
      failures::Ageing{failures::Law(law, Seconds(100 * kDay)), 512, Seconds(0)};
  const JobTicks ticks(model);
  core::Moments struck;
  for (std::uint32_t trial = 0; trial < 110'000; ++trial) {
    IncidentLog log;
    const TrialResult result = run_trial(model, ticks, trial, &log);
    const auto incidents = log.take(result.wall);
    const core::Tick at = incidents.empty() ? result.wall : incidents.front().struck;
    struck.add(std::pow(core::Clock::campaign().to_seconds(at).si(), kShape));
  }
  expect_agreement(struck.estimate(), mean * -std::expm1(-2));
  EXPECT_NEAR(first.mean().si(),
              part.scale.si() * std::pow(512, -1 / kShape) * std::tgamma(1 + 1 / kShape), 1e-6);
}

}  // namespace
}  // namespace headway::campaign
