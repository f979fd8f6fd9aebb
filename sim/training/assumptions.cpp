#include "sim/training/assumptions.h"

#include <fmt/format.h>

#include "sim/workload/layout.h"

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
                    fmt::format("no kernels of this generation were measured: shapes of products and lengths of attention act as on {}", other)});
  }
}

void add_speeds(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const Scenario& s = checked.scenario();
  const auto shares = kernel_times(s).shares;
  // The entry's own words on each share are put here by the room that reads files (report/predict).
  const std::string from = s.calibration.kernels ? "measured, calibration '" + s.calibration.name + "'"
                                                 : "the entry of the GPU";
  add_generation(s.cluster.node.gpu, list);
  list.push_back({"gpu.sustained.gemm_16bit", fmt::format("{:g}", shares.gemm_16bit), from});
  const auto& tables = s.cluster.node.gpu.kernels;
  list.push_back({"gpu.kernels", tables ? tables->name : "none",
                  tables ? "measured shape dependence, relative to large kernels" : "laws of tiles and waves; the interval is wider"});
  const bool flash2 = shares.attention_flash2 > 0 &&
                      s.training.framework.attention_kernels == workload::AttentionKernels::flash2;
  if (flash2) {
    list.push_back({"gpu.sustained.attention_flash2", fmt::format("{:g}", shares.attention_forward), from});
  } else {
    list.push_back({"gpu.sustained.attention_forward", fmt::format("{:g}", shares.attention_forward), from});
    list.push_back({"gpu.sustained.attention_backward", fmt::format("{:g}", shares.attention_backward), from});
  }
  list.push_back({"gpu.sustained.memory", fmt::format("{:g}", shares.memory), from});
}

void add_software(const CheckedScenario& checked, std::vector<Assumption>& list) {
  const auto& f = checked.scenario().training.framework;
  const std::string from = "framework profile '" + f.name + "'";
  list.push_back({"training.framework.fused_attention", yes_no(f.fused_attention), from});
  list.push_back({"training.framework.tensor_overlap", yes_no(f.tensor_overlap), from});
  list.push_back({"training.framework.tensor_interference", fmt::format("{:g}", f.tensor_interference), from});
  const auto& measured = checked.scenario().calibration.data_interference;
  list.push_back({"training.framework.data_interference", fmt::format("{:g}", measured.value_or(f.data_interference)),
                  measured ? "measured, calibration '" + checked.scenario().calibration.name + "'" : from});
  list.push_back({"training.framework.message_overhead", fmt::format("{:g} s", f.message_overhead.si()), from});
  list.push_back({"training.framework.pipeline_overlap", yes_no(f.pipeline_overlap), from});
  list.push_back({"training.framework.data_overlap", yes_no(f.data_overlap), from});
}

}  // namespace

std::vector<Assumption> step_assumptions(const CheckedScenario& checked, const LoweredStep& lowered) {
  std::vector<Assumption> list;
  add_speeds(checked, list);
  add_software(checked, list);
  for (const auto& use : lowered.collectives) {
    list.push_back({fmt::format("collective {}", use.name),
                    fmt::format("{:.3g} us for {:.3g} MB over {} ranks", use.alone.total.si() * 1e6, use.call.bytes.si() / 1e6,
                                use.shape.ranks),
                    fmt::format("{}, {} {}", core::to_word(use.alone.source), core::to_word(use.alone.algorithm),
                                core::to_word(use.alone.protocol))});
  }
  const int filled = checked.scenario().cluster.node.scale_up.domain_gpus;
  if (filled != checked.whole_domain()) {
    list.push_back({"cluster.placement", fmt::format("{} of {} GPUs of each NVLink domain", filled, checked.whole_domain()),
                    "no tensor or expert group straddles two domains; the rest of each stays free"});
  }
  const auto& fabric = checked.scenario().cluster.fabric;
  list.push_back({"cluster.fabric.efficiency", fmt::format("{:g}", fabric.efficiency), "share of the line rate that payload reaches"});
  if (checked.scenario().parallelism.offload == workload::Offload::optimizer) {
    list.push_back({"parallelism.offload", "optimizer",
                    "gradients to the host, update there, weights back, one after another; software that tiles them is faster by at most the two copies"});
  }
  if (workload::copies_of_layers(checked.scenario().parallelism) > 1) {
    list.push_back({"parallelism.schedule", "dualpipe",
                    "gradients are summed over both copies of a layer, and a sharded optimizer is "
                    "divided over both: published descriptions do not say"});
  }
  list.push_back({"overlap", "in proportion", "a collective beside kernels slows them by the framework's interference; groups in one NVLink domain do not contend"});
  list.push_back({"jitter", "none", "every GPU runs at the sustained speed of the slowest of them, which all others wait for"});
  return list;
}

}  // namespace headway::training
