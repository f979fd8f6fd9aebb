#include "sim/study/expect/expect.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/drill/setup.h"
#include "sim/gpu/kernel_time.h"
#include "sim/study/collective.h"
#include "sim/study/driver.h"
#include "sim/study/nccl_tests_names.h"
#include "sim/study/predict.h"
#include "sim/training/domain_size.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/check_unequal.h"

namespace headway::study {

using namespace core::literals;

namespace {

/// Standard deviations of log(predicted / measured), as `expect_constants` lists them.
constexpr double kNodeError = 0.075;
constexpr double kNetworkError = 0.20;
constexpr double kGemmError = 0.10;
constexpr double kStorageError = 0.20;
constexpr double kRestartError = 0.35;

/// Sizes of messages that are thresholds, up to what 80 GB of memory hold beside buffers.
constexpr std::array<std::uint64_t, 5> kThresholdSizes{
    std::uint64_t{64} << 20, std::uint64_t{256} << 20, std::uint64_t{1} << 30,
    std::uint64_t{4} << 30, std::uint64_t{16} << 30};
/// What acceptance tests run.
constexpr std::array kTested{core::CollectiveKind::all_reduce, core::CollectiveKind::all_gather,
                             core::CollectiveKind::reduce_scatter,
                             core::CollectiveKind::all_to_all};

void set_expected(double expected, double error, Threshold& threshold) {
  const double factor = std::exp(training::kOneSidedFivePercent * error);
  threshold.expected = expected;
  threshold.interval = {expected / factor, expected * factor};
}

std::vector<Threshold> bandwidths(const Machine& machine, CollectiveRequest request, Scope scope) {
  const auto report = predict_collective(machine, request);
  std::vector<Threshold> out;
  for (const auto& row : report.rows) {
    if (!row.time || request.gpus < 2 || !is_threshold(row.bytes, request.gpus)) {
      continue;
    }
    Threshold threshold{Measure::bus_bandwidth, scope};
    threshold.collective = request.kind;
    threshold.gpus = request.gpus;
    threshold.nodes = report.nodes;
    threshold.size = core::Bytes(static_cast<double>(row.bytes));
    set_expected(row.bus_bandwidth.si(),
                 bus_bandwidth_error(machine.cluster.node, request.gpus, request.per_node),
                 threshold);
    out.push_back(std::move(threshold));
  }
  return out;
}

/// A group of whole nodes whose collectives are thresholds.
struct Group {
  Scope scope = Scope::job;
  std::int64_t nodes = 1;
};

/// A node, the group asked for, an NVLink domain, the nodes of a leaf, a site, the job: each number
/// of nodes once.
std::vector<Group> groups_of(const training::Scenario& scenario,
                             const drill::DrillSetup& setup,
                             int asked) {
  const auto& cluster = scenario.cluster;
  const std::int64_t all = cluster.nodes;
  if (asked > all) {
    throw core::Error(fmt::format("--nodes {}: the cluster of the scenario has {}", asked, all));
  }
  const std::int64_t of_site = cluster.sites ? all / cluster.sites->count : all;
  if (asked > of_site && asked % of_site != 0) {
    throw core::Error(fmt::format(
        "--nodes {}: a site of the scenario has {}, and groups over several sites have equally "
        "many nodes of each; ask for {} or fewer",
        asked, of_site, of_site));
  }
  std::vector<Group> groups{{Scope::node, 1}};
  const auto add = [&](Scope scope, std::int64_t nodes) {
    const bool there = std::any_of(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.nodes == nodes; });
    if (nodes > 1 && nodes < all && !there) {
      groups.push_back({scope, nodes});
    }
  };
  add(Scope::group, asked);
  add(Scope::domain, cluster.node.scale_up.domain_gpus / cluster.node.gpus);
  add(Scope::leaf, setup.nodes_per_leaf);
  add(Scope::site, of_site);
  if (all > 1) {
    groups.push_back({Scope::job, all});
  }
  return groups;
}

void add_collectives(const Machine& machine,
                     const std::vector<Group>& groups,
                     ExpectReport& report) {
  for (const Group& group : groups) {
    for (const auto kind : kTested) {
      if (!has_time(machine.cluster, kind, group.nodes)) {
        report.assumptions.push_back(fmt::format(
            "{} of {} nodes on {} sites has no threshold: between sites it is not modelled, and "
            "that of one site stands for it",
            core::to_word(kind), group.nodes, machine.cluster.sites->count));
        continue;
      }
      CollectiveRequest request;
      request.kind = kind;
      request.gpus = static_cast<int>(group.nodes) * machine.cluster.node.gpus;
      request.sizes.assign(kThresholdSizes.begin(), kThresholdSizes.end());
      const auto rows = bandwidths(machine, request, group.scope);
      report.thresholds.insert(report.thresholds.end(), rows.begin(), rows.end());
    }
  }
}

/// Standard error of the share of large products, where the catalogue or a calibration states it.
double gemm_error(const config::LoadedScenario& loaded) {
  const bool calibrated = loaded.scenario.calibration.kernels.has_value();
  const std::string place = calibrated ? "calibration.kernels." : "cluster.node.gpu.sustained.";
  const auto precision = loaded.scenario.training.precision;
  const bool narrow = precision == core::Precision::fp8 || precision == core::Precision::mxfp8;
  const auto found = loaded.standard_errors.find(place + (narrow ? "gemm_8bit" : "gemm_16bit"));
  return found == loaded.standard_errors.end() ? kGemmError : std::max(found->second, 0.03);
}

struct Product {
  const char* name;
  std::int64_t m, n, k;
};

void add_products(const config::LoadedScenario& loaded, ExpectReport& report) {
  const auto& s = loaded.scenario;
  const auto& gpu = s.cluster.node.gpu;
  const std::int64_t tensor = s.parallelism.tensor;
  const std::int64_t tokens =
      std::int64_t{s.training.sequence_length} / s.parallelism.context * s.parallelism.micro_batch;
  std::vector<Product> products{{"large", 8192, 8192, 8192}};
  if (s.model.ffn > 0) {
    products.push_back({"MLP", tokens,
                        (s.model.gated_mlp ? 2 : 1) * std::int64_t{s.model.ffn} / tensor,
                        s.model.hidden});
  }
  const auto shares = s.calibration.kernels.value_or(gpu.sustained);
  for (const Product& product : products) {
    core::Kernel kernel;
    kernel.kind = core::KernelKind::gemm;
    kernel.precision = s.training.precision;
    kernel.m = product.m;
    kernel.n = product.n;
    kernel.k = product.k;
    const auto [m, n, k] =
        std::array{static_cast<double>(product.m), static_cast<double>(product.n),
                   static_cast<double>(product.k)};
    kernel.work = core::Flops(2 * m * n * k);
    kernel.traffic = core::Bytes(2 * (m * k + k * n + m * n));
    Threshold threshold{Measure::gemm_rate, Scope::gpu};
    threshold.shape = fmt::format("{}: {} x {} x {} {}", product.name, product.m, product.n,
                                  product.k, core::to_word(s.training.precision));
    const auto time = gpu::kernel_time(gpu, shares, kernel, {});
    set_expected((kernel.work / time).si(), gemm_error(loaded), threshold);
    report.thresholds.push_back(std::move(threshold));
  }
}

Threshold of_job(const training::CheckedScenario& checked, Measure measure) {
  Threshold threshold{measure, Scope::job};
  threshold.gpus = checked.gpus();
  threshold.nodes = checked.scenario().cluster.nodes;
  return threshold;
}

/// A step is slower than predicted more often than faster: its interval is not even.
void add_step(const training::CheckedScenario& checked,
              const training::StepResult& step,
              ExpectReport& report) {
  Threshold time = of_job(checked, Measure::step_time);
  time.expected = step.time.si();
  time.interval = {step.interval_low.si(), step.interval_high.si()};
  Threshold rate = of_job(checked, Measure::tokens_per_s_per_gpu);
  rate.expected = step.tokens_per_s_per_gpu;
  const double tokens = rate.expected * time.expected;
  rate.interval = {tokens / time.interval[1], tokens / time.interval[0]};
  report.thresholds.push_back(time);
  report.thresholds.push_back(rate);
}

void add_saves(const training::CheckedScenario& checked,
               const drill::DrillSetup& setup,
               ExpectReport& report) {
  const auto& saves = setup.saves;
  const auto add = [&](Measure measure, core::Seconds time, double error) {
    if (time.si() > 0) {
      Threshold threshold = of_job(checked, measure);
      set_expected(time.si(), error, threshold);
      report.thresholds.push_back(std::move(threshold));
    }
  };
  const bool measured = checked.scenario().calibration.storage.has_value();
  const double error = measured ? kStorageError / 2 : kStorageError;
  add(Measure::save_stall, saves.synchronous ? saves.snapshot + saves.write : saves.snapshot,
      error);
  add(Measure::save_time, saves.snapshot + saves.write, error);
  add(Measure::restart_time, setup.recovery.restart(), kRestartError);
  report.assumptions.push_back(fmt::format(
      "save_stall is what training stands still for {} save to storage, save_time from its "
      "beginning until the last byte is durable, restart_time from starting processes until the "
      "first step, without waiting for nodes",
      saves.synchronous ? "a synchronous" : "an asynchronous"));
}

void add_error_words(ExpectReport& report) {
  report.assumptions.push_back(fmt::format(
      "standard errors of the predictions: collectives inside an NVLink domain {} %, between "
      "domains {} % (published timings of 64 MiB and more, `headway validate --collectives`), "
      "storage {} %, restarts {} % (judged)",
      core::percent(kNodeError), core::percent(kNetworkError), core::percent(kStorageError),
      core::percent(kRestartError)));
  report.assumptions.emplace_back(
      "a limit is the end of a 90 % interval: of sound machines one in twenty misses one");
}

}  // namespace

std::string_view unit_of(Measure measure) {
  switch (measure) {
    case Measure::bus_bandwidth:
      return "B/s";
    case Measure::gemm_rate:
      return "FLOP/s";
    case Measure::tokens_per_s_per_gpu:
      return "1/s";
    case Measure::step_time:
    case Measure::save_stall:
    case Measure::save_time:
    case Measure::restart_time:
      return "s";
  }
  return "";
}

double bus_bandwidth_error(const training::NodeSpec& node, int gpus, int per_node) {
  const int in_node = std::min(gpus, per_node > 0 ? per_node : node.gpus);
  const int nodes = (gpus + in_node - 1) / in_node;
  // GPUs are counted node by node; of those that take part the last on the first node, and the
  // first on the last node, tell whether one domain has all.
  const int furthest = std::max(in_node - 1, (nodes - 1) * node.gpus);
  return furthest < node.scale_up.domain_gpus ? kNodeError : kNetworkError;
}

bool is_threshold(std::uint64_t bytes, std::int64_t gpus) {
  return bytes >= kThresholdSizes.front() &&
         bytes / (std::uint64_t{1} << 20) >= static_cast<std::uint64_t>(gpus);
}

bool more_is_better(Measure measure) { return unit_of(measure) != "s"; }

Threshold bus_bandwidth_threshold(const Machine& machine,
                                  core::CollectiveKind kind,
                                  int gpus,
                                  int per_node,
                                  std::uint64_t bytes,
                                  Scope scope) {
  CollectiveRequest request;
  request.kind = kind;
  request.gpus = gpus;
  request.per_node = per_node;
  request.sizes = {bytes};
  auto rows = bandwidths(machine, request, scope);
  if (rows.empty()) {
    throw core::Error(fmt::format(
        "{} over {} GPUs at {}: no threshold; messages count from 64 MiB, and from 1 MiB a GPU",
        core::to_word(kind), gpus, size_words(bytes)));
  }
  return rows.front();
}

ExpectReport expect(const config::LoadedScenario& loaded, const ExpectOptions& options) {
  const auto checked = training::check(loaded.scenario, loaded.marks);
  training::refuse_unequal(checked, "what to expect of");
  const auto& scenario = checked.scenario();
  Driver driver({.threads = options.threads, .trace = false, .progress = options.count});
  training::StepResult step = driver.step(checked);
  if (!options.known_errors.empty()) {
    validation::set_interval(scenario, options.known_errors, step);
  }
  ExpectReport report;
  report.scenario = label_of(scenario, scenario_digest(loaded));
  report.micro_batch = scenario.parallelism.micro_batch;
  report.global_batch = scenario.training.global_batch;
  report.precision = core::to_word(scenario.training.precision);
  report.memory_share = step.memory.peak / step.memory.capacity;
  const auto setup = drill::drill_setup(checked, step);
  const Machine machine{scenario.name, scenario.cluster, scenario.calibration.collectives, {}};
  add_collectives(machine, groups_of(scenario, setup, options.nodes), report);
  add_products(loaded, report);
  add_step(checked, step, report);
  add_saves(checked, setup, report);
  if (!scenario.run.until) {
    report.assumptions.push_back(
        fmt::format("the scenario has no 'run.until': saves are those of a run with its defaults, "
                    "of {:g} bytes "
                    "a parameter where nothing else is said",
                    training::state_bytes_per_parameter(scenario)));
  }
  add_error_words(report);
  if (auto domain = training::domain_warning(scenario.cluster, checked.whole_domain())) {
    report.assumptions.push_back(std::move(*domain));
  }
  if (!step.memory.fits) {
    report.status = Status::infeasible;
    report.reasons.emplace_back("the layout does not fit into the memory of the GPUs");
  }
  return report;
}

std::string expect_sentence(const ExpectReport& report) {
  const auto failed = std::count_if(report.verdicts.begin(), report.verdicts.end(),
                                    [](const Verdict& v) { return !v.passed(); });
  if (report.verdicts.empty()) {
    return fmt::format("{} thresholds, none compared with a measurement.",
                       report.thresholds.size());
  }
  const bool wrong = std::any_of(report.verdicts.begin(), report.verdicts.end(),
                                 [](const Verdict& v) { return !v.wrong_data.empty(); });
  const bool unfinished = std::any_of(report.verdicts.begin(), report.verdicts.end(),
                                      [](const Verdict& v) { return !v.unfinished.empty(); });
  std::string bad;
  for (const NodeVerdict& node : report.nodes) {
    if (node.state == NodeState::failed) {
      bad += (bad.empty() ? "" : ", ") + node.node;
    }
  }
  return fmt::format("{} of {} measured figures are beyond their limits{}{}{}.", failed,
                     report.verdicts.size(), wrong ? " or of wrong data" : "",
                     unfinished ? " or of tests that did not end" : "",
                     bad.empty() ? "" : "; nodes that failed: " + bad);
}

std::vector<core::ModelConstant> expect_constants() {
  const std::string timings =
      "root mean square of log(predicted / measured) of published timings of 64 MiB and more "
      "(configs/validation/collectives.csv)";
  return {
      {"study.error_of_collectives_in_a_domain", kNodeError, "", 0, timings + ", 72 of one node"},
      {"study.error_of_collectives_between_domains", kNetworkError, "", 0,
       timings + ", 60 of several nodes; GPUDirect-TCPX left out, which is no RDMA"},
      {"study.error_of_products", kGemmError, "", 0,
       "judged; products of GPUs whose share states no error of its own"},
      {"study.error_of_storage", kStorageError, "", 0,
       "judged: what a storage delivers beside its stated bandwidth"},
      {"study.error_of_restarts", kRestartError, "", 0,
       "judged: starts of containers and communicators differ between sites by half"}};
}

}  // namespace headway::study
