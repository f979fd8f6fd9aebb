#include "sim/training/explain/explain.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

#include "sim/training/explain/ways.h"
#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/step/critical_path.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/teacher/cached_logits.h"

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

/// Above this the CPU takes longer to launch a block's kernels than the GPU to compute them: r = 1
/// in gpu::host_stretch.
const double kEvenStretch = std::pow(2.0, 0.25);

/// Below this a stretch is not seen in three digits. Source: rounding.
constexpr double kUnseenStretch = 1.0005;

/// What one launch of a kernel is and takes.
class KernelWords {
 public:
  /// @param layer  which of the model's layers attend so: "window", "full"; empty where all attend
  /// alike
  KernelWords(const KernelTimes& times, const Kernel& kernel, std::string layer = {})
      : times_(times), kernel_(kernel), layer_(std::move(layer)) {
    kernel_.count = 1;
    gap_ = gpu::kernels_time(*times.gpu, times.shares, {idle()}, times.launch).si();
    time_ = gpu::kernels_time(*times.gpu, times.shares, {kernel_}, times.launch).si();
  }

  /// On the GPU, the launch gap included.
  [[nodiscard]] Seconds time() const { return Seconds(time_); }

  [[nodiscard]] std::string what() const {
    if (kernel_.kind == KernelKind::host_copy || kernel_.kind == KernelKind::host_update) {
      return kernel_.name;
    }
    if (moves_bytes()) {
      return fmt::format("{}: memory traffic", kernel_.name);
    }
    const std::string tail = layer_.empty() ? "" : ", " + layer_;
    switch (kernel_.kind) {
      case KernelKind::attention_forward:
      case KernelKind::attention_backward:
        return fmt::format("{}, {}{}", kernel_.name, forward() ? "forward" : "backward", tail);
      case KernelKind::scan:
        return fmt::format("{}: chunks and states", kernel_.name);
      case KernelKind::vector_scan:
        return fmt::format("{}: states and exponentials", kernel_.name);
      case KernelKind::decomposition:
      case KernelKind::eigenvalues:
        return fmt::format("{}: decomposition{}", kernel_.name, rarely());
      default:
        return kernel_.every > 1
                   ? fmt::format("{}: matrix product{}", kernel_.name, rarely())
                   : fmt::format("{}, {}: matrix product", kernel_.name, pass_name(kernel_.pass));
    }
  }

  /// What gives `time()`.
  [[nodiscard]] std::string formula() const {
    const auto every = static_cast<double>(kernel_.every);
    const double busy = std::max((time_ - gap_) * every, 1e-12);
    const double bandwidth = kernel_.kind == KernelKind::host_copy ? times_.gpu->host_bandwidth.si()
                             : kernel_.kind == KernelKind::host_update
                                 ? times_.launch.host_memory.si()
                                 : times_.gpu->memory_bandwidth.si();
    if (moves_bytes() || kernel_.kind == KernelKind::scan) {
      return fmt::format("{}B / ({}B/s x {:#.3g}) + gap {}", scaled(kernel_.traffic.si()),
                         scaled(bandwidth), kernel_.traffic.si() / busy / bandwidth,
                         duration(gap_));
    }
    if (kernel_.kind == KernelKind::decomposition || kernel_.kind == KernelKind::eigenvalues) {
      const double column = gpu::column_time(*times_.gpu, kernel_).si();
      const double rest = busy - column * static_cast<double>(kernel_.n);
      return fmt::format("({} columns x {} + {} of {}FLOP and {}B){} + gap {}", kernel_.n,
                         duration(column), duration(rest), scaled(kernel_.work.si()),
                         scaled(kernel_.traffic.si()), of_steps(), duration(gap_));
    }
    if (fetches()) {
      const int units = times_.gpu->streaming_multiprocessors;
      return fmt::format("{}B / ({}B/s x {}) + gap {}", scaled(kernel_.gathered.si()),
                         scaled(gpu::fetch_rate(*times_.gpu).si() / units), units, duration(gap_));
    }
    const double peak = gpu::peak_rate(*times_.gpu, kernel_.precision).si();
    return fmt::format("{}{}FLOP / ({}FLOP/s {} x {:#.3g}){} + gap {}", shape(),
                       scaled(kernel_.work.si()), scaled(peak), core::to_word(kernel_.precision),
                       kernel_.work.si() / busy / peak, of_steps(), duration(gap_));
  }

  [[nodiscard]] std::string change() const {
    if (kernel_.kind == KernelKind::host_copy || kernel_.kind == KernelKind::host_update) {
      return std::string_view(kernel_.name) == workload::kLogitsFromHost
                 ? "fewer logits of a token (training.distillation.top_k); faster host links"
                 : "the optimizer on the GPU; a finer shard of it (zero1 over more ranks); faster "
                   "host links and memory";
    }
    if (moves_bytes()) {
      return "more memory bandwidth; fused kernels; sequence parallelism; a larger tensor degree";
    }
    switch (kernel_.kind) {
      case KernelKind::attention_forward:
      case KernelKind::attention_backward:
        return "newer attention kernels; context parallelism; less recompute";
      case KernelKind::scan:
        return "fused scan kernels; more tensor ranks, if heads and groups divide";
      case KernelKind::vector_scan:
        return "a mixer of matrix products (mamba2); more tensor ranks; fewer states a channel";
      case KernelKind::decomposition:
      case KernelKind::eigenvalues:
        return "fewer decompositions (preconditioner.every); zero1 over more ranks";
      default:
        return "a faster or narrower matrix format; shapes nearer the peak (larger micro-batch, "
               "smaller tensor degree); less recompute";
    }
  }

 private:
  [[nodiscard]] bool moves_bytes() const { return kernel_.work.si() <= 0; }
  [[nodiscard]] bool forward() const { return kernel_.kind == KernelKind::attention_forward; }
  [[nodiscard]] bool fetches() const {  // which takes longer than all else
    return (kernel_.gathered / gpu::fetch_rate(*times_.gpu)).si() > 0.999 * (time_ - gap_);
  }

  /// What the work is counted from.
  [[nodiscard]] std::string shape() const {
    if (kernel_.m > 0) {
      return fmt::format("2 x {} x {} x {}{} = ", kernel_.m, kernel_.n, kernel_.k,
                         kernel_.batch > 1 ? fmt::format(" x {}", kernel_.batch) : "");
    }
    if (kernel_.kind == KernelKind::vector_scan) {
      return "";
    }
    return fmt::format("{} heads x {}{} tokens over {} keys{}: ", kernel_.query_heads,
                       kernel_.batch > 1 ? fmt::format("{} sequences of ", kernel_.batch) : "",
                       kernel_.sequence, kernel_.key_sequence, kernel_.causal ? ", causal" : "");
  }

  /// What is added to the name of a kernel that not every step runs.
  [[nodiscard]] std::string rarely() const {
    return kernel_.every > 1 ? fmt::format(", in one of {} steps", kernel_.every) : "";
  }

  [[nodiscard]] std::string of_steps() const {
    return kernel_.every > 1 ? fmt::format(" / {} steps", kernel_.every) : "";
  }

  /// A kernel that does nothing: what is left is its gap.
  [[nodiscard]] Kernel idle() const {
    Kernel nothing;
    nothing.every = kernel_.every;
    nothing.kind = KernelKind::memory_bound;
    return nothing;
  }

  const KernelTimes& times_;
  Kernel kernel_;
  std::string layer_;
  double gap_ = 0, time_ = 0;
};

/// What tells the kernel from others that take another time.
std::vector<std::int64_t> identity(const Kernel& k) {
  return {static_cast<std::int64_t>(k.kind),
          static_cast<std::int64_t>(k.pass),
          static_cast<std::int64_t>(k.precision),
          k.m,
          k.n,
          k.k,
          k.batch,
          k.sequence,
          k.key_sequence,
          k.query_heads,
          k.key_value_heads,
          k.head_dim,
          static_cast<std::int64_t>(k.causal),
          static_cast<std::int64_t>(k.work.si()),
          static_cast<std::int64_t>(k.traffic.si()),
          static_cast<std::int64_t>(k.gathered.si()),
          static_cast<std::int64_t>(64 * k.issued)};
}

/// GPU time of launches, and the same stretched by what the CPU makes of their blocks.
struct Stretched {
  double on_gpu = 0, with_cpu = 0;
  double least = 0, most = 0;  ///< factor of a block

  void add(double seconds, double stretch) {
    least = on_gpu > 0 ? std::min(least, stretch) : stretch;
    most = std::max(most, stretch);
    on_gpu += seconds;
    with_cpu += seconds * stretch;
  }
  [[nodiscard]] double mean() const { return on_gpu > 0 ? with_cpu / on_gpu : 1; }
};

/// The closed form of one launch to its end, with what the CPU adds.
std::string stretched_formula(const std::string& on_gpu, Seconds once, const Stretched& stretch) {
  if (stretch.mean() < kUnseenStretch) {
    return fmt::format("{} = {}", on_gpu, duration(once.si()));
  }
  const bool equal = stretch.most < stretch.least * kUnseenStretch;
  const char* why = stretch.mean() > kEvenStretch
                        ? "the CPU launches slower than the GPU computes"
                        : "the CPU launches hardly faster than the GPU computes";
  return fmt::format(
      "({}) x {:#.4g} ({}{}) = {}", on_gpu, stretch.mean(), why,
      equal ? "" : fmt::format("; {:#.3g} to {:#.3g} by block", stretch.least, stretch.most),
      duration(once.si() * stretch.mean()));
}

/// What makes a stretched kernel shorter; where the CPU is the slower one, faster kernels hardly
/// do.
std::string stretched_change(const std::string& on_gpu,
                             const Stretched& stretch,
                             const Scenario& scenario) {
  constexpr double kSmall = 1.01;  // Source: chosen
  const std::string launches = ways_to_shorten(Activity::launch, scenario);
  if (stretch.mean() < kSmall) {
    return on_gpu;
  }
  return stretch.mean() > kEvenStretch ? launches : fmt::format("{}; {}", on_gpu, launches);
}

/// What became of a transfer on the path: a rank that works beside it waits for its end alone.
std::string waited_words(double whole, double waited) {
  return waited > 0.999 * whole ? fmt::format("{} waited for", duration(waited))
                                : fmt::format("{} from its start to its end, {} of it waited for",
                                              duration(whole), duration(waited));
}

/// @param whole   mean time on the path
/// @param waited  mean part of it that the waiting rank did nothing else
std::string transfer_formula(const CollectiveUse& use, double whole, double waited) {
  const auto& t = use.alone;
  const double moving = std::max((t.total - t.alpha).si(), 1e-12);
  const bool network = t.nic_bytes.si() > 0;
  const core::Bytes bytes = network ? t.nic_bytes : t.scale_up_bytes;
  return fmt::format(
      "{} of {}B over {} ranks in {} NVLink domain{} ({} {}): latency {} + {}B / ({}B/s {}) = {} "
      "alone; {}",
      core::to_word(use.call.kind), scaled(use.call.bytes.si()), use.shape.ranks, use.shape.domains,
      use.shape.domains == 1 ? "" : "s", core::to_word(t.algorithm), core::to_word(t.protocol),
      duration(t.alpha.si()), scaled(bytes.si()), scaled(bytes.si() / moving),
      network ? "of its NICs" : "over NVLink", duration(t.total.si()), waited_words(whole, waited));
}

/// Of the layers that attend through a window and those that do not, where the model has both:
/// which one the block is of.
std::string layer_of(const workload::StepGraph& graph, const workload::Block& block) {
  const auto windowed = [](const workload::Block& b) { return b.name.starts_with("window "); };
  const auto full = [&](const workload::Block& b) {
    return !windowed(b) && b.name.find("layer ") != std::string::npos;
  };
  const bool both = std::any_of(graph.blocks.begin(), graph.blocks.end(), windowed) &&
                    std::any_of(graph.blocks.begin(), graph.blocks.end(), full);
  if (block.encoder) {
    return "encoder";
  }
  return !both ? "" : windowed(block) ? "window" : "full";
}

/// Sums the segments of the critical path by what they are.
class PathSums {
 public:
  PathSums(const Scenario& scenario, const workload::StepGraph& graph, const LoweredStep& lowered)
      : scenario_(scenario), times_of_kinds_(scenario), graph_(graph), lowered_(lowered) {
    for (int kind = 0; unequal(scenario.cluster) && kind < node_kinds(scenario.cluster); ++kind) {
      on_.push_back(fmt::format(", on {}", node_of_kind(scenario.cluster, kind).gpu.name));
    }
    for (const workload::Block& block : graph.blocks) {
      layers_.push_back(layer_of(graph, block));
    }
  }

  void add(const PathSegment& segment) {
    const auto& rank = lowered_.problem.actors[segment.actor];
    kind_ = lowered_.owners[rank.program].kind;
    const auto& step = lowered_.problem.programs[rank.program][segment.step];
    const double seconds = core::Clock::step().to_seconds(segment.ticks).si();
    if (step.code == network::StepCode::compute) {
      add_compute(lowered_.origins[rank.program][segment.step], step, seconds);
    } else {
      Sum& sum = transfer_sum(rank.groups[step.slot]);
      sum.seconds += seconds;
      sum.waited += core::Clock::step().to_seconds(segment.waited).si();
      ++sum.count;
    }
  }

  [[nodiscard]] std::vector<Contribution> contributions() const {
    std::vector<Contribution> list;
    for (const auto& [key, sum] : sums_) {
      list.push_back(contribution(sum));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
    return list;
  }

 private:
  enum class Form : std::uint8_t { fixed, kernel, collective, copy };
  /// Activity, form, what it is, and what tells it from others called so.
  using Key = std::tuple<int, Form, std::string, std::vector<std::int64_t>>;
  struct Sum {
    Contribution words;
    double seconds = 0;
    double waited = 0;  ///< of a transfer's seconds
    std::int64_t count = 0;
    const CollectiveUse* use = nullptr;
    Form form = Form::fixed;
    Seconds once;       ///< kernel, copy: one on the GPU, alone
    Stretched stretch;  ///< kernel
  };

  /// Kernel speeds of the rank at hand.
  [[nodiscard]] const KernelTimes& times() const { return times_of_kinds_.of(kind_); }

  /// The closed form of a sum, of one launch.
  [[nodiscard]] Contribution contribution(const Sum& sum) const {
    Contribution c = sum.words;
    c.time = Seconds(sum.seconds);
    c.count = sum.count;
    const auto count = static_cast<double>(sum.count);
    switch (sum.form) {
      case Form::fixed:
        break;
      case Form::kernel:
        c.formula = stretched_formula(c.formula, sum.once, sum.stretch);
        c.change = stretched_change(c.change, sum.stretch, scenario_);
        c.once = sum.once * sum.stretch.mean();
        break;
      case Form::collective:
        c.formula = transfer_formula(*sum.use, sum.seconds / count, sum.waited / count);
        break;
      case Form::copy:
        c.formula = fmt::format("{} = {} alone; {} (breakdown_s.other has that)", c.formula,
                                duration(sum.once.si()),
                                waited_words(sum.seconds / count, sum.waited / count));
        break;
    }
    return c;
  }

  void add_compute(StepOrigin origin, const network::ProgramStep& step, double seconds) {
    const auto block = static_cast<std::size_t>(origin.block);
    const auto& operation =
        graph_.blocks[block].operations[static_cast<std::size_t>(origin.operation)];
    const double whole =
        gpu::kernels_time(*times().gpu, times().shares, operation.kernels, times().launch).si();
    if (operation.kernels.empty() || whole <= 0) {
      add_fixed(operation, step.activity, seconds);
    } else {
      add_kernels(block, operation, step.activity, seconds / whole);
    }
  }

  void add_fixed(const workload::Operation& operation, Activity activity, double seconds) {
    Sum& sum = sums_[{static_cast<int>(activity), Form::fixed, operation.name, {}}];
    const bool beside = operation.kind == workload::OperationKind::collective;
    sum.words.activity = activity;
    sum.words.what = std::string(operation.name) + (beside ? ": slows the kernels beside it" : "");
    sum.words.formula = beside
                            ? "a share of the collective's time alone, from the framework's profile"
                            : "a fixed time, from the framework's profile";
    sum.words.change =
        beside ? "no overlap, or collectives that take fewer SMs" : "another framework profile";
    sum.seconds += seconds;
    ++sum.count;
  }

  /// The time of an operation is shared by its kernels as they take it; where the CPU is too slow,
  /// all are stretched.
  /// @param longer  time of the operation / GPU time of its kernels
  void add_kernels(std::size_t block,
                   const workload::Operation& operation,
                   Activity activity,
                   double longer) {
    for (const Kernel& kernel : operation.kernels) {
      const KernelWords words(times(), kernel, layers_[block]);
      const double own =
          gpu::kernels_time(*times().gpu, times().shares, {kernel}, times().launch).si();
      const std::string what = words.what() + (on_.empty() ? "" : on_[place(kind_)]);
      Sum& sum = sums_[{static_cast<int>(activity), Form::kernel, what, identity(kernel)}];
      if (sum.count == 0) {
        sum.words = {activity, what, {}, 0, words.formula(), {}, words.change()};
        sum.form = Form::kernel;
        sum.once = words.time();
      }
      sum.seconds += own * longer;
      sum.stretch.add(own, lowered_.stretches[place(kind_)][block]);
      sum.count += kernel.count;
    }
  }

  /// Where the times of a transfer go.
  Sum& transfer_sum(std::uint32_t group) {
    if (lowered_.copied_bytes[group] > core::Bytes(0)) {
      return copy_sum(group);
    }
    const auto& transfer = lowered_.problem.groups[group];
    const std::uint32_t use = lowered_.use_of_group[group];
    const std::string& name = lowered_.problem.names[transfer.name];
    Sum& sum = sums_[{static_cast<int>(transfer.activity), Form::collective, name, {use}}];
    sum.words.activity = transfer.activity;
    sum.words.what = name + ": transfer";
    sum.words.change = ways_to_shorten(transfer.activity, scenario_);
    sum.form = Form::collective;
    sum.use = &lowered_.collectives[use];
    return sum;
  }

  Sum& copy_sum(std::uint32_t group) {
    const auto& transfer = lowered_.problem.groups[group];
    const std::string& name = lowered_.problem.names[transfer.name];
    const core::Bytes bytes = lowered_.copied_bytes[group];
    Sum& sum = sums_[{static_cast<int>(transfer.activity),
                      Form::copy,
                      name,
                      {static_cast<std::int64_t>(bytes.si()), kind_}}];
    if (sum.count == 0) {
      Kernel copy;
      copy.kind = KernelKind::host_copy;
      copy.name = name.c_str();
      copy.traffic = bytes;
      const KernelWords words(times(), copy);
      sum.words = {transfer.activity,
                   name + ": the whole copy, hidden part included",
                   {},
                   0,
                   words.formula(),
                   {},
                   kCopyChange};
      sum.form = Form::copy;
      sum.once = words.time();
    }
    return sum;
  }

  static constexpr const char* kCopyChange =
      "fewer offload_layers, so that a copy has more layers beside it; recompute in place of "
      "offload; a faster way to the host";

  static std::size_t place(int kind) { return static_cast<std::size_t>(kind); }

  const Scenario& scenario_;
  KernelTimesOfKinds times_of_kinds_;
  const workload::StepGraph& graph_;
  const LoweredStep& lowered_;
  int kind_ = 0;                     ///< of the node of the rank at hand
  std::vector<std::string> on_;      ///< per kind of node; empty: there is one
  std::vector<std::string> layers_;  ///< per block: layer_of
  std::map<Key, Sum> sums_;
};

/// What the step waits for the data rank with the most work; nothing where it does not.
std::optional<Contribution> imbalance_contribution(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  const int ranks = checked.synchronous_data();
  const auto count = checked.micro_batches();
  const Seconds wait = rank_imbalance(s, s.parallelism, ranks, count);
  if (wait <= Seconds(0)) {
    return std::nullopt;
  }
  const RankMeetings meet = rank_meetings(s, s.parallelism, ranks);
  const auto spread = longest_wait(wait_factors(meet), count, micro_batch_spread(s, s.parallelism));
  Contribution c;
  c.activity = Activity::rank_imbalance;
  c.what = "the data rank with the most work";
  c.time = wait;
  c.count = 1;
  c.formula = fmt::format(
      "mean of the largest of {} sums of {} micro-batches that deviate by {}{}, {} = {}", ranks,
      count, duration(spread.deviation),
      spread.spare > 0 ? fmt::format(", less {} to spare in each", duration(spread.spare)) : "",
      meet.group > 1 ? fmt::format("{} ranks meeting in every one of them", meet.group)
                     : "ranks meeting at the end of the step",
      duration(wait.si()));
  c.change = ways_to_shorten(Activity::rank_imbalance, s);
  return c;
}

}  // namespace

Explanation explain_step(const CheckedScenario& checked,
                         std::size_t most,
                         const core::Count& count) {
  const Scenario& s = checked.scenario();
  const workload::StepGraph graph = step_graph(checked);
  const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  const LoweredStep lowered = lower(checked, graph, fabric, {.origins = true});
  network::RunOptions how;
  how.trace = true;
  how.progress = network::in_parts(count);
  const network::RunResult run = run_step(lowered, how);
  PathSums sums(s, graph, lowered);
  for (const PathSegment& segment : critical_segments(lowered.problem, run)) {
    sums.add(segment);
  }
  Explanation explanation;
  explanation.step = core::Clock::step().to_seconds(run.end);
  explanation.largest = sums.contributions();
  if (auto imbalance = imbalance_contribution(checked)) {
    explanation.step += imbalance->time;
    explanation.largest.push_back(std::move(*imbalance));
    std::stable_sort(explanation.largest.begin(), explanation.largest.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
  }
  for (std::size_t i = most; i < explanation.largest.size(); ++i) {
    explanation.rest += explanation.largest[i].time;
  }
  explanation.largest.resize(std::min(most, explanation.largest.size()));
  for (Contribution& part : explanation.largest) {
    part.share = part.time / explanation.step;
  }
  explanation.sensitivities = step_sensitivities(checked, explanation.step, 0.1, count);
  return explanation;
}

}  // namespace headway::training
