#include "sim/training/assumptions/assumptions.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string>
#include <utility>

#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/gpu/tables.h"
#include "sim/network/fabric/wide_area.h"
#include "sim/training/assumptions/model_assumptions.h"
#include "sim/training/occupancy/occupancy.h"
#include "sim/training/power/power_fit.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/layout.h"
#include "sim/workload/muon/muon.h"
#include "sim/workload/number_formats.h"

namespace headway::training {

namespace {

std::string yes_no(bool value) { return value ? "yes" : "no"; }

/// The generation whose measured kernels stand for those of a GPU of another; empty: its own.
std::string_view stand_in(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::volta:
    case gpu::Architecture::turing:
    case gpu::Architecture::ada:
      return "ampere";
    case gpu::Architecture::cdna2:
    case gpu::Architecture::cdna3:
    case gpu::Architecture::cdna4:
      return "hopper";
    case gpu::Architecture::ampere:
    case gpu::Architecture::hopper:
    case gpu::Architecture::blackwell:
      return "";
  }
  return "";
}

void add_generation(const gpu::GpuSpec& gpu, std::vector<Assumption>& list) {
  const std::string_view other = stand_in(gpu.architecture);
  if (!other.empty()) {
    list.push_back({"gpu.architecture", std::string(core::to_word(gpu.architecture)),
                    fmt::format("no kernels of this generation were measured: shapes of products "
                                "and lengths of attention act as on {}",
                                other)});
  }
}

/// The share of the peak that products of the run's format sustain, and what full precision means.
void add_products(const Scenario& s, const std::string& from, std::vector<Assumption>& list) {
  const auto shares = kernel_times(s).shares;
  const auto precision = s.training.precision;
  if (!workload::full_precision(precision)) {
    list.push_back({"gpu.sustained.gemm_16bit", fmt::format("{:g}", shares.gemm_16bit), from});
    return;
  }
  const std::string word(core::to_word(precision));
  if (gpu::has_own_share(shares, precision)) {
    list.push_back({"gpu.sustained.gemm_" + word,
                    fmt::format("{:g}", gpu::gemm_share(shares, precision)), from});
  } else {
    list.push_back({"gpu.sustained.gemm_16bit", fmt::format("{:g}", shares.gemm_16bit), from});
    list.push_back({"gpu.gemm_" + word, fmt::format("{:g}", shares.gemm_16bit),
                    "not measured: the share of 16-bit products stands in; the interval is wider"});
  }
  list.push_back({"training.precision", word,
                  "weights, gradients, activations and messages of 4 bytes, no master weights; "
                  "attention writes its scores to "
                  "memory, since flash kernels take operands of 16 bits or less"});
}

void add_attention(const Scenario& s,
                   const gpu::SustainedShares& shares,
                   const std::string& from,
                   std::vector<Assumption>& list) {
  if (runs_flash2(s)) {
    list.push_back(
        {"gpu.sustained.attention_flash2", fmt::format("{:g}", shares.attention_forward), from});
  } else {
    list.push_back(
        {"gpu.sustained.attention_forward", fmt::format("{:g}", shares.attention_forward), from});
    list.push_back(
        {"gpu.sustained.attention_backward", fmt::format("{:g}", shares.attention_backward), from});
  }
}

void add_speeds(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const Scenario& s = checked.scenario();
  const auto shares = kernel_times(s).shares;
  // The entry's own words on each share are put here by the room that reads files (report/predict).
  const std::string from = s.calibration.kernels
                               ? "measured, calibration '" + s.calibration.name + "'"
                               : "the entry of the GPU";
  add_generation(s.cluster.node.gpu, list);
  add_products(s, from, list);
  const auto& tables = s.cluster.node.gpu.kernels;
  const bool full = workload::full_precision(s.training.precision);
  const bool read =
      tables &&
      (!full ||
       gpu::gemm_table_share(s.cluster.node.gpu, s.training.precision, 1, 1, 1).has_value());
  list.push_back({"gpu.kernels", read ? tables->name : "none",
                  read ? "measured shape dependence, relative to large kernels"
                       : "laws of tiles and waves; the interval is wider"});
  if (!full) {
    add_attention(s, shares, from, list);  // else it is products and passes over memory
  }
  list.push_back({"gpu.sustained.memory", fmt::format("{:g}", shares.memory), from});
}

/// What the CPU takes, which recorded graphs do not ask of it.
void add_host(const CheckedScenario& checked,
              const std::string& from,
              std::vector<Assumption>& list) {
  const workload::FrameworkSpec& framework = checked.scenario().training.framework;
  const CalibrationSpec& calibration = checked.scenario().calibration;
  if (framework.cuda_graphs) {
    return;
  }
  const auto add = [&](const char* field, core::Seconds used, core::Seconds profile) {
    const bool measured = used != profile;
    list.push_back({field, fmt::format("{:g} s", used.si()),
                    measured ? "measured, calibration '" + calibration.name + "'" : from});
  };
  add("training.framework.host.launch", host_launch(calibration, framework), framework.host.launch);
  const core::Seconds layer = host_layer(calibration, framework);
  if (layer > core::Seconds(0)) {
    add("training.framework.host.layer", layer, framework.host.layer);
  }
}

void add_software(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const auto& f = checked.scenario().training.framework;
  const std::string from = "framework profile '" + f.name + "'";
  const auto& training = checked.scenario().training;
  const auto kernels = workload::fuses_attention(training) ? f.attention_kernels
                                                           : workload::AttentionKernels::unfused;
  const auto& gpu = checked.scenario().cluster.node.gpu;
  const bool old =
      kernels == workload::AttentionKernels::unfused && gpu::before_ampere(gpu.architecture);
  list.push_back({"training.framework.attention_kernels", std::string(core::to_word(kernels)),
                  workload::full_precision(training.precision)
                      ? fmt::format("precision {}: flash kernels take operands of 16 bits or less",
                                    core::to_word(training.precision))
                  : old ? fmt::format("{}: flash kernels need Ampere or later", gpu.name)
                        : from});
  list.push_back({"training.framework.gradient_bytes",
                  fmt::format("{:g} B a parameter", f.gradient_bytes), from});
  list.push_back({"training.framework.tensor_overlap", yes_no(f.tensor_overlap), from});
  list.push_back(
      {"training.framework.tensor_interference", fmt::format("{:g}", f.tensor_interference), from});
  const auto& measured = checked.scenario().calibration.data_interference;
  list.push_back(
      {"training.framework.data_interference",
       fmt::format("{:g}", measured.value_or(f.data_interference)),
       measured ? "measured, calibration '" + checked.scenario().calibration.name + "'" : from});
  add_host(checked, from, list);
  list.push_back({"training.framework.message_overhead",
                  fmt::format("{:g} s", f.message_overhead.si()), from});
  list.push_back({"training.framework.pipeline_overlap", yes_no(f.pipeline_overlap), from});
  list.push_back({"training.framework.data_overlap", yes_no(f.data_overlap), from});
  const auto& p = checked.scenario().parallelism;
  const bool gathers_weights =
      p.sharding == workload::Sharding::zero1 || p.sharding == workload::Sharding::zero2;
  if (gathers_weights && checked.data_parallel() > 1) {
    list.push_back({"training.framework.gather_overlap", yes_no(f.gather_overlap), from});
  }
  if (p.sharding == workload::Sharding::zero1 && checked.data_parallel() > 1) {
    list.push_back({"training.framework.scatter_overlap", yes_no(f.scatter_overlap), from});
  }
  if (f.gradient_bucket) {
    list.push_back({"training.framework.gradient_bucket",
                    fmt::format("{:g} MiB", f.gradient_bucket->si() / (1 << 20)), from});
  }
}

void add_offload(const workload::ParallelismSpec& p, std::vector<Assumption>& list) {
  if (workload::offloads_optimizer(p.offload)) {
    list.push_back({"parallelism.offload", "optimizer",
                    "gradients to the host, update there, weights back, one after another; "
                    "software that tiles them is faster by at most the two copies"});
  }
  if (workload::offloads_activations(p.offload)) {
    const auto& layers = p.offload_layers.value;
    list.push_back(
        {"parallelism.offload_layers",
         layers ? fmt::format("{}", *layers) : "all but the last of each chunk",
         "copies of layers follow one another beside the computation, spread over the chunk's "
         "layers as in Transformer Engine; the "
         "way to the host carries nothing else, and kernels beside a copy are as fast as without"});
  }
}

void add_sites(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const auto& sites = checked.scenario().cluster.sites;
  if (!sites) {
    return;
  }
  list.push_back({"cluster.sites",
                  fmt::format("{}, {}", sites->count, core::to_word(sites->collective)),
                  "each has one way into the wide area, shared without loss of its own making; "
                  "queues and other traffic on it are not modelled, egress is not priced"});
  list.push_back({"cluster.sites.transport", std::string(core::to_word(sites->transport)),
                  fmt::format("at most {} connections a card of {:.3g} MiB each; lost packets by "
                              "the transport's law (docs/models/sites.md)",
                              sites->connections, sites->window.si() / 1048576)});
  if (const auto& local = checked.scenario().training.local_steps) {
    list.push_back({"training.local_steps", fmt::format("{} steps", local->steps),
                    "that sites train apart changes the loss of a token, and applying a stale "
                    "exchange does too: neither is modelled, tokens count as any other's"});
  }
}

/// The nodes of the job on a fabric that is larger, and whose traffic is beside it.
void add_occupancy(const ClusterSpec& cluster, std::vector<Assumption>& list) {
  if (!cluster.occupancy) {
    return;
  }
  list.push_back({"cluster.occupancy",
                  fmt::format("nodes {} of {}", fmt::join(node_ranges(taken_nodes(cluster)), ", "),
                              cluster.occupancy->nodes),
                  fmt::format("beside {} other jobs, which send without a pause and share links by "
                              "the rates of their cards",
                              cluster.occupancy->jobs.size())});
}

/// How operands of blocks are made, and how well that is known.
void add_block_formats(const Scenario& s, std::vector<Assumption>& list) {
  const auto& training = s.training;
  if (training.precision == core::Precision::mxfp8) {
    list.push_back(
        {"training.precision, mxfp8", "as fp8, with scales",
         "one copy of an operand to each product that needs another, as with delayed "
         "scales; two published runs that nothing was fitted to (torchao, Llama 3 8B on 8 "
         "B200) are predicted 62 % off (docs/validation.md), five of NVIDIA's recipes 2.5 %"});
  }
  if (training.precision == core::Precision::nvfp4) {
    const auto& kept = s.model.sixteen_bit_layers;
    list.push_back(
        {"training.nvfp4",
         !training.nvfp4            ? "rounded in one pass"
         : training.nvfp4->hadamard ? "scales of arrays and of blocks, transforms"
                                    : "scales of arrays and of blocks",
         kept ? fmt::format("the first {} and the last {} layers of {} have products in bf16, the "
                            "others in four bits",
                            kept->first, kept->last, s.model.layers)
              : std::string("every layer's products are in four bits; recipes keep some at the "
                            "ends in bf16 (NVIDIA's 12B 16 % of them): write "
                            "model.sixteen_bit_layers")});
  }
}

/// The limit that boards run at where racks or the building have one.
void add_power(const Scenario& s, std::vector<Assumption>& list) {
  if (const auto fit = power_fit(s)) {
    list.push_back({"cluster.power", boards_in_words(s, *fit), feeds_in_words(*fit)});
    if (fit->facility && !s.run.prices && !s.cluster.power->pue) {
      list.push_back({"cluster.power.pue", "1",
                      "neither it nor run.prices is written: cooling and conversion take nothing "
                      "of what feeds the building"});
    }
  }
}

/// The laws of TCP were derived, and measured, for seldom losses.
void add_losses(const Scenario& s, std::vector<Assumption>& list) {
  constexpr double kSeldom = 0.01;  // Source: Padhye et al., SIGCOMM 1998: timeouts rule above it
  const auto& sites = s.cluster.sites;
  if (sites && sites->loss > kSeldom && network::is_tcp(sites->transport)) {
    list.push_back({"cluster.sites.loss", fmt::format("{:g}", sites->loss),
                    "the law of TCP holds to 0.01: above it timeouts make transfers slower than "
                    "this"});
  }
}

/// How tensor ranks share Muon's products is nobody's wish unless it is written.
void add_muon(const Scenario& s, std::vector<Assumption>& list) {
  const bool divided = s.parallelism.tensor > 1 || s.parallelism.expert_tensor > 1;
  if (s.training.optimizer_state == workload::OptimizerState::muon && divided && !s.training.muon) {
    list.push_back({"training.muon.tensor_mode",
                    std::string(core::to_word(workload::muon_mode(s.training))),
                    "Megatron-Core's default of muon_tp_mode"});
  }
}

/// Each once: chunks and layers that do the same have calls of their own.
void add_collectives(const LoweredStep& lowered, std::vector<Assumption>& list) {
  std::set<std::array<std::string, 3>> seen;
  for (const auto& use : lowered.collectives) {
    const double bytes = use.call.bytes.si();
    const std::string size =
        bytes < 1e5 ? fmt::format("{:.0f} B", bytes) : core::number(bytes / 1e6) + " MB";
    Assumption one{
        fmt::format("collective {}", use.name),
        fmt::format("{} us for {} over {} ranks", core::number(use.alone.total.si() * 1e6), size,
                    use.shape.ranks),
        fmt::format("{}, {} {}", core::to_word(use.alone.source),
                    core::to_word(use.alone.algorithm), core::to_word(use.alone.protocol))};
    if (seen.insert({one.key, one.value, one.why}).second) {
      list.push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<Assumption> step_assumptions(const CheckedScenario& checked,
                                         const LoweredStep& lowered) {
  std::vector<Assumption> list;
  add_speeds(checked, list);
  add_block_formats(checked.scenario(), list);
  add_power(checked.scenario(), list);
  add_losses(checked.scenario(), list);
  add_software(checked, list);
  add_muon(checked.scenario(), list);
  add_model_assumptions(checked, list);
  add_collectives(lowered, list);
  const int filled = checked.scenario().cluster.node.scale_up.domain_gpus;
  if (filled != checked.whole_domain()) {
    list.push_back(
        {"cluster.placement",
         fmt::format("{} of {} GPUs of each NVLink domain", filled, checked.whole_domain()),
         "no tensor or expert group straddles two domains; the rest of each stays free"});
  }
  add_occupancy(checked.scenario().cluster, list);
  const auto& fabric = checked.scenario().cluster.fabric;
  list.push_back({"cluster.fabric.efficiency", fmt::format("{:g}", fabric.efficiency),
                  "share of the line rate that payload reaches"});
  const auto& parallelism = checked.scenario().parallelism;
  add_sites(checked, list);
  add_offload(parallelism, list);
  if (workload::copies_of_layers(parallelism) > 1) {
    list.push_back({"parallelism.schedule", "dualpipe",
                    "gradients are summed over both copies of a layer, and a sharded optimizer is "
                    "divided over both: published descriptions do not say"});
  }
  list.push_back({"overlap", "in proportion",
                  "a collective beside kernels slows them by the framework's interference; groups "
                  "in one NVLink domain do not contend"});
  list.push_back(
      {"jitter", "none",
       "every GPU runs at the sustained speed of the slowest of them, which all others wait for"});
  return list;
}

}  // namespace headway::training
