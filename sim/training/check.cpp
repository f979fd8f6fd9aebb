#include "sim/training/check.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/core/checked.h"
#include "sim/core/ranges.h"
#include "sim/gpu/closed_form.h"
#include "sim/gpu/kernel_time.h"
#include "sim/gpu/tables.h"
#include "sim/network/fabric/fabric_shape.h"
#include "sim/training/complaints.h"
#include "sim/training/compute_fabric.h"
#include "sim/training/occupancy/occupancy.h"
#include "sim/training/power/check_power.h"
#include "sim/training/power/power_fit.h"
#include "sim/training/sites/check_sites.h"
#include "sim/training/step/placement.h"
#include "sim/training/unequal/check_unequal.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/optimizer_state.h"
#include "sim/workload/memory/outer_state.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/mixer/mixer_problems.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/teacher/teacher_problems.h"
#include "sim/workload/violation.h"

namespace headway::training {

namespace {

using core::Checked;
using core::SourceMarks;

/// Micro-batches x chunks of layers of a model replica in a step. Published runs have some
/// thousands (Llama 3.1 405B: 16 x 128); the schedule of 2^24 takes half a gigabyte.
constexpr std::int64_t kMostChunksAStep = 16'777'216;

void check_format(const Scenario& s, Complaints& complaints) {
  if (s.headway != 1) {
    complaints.add("headway",
                   "format version {} is not known to this program; write 'headway: 1' and run "
                   "'headway check' again",
                   s.headway);
  }
  if (s.name.empty()) {
    complaints.add("name", "the name is empty; say in a few words what this scenario is");
  }
}

/// A step alone saves nothing; a run saves, and loads when it begins again.
void check_storage(const Scenario& s, Complaints& complaints) {
  if (s.cluster.storage) {
    return;
  }
  if (s.run.until) {
    complaints.add("cluster",
                   "the cluster has no 'storage', where a run, or a drill of one, keeps its "
                   "checkpoints; name one (headway catalog list storage), or predict one step "
                   "alone: `headway run` without 'run.until'");
  } else if (s.run.data) {
    complaints.add("cluster", "the cluster has no 'storage' to read 'run.data' from; name one");
  } else if (workload::reads_logits(s.training)) {
    complaints.add("cluster",
                   "the cluster has no 'storage' to read 'training.distillation.cached' from; name "
                   "one");
  }
}

void check_power(const gpu::GpuSpec& gpu, Complaints& complaints) {
  if (gpu.power <= gpu.idle_power) {
    complaints.add("cluster.node.gpu.power",
                   "a power limit of {} W leaves nothing above the {} W that an idle {} draws; "
                   "raise it or lower 'idle_power'",
                   gpu.power.si(), gpu.idle_power.si(), gpu.name);
  }
}

/// GPUs of the largest server that is one NVLink domain (DGX-2, HGX A100 of two boards).
constexpr int kLargestServer = 16;

/// An entry's server whose GPUs are changed and whose NVLink domain is not would share it with its
/// neighbours; racks that are one domain are larger.
void check_domain(const ClusterSpec& c, Complaints& complaints) {
  constexpr std::string_view kGpus = "cluster.node.gpus";
  const int domain = c.node.scale_up.domain_gpus;
  if (c.nodes > 1 && domain > c.node.gpus && domain <= kLargestServer &&
      complaints.apart(kGpus, "cluster.node.scale_up.domain_gpus")) {
    complaints.add(kGpus,
                   "nodes of {0} GPUs would share the NVLink domain of {1} GPUs of the {2}; write "
                   "'cluster.node.scale_up.domain_gpus' too ({0}: each node is one), and "
                   "'cluster.node.nic.count', {3} now",
                   c.node.gpus, domain, c.node.name, c.node.nic.count);
  }
}

void check_cluster(const ClusterSpec& c, Complaints& complaints) {
  check_power(c.node.gpu, complaints);
  const int domain = c.node.scale_up.domain_gpus;
  if (domain % c.node.gpus != 0 && c.node.gpus % domain != 0) {
    complaints.add("cluster.node.scale_up.domain_gpus",
                   "a domain of {} GPUs and nodes of {} GPUs do not divide each other", domain,
                   c.node.gpus);
  }
  if (c.node.gpus % c.node.nic.count != 0 && c.node.nic.count % c.node.gpus != 0) {
    complaints.add("cluster.node.nic.count", "{} network cards cannot be shared evenly by {} GPUs",
                   c.node.nic.count, c.node.gpus);
  }
  check_domain(c, complaints);
  const bool domains_span_nodes = domain > c.node.gpus;
  if (c.placement != Placement::packed && domains_span_nodes) {
    complaints.add(
        "cluster.placement",
        "placement '{}' of nodes that share an NVLink domain is not modelled; write 'packed'",
        core::to_word(c.placement));
  }
  if (on_compute_fabric(c) && !c.storage->servers) {
    complaints.add("cluster.storage.path",
                   "storage on the compute fabric needs 'servers': how many hang on its leaves");
  }
}

/// The rules of the fabric's shape, which `network` knows, at the places that are known here.
void check_fabric(const ClusterSpec& cluster, Complaints& complaints) {
  network::FabricInput input = compute_fabric(cluster);
  // How a domain fits the nodes is the rule of check_cluster.
  input.scale_up.domain_gpus = std::min(input.scale_up.domain_gpus, input.gpus_per_node);
  try {
    std::ignore = network::make_shape(input);
  } catch (const core::Error& error) {
    for (const auto& [mark, message] : error.diagnostics()) {
      // "fabric.tiers 1 joins ..." is about cluster.fabric.tiers.
      const bool named = message.starts_with("fabric.");
      complaints.add(named ? "cluster." + message.substr(0, message.find(' ')) : "cluster.fabric",
                     "{}", message);
    }
  }
}

/// GPUs that train; 0 if they are more than can be simulated.
std::int64_t count_gpus(const ClusterSpec& c, Complaints& complaints) {
  const Checked gpus = Checked(c.nodes) * c.node.gpus;
  if (gpus > core::kMostGpus) {
    complaints.add("cluster.nodes", "{} nodes x {} GPUs = {} GPUs; at most {} are simulated",
                   c.nodes, c.node.gpus, gpus, core::kMostGpus);
    return 0;
  }
  return gpus.value();
}

/// Sets the data-parallel degree; 0 if the layout does not fill the cluster.
/// @param gpus  0: unknown
int resolve_data(const Scenario& s, std::int64_t gpus, Complaints& complaints) {
  const auto& p = s.parallelism;
  const Checked model_ranks = Checked(p.tensor) * p.context * p.pipeline;
  if (gpus == 0) {
    return 0;
  }
  if (p.data.is_auto()) {
    if (!core::is_multiple(gpus, model_ranks)) {
      complaints.add({"parallelism", "cluster.nodes", "cluster.node", "cluster.node.gpus",
                      "parallelism.tensor", "parallelism.context", "parallelism.pipeline"},
                     "tensor {} x context {} x pipeline {} = {} does not divide the cluster's {} "
                     "nodes x {} GPUs = {}",
                     p.tensor, p.context, p.pipeline, model_ranks, s.cluster.nodes,
                     s.cluster.node.gpus, gpus);
      return 0;
    }
    return static_cast<int>(gpus / model_ranks.value());
  }
  const Checked ranks = model_ranks * *p.data.value;
  if (ranks != Checked(gpus)) {
    complaints.add({"parallelism.data", "cluster.nodes", "cluster.node", "cluster.node.gpus",
                    "parallelism.tensor", "parallelism.context", "parallelism.pipeline"},
                   "tensor {} x context {} x pipeline {} x data {} = {} ranks, but the cluster has "
                   "{} nodes x {} GPUs = {}; "
                   "write 'data: auto' or change one of them",
                   p.tensor, p.context, p.pipeline, *p.data.value, ranks, s.cluster.nodes,
                   s.cluster.node.gpus, gpus);
    return 0;
  }
  return *p.data.value;
}

int resolve_micro_batches(const Scenario& s, int data, Complaints& complaints) {
  const auto& p = s.parallelism;
  const Checked together = Checked(data) * p.micro_batch;
  if (!core::is_multiple(s.training.global_batch, together)) {
    complaints.add({"training.global_batch", "parallelism.micro_batch", "parallelism.data",
                    "cluster.nodes", "cluster.node", "cluster.node.gpus", "parallelism.tensor",
                    "parallelism.context", "parallelism.pipeline"},
                   "a global batch of {} sequences cannot be split into data {} x micro_batch {} = "
                   "{}; use a multiple of {}",
                   s.training.global_batch, data, p.micro_batch, together, together);
    return 0;
  }
  const auto micro_batches = static_cast<int>(s.training.global_batch / together.value());
  const Checked chunks = Checked(micro_batches) * p.virtual_stages * p.pipeline;
  if (chunks > kMostChunksAStep) {
    complaints.add(
        "training.global_batch",
        "a global batch of {} sequences has {} micro-batches x pipeline {} x virtual {} = "
        "{} chunks of work in a step; at most {} are simulated: use fewer sequences, or "
        "more of them in a micro-batch",
        s.training.global_batch, micro_batches, p.pipeline, p.virtual_stages, chunks,
        kMostChunksAStep);
    return 0;
  }
  return micro_batches;
}

void check_tensor(const Scenario& s, Complaints& complaints) {
  const int t = s.parallelism.tensor;
  if (t == 1) {
    return;
  }
  const auto divides = [&](const char* what, int value, const char* path) {
    if (value % t != 0) {
      complaints.add(path, "tensor {} does not divide the model's {} = {}", t, what, value);
    }
  };
  if (workload::has_attention(s.model)) {
    divides("heads", s.model.heads, "parallelism.tensor");
  }
  divides("hidden", s.model.hidden, "parallelism.tensor");
  if (s.model.ffn > 0) {
    divides("ffn", s.model.ffn, "parallelism.tensor");
  }
  if (s.model.key_value_heads % t != 0 && t % s.model.key_value_heads != 0) {
    complaints.add("parallelism.tensor",
                   "tensor {} and the model's key_value_heads = {} do not divide each other", t,
                   s.model.key_value_heads);
  }
  if (s.parallelism.sequence &&
      !core::is_multiple(s.training.sequence_length, Checked(t) * s.parallelism.context)) {
    complaints.add({"training.sequence_length", "parallelism.tensor", "parallelism.context"},
                   "a sequence of {} tokens cannot be split over tensor {} x context {}; set "
                   "'sequence: false' or change one of them",
                   s.training.sequence_length, t, s.parallelism.context);
  }
}

void check_context(const Scenario& s, Complaints& complaints) {
  complaints.add(workload::context_problems(s.model, s.training, s.parallelism));
}

/// @param data  data-parallel degree; 0: unknown
void check_groups(const Scenario& s, int data, Complaints& complaints) {
  complaints.add(workload::expert_problems(s.model, s.parallelism, data));
  if (const auto problem = workload::shard_problem(s.parallelism, data)) {
    complaints.add({*problem});
  }
}

void check_pipeline(const Scenario& s, int micro_batches, Complaints& complaints) {
  const auto& p = s.parallelism;
  if (const auto problem = workload::layout_problem(s.model, p)) {
    complaints.add({*problem});
  }
  const auto schedule = workload::effective_schedule(p);
  using workload::ScheduleKind;
  const bool splits = schedule != ScheduleKind::gpipe && schedule != ScheduleKind::one_f_one_b &&
                      schedule != ScheduleKind::interleaved;
  if (splits && p.pipeline == 1) {
    complaints.add("parallelism.schedule",
                   "schedule {} needs at least 2 pipeline stages; write schedule: 1f1b",
                   core::to_word(schedule));
  }
  if (micro_batches == 0) {
    return;
  }
  complaints.add(
      workload::schedule_problems(schedule, p.pipeline, p.virtual_stages, micro_batches));
}

void check_model(const workload::ModelSpec& m, Complaints& complaints) {
  if (m.heads % m.key_value_heads != 0) {
    complaints.add("model.key_value_heads",
                   "{} query heads cannot be shared by {} key and value heads", m.heads,
                   m.key_value_heads);
  }
  if (m.attention == workload::AttentionKind::sliding_window && m.window == 0) {
    complaints.add("model.attention",
                   "attention 'sliding_window' needs 'window', the tokens a layer sees");
  }
  if (m.ffn == 0 && workload::layer_count(m).dense > 0) {
    complaints.add("model.ffn", "{} without experts needs 'ffn' of 1 or more",
                   m.moe ? "a layer" : "a model");
  }
}

/// The format of the linear layers, and that of attention and logits beside a narrow one.
void check_precision(const Scenario& s, Complaints& complaints) {
  using core::Precision;
  const auto precision = s.training.precision;
  std::string missing = gpu::missing_precision(s.cluster.node.gpu, precision);
  if (missing.empty() && workload::narrow(precision)) {
    missing = gpu::missing_precision(s.cluster.node.gpu, Precision::bf16);
  }
  if (!missing.empty()) {
    complaints.add("training.precision", "{}", missing);
  }
  const auto state = s.training.optimizer_state;
  if (workload::preconditions(state) && s.cluster.node.gpu.peak.fp32.si() <= 0) {
    complaints.add("training.optimizer_state",
                   "optimizer_state {} multiplies in fp32, and the entry of {} gives no peak.fp32: "
                   "add it",
                   core::to_word(state), s.cluster.node.gpu.name);
  }
}

constexpr std::string_view kSavedBytes = "run.checkpoint.bytes_per_parameter";

/// Adam in fp32 beside 16-bit weights, which is what a scenario has that says nothing.
bool saves_the_usual(const Scenario& s) {
  return s.run.checkpoint.bytes_per_parameter == storage::CheckpointSpec{}.bytes_per_parameter;
}

/// What checkpoints keep of a parameter: the weight that is multiplied and the optimizer's state.
void check_saved_bytes(const Scenario& s, const SourceMarks& marks, Complaints& complaints) {
  const auto state = s.training.optimizer_state;
  const bool full = workload::full_precision(s.training.precision);
  const double own = state_bytes_per_parameter(s);
  if (s.run.until && own != s.run.checkpoint.bytes_per_parameter && saves_the_usual(s) &&
      marks.contains(kSavedBytes)) {
    complaints.add(kSavedBytes,
                   "checkpoints of {:g} bytes a parameter hold Adam in fp32 beside 16-bit weights; "
                   "{}{}{} has {:g}: leave 'bytes_per_parameter' out, or write that",
                   s.run.checkpoint.bytes_per_parameter,
                   full ? fmt::format("{} with ", core::to_word(s.training.precision)) : "",
                   core::to_word(state),
                   s.training.local_steps ? " and the outer state of local steps" : "", own);
  }
}

/// Software that is faster than the libraries the GPU was measured with is not faster than the GPU.
void check_shares(const Scenario& s, Complaints& complaints) {
  const auto& framework = s.training.framework;
  const auto& shares =
      s.calibration.kernels ? *s.calibration.kernels : s.cluster.node.gpu.sustained;
  const double gemm = std::max(
      {shares.gemm_16bit, shares.gemm_8bit, shares.gemm_4bit, shares.gemm_tf32, shares.gemm_fp32});
  const double attention =
      std::max({shares.attention_forward, shares.attention_backward, shares.attention_flash2});
  const auto& gpu = s.cluster.node.gpu;
  const double power = gpu::power_share(gpu, shares);
  const auto at_most_one = [&](const char* key, double factor, double share) {
    if (factor * share * power <= 1) {
      return;
    }
    if (power > 1 && factor * share <= 1) {
      complaints.add(
          "cluster.node.gpu.power",
          "a power limit of {:g} W would make the {} {:.3g} times as fast as measured at "
          "{:g} W, which is more than its peak; write at most {:.0f} W",
          gpu.power.si(), gpu.name, power, shares.power.si(),
          (gpu.idle_power + (shares.power - gpu.idle_power) / (factor * share * factor * share))
              .si());
    } else {
      complaints.add(fmt::format("training.framework.{}", key),
                     "{} {:g} x {:g} of the peak that the GPU sustains = {:g} is more than its "
                     "peak; write at most {:.3g}",
                     key, factor, share, factor * share, 1 / share);
    }
  };
  at_most_one("gemm_share", framework.gemm_share, gemm);
  at_most_one("attention_share", framework.attention_share, attention);
}

void check_tables(const gpu::GpuSpec& gpu, Complaints& complaints) {
  if (gpu.kernels) {
    if (const std::string problem = gpu::table_problem(*gpu.kernels); !problem.empty()) {
      complaints.add("cluster.node.gpu.kernels", "{}", problem);
    }
  }
}

void check_curves(const CalibrationSpec& calibration, Complaints& complaints) {
  for (std::size_t i = 0; i < calibration.collectives.size(); ++i) {
    const auto& curve = calibration.collectives[i];
    const std::string path = fmt::format("calibration.collectives[{}]", i);
    if (curve.ranks_per_node > curve.ranks) {
      complaints.add(path, "{} ranks a node in a group of {}", curve.ranks_per_node, curve.ranks);
    }
    if (curve.points.empty()) {
      complaints.add(path, "a curve needs at least one point");
    }
    for (std::size_t k = 1; k < curve.points.size(); ++k) {
      if (curve.points[k].message <= curve.points[k - 1].message) {
        complaints.add(fmt::format("{}.points[{}]", path, k),
                       "the points of a curve must rise in message size");
      }
    }
  }
}

/// Complains of values that a list of `search` names more than once.
class RepeatedValues {
 public:
  explicit RepeatedValues(Complaints& complaints) : complaints_(complaints) {}

  template <class T, class... More>
  void optional(const char* name, const std::vector<T>& list, const More&... /*unused*/) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto here = list.begin() + static_cast<std::ptrdiff_t>(i);
      if (!has_two_names(list[i]) && std::find(list.begin(), here, list[i]) != here) {
        complaints_.add(fmt::format("search.{}[{}]", name, i),
                        "{} is listed more than once; each value is tried once", text(list[i]));
      }
    }
  }
  template <class T, class... More>
  void optional(const char* /*name*/, const std::optional<T>& /*one*/, const More&... /*unused*/) {}

 private:
  /// The layers of both ends are one axis, of two fields of parallelism.
  template <class T>
  static bool has_two_names(const T& value) {
    if constexpr (std::is_same_v<T, SearchAxis>) {
      return value == SearchAxis::stage_layers;
    }
    return false;
  }
  static std::string text(int value) { return fmt::format("{}", value); }
  static std::string text(const std::string& value) { return fmt::format("'{}'", value); }
  static std::string text(const SweepAxisSpec& axis) { return fmt::format("'{}'", axis.key); }
  template <core::Worded E>
  static std::string text(E value) {
    return fmt::format("'{}'", core::to_word(value));
  }
  Complaints& complaints_;
};

/// What is held has the scenario's own value, so it can neither be varied nor have a list.
void check_search(SearchSpec search, Complaints& complaints) {
  RepeatedValues repeated(complaints);
  search.fields(repeated);
  const auto held = [&](SearchAxis axis) {
    return std::find(search.hold.begin(), search.hold.end(), axis) != search.hold.end();
  };
  for (const SearchAxis axis : search.vary) {
    if (held(axis)) {
      complaints.add("search.hold", "'{}' is named in 'vary' and in 'hold'; keep one",
                     core::to_word(axis));
    }
  }
  const auto check_list = [&](SearchAxis axis, const auto& list) {
    if (!list.empty() && held(axis)) {
      complaints.add("search.hold",
                     "'{0}' is held, and search.{0} lists what to try; leave one of them out",
                     core::to_word(axis));
    }
  };
  check_list(SearchAxis::tensor, search.tensor);
  check_list(SearchAxis::pipeline, search.pipeline);
  check_list(SearchAxis::virtual_stages, search.virtual_stages);
  check_list(SearchAxis::schedule, search.schedule);
  check_list(SearchAxis::context, search.context);
  check_list(SearchAxis::context_kind, search.context_kind);
  check_list(SearchAxis::expert, search.expert);
  check_list(SearchAxis::expert_tensor, search.expert_tensor);
  check_list(SearchAxis::micro_batch, search.micro_batch);
  check_list(SearchAxis::sharding, search.sharding);
  check_list(SearchAxis::shard_group_size, search.shard_group_size);
  check_list(SearchAxis::recompute, search.recompute);
  check_list(SearchAxis::offload, search.offload);
  check_list(SearchAxis::rank_order, search.rank_order);
}

/// The rules of GPUs, asked of those of other kinds of nodes.
void check_other_gpus(const Scenario& scenario, Complaints& complaints) {
  for (int kind = 1; kind < node_kinds(scenario.cluster); ++kind) {
    const Scenario alone = of_one_kind(scenario, kind);
    complaints.set_node(fmt::format("cluster.other_nodes[{}].node", kind - 1));
    check_power(alone.cluster.node.gpu, complaints);
    check_precision(alone, complaints);
    check_shares(alone, complaints);
    check_tables(alone.cluster.node.gpu, complaints);
  }
  complaints.set_node("cluster.node");
}

/// A learned embedding of positions has as many rows as the model was made with.
void check_positions(const Scenario& s, Complaints& complaints) {
  const int positions = s.model.learned_positions;
  if (positions > 0 && s.training.sequence_length > positions) {
    complaints.add({"training.sequence_length", "model.learned_positions"},
                   "{} has learned positions for {} tokens, sequences have {}; shorten them, or "
                   "give the model more 'learned_positions'",
                   s.model.name, positions, s.training.sequence_length);
  }
}

/// The rules that no layout mends.
void check_refusals(const workload::FrameworkSpec& framework, Complaints& complaints) {
  for (std::size_t i = 0; i < framework.refuses.size(); ++i) {
    if (framework.refuses[i] == workload::RefusalSpec{}) {
      complaints.add(fmt::format("training.framework.refuses[{}]", i),
                     "an entry that names nothing would refuse every layout; name a sharding, "
                     "schedule, precision, offload, order of ranks or what is beside");
    }
  }
}

void check_fixed(const Scenario& scenario, const SourceMarks& marks, Complaints& complaints) {
  check_format(scenario, complaints);
  check_cluster(scenario.cluster, complaints);
  check_storage(scenario, complaints);
  complaints.add(site_violations(scenario));
  complaints.add(occupancy_violations(scenario));
  complaints.add(unequal_violations(scenario));
  complaints.add(power_violations(scenario));
  if (complaints.empty()) {
    check_fabric(scenario.cluster, complaints);
  }
  check_model(scenario.model, complaints);
  check_positions(scenario, complaints);
  check_refusals(scenario.training.framework, complaints);
  check_precision(scenario, complaints);
  check_saved_bytes(scenario, marks, complaints);
  check_shares(scenario, complaints);
  check_run(scenario.run, complaints);
  check_tables(scenario.cluster.node.gpu, complaints);
  check_other_gpus(scenario, complaints);
  check_curves(scenario.calibration, complaints);
  check_search(scenario.search, complaints);
}

}  // namespace

double state_bytes_per_parameter(const Scenario& s) {
  return workload::element_bytes(s.training.precision) +
         workload::mean_optimizer_bytes(s.model, s.training) +
         (s.training.local_steps ? workload::kOuterBytes : 0);
}

void check_apart_from_layout(const Scenario& scenario, const SourceMarks& marks) {
  Complaints complaints(marks);
  check_fixed(scenario, marks, complaints);
  count_gpus(scenario.cluster, complaints);
  complaints.throw_if_any();
}

CheckedScenario check(Scenario scenario, const SourceMarks& marks) {
  Complaints complaints(marks);
  check_fixed(scenario, marks, complaints);
  if (complaints.empty()) {
    complaints.add(power_shortages(scenario));
  }
  check_tensor(scenario, complaints);
  check_context(scenario, complaints);
  const std::int64_t gpus = count_gpus(scenario.cluster, complaints);
  apply(scenario.calibration, scenario.cluster);
  use_attention_of_gpus(scenario);
  const int data = resolve_data(scenario, gpus, complaints);
  const int micro_batches = data > 0 ? resolve_micro_batches(scenario, data, complaints) : 0;
  check_recovery(scenario, data, complaints);
  check_ways(scenario, complaints);
  check_pipeline(scenario, micro_batches, complaints);
  check_groups(scenario, data, complaints);
  if (data > 0) {
    complaints.add(site_layout_violations(scenario, scenario.parallelism, data));
    complaints.add(unequal_layout_violations(scenario, scenario.parallelism));
  }
  complaints.add(workload::unsupported(scenario.model, scenario.training, scenario.parallelism));
  complaints.add(workload::teacher_layout_problems(scenario.training, scenario.parallelism));
  complaints.throw_if_any();

  CheckedScenario checked;
  if (saves_the_usual(scenario) && !marks.contains(kSavedBytes)) {
    scenario.run.checkpoint.bytes_per_parameter = state_bytes_per_parameter(scenario);
  }
  checked.whole_domain_ = scenario.cluster.node.scale_up.domain_gpus;
  scenario.cluster.node.scale_up.domain_gpus =
      filled_domain(scenario.cluster, scenario.parallelism);
  limit_boards(scenario);
  checked.scenario_ = std::move(scenario);
  checked.marks_ = marks;
  checked.gpus_ = gpus;
  checked.data_parallel_ = data;
  checked.micro_batches_ = micro_batches;
  return checked;
}

void refuse(const CheckedScenario& checked, std::string_view path, std::string message) {
  throw core::Error({core::Diagnostic{checked.mark(path), std::move(message)}});
}

}  // namespace headway::training
