#include "sim/training/unused.h"

#include <fmt/format.h>

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
void add_power(const Scenario& s, std::vector<std::string>& list) {
  const auto& gpu = s.cluster.node.gpu;
  const auto shares = s.calibration.kernels.value_or(gpu.sustained);
  if (shares.power > gpu.idle_power && gpu.power > shares.power) {
    list.push_back(fmt::format(
        "cluster.node.gpu.power of {:g} W is above the {:g} W at which the shares of the {}'s "
        "peaks hold (sustained.power): products and attention are taken to be {:.3g} times as "
        "fast, which no measurement covers",
        gpu.power.si(), shares.power.si(), gpu.name, gpu::power_share(gpu, shares)));
  }
  const bool said = s.cluster.power && s.cluster.power->least_board;
  const core::Watts least = said ? *s.cluster.power->least_board : kLeastBoardShare * shares.power;
  constexpr double kRounding = 1e-9;  // Source: 2/7 in double precision errs by less
  if (shares.power > gpu.idle_power && gpu.power < least * (1 - kRounding)) {
    list.push_back(fmt::format(
        "cluster.node.gpu.power of {:g} W is below the {:.0f} W that a {} can be limited to ({}): "
        "simulated as if it could",
        gpu.power.si(), least.si(), gpu.name,
        said ? "cluster.power.least_board"
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
  add_power(s, list);
  for (std::string& text : price_warnings(s)) {
    list.push_back(std::move(text));
  }
  return list;
}

}  // namespace headway::training
