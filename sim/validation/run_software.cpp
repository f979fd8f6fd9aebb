#include "sim/validation/run_software.h"

namespace headway::validation {

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Megatron before FlashAttention: DeepSpeed's pipeline engine, sequence parallelism, or neither.
std::string unfused_megatron(const Row& row) {
  const std::string& source = row.text("source");
  if (contains(source, "BigScience") || contains(source, "DeepSpeed") ||
      contains(source, "MT-NLG")) {
    return row.text("precision") == "bf16" ? "megatron-deepspeed-bf16-2022"
                                           : "megatron-deepspeed-2022";
  }
  return row.yes("sequence_parallel") ? "megatron-sp-2022" : "megatron-lm-2021";
}

/// FSDP of 2023, or FSDP2 with compiled kernels.
std::string pytorch(const Row& row) {
  const bool second = contains(row.text("era"), "titan") || contains(row.text("era"), "fsdp2") ||
                      row.stated("torch_compile") || row.stated("async_tp");
  return second ? "torchtitan" : "pytorch-fsdp";
}

/// What a mixture's software does, by its release and the flags that are known.
void apply_expert_flags(const Row& row, workload::FrameworkSpec& framework) {
  if (row.text("release").starts_with('v')) {
    return;  // NeMo exchanges tokens plainly
  }
  // Recipes of Megatron-Bridge dispatch with DeepEP or HybridEP. From 26.06 on those for racks of
  // 72 GPUs record the whole iteration and overlap the exchange, unless flags say otherwise.
  framework.expert_dispatch = workload::ExpertDispatch::deduplicated;
  const bool recorded = row.text("release") >= "26.06" && row.integer("nvlink_domain", 8) > 8;
  framework.expert_overlap = row.stated("moe_a2a_overlap") ? row.yes("moe_a2a_overlap") : recorded;
  framework.attention_graphs = row.text("cuda_graph").find("'attn'") != std::string::npos;
  framework.cuda_graphs = framework.cuda_graphs || (recorded && !row.stated("cuda_graph"));
}

}  // namespace

std::string framework_entry(const Row& row) {
  const std::string& era = row.text("era");
  if (era.starts_with("unfused-megatron")) {
    return unfused_megatron(row);
  }
  if (contains(era, "fsdp") || contains(era, "torch")) {
    return pytorch(row);
  }
  if (era.starts_with("jax")) {
    return era == "jax-paxml-unfused" ? "jax-paxml" : "jax-xla";
  }
  if (era.starts_with("meta-llama3")) {
    return "llama-3-2024";
  }
  const bool old = row.integer("year", 2024) <= 2023;
  return old ? "megatron-core-2023" : era == "mlperf" ? "mlperf" : "megatron-core";
}

void apply_flags(const Row& row, workload::FrameworkSpec& framework) {
  for (const char* column : {"tp_comm_overlap", "async_tp"}) {
    if (row.stated(column)) {
      framework.tensor_overlap = row.yes(column);
    }
  }
  if (row.stated("torch_compile")) {
    framework.fused_elementwise = row.yes("torch_compile");
  }
  if (row.text("arch") == "moe") {
    apply_expert_flags(row, framework);
  }
  if (row.text("cuda_graph") == "yes" || row.text("cuda_graph").starts_with("full_iteration")) {
    framework.cuda_graphs = true;
  }
}

}  // namespace headway::validation
