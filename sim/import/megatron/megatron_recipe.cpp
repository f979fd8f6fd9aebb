// Megatron-LM's arguments about number formats, optimizer and kernels.
#include "sim/core/shown_text.h"
#include "sim/import/megatron/megatron_rows.h"
#include "sim/workload/number_formats.h"

namespace headway::import {

namespace {

using core::Precision;
using workload::AttentionKernels;
using workload::OptimizerState;
using workload::Scaling;

/// The recipe of fp8: its format and the scales of its operands.
void read_narrow(LaunchReader& reader, LaunchRun& run) {
  const bool fp8 = reader.has("fp8-format") || reader.flag("fp8-hybrid").value_or(false) ||
                   reader.flag("fp8-e4m3").value_or(false);
  const std::string recipe = reader.word("fp8-recipe").value_or("delayed");
  reader.pass_over("fp8-format");
  reader.pass_over("fp4-recipe");
  if (reader.has("fp4-format")) {
    run.training.precision = Precision::nvfp4;
    reader.place("training.precision", "fp4-format");
    return;
  }
  if (!fp8) {
    return;
  }
  reader.place("training.precision", "fp8-format");
  run.training.precision = recipe == "mxfp8" ? Precision::mxfp8 : Precision::fp8;
  if (recipe == "delayed" || recipe == "tensorwise" || recipe == "blockwise") {
    run.training.framework.scaling = recipe == "delayed"      ? Scaling::delayed
                                     : recipe == "tensorwise" ? Scaling::tensor
                                                              : Scaling::block;
  } else if (recipe != "mxfp8") {
    reader.complain("fp8-recipe",
                    fmt::format("'fp8-recipe' is '{}'; delayed, tensorwise, blockwise "
                                "and mxfp8 are read",
                                core::shortened(recipe)));
  }
}

void read_precision(LaunchReader& reader, LaunchRun& run) {
  const bool bf16 = reader.flag("bf16").value_or(false);
  const bool fp16 = reader.flag("fp16").value_or(false);
  if (bf16 && fp16) {
    reader.complain("fp16", "both --bf16 and --fp16 are set; leave one out");
  }
  reader.place("training.precision", bf16 ? "bf16" : "fp16");
  run.training.precision = bf16 ? Precision::bf16 : fp16 ? Precision::fp16 : Precision::fp32;
  read_narrow(reader, run);
  if (!bf16 && !fp16 && run.training.precision == Precision::fp32) {
    reader.assume("neither --bf16 nor --fp16 is set: fp32, the framework's default");
  }
  workload::FrameworkSpec& framework = run.training.framework;
  const bool narrow = reader.flag("grad-reduce-in-bf16").value_or(false);
  const bool wide = reader.flag("accumulate-allreduce-grads-in-fp32").value_or(false);
  const bool two = narrow || (fp16 && !wide);
  framework.gradient_bytes = framework.reduce_bytes = two ? 2 : 4;
}

void write_precision(const LaunchRun& run, LaunchWriter& out) {
  const Precision precision = run.training.precision;
  const bool full = precision == Precision::fp32 || precision == Precision::tf32;
  if (!full) {
    out.flag(precision == Precision::fp16 ? "fp16" : "bf16");
  }
  if (precision == Precision::fp8 || precision == Precision::mxfp8) {
    const Scaling scaling = run.training.framework.scaling;
    // As Transformer Engine has them: gradients in e5m2 where scales are of whole tensors.
    const bool blocks = precision == Precision::mxfp8 || scaling == Scaling::block;
    out.text("fp8-format", blocks ? "e4m3" : "hybrid");
    out.text("fp8-recipe", precision == Precision::mxfp8 ? "mxfp8"
                           : scaling == Scaling::delayed ? "delayed"
                           : scaling == Scaling::block   ? "blockwise"
                                                         : "tensorwise");
  } else if (precision == Precision::nvfp4) {
    out.text("fp4-format", "e2m1");
    out.text("fp4-recipe", "nvfp4");
  }
  const bool narrow = run.training.framework.gradient_bytes == 2;
  if (precision == Precision::fp16 && !narrow) {
    out.flag("accumulate-allreduce-grads-in-fp32");
  } else if (precision != Precision::fp16 && !full && narrow) {
    out.flag("grad-reduce-in-bf16");
  }
}

bool has_eight_bits(const LaunchRun& run) {
  return run.training.precision == Precision::fp8 || run.training.precision == Precision::mxfp8;
}

void read_narrow_weights(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kGather = "fp8-param-gather";
  const bool gathered = reader.flag(kGather).value_or(false);
  if (has_eight_bits(run)) {
    run.training.framework.allocation.narrow_weights = gathered;
    reader.place("training.framework.allocation.narrow_weights", kGather);
  }
}

/// Asserted: the optimizer or all is sharded (arguments.py).
void write_narrow_weights(const LaunchRun& run, LaunchWriter& out) {
  if (has_eight_bits(run) && run.training.framework.allocation.narrow_weights &&
      megatron_sharding(run) != MegatronSharding::none) {
    out.flag("fp8-param-gather");
  }
}

/// Stages of the interleaved schedule alone send beside their passes in Megatron-LM.
void read_pipeline_overlap(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kNone = "no-overlap-p2p-communication";
  if (reader.flag(kNone).value_or(false)) {
    run.training.framework.pipeline_overlap = false;
    reader.place("training.framework.pipeline_overlap", kNone);
  }
}

void write_pipeline_overlap(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (!run.training.framework.pipeline_overlap && p.pipeline > 1 && p.virtual_stages > 1) {
    out.flag("no-overlap-p2p-communication");
  }
}

/// Masters and the gradients that they take are modelled in fp32.
void look_at_masters(LaunchReader& reader) {
  for (const std::string_view key : {"main-params-dtype", "main-grads-dtype"}) {
    if (reader.word(key).value_or("fp32") != "fp32") {
      reader.not_modelled(key, "masters and their gradients are modelled in fp32");
    }
  }
}

/// Layers at both ends that stay in 16 bits, one each unless said otherwise; without narrow
/// products the flags say nothing. Source: Megatron-LM, megatron/core/fp8_utils.py and
/// fp4_utils.py, 2026.
void read_sixteen_bit(LaunchReader& reader, LaunchRun& run) {
  const bool kept = reader.flag("first-last-layers-bf16").value_or(false);
  const int first = reader.whole("num-layers-at-start-in-bf16", 0).value_or(1);
  const int last = reader.whole("num-layers-at-end-in-bf16", 0).value_or(1);
  if (kept && workload::narrow(run.training.precision) && first + last > 0) {
    run.model.sixteen_bit_layers = workload::SixteenBitLayersSpec{first, last};
    reader.place("model.sixteen_bit_layers", "first-last-layers-bf16");
  }
}

void write_sixteen_bit(const LaunchRun& run, LaunchWriter& out) {
  if (const auto& kept = run.model.sixteen_bit_layers) {
    out.flag("first-last-layers-bf16");
    out.whole("num-layers-at-start-in-bf16", kept->first);
    out.whole("num-layers-at-end-in-bf16", kept->last);
  }
}

/// Absent: the default of both, which is one.
void read_muon(LaunchReader& reader, LaunchRun& run) {
  const auto word = reader.word("muon-tp-mode");
  if (!word) {
    return;
  }
  const auto mode = core::from_word<workload::MuonTensorMode>(*word);
  if (!mode) {
    reader.complain("muon-tp-mode",
                    fmt::format("'muon-tp-mode' is '{}'; blockwise, duplicated and distributed are "
                                "read",
                                core::shortened(*word)));
    return;
  }
  run.training.muon = workload::MuonSpec{*mode};
  reader.place("training.muon.tensor_mode", "muon-tp-mode");
}

void read_optimizer(LaunchReader& reader, LaunchRun& run) {
  const std::string name = reader.word("optimizer").value_or("adam");
  const std::string first = reader.word("exp-avg-dtype").value_or("fp32");
  const std::string second = reader.word("exp-avg-sq-dtype").value_or("fp32");
  reader.place("training.optimizer_state", "optimizer");
  if (name == "sgd") {
    run.training.optimizer_state = OptimizerState::sgd_momentum;
  } else if (name.find("muon") != std::string::npos) {
    run.training.optimizer_state = OptimizerState::muon;
    read_muon(reader, run);
  } else if (name != "adam") {
    reader.complain("optimizer", fmt::format("'optimizer' is '{}'; adam and sgd are read",
                                             core::shortened(name)));
  } else if (first == "bf16" && second == "bf16") {
    run.training.optimizer_state = OptimizerState::adam_bf16;
  } else if (first == "fp8" && second == "fp8") {
    run.training.optimizer_state = OptimizerState::adam_8bit;
  } else {
    run.training.optimizer_state = OptimizerState::adam_fp32;
    if (first != "fp32" || second != "fp32") {
      reader.not_modelled("exp-avg-dtype",
                          "moments are modelled in fp32, bf16 or 8 bits, both alike");
    }
  }
  reader.pass_over("use-precision-aware-optimizer");
  look_at_masters(reader);
}

void write_optimizer(const LaunchRun& run, LaunchWriter& out) {
  const OptimizerState state = run.training.optimizer_state;
  out.text("optimizer", state == OptimizerState::sgd_momentum ? "sgd"
                        : state == OptimizerState::muon       ? "muon"
                                                              : "adam");
  if (state == OptimizerState::muon && run.training.muon) {
    out.text("muon-tp-mode", std::string(core::to_word(run.training.muon->tensor_mode)));
  }
  if (!takes_precise_optimizer(run)) {
    return;
  }
  const bool narrow = state == OptimizerState::adam_bf16 || state == OptimizerState::adam_8bit;
  if (narrow || workload::offloads_optimizer(run.parallelism.offload)) {
    out.flag("use-precision-aware-optimizer");
  }
  if (narrow) {
    const char* format = state == OptimizerState::adam_bf16 ? "bf16" : "fp8";
    out.text("exp-avg-dtype", format);
    out.text("exp-avg-sq-dtype", format);
  }
}

void read_attention(LaunchReader& reader, LaunchRun& run) {
  AttentionKernels& kernels = run.training.framework.attention_kernels;
  const auto word = reader.word("attention-backend");
  const bool flash = reader.flag("use-flash-attn").value_or(false);
  const bool local = reader.word("transformer-impl").value_or("") == "local";
  reader.place("training.framework.attention_kernels", "attention-backend");
  if (!word) {
    kernels = local && !flash ? AttentionKernels::unfused : kernels;
    return;
  }
  if (*word == "unfused" || *word == "local") {
    kernels = AttentionKernels::unfused;
  } else if (*word == "fused") {
    kernels = AttentionKernels::cudnn;
  } else if (*word == "flash") {
    kernels = AttentionKernels::flash2;
  } else if (*word == "auto") {
    kernels = AttentionKernels::newest;
  } else {
    reader.complain("attention-backend",
                    fmt::format("'attention-backend' is '{}'; it is auto, flash, "
                                "fused, unfused or local",
                                core::shortened(*word)));
  }
}

void write_attention(const LaunchRun& run, LaunchWriter& out) {
  switch (run.training.framework.attention_kernels) {
    case AttentionKernels::unfused:
      out.text("attention-backend", "unfused");
      break;
    case AttentionKernels::cudnn:
      out.text("attention-backend", "fused");
      break;
    case AttentionKernels::flash2:
    case AttentionKernels::flash3:
    case AttentionKernels::sdpa:
      out.text("attention-backend", "flash");
      break;
    case AttentionKernels::newest:
      out.text("attention-backend", "auto");
      break;
  }
}

void read_graphs(LaunchReader& reader, LaunchRun& run) {
  reader.place("training.framework.cuda_graphs", "enable-cuda-graph");
  const std::string kind = reader.word("cuda-graph-impl").value_or("none");
  if (reader.flag("enable-cuda-graph").value_or(false) ||
      reader.flag("external-cuda-graph").value_or(false) || kind != "none") {
    run.training.framework.cuda_graphs = true;
  }
}

void write_graphs(const LaunchRun& run, LaunchWriter& out) {
  // Refused with recomputation or copies of activations (transformer_config.py).
  if (run.training.framework.cuda_graphs &&
      run.parallelism.recompute == workload::Recompute::none &&
      !workload::offloads_activations(run.parallelism.offload)) {
    out.flag("enable-cuda-graph");
  }
}

}  // namespace

std::vector<LaunchRow> megatron_recipe_rows() {
  return {
      ruled(
          {"bf16", "fp16", "fp8-format", "fp8-recipe", "fp4-format", "grad-reduce-in-bf16",
           "accumulate-allreduce-grads-in-fp32"},
          {"training.precision", "training.framework.scaling", "training.framework.gradient_bytes"},
          read_precision, write_precision),
      ruled({"fp8-param-gather"}, {"training.framework.allocation.narrow_weights"},
            read_narrow_weights, write_narrow_weights),
      ruled({"no-overlap-p2p-communication"}, {"training.framework.pipeline_overlap"},
            read_pipeline_overlap, write_pipeline_overlap),
      ruled(
          {"cross-entropy-loss-fusion"}, {"training.framework.loss"},
          [](LaunchReader& reader, LaunchRun& run) {
            if (reader.flag("cross-entropy-loss-fusion").value_or(false)) {
              run.training.framework.loss = workload::Loss::fused;
              reader.place("training.framework.loss", "cross-entropy-loss-fusion");
            }
          },
          [](const LaunchRun&, LaunchWriter&) {}),
      ruled({"first-last-layers-bf16", "num-layers-at-start-in-bf16", "num-layers-at-end-in-bf16"},
            {"model.sixteen_bit_layers"}, read_sixteen_bit, write_sixteen_bit),
      ruled({"optimizer", "use-precision-aware-optimizer", "exp-avg-dtype", "exp-avg-sq-dtype",
             "muon-tp-mode"},
            {"training.optimizer_state", "training.muon"}, read_optimizer, write_optimizer),
      ruled({"attention-backend", "use-flash-attn"}, {"training.framework.attention_kernels"},
            read_attention, write_attention),
      ruled({"enable-cuda-graph", "external-cuda-graph", "cuda-graph-impl"},
            {"training.framework.cuda_graphs"}, read_graphs, write_graphs),
  };
}

}  // namespace headway::import
