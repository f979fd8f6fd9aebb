#include "sim/study/diagnose/cause.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_alone.h"
#include "sim/study/diagnose/next_step.h"
#include "sim/training/sites/slow_ways.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"

namespace headway::study {

using training::Degradation;
using training::Scenario;

namespace {

/// Scatter of the steps of a sound job. Source: repeats of published runs (docs/validation.md)
/// differ by 1 % and less within a run.
constexpr double kSoundScatter = 0.01;
/// Power that a GPU at work draws / its limit. Source: GPUs under training products draw their
/// limit but for the waits (docs/models/gpu.md).
constexpr double kWorkingPower = 0.93;

/// Saves at this share of the scenario's interval, or more of it, are as often as they should be.
/// Judged: programs save after whole numbers of steps.
constexpr double kUsualInterval = 0.8;
/// A save that is so much longer than this storage takes for one is worth a word. Judged.
constexpr double kLongSave = 2;
/// A millisecond is as good as no time, of which there are no ratios [s].
constexpr double kNoTime = 1e-3;

/// Up to so many GPUs several hashes are tried.
constexpr std::int64_t kFewGpus = 2048;

/// A large product on the GPU of a scenario.
core::Seconds product_time(const Scenario& s) {
  core::Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.precision = s.training.precision;
  kernel.m = kernel.n = kernel.k = 8192;
  kernel.work = core::Flops(2.0 * 8192 * 8192 * 8192);
  const auto& gpu = s.cluster.node.gpu;
  return gpu::kernel_time(gpu, s.calibration.kernels.value_or(gpu.sustained), kernel, {});
}

training::StepResult step_of(const training::CheckedScenario& checked, const core::Count& count) {
  return training::simulate_step(checked, {.trace = false, .hash_draws = 0, .progress = count});
}

std::vector<core::GpuId> members_of(const MeasuredCall& call, int gpus_of_node) {
  std::vector<core::GpuId> members;
  for (int g = 0; g < call.gpus; ++g) {
    members.emplace_back(
        static_cast<std::uint32_t>(g / call.per_node * gpus_of_node + g % call.per_node));
  }
  return members;
}

bool is_named(const std::string& node, const std::vector<std::string>& nodes) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Attention kernels that somebody may have called instead, and are not those of the scenario.
constexpr std::array kOtherAttention{workload::AttentionKernels::unfused,
                                     workload::AttentionKernels::flash2,
                                     workload::AttentionKernels::sdpa};

}  // namespace

Laboratory::Laboratory(const training::CheckedScenario& checked,
                       bool passes,
                       const core::Count& count)
    : checked_(checked),
      passes_(passes),
      setup_(drill::drill_setup(checked, step_of(checked, count))) {
  healthy_ = imagine({}, network::in_parts(count));
}

core::Seconds Laboratory::save_stall(bool synchronous, double slower) const {
  const auto& saves = setup_.saves;
  return synchronous ? saves.snapshot + slower * saves.write : saves.snapshot;
}

Scenario Laboratory::changed(const Hypothesis& hypothesis) const {
  Scenario s = checked_.scenario();
  change(hypothesis, s);
  for (const Hypothesis& other : hypothesis.also) {
    change(other, s);
  }
  if (const Hypothesis* starved = part_of(hypothesis, Cause::data_starvation)) {
    // Slow GPUs stretch what a step has beside its kernels too, but no wait for input.
    double keeps = 1;
    for (const Degradation& slow : slow_parts(hypothesis)) {
      keeps = slow.kind == Degradation::Kind::link ? keeps : std::min(keeps, slow.keeps);
    }
    s.training.framework.step_overhead += keeps * starved->severity * healthy_.step.time;
  }
  return s;
}

void Laboratory::change(const Hypothesis& hypothesis, Scenario& s) const {
  auto& framework = s.training.framework;
  switch (hypothesis.cause) {
    case Cause::hashed_collisions:
      s.cluster.fabric.routing = network::Routing::ecmp;
      s.run.seed += hypothesis.variant;
      break;
    case Cause::slow_way:
      s = training::with_slow_ways(std::move(s), hypothesis.severity);
      break;
    case Cause::power_cap:
      s.cluster.node.gpu.power = hypothesis.severity * s.cluster.node.gpu.power;
      break;
    case Cause::eager_kernels:
      framework.elementwise = workload::Elementwise::eager;
      framework.cuda_graphs = false;
      framework.loss = hypothesis.variant == 0 ? framework.loss : workload::Loss::separate;
      break;
    case Cause::wrong_attention:
      framework.attention_kernels = kOtherAttention[static_cast<std::size_t>(hypothesis.variant)];
      break;
    case Cause::recompute:
      s.parallelism.recompute = workload::Recompute::full;
      s.parallelism.recompute_parts.clear();
      s.parallelism.recompute_layers = 1;
      s.parallelism.recompute_period = hypothesis.variant;
      break;
    default:
      break;
  }
}

std::vector<Degradation> Laboratory::slow_parts(const Hypothesis& hypothesis) const {
  std::vector<Degradation> slow;
  const Hypothesis* jitter = part_of(hypothesis, Cause::jitter);
  const double all = jitter != nullptr ? 1 / (1 + jitter->severity) : 1;
  if (jitter != nullptr) {
    slow.push_back({Degradation::Kind::all_gpus, all, core::Rank(0)});
  }
  if (const Hypothesis* node = part_of(hypothesis, Cause::slow_node)) {
    for (int g = 0; g < checked_.scenario().cluster.node.gpus; ++g) {
      slow.push_back({Degradation::Kind::gpu, all * node->severity,
                      core::Rank(static_cast<std::uint32_t>(g))});
    }
  }
  if (const Hypothesis* card = part_of(hypothesis, Cause::half_rate_nic)) {
    slow.push_back({Degradation::Kind::link, card->severity, core::Rank(0)});
  }
  return slow;
}

Imagined Laboratory::imagine(const Hypothesis& hypothesis,
                             const std::function<void(double share)>& told) const {
  const auto checked = training::check(changed(hypothesis), checked_.marks());
  return imagine(hypothesis,
                 training::observe_step(checked, slow_parts(hypothesis), passes_, told));
}

Imagined Laboratory::imagine(const Hypothesis& hypothesis,
                             const training::ObservedStep& step) const {
  Imagined out;
  out.scenario = changed(hypothesis);
  out.step = step;
  const auto severity = [&](Cause cause, double without) {
    const Hypothesis* part = part_of(hypothesis, cause);
    return part == nullptr ? without : part->severity;
  };
  out.spread = std::hypot(kSoundScatter, severity(Cause::jitter, 0));
  out.input = severity(Cause::data_starvation, 0) * healthy_.step.time;
  const Hypothesis* saves = part_of(hypothesis, Cause::frequent_saves);
  const Hypothesis* pauses = part_of(hypothesis, Cause::regular_pauses);
  const bool frequent = saves != nullptr;
  const core::Seconds work =
      frequent ? static_cast<double>(saves->every) * out.step.time : setup_.saves.interval;
  const double slower = 1 / severity(Cause::slow_storage, 1);
  const core::Seconds stall = frequent ? saves->severity * healthy_.step.time
                                       : save_stall(setup_.saves.synchronous, slower);
  out.save = stall;
  out.load = slower * setup_.recovery.load;
  double lost = work.si() > 0 ? stall / work : 0;  // beside the time of steps
  if (pauses != nullptr) {
    lost += pauses->severity * healthy_.step.time /
            (static_cast<double>(pauses->every) * out.step.time);
  }
  out.pauses = lost / (1 + lost);
  out.mean_step = out.step.time / (1 - out.pauses);
  out.regularity = frequent || pauses != nullptr ? 1 : 0;
  out.clock_ratio = severity(Cause::slow_node, 1);
  out.power = kWorkingPower * out.scenario.cluster.node.gpu.power;
  out.products = product_time(out.scenario) / product_time(checked_.scenario());
  return out;
}

double Laboratory::bus_bandwidth(const Imagined& imagined,
                                 const Hypothesis& hypothesis,
                                 const MeasuredCall& call,
                                 const std::vector<std::string>& nodes) const {
  const Scenario& s = imagined.scenario;
  network::Fabric fabric = training::build_fabric(s.cluster, training::hash_seed(s));
  const Hypothesis* card = part_of(hypothesis, Cause::half_rate_nic);
  if (card != nullptr && (card->node.empty() || nodes.empty() || is_named(card->node, nodes))) {
    for (const core::LinkId link : training::card_links(fabric, core::GpuId(0))) {
      fabric.degrade(link, card->severity, fabric.link(link).cables);
    }
  }
  const auto parameters = network::make_parameters(
      fabric.input(), training::nccl_generation(s.cluster.node.gpu.architecture));
  network::GroupOnFabric group(fabric, members_of(call, s.cluster.node.gpus), parameters,
                               s.calibration.collectives);
  double sum = 0;
  for (const std::uint64_t size : call.sizes) {
    const core::Bytes bytes(static_cast<double>(size));
    const auto time = group.time({call.kind, bytes, {}, {}}).time.total;
    sum += std::log(network::bus_bandwidth(call.kind, bytes, call.gpus, time).si());
  }
  return std::exp(sum / static_cast<double>(call.sizes.size()));
}

namespace {

/// What a slow card, way between sites or storage keeps of its rate: half a width of lanes is as
/// likely as a cable that falls back. What lies between is weighed too, as between those that are
/// simulated (diagnose.cpp); these are near enough to one another for that. Source: judged
constexpr std::array kKeptOfALink = {0.9,  0.75, 0.6,  0.5,  0.42, 0.36, 0.3,
                                     0.25, 0.21, 0.18, 0.14, 0.1,  0.05};

/// Collects what is tried.
class HypothesisList {
 public:
  HypothesisList(const Laboratory& laboratory, const Evidence& evidence)
      : laboratory_(laboratory), scenario_(laboratory.checked().scenario()), evidence_(evidence) {}

  std::vector<Hypothesis> all() {
    list_.push_back({Cause::none, "nothing: the job is as predicted"});
    add_slow_parts();
    add_software();
    add_waits();
    add_saves();
    add_pauses();
    add_storage();
    return std::move(list_);
  }

 private:
  void add_kept(Cause cause, std::span<const double> severities, const std::string& node = "") {
    for (const double severity : severities) {
      Hypothesis one{cause, "", severity};
      one.node = node;
      one.words = words_of(one);
      list_.push_back(std::move(one));
    }
  }

  void add_slow_parts() {
    const double clock = measured(Feature::clock_ratio).value_or(1);
    const double usual = training::kOneSidedFivePercent * own_error(Feature::clock_ratio, 1, {});
    add_kept(Cause::slow_node, std::array{0.95, 0.9, 0.8, 0.7, 0.6, 0.5},
             std::log(clock) < -usual ? evidence_.slowest_gpu : "");
    if (scenario_.cluster.nodes > 1) {
      std::vector<std::string> places = evidence_.nodes;
      if (std::ssize(places) < scenario_.cluster.nodes) {
        places.emplace_back("");  // one that no file names
      }
      for (const auto& node : places) {
        add_kept(Cause::half_rate_nic, kKeptOfALink, node);
      }
    }
    if (scenario_.cluster.sites) {
      add_kept(Cause::slow_way, kKeptOfALink);
    }
    if (scenario_.cluster.fabric.routing != network::Routing::ecmp && scenario_.cluster.nodes > 1) {
      // Of many flows the unluckiest are alike under any hash, and none can be folded.
      const int hashes = laboratory_.checked().gpus() > kFewGpus ? 1 : 4;
      for (int hash = 1; hash <= hashes; ++hash) {
        list_.push_back({Cause::hashed_collisions,
                         "switches choose paths by hash, and some flows share a cable", 1, hash});
      }
    }
    add_kept(Cause::power_cap, std::array{0.9, 0.8, 0.7, 0.6, 0.5});
  }

  void add_software() {
    const auto& framework = scenario_.training.framework;
    if (framework.fuses_elementwise()) {
      list_.push_back({Cause::eager_kernels, "norms, activations and residuals run eagerly"});
      list_.push_back(
          {Cause::eager_kernels, "norms, activations, residuals and the loss run eagerly", 1, 1});
    }
    for (std::size_t i = 0; i < kOtherAttention.size(); ++i) {
      if (framework.attention_kernels != kOtherAttention[i]) {
        list_.push_back(
            {Cause::wrong_attention,
             fmt::format("attention runs on '{}' kernels", core::to_word(kOtherAttention[i])), 1,
             static_cast<int>(i)});
      }
    }
    if (scenario_.parallelism.recompute != workload::Recompute::full) {
      list_.push_back({Cause::recompute, "every layer is recomputed in the backward pass", 1, 1});
      list_.push_back(
          {Cause::recompute, "every second layer is recomputed in the backward pass", 1, 2});
    }
  }

  void add_waits() {
    add_kept(Cause::data_starvation, std::array{0.05, 0.1, 0.2, 0.4, 0.8});
    add_kept(Cause::jitter, std::array{0.03, 0.06, 0.12, 0.25});
  }

  /// As often as the log pauses, or a few frequencies; as long as the log times it, or as its
  /// pauses are, or as a save of this storage.
  void add_saves() {
    if (!evidence_.pauses.no_saves.empty()) {
      add_ruled_out(Cause::frequent_saves, evidence_.pauses.no_saves);
      return;
    }
    const double step = laboratory_.healthy().step.time.si();
    const auto timed = measured(Feature::save);
    const std::vector<std::int64_t> periods =
        evidence_.pause_period ? std::vector<std::int64_t>{*evidence_.pause_period}
                               : std::vector<std::int64_t>{5, 10, 20, 50, 100};
    for (const std::int64_t every : periods) {
      if (is_usual(every)) {
        continue;
      }
      if (timed) {
        add_save(every, *timed / step);
        continue;
      }
      if (const auto seconds = logged_pause()) {
        add_save(every, *seconds / step);
      }
      for (const bool synchronous : {false, true}) {
        const double stall = laboratory_.save_stall(synchronous).si();
        for (const double times : {0.5, 1.0, 2.0}) {
          if (stall > 0) {
            add_save(every, times * stall / step);
          }
        }
      }
    }
  }

  /// As often and as long as those of the log that no line says to be saves.
  void add_pauses() {
    const auto seconds = logged_pause();
    if (!seconds || evidence_.saves_are_timed) {
      return;
    }
    if (!evidence_.pauses.saves.empty()) {
      add_ruled_out(Cause::regular_pauses, evidence_.pauses.saves);
      return;
    }
    Hypothesis pauses{Cause::regular_pauses,
                      fmt::format("a pause every {} steps, {} s each: {}", *evidence_.pause_period,
                                  core::number(*seconds), evidence_.pauses.what),
                      *seconds / laboratory_.healthy().step.time.si()};
    pauses.every = *evidence_.pause_period;
    list_.push_back(std::move(pauses));
  }

  void add_ruled_out(Cause cause, const std::string& reason) {
    list_.push_back({cause, std::string(core::to_word(cause))});
    list_.back().ruled_out = reason;
  }

  [[nodiscard]] std::optional<double> measured(Feature feature) const {
    const auto found = std::find_if(
        evidence_.observations.begin(), evidence_.observations.end(),
        [&](const Observation& observation) { return observation.feature == feature; });
    return found == evidence_.observations.end() ? std::nullopt : std::optional(found->measured);
  }

  /// How long a pause of the log is, where these are regular [s]: with a share p of the time, one
  /// every n steps of t has n t p / (1 - p).
  [[nodiscard]] std::optional<double> logged_pause() const {
    const double share = measured(Feature::pauses).value_or(0);
    const double step = measured(Feature::step_time).value_or(0);
    if (!evidence_.pause_period || !(share > 0 && share < 1 && step > 0)) {
      return std::nullopt;
    }
    return static_cast<double>(*evidence_.pause_period) * step * share / (1 - share);
  }

  /// Saves that are timed, and come as seldom as the scenario has them, are not frequent.
  [[nodiscard]] bool is_usual(std::int64_t every) const {
    const double interval = laboratory_.setup().saves.interval.si();
    const double seen = static_cast<double>(every) * laboratory_.healthy().step.time.si();
    return evidence_.saves_are_timed && interval > 0 && seen > kUsualInterval * interval;
  }

  void add_save(std::int64_t every, double steps) {
    const double step = laboratory_.healthy().step.time.si();
    const double usual = laboratory_.save_stall(true).si();
    const std::string remark =
        usual > 0 && steps * step > kLongSave * usual
            ? fmt::format(" (of this storage a synchronous one takes {} s)", core::number(usual))
            : "";
    Hypothesis saves{Cause::frequent_saves,
                     fmt::format("a save every {} steps, {} s each{}", every,
                                 core::number(steps * step), remark),
                     steps};
    saves.every = every;
    list_.push_back(std::move(saves));
  }

  /// Only where something says how long storage takes.
  void add_storage() {
    const bool timed = std::any_of(evidence_.observations.begin(), evidence_.observations.end(),
                                   [](const Observation& observation) {
                                     return observation.feature == Feature::save ||
                                            observation.feature == Feature::load;
                                   });
    if (!timed) {
      return;
    }
    add_kept(Cause::slow_storage, kKeptOfALink);
  }

  const Laboratory& laboratory_;
  const Scenario& scenario_;
  const Evidence& evidence_;
  std::vector<Hypothesis> list_;
};

}  // namespace

const Hypothesis* part_of(const Hypothesis& hypothesis, Cause cause) {
  if (hypothesis.cause == cause) {
    return &hypothesis;
  }
  const auto found = std::find_if(hypothesis.also.begin(), hypothesis.also.end(),
                                  [&](const Hypothesis& other) { return other.cause == cause; });
  return found == hypothesis.also.end() ? nullptr : &*found;
}

namespace {

/// " of n00", " of n00, n01, n02, n03 or one of 4 more nodes, not told apart,"; empty: no file
/// names a node.
std::string of_nodes(const Hypothesis& hypothesis) {
  constexpr std::size_t kTold = 4;
  std::vector<std::string> named;
  std::size_t more = 0;
  bool other = hypothesis.node.empty();
  const auto add = [&](const std::string& node) {
    other = other || node.empty();
    more += !node.empty() && named.size() == kTold ? 1 : 0;
    if (!node.empty() && named.size() < kTold) {
      named.push_back(node);
    }
  };
  add(hypothesis.node);
  for (const std::string& node : hypothesis.not_told_apart) {
    add(node);
  }
  if (hypothesis.not_told_apart.empty()) {
    return other ? "" : " of " + hypothesis.node;
  }
  if (more > 0) {
    named.push_back(fmt::format("{} more nodes", more));
  }
  if (other) {
    named.emplace_back("a node that no file names");
  }
  const std::string last = named.back();
  named.pop_back();
  return fmt::format(" of {} or {}, not told apart,", fmt::join(named, ", "), last);
}

}  // namespace

std::string words_of(const Hypothesis& hypothesis) {
  const double percent = 100 * hypothesis.severity;
  switch (hypothesis.cause) {
    case Cause::slow_node:
      return fmt::format(
          "one node{} computes at {:.3g} % of its speed",
          hypothesis.node.empty() ? "" : fmt::format(" (lowest clock: {})", hypothesis.node),
          percent);
    case Cause::half_rate_nic:
      return fmt::format("one network card{} carries {:.3g} % of its rate", of_nodes(hypothesis),
                         percent);
    case Cause::slow_way:
      return fmt::format("a way between sites carries {:.3g} % of its rate", percent);
    case Cause::power_cap:
      return fmt::format("every GPU is capped at {:.3g} % of its power", percent);
    case Cause::data_starvation:
      return fmt::format("each step waits {:.3g} % of a step for its input", percent);
    case Cause::jitter:
      return fmt::format("steps scatter by {:.3g} %: noise on the hosts or the network", percent);
    case Cause::slow_storage:
      return fmt::format("storage delivers {:.3g} % of its rate", percent);
    default:
      return hypothesis.words;
  }
}

bool is_of_passes(Feature feature) {
  return feature == Feature::forward || feature == Feature::backward ||
         feature == Feature::rank_ratio;
}

std::vector<Hypothesis> hypotheses(const Laboratory& laboratory, const Evidence& evidence) {
  return HypothesisList(laboratory, evidence).all();
}

double predicted(const Laboratory& laboratory,
                 const Imagined& imagined,
                 const Hypothesis& hypothesis,
                 const Observation& observation) {
  const auto& step = imagined.step;
  using core::Activity;
  const core::Seconds input = imagined.input + step.breakdown[Activity::input];
  const core::Seconds inside = observation.holds_input ? input : core::Seconds(0);
  switch (observation.feature) {
    case Feature::step_time:
      return step.time.si();
    case Feature::spread:
      return std::hypot(imagined.spread, observation.rounding);
    case Feature::pauses:
      return imagined.pauses;
    case Feature::regularity:
      return imagined.regularity;
    case Feature::forward:
      return (step.forward.least + inside).si();
    case Feature::backward:
      return step.backward.least.si();
    case Feature::rank_ratio:
      return std::max((step.forward.most + inside) / (step.forward.least + inside),
                      step.backward.most / step.backward.least);
    case Feature::stage_waits:
      return (step.breakdown[Activity::pipeline_bubble] +
              step.breakdown[Activity::stage_imbalance] + step.breakdown[Activity::pipeline_p2p])
          .si();
    case Feature::data:
      return step.breakdown[Activity::data].si();
    case Feature::optimizer:
      return step.breakdown[Activity::optimizer].si();
    case Feature::input:
      return input.si();
    case Feature::memory:
      return step.allocated.si();
    case Feature::reserved_memory:
      return step.reserved.si();
    case Feature::bus_bandwidth:
      return laboratory.bus_bandwidth(imagined, hypothesis, *observation.call, observation.nodes);
    case Feature::clock_ratio:
      return imagined.clock_ratio;
    case Feature::power:
      return imagined.power.si();
    case Feature::products:
      return imagined.products;
    case Feature::save:
      return std::max(imagined.save.si(), kNoTime);
    case Feature::load:
      return std::max(imagined.load.si(), kNoTime);
  }
  return 0;
}

}  // namespace headway::study
