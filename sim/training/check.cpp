#include "sim/training/check.h"

#include <set>
#include <utility>

#include "sim/gpu/kernel_time.h"
#include "sim/gpu/tables.h"
#include "sim/training/step/placement.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/optimizer_state.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/violation.h"

namespace headway::training {

namespace {

using core::Diagnostics;
using core::SourceMarks;

/// Complaints with the place of the field they are about.
class Complaints {
 public:
  explicit Complaints(const SourceMarks& marks) : marks_(marks) {}

  template <class... Args>
  void add(std::string_view path, fmt::format_string<Args...> text, Args&&... args) {
    list_.add(core::find_mark(marks_, path), fmt::format(text, std::forward<Args>(args)...));
  }
  void add(const workload::Violations& violations) {
    for (const auto& [path, text] : violations) {
      list_.add(core::find_mark(marks_, path), text);
    }
  }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  void throw_if_any() { list_.throw_if_any(); }

 private:
  const SourceMarks& marks_;
  Diagnostics list_;
};

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

void check_power(const gpu::GpuSpec& gpu, Complaints& complaints) {
  if (gpu.power <= gpu.idle_power) {
    complaints.add("cluster.node.gpu.power",
                   "a power limit of {} W leaves nothing above the {} W that an idle {} draws; "
                   "raise it or lower 'idle_power'",
                   gpu.power.si(), gpu.idle_power.si(), gpu.name);
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
  const bool domains_span_nodes = domain > c.node.gpus;
  if (c.placement != Placement::packed && domains_span_nodes) {
    complaints.add(
        "cluster.placement",
        "placement '{}' of nodes that share an NVLink domain is not modelled; write 'packed'",
        core::to_word(c.placement));
  }
  if (c.storage.path == storage::StoragePath::shared && !c.storage.servers) {
    complaints.add("cluster.storage.path",
                   "storage on the compute fabric needs 'servers': how many hang on its leaves");
  }
}

/// Sets the data-parallel degree; 0 if the layout does not fill the cluster.
int resolve_data(const Scenario& s, std::int64_t gpus, Complaints& complaints) {
  const auto& p = s.parallelism;
  const std::int64_t model_ranks = std::int64_t{p.tensor} * p.context * p.pipeline;
  if (p.data.is_auto()) {
    if (gpus % model_ranks != 0) {
      complaints.add("parallelism",
                     "tensor {} x context {} x pipeline {} = {} does not divide the cluster's {} "
                     "nodes x {} GPUs = {}",
                     p.tensor, p.context, p.pipeline, model_ranks, s.cluster.nodes,
                     s.cluster.node.gpus, gpus);
      return 0;
    }
    return static_cast<int>(gpus / model_ranks);
  }
  const std::int64_t ranks = model_ranks * *p.data.value;
  if (ranks != gpus) {
    complaints.add("parallelism.data",
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
  const std::int64_t together = std::int64_t{data} * p.micro_batch;
  if (s.training.global_batch % together != 0) {
    complaints.add("training.global_batch",
                   "a global batch of {} sequences cannot be split into data {} x micro_batch {} = "
                   "{}; use a multiple of {}",
                   s.training.global_batch, data, p.micro_batch, together, together);
    return 0;
  }
  return static_cast<int>(s.training.global_batch / together);
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
  divides("heads", s.model.heads, "parallelism.tensor");
  divides("hidden", s.model.hidden, "parallelism.tensor");
  if (s.model.ffn > 0) {
    divides("ffn", s.model.ffn, "parallelism.tensor");
  }
  if (s.model.key_value_heads % t != 0 && t % s.model.key_value_heads != 0) {
    complaints.add("parallelism.tensor",
                   "tensor {} and the model's key_value_heads = {} do not divide each other", t,
                   s.model.key_value_heads);
  }
  if (s.parallelism.sequence && s.training.sequence_length % (t * s.parallelism.context) != 0) {
    complaints.add("training.sequence_length",
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
  if (micro_batches == 0) {
    return;
  }
  const auto schedule = workload::effective_schedule(p);
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

void check_ageing(const failures::HazardSpec& hazard,
                  const std::string& path,
                  Complaints& complaints) {
  if (hazard.law.kind != failures::LawKind::exponential && hazard.count) {
    complaints.add(
        path,
        "hazard '{}' ages by a {} law and needs mtbf; a count does not say how old the parts were",
        hazard.name, core::to_word(hazard.law.kind));
  }
  using failures::LawKind;
  const auto& law = hazard.law;
  const failures::LawSpec plain;
  const auto needs = [&](bool given, const char* key, LawKind kind) {
    if (given && law.kind != kind) {
      complaints.add(fmt::format("{}.law.{}", path, key),
                     "'{}' belongs to 'kind: {}'; the law here is {}", key, core::to_word(kind),
                     core::to_word(law.kind));
    }
  };
  needs(law.shape != plain.shape, "shape", LawKind::weibull);
  needs(law.sigma != plain.sigma, "sigma", LawKind::lognormal);
  needs(law.defective != plain.defective, "defective", LawKind::defects);
  needs(!law.factors.empty(), "factors", LawKind::piecewise);
  if (law.kind == LawKind::piecewise && law.factors.empty()) {
    complaints.add(
        path + ".law",
        "a piecewise law needs 'factors': until which age the rate is how many times 1 / mtbf");
  }
  core::Seconds last;
  for (std::size_t i = 0; i < hazard.law.factors.size(); ++i) {
    const auto until = hazard.law.factors[i].until;
    if (until <= last) {
      complaints.add(fmt::format("{}.law.factors[{}].until", path, i),
                     "the ages of a piecewise law must rise, but {} s does not come after {} s",
                     until.si(), last.si());
    }
    last = until;
  }
}

void check_effect(const failures::HazardSpec& hazard,
                  const std::string& path,
                  Complaints& complaints) {
  if (hazard.lasts && !failures::is_slow(hazard.effect)) {
    complaints.add(path + ".lasts", "only slow parts get well by themselves; effect '{}' does not",
                   core::to_word(hazard.effect));
  }
  if (hazard.keeps != failures::HazardSpec{}.keeps && !failures::is_slow(hazard.effect)) {
    complaints.add(path + ".keeps",
                   "only slow parts keep a share of their speed; effect '{}' does not",
                   core::to_word(hazard.effect));
  }
  if (hazard.latent && hazard.effect != failures::Effect::stop) {
    complaints.add(path + ".latent",
                   "a silent failure stops the job when it is noticed; it cannot have effect '{}'",
                   core::to_word(hazard.effect));
  }
}

void check_hazards(const failures::FailureSpec& f, Complaints& complaints) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < f.hazards.size(); ++i) {
    const auto& hazard = f.hazards[i];
    const std::string path = fmt::format("run.failures.hazards[{}]", i);
    if (hazard.mtbf.has_value() == hazard.count.has_value()) {
      complaints.add(path, "hazard '{}' needs exactly one of 'mtbf' and 'count'", hazard.name);
    }
    if (hazard.count && !f.observed) {
      complaints.add(path,
                     "hazard '{}' has a 'count', so the list needs 'observed': how many GPUs were "
                     "watched for how long",
                     hazard.name);
    }
    if (!names.insert(hazard.name).second) {
      complaints.add(path,
                     "two hazards are named '{}'; names choose the random stream and must differ",
                     hazard.name);
    }
    check_ageing(hazard, path, complaints);
    check_effect(hazard, path, complaints);
  }
  if (f.maintenance && f.maintenance->lasts >= f.maintenance->every) {
    complaints.add("run.failures.maintenance",
                   "planned work lasts {} s and begins every {} s; leave time in between",
                   f.maintenance->lasts.si(), f.maintenance->every.si());
  }
}

/// Who must notice hangs, and where the state of a job that does not go back to checkpoints comes
/// from.
/// @param data  data-parallel degree; 0: unknown
void check_recovery(const Scenario& s, int data, Complaints& complaints) {
  const auto& r = s.run.recovery;
  if (r.detectors && !r.detectors->watchdog && !r.detectors->heartbeat &&
      !r.detectors->health_check && s.run.failures) {
    for (const auto& hazard : s.run.failures->hazards) {
      if (hazard.effect == failures::Effect::hang) {
        complaints.add(
            "run.recovery.detectors",
            "nothing detects the hang '{}'; add a watchdog, a heartbeat or a health_check",
            hazard.name);
      }
    }
  }
  const bool without_saves = r.state_from == failures::StateSource::peers || r.elastic;
  const auto& p = s.parallelism;
  const bool copies = p.sharding == workload::Sharding::zero0 ||
                      (p.sharding == workload::Sharding::hsdp &&
                       (data == 0 || data * p.context > p.shard_group_size));
  if (without_saves && !copies) {
    complaints.add(r.elastic ? "run.recovery.elastic" : "run.recovery.state_from",
                   "with sharding {}{} the lost node's part of the state is nowhere else; write "
                   "'sharding: zero0' or 'hsdp' with two "
                   "groups or more, or save to a checkpoint level with 'place: peer'",
                   core::to_word(p.sharding),
                   p.sharding == workload::Sharding::hsdp ? " in a single group" : "");
  }
}

void check_checkpoint(const storage::CheckpointSpec& c, Complaints& complaints) {
  if (c.levels.size() > 3) {
    complaints.add("run.checkpoint.levels", "{} levels beside the storage; at most 3 are modelled",
                   c.levels.size());
  }
  for (std::size_t i = 0; i < c.levels.size(); ++i) {
    const auto& level = c.levels[i];
    const std::string path = fmt::format("run.checkpoint.levels[{}]", i);
    if (i == 0 && level.every != 1) {
      complaints.add(
          path + ".every",
          "the first level takes the snapshot of every save; write 'every: 1' or leave it out");
    }
    if (level.place == storage::NearPlace::nvme && !level.write_bandwidth && !level.persist) {
      complaints.add(path,
                     "an nvme level needs 'write_bandwidth' (one node into its drives) or a "
                     "measured 'persist'");
    }
  }
  if (c.levels.empty() && c.every != 1) {
    complaints.add("run.checkpoint.every",
                   "without 'levels' every save goes to storage; lengthen the interval instead");
  }
}

void check_data(const storage::DataSpec& d, Complaints& complaints) {
  if (d.restart_moves > 0 && d.dataset.si() <= 0) {
    complaints.add("run.data.restart_moves",
                   "nothing is copied to another island without the size of the 'dataset'");
  }
  if (d.refill_cache && (d.node_cache.si() <= 0 || d.dataset.si() <= 0)) {
    complaints.add("run.data.refill_cache",
                   "a spare has nothing to fill without 'dataset' and 'node_cache'");
  }
}

void check_run(const RunSpec& r, Complaints& complaints) {
  if (r.checkpoint.interval_steps && !r.checkpoint.interval.is_auto()) {
    complaints.add("run.checkpoint",
                   "'interval' and 'interval_steps' say the same thing twice; keep one");
  }
  if (r.until) {
    const int given =
        (r.until->tokens ? 1 : 0) + (r.until->steps ? 1 : 0) + (r.until->wall ? 1 : 0);
    if (given != 1) {
      complaints.add("run.until", "write exactly one of 'tokens', 'steps' and 'wall', not {}",
                     given);
    }
  }
  check_checkpoint(r.checkpoint, complaints);
  if (r.data) {
    check_data(*r.data, complaints);
  }
  if (r.failures) {
    check_hazards(*r.failures, complaints);
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
}

/// What checkpoints keep of a parameter: the weight that is multiplied and the optimizer's state.
void check_saved_bytes(const Scenario& s, Complaints& complaints) {
  const auto state = s.training.optimizer_state;
  const bool full = workload::full_precision(s.training.precision);
  const double usual = 2 + workload::optimizer_bytes(workload::OptimizerState::adam_fp32);
  const double own =
      workload::element_bytes(s.training.precision) + workload::optimizer_bytes(state, full);
  if (state == workload::OptimizerState::muon) {
    return;  // refused: its bytes are no advice
  }
  if (s.run.until && own != usual && s.run.checkpoint.bytes_per_parameter == usual) {
    complaints.add(full ? "training.precision" : "training.optimizer_state",
                   "checkpoints of {:g} bytes a parameter hold Adam in fp32 beside 16-bit weights; "
                   "{}{} has {:g}: write "
                   "'bytes_per_parameter: {:g}' under run.checkpoint",
                   usual, full ? fmt::format("{} with ", core::to_word(s.training.precision)) : "",
                   core::to_word(state), own, own);
  }
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

}  // namespace

CheckedScenario check(Scenario scenario, const SourceMarks& marks) {
  Complaints complaints(marks);
  const std::int64_t gpus = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  check_format(scenario, complaints);
  check_cluster(scenario.cluster, complaints);
  check_model(scenario.model, complaints);
  check_precision(scenario, complaints);
  check_saved_bytes(scenario, complaints);
  check_tensor(scenario, complaints);
  check_context(scenario, complaints);
  check_run(scenario.run, complaints);
  check_tables(scenario.cluster.node.gpu, complaints);
  check_curves(scenario.calibration, complaints);
  apply(scenario.calibration, scenario.cluster);
  const int data = resolve_data(scenario, gpus, complaints);
  const int micro_batches = data > 0 ? resolve_micro_batches(scenario, data, complaints) : 0;
  check_recovery(scenario, data, complaints);
  check_pipeline(scenario, micro_batches, complaints);
  check_groups(scenario, data, complaints);
  complaints.add(workload::unsupported(scenario.model, scenario.training, scenario.parallelism));
  complaints.throw_if_any();

  CheckedScenario checked;
  checked.whole_domain_ = scenario.cluster.node.scale_up.domain_gpus;
  scenario.cluster.node.scale_up.domain_gpus =
      filled_domain(scenario.cluster, scenario.parallelism);
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
