#include "sim/training/unused.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "sim/gpu/closed_form.h"
#include "sim/network/collective/nccl_model.h"
#include "sim/network/fabric/fabric_shape.h"
#include "sim/training/compute_fabric.h"
#include "sim/training/power/check_power.h"
#include "sim/training/price_warning.h"

namespace headway::training {

using namespace core::literals;

namespace {

void add_storage(const storage::StorageSpec& s, std::vector<std::string>& list) {
  if (s.servers && s.path == storage::StoragePath::dual) {
    list.emplace_back(
        "cluster.storage.servers counts only on the compute fabric; write 'path: shared' or leave "
        "it out");
  }
}

/// A fabric of the catalogue has its cores whatever the job fills of it; what lies between pods is
/// then out of use.
void add_cores(const ClusterSpec& cluster, std::vector<std::string>& list) {
  const auto& fabric = cluster.fabric;
  if (fabric.tiers == 3 && fabric.spine_oversubscription != 1 &&
      network::make_shape(compute_fabric(cluster)).pods_per_tree == 1) {
    list.push_back(
        fmt::format("cluster.fabric.spine_oversubscription {:g} slows nothing here: one pod holds "
                    "all {} nodes, and nothing crosses the cores; fewer leaves_per_pod make more "
                    "pods",
                    fabric.spine_oversubscription, cluster.nodes));
  }
}

void add_hop(const network::ScaleUpSpec& scale_up, std::vector<std::string>& list) {
  if (scale_up.latency < network::reference_hop()) {
    list.push_back(
        fmt::format("cluster.node.scale_up.latency of {:g} us is below the {:g} us that NCCL's "
                    "measured hops inside a domain contain: messages between two GPUs are faster "
                    "for it, collectives of more are not",
                    scale_up.latency / 1_us, network::reference_hop() / 1_us));
  }
}

void add_imbalance(const workload::ModelSpec& model, std::vector<std::string>& list) {
  if (!model.moe || !model.moe->padded) {
    return;
  }
  const auto add = [&](const char* field, double value, double unset) {
    if (value != unset) {
      list.push_back(
          fmt::format("model.moe.{} {:g} does nothing with padded: true, where every expert "
                      "computes its whole capacity; leave one of the two out",
                      field, value));
    }
  };
  const workload::ExpertsSpec unset;
  add("imbalance", model.moe->imbalance, unset.imbalance);
  add("load_spread", model.moe->load_spread, unset.load_spread);
}

void add_context(const workload::ParallelismSpec& p, std::vector<std::string>& list) {
  if (p.context == 1 && p.context_kind != workload::ParallelismSpec{}.context_kind) {
    list.push_back(
        fmt::format("parallelism.context_kind: {} does nothing with context 1; choose a context "
                    "degree or leave it out",
                    core::to_word(p.context_kind)));
  }
}

void add_stages(const workload::ParallelismSpec& p, std::vector<std::string>& list) {
  if (p.pipeline > 1) {
    return;
  }
  const auto add = [&](const char* field, int layers) {
    if (layers > 0) {
      list.push_back(fmt::format(
          "parallelism.{}: {} does nothing with pipeline 1, whose stage has all layers; "
          "choose a pipeline degree or leave it out",
          field, layers));
    }
  };
  add("first_stage_layers", p.first_stage_layers);
  add("last_stage_layers", p.last_stage_layers);
}

void add_attention(const workload::ModelSpec& m, std::vector<std::string>& list) {
  if (m.attention == workload::AttentionKind::multi_head && m.key_value_heads > 0 &&
      m.key_value_heads != m.heads) {
    list.push_back(
        fmt::format("model.attention: mha does nothing with {} key_value_heads of {} heads, which "
                    "are grouped queries; write 'key_value_heads: {}' for a head of keys each, or "
                    "'attention: gqa'",
                    m.key_value_heads, m.heads, m.heads));
  }
  if (m.window == 0 && m.window_period > 1) {
    list.push_back(
        fmt::format("model.window_period {} does nothing without a window; write 'window' or leave "
                    "it out",
                    m.window_period));
  }
}

/// Keys that the scenario's own file, or --set, says. Those of an entry that it uses may do nothing
/// here, and so may those of a file that the program wrote, which has every key.
class OwnKeys {
 public:
  OwnKeys(const CheckedScenario& checked, std::vector<std::string>& list)
      : marks_(checked.marks()), list_(list) {
    const auto name = marks_.find("name");
    file_ = name == marks_.end() ? "" : name->second.file;
    constexpr std::array<std::string_view, 3> kSeldom{
        "parallelism.context_kind", "parallelism.rank_order", "parallelism.reshard"};
    complete_ = std::all_of(kSeldom.begin(), kSeldom.end(), [this](std::string_view path) {
      const auto mark = marks_.find(path);
      return mark != marks_.end() && mark->second.line > 0 && mark->second.file == file_;
    });
  }

  /// Whether the scenario says the key, or nobody knows who does.
  [[nodiscard]] bool says(std::string_view path) const {
    const auto mark = marks_.find(path);
    return mark == marks_.end() || mark->second.line == 0 || mark->second.file == file_;
  }

  /// "model.ffn 100 does nothing without dense layers; write 'ffn: 0'"
  template <class T>
  void add(bool idle, std::string_view path, const T& value, std::string_view why_and_remedy) {
    if (idle && has(path)) {
      list_.push_back(fmt::format("{}: {} does nothing {}", path, value, why_and_remedy));
    }
  }

 private:
  [[nodiscard]] bool has(std::string_view path) const {
    const auto mark = marks_.find(path);
    return mark != marks_.end() &&
           (mark->second.line == 0 || (!complete_ && mark->second.file == file_));
  }

  const core::SourceMarks& marks_;
  std::vector<std::string>& list_;
  std::string file_;
  bool complete_ = false;  ///< it says even what nobody would
};

/// Whether any layer, of prediction too, has an MLP of width `ffn`.
bool has_dense_mlp(const workload::ModelSpec& m) {
  const auto& pattern = m.layer_pattern;
  return !m.moe || m.moe->leading_dense_layers > 0 || m.moe->period > 1 ||
         (m.dense_prediction && m.multi_token_prediction > 0) ||
         std::find(pattern.begin(), pattern.end(), workload::LayerContent::mlp_only) !=
             pattern.end();
}

void add_model_keys(const workload::ModelSpec& m, OwnKeys& keys) {
  if (m.latent) {
    const int width = m.latent->no_rope_dim + m.latent->rope_dim;
    keys.add(m.head_dim != width, "model.head_dim", m.head_dim,
             fmt::format("beside latent attention, whose heads are no_rope_dim + rope_dim wide; "
                         "write 'head_dim: {}'",
                         width));
    keys.add(m.attention != workload::AttentionKind::multi_latent, "model.attention",
             core::to_word(m.attention),
             "beside latent attention; write 'attention: mla' or leave 'latent' out");
  }
  const bool predicts = m.multi_token_prediction > 0;
  keys.add(m.ffn > 0 && !has_dense_mlp(m), "model.ffn", m.ffn,
           "where no layer has a dense MLP; write 'ffn: 0', or the dense layers");
  constexpr std::string_view kNoPrediction =
      "without prediction layers; write 'multi_token_prediction' or leave it out";
  keys.add(m.dense_prediction && !predicts, "model.dense_prediction", true, kNoPrediction);
  keys.add(m.windowed_prediction && !predicts, "model.windowed_prediction", true, kNoPrediction);
  if (m.moe) {
    const auto& moe = *m.moe;
    keys.add(moe.routing_groups > 1 && moe.group_limit == 0, "model.moe.routing_groups",
             moe.routing_groups, "without a group_limit; write both or none");
    keys.add(moe.group_limit > 0 && moe.group_limit == moe.routing_groups, "model.moe.group_limit",
             moe.group_limit,
             fmt::format("with {} routing_groups, all of which it lets a token reach; write fewer, "
                         "or leave it out",
                         moe.routing_groups));
  }
}

void add_layout_keys(const CheckedScenario& checked, OwnKeys& keys) {
  const auto& p = checked.scenario().parallelism;
  const workload::TrainingSpec& t = checked.scenario().training;
  keys.add(p.tensor == 1, "parallelism.sequence", p.sequence,
           "with tensor 1; choose a tensor degree or leave it out");
  keys.add(p.rank_order != workload::ParallelismSpec{}.rank_order &&
               (p.pipeline == 1 || checked.data_parallel() == 1),
           "parallelism.rank_order", core::to_word(p.rank_order),
           "where one stage or one data rank leaves nothing to order; leave it out");
  keys.add(p.schedule == workload::ScheduleKind::interleaved && p.virtual_stages == 1,
           "parallelism.schedule", core::to_word(p.schedule),
           "with virtual 1, which is 1f1b; choose a 'virtual' or leave it out");
  keys.add(t.balanced_ranks && t.documents.size() <= 1 && !t.images, "training.balanced_ranks",
           true, "where all sequences are equal work; write 'documents' of several lengths");
}

/// Whether a hazard has an effect that is asked for.
template <class Asked>
bool any_effect(const failures::FailureSpec& failures, const Asked& asked) {
  return std::any_of(failures.hazards.begin(), failures.hazards.end(),
                     [&](const failures::HazardSpec& one) { return asked(one.effect); });
}

bool has_false_alarms(const failures::RecoverySpec& r) {
  const auto& d = r.detectors;
  return (d && d->straggler_monitor && d->straggler_monitor->false_alarm_every) ||
         (r.migration && r.migration->false_alarm_every);
}

void add_recovery_keys(const Scenario& s, OwnKeys& keys) {
  const failures::RecoverySpec& r = s.run.recovery;
  const failures::RecoverySpec usual;
  const failures::FailureSpec none;
  const auto& failures = s.run.failures.value_or(none);
  const bool strikes = s.run.failures || has_false_alarms(r);
  constexpr std::string_view kNoFailures =
      "in a run without failures; write 'run.failures' or leave it out";
  keys.add(r.eviction != usual.eviction && !strikes, "run.recovery.eviction",
           core::to_word(r.eviction), kNoFailures);
  keys.add(r.repair_sigma > 0 && !strikes, "run.recovery.repair_sigma", r.repair_sigma,
           kNoFailures);
  keys.add(r.slow_part != usual.slow_part && !has_false_alarms(r) &&
               !any_effect(failures, failures::is_slow),
           "run.recovery.slow_part", core::to_word(r.slow_part),
           "where no failure slows a part; write a hazard whose effect is slow_gpu, slow_link or "
           "another slow one, or leave it out");
  keys.add(r.rack_nodes > 1 && r.eviction != failures::Eviction::rack && r.rack_spares == 0 &&
               !s.cluster.power,
           "run.recovery.rack_nodes", r.rack_nodes,
           "without 'eviction: rack', rack_spares or the limits of cluster.power, which are of "
           "racks; write one of them or leave it out");
  const storage::CheckpointSpec& c = s.run.checkpoint;
  keys.add(c.via_drives && !any_effect(failures,
                                       [](failures::Effect effect) {
                                         return effect == failures::Effect::slow_drive;
                                       }),
           "run.checkpoint.via_drives", true,
           "where no failure slows a drive; write a hazard whose effect is slow_drive, or leave it "
           "out");
  keys.add(c.files_per_writer > 1 && !(s.cluster.storage && s.cluster.storage->files_per_second),
           "run.checkpoint.files_per_writer", c.files_per_writer,
           "where files take no time; write 'cluster.storage.files_per_second' or leave it out");
}

void add_vision(const Scenario& s, std::vector<std::string>& list) {
  if (s.model.vision && s.model.vision->context == workload::EncoderContext::split &&
      s.parallelism.context == 1) {
    list.push_back(
        "model.vision.context: split does nothing with parallelism.context 1; choose a context "
        "degree or leave it out");
  }
}

/// Above the limit at which shares of the peak were measured they are extrapolated, and nothing
/// says that the board can draw so much.
/// @param said  the limit is not that of a catalogue's entry
void add_power(const Scenario& s, bool said, std::vector<std::string>& list) {
  const auto& gpu = s.cluster.node.gpu;
  const auto shares = s.calibration.kernels.value_or(gpu.sustained);
  if (shares.power > gpu.idle_power && gpu.power > shares.power) {
    const std::string shares_of =
        fmt::format("the {:g} W at which the shares of the {}'s peaks hold (sustained.power)",
                    shares.power.si(), gpu.name);
    const std::string faster = fmt::format(
        "products and attention are taken to be {:.3g} times as fast, which no "
        "measurement covers",
        gpu::power_share(gpu, shares));
    list.push_back(said ? fmt::format("cluster.node.gpu.power of {:g} W is above {}: {}",
                                      gpu.power.si(), shares_of, faster)
                        : fmt::format("the catalogue's limit of {:g} W is above {}: {}",
                                      gpu.power.si(), shares_of, faster));
  }
  const bool least_said = s.cluster.power && s.cluster.power->least_board;
  const core::Watts least =
      least_said ? *s.cluster.power->least_board : kLeastBoardShare * shares.power;
  constexpr double kRounding = 1e-9;  // Source: 2/7 in double precision errs by less
  if (shares.power > gpu.idle_power && gpu.power < least * (1 - kRounding)) {
    list.push_back(fmt::format(
        "cluster.node.gpu.power of {:g} W is below the {:.0f} W that a {} can be limited to ({}): "
        "simulated as if it could",
        gpu.power.si(), least.si(), gpu.name,
        least_said ? "cluster.power.least_board"
                   : "2/7 of its own, that of an H100; cluster.power.least_board says another"));
  }
}

}  // namespace

std::vector<std::string> unused_fields(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  std::vector<std::string> list;
  if (s.cluster.storage) {
    add_storage(*s.cluster.storage, list);
  } else if (s.calibration.storage) {
    list.push_back(
        "calibration.storage replaces figures of a storage that the cluster does not have; add "
        "'cluster.storage' or leave it out");
  }
  add_cores(s.cluster, list);
  add_hop(s.cluster.node.scale_up, list);
  add_imbalance(s.model, list);
  add_context(s.parallelism, list);
  add_stages(s.parallelism, list);
  add_attention(s.model, list);
  add_vision(s, list);
  OwnKeys keys(checked, list);
  add_model_keys(s.model, keys);
  add_layout_keys(checked, keys);
  if (s.run.until) {
    add_recovery_keys(s, keys);
  }
  add_power(s, keys.says("cluster.node.gpu.power"), list);
  for (std::string& text : price_warnings(s)) {
    list.push_back(std::move(text));
  }
  return list;
}

}  // namespace headway::training
