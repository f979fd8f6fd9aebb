#include "sim/training/explain.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

#include "sim/core/error.h"
#include "sim/training/critical_path.h"
#include "sim/training/lower.h"
#include "sim/training/step.h"
#include "sim/workload/build.h"

namespace headway::training {

namespace {

using core::Activity;
using core::Kernel;
using core::KernelKind;
using core::Seconds;

/// A figure with a prefix: 1.24e12 -> "1.24 T".
std::string scaled(double value) {
  static constexpr std::array<std::pair<double, const char*>, 5> kPrefixes{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [size, prefix] : kPrefixes) {
    if (value >= size) {
      return fmt::format("{:.3g} {}", value / size, prefix);
    }
  }
  return fmt::format("{:.3g} ", value);
}

std::string duration(double seconds) {
  if (seconds >= 1) {
    return fmt::format("{:.3g} s", seconds);
  }
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                         : fmt::format("{:.3g} us", seconds * 1e6);
}

const char* pass_name(core::GemmPass pass) {
  switch (pass) {
    case core::GemmPass::forward:
      return "forward";
    case core::GemmPass::input_gradient:
      return "input gradient";
    case core::GemmPass::weight_gradient:
      return "weight gradient";
  }
  return "";
}

/// What one launch of a kernel is and takes.
class KernelWords {
 public:
  KernelWords(const KernelTimes& times, const Kernel& kernel) : times_(times), kernel_(kernel) {
    kernel_.count = 1;
    gap_ = gpu::kernels_time(*times.gpu, times.shares, {idle()}, times.launch).si();
    time_ = gpu::kernels_time(*times.gpu, times.shares, {kernel_}, times.launch).si();
  }

  [[nodiscard]] std::string what() const {
    if (kernel_.kind == KernelKind::host_copy || kernel_.kind == KernelKind::host_update) {
      return kernel_.name;
    }
    if (moves_bytes()) {
      return fmt::format("{}: memory traffic", kernel_.name);
    }
    switch (kernel_.kind) {
      case KernelKind::attention_forward:
        return "attention, forward";
      case KernelKind::attention_backward:
        return "attention, backward";
      default:
        return fmt::format("{}, {}: matrix product", kernel_.name, pass_name(kernel_.pass));
    }
  }

  [[nodiscard]] std::string formula() const {
    const double busy = std::max(time_ - gap_, 1e-12);
    const double bandwidth = kernel_.kind == KernelKind::host_copy     ? times_.gpu->host_bandwidth.si()
                             : kernel_.kind == KernelKind::host_update ? times_.launch.host_memory.si()
                                                                       : times_.gpu->memory_bandwidth.si();
    const std::string tail = fmt::format(" + gap {} = {}", duration(gap_), duration(time_));
    if (moves_bytes()) {
      return fmt::format("{}B / ({}B/s x {:.2f}){}", scaled(kernel_.traffic.si()),
                         scaled(bandwidth), kernel_.traffic.si() / busy / bandwidth, tail);
    }
    const double peak = gpu::peak_rate(*times_.gpu, kernel_.precision).si();
    const bool matrix = kernel_.m > 0;
    const std::string work =
        matrix ? fmt::format("2 x {} x {} x {}{} = {}FLOP", kernel_.m, kernel_.n, kernel_.k,
                             kernel_.batch > 1 ? fmt::format(" x {}", kernel_.batch) : "",
                             scaled(kernel_.work.si()))
               : fmt::format("{} heads x {} tokens: {}FLOP", kernel_.query_heads, kernel_.sequence,
                             scaled(kernel_.work.si()));
    return fmt::format("{} / ({}FLOP/s {} x {:.2f}){}", work, scaled(peak),
                       core::to_word(kernel_.precision), kernel_.work.si() / busy / peak, tail);
  }

  [[nodiscard]] std::string change() const {
    if (kernel_.kind == KernelKind::host_copy || kernel_.kind == KernelKind::host_update) {
      return "the optimizer on the GPU; a finer shard of it (zero1 over more ranks); faster host links and memory";
    }
    if (moves_bytes()) {
      return "more memory bandwidth; fused kernels; sequence parallelism; a larger tensor degree";
    }
    switch (kernel_.kind) {
      case KernelKind::attention_forward:
      case KernelKind::attention_backward:
        return "newer attention kernels; context parallelism; less recompute";
      default:
        return "a faster or narrower matrix format; shapes nearer the peak (larger micro-batch, "
               "smaller tensor degree); less "
               "recompute";
    }
  }

 private:
  [[nodiscard]] bool moves_bytes() const { return kernel_.work.si() <= 0; }

  /// A kernel that does nothing: what is left is its gap.
  [[nodiscard]] Kernel idle() const {
    Kernel nothing;
    nothing.kind = KernelKind::memory_bound;
    return nothing;
  }

  const KernelTimes& times_;
  Kernel kernel_;
  double gap_ = 0, time_ = 0;
};

std::string transfer_change(Activity activity) {
  switch (activity) {
    case Activity::tensor:
      return "a smaller tensor degree; framework.tensor_overlap; a faster NVLink domain";
    case Activity::pipeline_p2p:
      return "fewer stages or chunks; sends that overlap (framework.pipeline_overlap); a faster "
             "network";
    case Activity::data:
      return "framework.data_overlap; more micro-batches a step; narrower gradients; a faster "
             "network";
    case Activity::context:
      return "a smaller context degree; another context_kind; context ranks in one NVLink domain";
    case Activity::expert:
      return "a smaller expert degree; experts in one NVLink domain; a faster network";
    default:
      return "a faster network";
  }
}

std::string transfer_formula(const CollectiveUse& use, double mean) {
  const auto& t = use.alone;
  const double moving = std::max((t.total - t.alpha).si(), 1e-12);
  const bool network = t.nic_bytes.si() > 0;
  const core::Bytes bytes = network ? t.nic_bytes : t.scale_up_bytes;
  return fmt::format(
      "{} of {}B over {} ranks in {} NVLink domain{} ({} {}): latency {} + {}B / ({}B/s {}) = {} "
      "alone; {} waited for",
      core::to_word(use.call.kind), scaled(use.call.bytes.si()), use.shape.ranks, use.shape.domains,
      use.shape.domains == 1 ? "" : "s", core::to_word(t.algorithm), core::to_word(t.protocol),
      duration(t.alpha.si()), scaled(bytes.si()), scaled(bytes.si() / moving),
      network ? "of its NICs" : "over NVLink", duration(t.total.si()), duration(mean));
}

/// Sums the segments of the critical path by what they are.
class PathSums {
 public:
  PathSums(const KernelTimes& times, const workload::StepGraph& graph, const LoweredStep& lowered)
      : times_(times), graph_(graph), lowered_(lowered) {}

  void add(const PathSegment& segment) {
    const auto& rank = lowered_.problem.actors[segment.actor];
    const auto& step = lowered_.problem.programs[rank.program][segment.step];
    const double seconds = core::Clock::step().to_seconds(segment.ticks).si();
    if (step.code == network::StepCode::compute) {
      add_compute(lowered_.origins[rank.program][segment.step], step, seconds);
    } else {
      add_transfer(rank.groups[step.slot], seconds);
    }
  }

  [[nodiscard]] std::vector<Contribution> contributions() const {
    std::vector<Contribution> list;
    for (const auto& [key, sum] : sums_) {
      Contribution c = sum.words;
      c.time = Seconds(sum.seconds);
      c.count = sum.count;
      if (sum.use != nullptr) {
        c.formula = transfer_formula(*sum.use, sum.seconds / static_cast<double>(sum.count));
      }
      list.push_back(std::move(c));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
    return list;
  }

 private:
  /// Activity, then a kernel's name, kind, pass and size, or a transfer's use.
  using Key = std::tuple<int, std::string, int, int, std::int64_t, std::int64_t, std::int64_t>;
  struct Sum {
    Contribution words;
    double seconds = 0;
    std::int64_t count = 0;
    const CollectiveUse* use = nullptr;
  };

  /// The time of an operation is shared by its kernels as they take it; where the CPU is too slow,
  /// all are stretched.
  void add_compute(StepOrigin origin, const network::ProgramStep& step, double seconds) {
    const auto& operation = graph_.blocks[static_cast<std::size_t>(origin.block)]
                                .operations[static_cast<std::size_t>(origin.operation)];
    const double whole =
        gpu::kernels_time(*times_.gpu, times_.shares, operation.kernels, times_.launch).si();
    if (operation.kernels.empty() || whole <= 0) {
      Sum& sum = sums_[{static_cast<int>(step.activity), operation.name, -1, 0, 0, 0, 0}];
      sum.words.activity = step.activity;
      const bool beside = operation.kind == workload::OperationKind::collective;
      sum.words.what = std::string(operation.name) + (beside ? ": slows the kernels beside it" : "");
      sum.words.formula = beside ? "a share of the collective's time alone, from the framework's profile"
                                 : "a fixed time, from the framework's profile";
      sum.words.change = beside ? "no overlap, or collectives that take fewer SMs" : "another framework profile";
      sum.seconds += seconds;
      ++sum.count;
      return;
    }
    for (const Kernel& kernel : operation.kernels) {
      const double own =
          gpu::kernels_time(*times_.gpu, times_.shares, {kernel}, times_.launch).si();
      Sum& sum = sums_[{static_cast<int>(step.activity), kernel.name, static_cast<int>(kernel.kind),
                        static_cast<int>(kernel.pass), kernel.n, kernel.k,
                        static_cast<std::int64_t>(kernel.traffic.si())}];
      if (sum.count == 0) {
        const KernelWords words(times_, kernel);
        sum.words = {step.activity, words.what(), {}, 0, words.formula(), words.change()};
      }
      sum.seconds += seconds * own / whole;
      sum.count += kernel.count;
    }
  }

  void add_transfer(std::uint32_t group, double seconds) {
    if (lowered_.copied_bytes[group] > core::Bytes(0)) {
      add_copy(group, seconds);
      return;
    }
    const auto& transfer = lowered_.problem.groups[group];
    const std::uint32_t use = lowered_.use_of_group[group];
    const std::string& name = lowered_.problem.names[transfer.name];
    Sum& sum = sums_[{static_cast<int>(transfer.activity), name, -2, 0, use, 0, 0}];
    sum.words.activity = transfer.activity;
    sum.words.what = name + ": transfer";
    sum.words.change = transfer_change(transfer.activity);
    sum.use = &lowered_.collectives[use];
    sum.seconds += seconds;
    ++sum.count;
  }

  void add_copy(std::uint32_t group, double seconds) {
    const auto& transfer = lowered_.problem.groups[group];
    const std::string& name = lowered_.problem.names[transfer.name];
    const core::Bytes bytes = lowered_.copied_bytes[group];
    Sum& sum = sums_[{static_cast<int>(transfer.activity), name, -3, 0, 0, 0,
                      static_cast<std::int64_t>(bytes.si())}];
    if (sum.count == 0) {
      Kernel copy;
      copy.kind = KernelKind::host_copy;
      copy.name = name.c_str();
      copy.traffic = bytes;
      sum.words = {transfer.activity,
                   name + ": what the layers beside the copy do not hide",
                   {},
                   0,
                   KernelWords(times_, copy).formula() + " alone",
                   kCopyChange};
    }
    sum.seconds += seconds;
    ++sum.count;
  }

  static constexpr const char* kCopyChange =
      "fewer offload_layers, so that a copy has more layers beside it; recompute in place of "
      "offload; a faster way to the host";

  const KernelTimes& times_;
  const workload::StepGraph& graph_;
  const LoweredStep& lowered_;
  std::map<Key, Sum> sums_;
};

}  // namespace

Explanation explain_step(const CheckedScenario& checked, std::size_t most) {
  const Scenario& s = checked.scenario();
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism,
                                                checked.data_parallel(), checked.micro_batches(),
                                                rank_layout(checked).expert_domains());
  const network::Fabric fabric = build_fabric(s.cluster);
  const LoweredStep lowered = lower(checked, graph, fabric, {.origins = true});
  network::RunOptions how;
  how.trace = true;
  const network::RunResult run = network::run(lowered.problem, how);
  const KernelTimes times = kernel_times(s);
  PathSums sums(times, graph, lowered);
  for (const PathSegment& segment : critical_segments(lowered.problem, run)) {
    sums.add(segment);
  }
  Explanation explanation;
  explanation.step = core::Clock::step().to_seconds(run.end);
  explanation.largest = sums.contributions();
  for (std::size_t i = most; i < explanation.largest.size(); ++i) {
    explanation.rest += explanation.largest[i].time;
  }
  explanation.largest.resize(std::min(most, explanation.largest.size()));
  explanation.sensitivities = step_sensitivities(checked, explanation.step);
  return explanation;
}

}  // namespace headway::training
