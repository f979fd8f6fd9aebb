// What Megatron-LM asserts of its arguments before it starts, as far as an export could break it.
// Sources: NVIDIA/Megatron-LM at core_v0.14.0 and core_v0.19.0, validate_args of
// megatron/training/arguments.py, or the file that a rule names.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/launch/launch_table.h"

namespace headway::testing {

/// The arguments and variables of an exported script.
class MegatronArguments {
 public:
  MegatronArguments(const std::vector<import::LaunchLine>& lines, bool before_blackwell)
      : before_blackwell_(before_blackwell) {
    for (const import::LaunchLine& line : lines) {
      values_[line.key] = line.values;
    }
  }
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  [[nodiscard]] std::string word(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() || found->second.empty() ? "" : found->second.front();
  }
  [[nodiscard]] long number(const std::string& key, long otherwise = 1) const {
    return has(key) ? std::stol(word(key)) : otherwise;
  }
  [[nodiscard]] bool before_blackwell() const { return before_blackwell_; }
  [[nodiscard]] bool fsdp() const { return has("use-megatron-fsdp") || has("use-torch-fsdp2"); }
  [[nodiscard]] long tensor() const { return number("tensor-model-parallel-size"); }
  [[nodiscard]] long pipeline() const { return number("pipeline-model-parallel-size"); }
  [[nodiscard]] long context() const { return number("context-parallel-size"); }
  [[nodiscard]] long expert() const { return number("expert-model-parallel-size"); }

 private:
  bool before_blackwell_;
  std::map<std::string, std::vector<std::string>> values_;
};

struct MegatronRule {
  const char* what;
  bool (*broken)(const MegatronArguments&);
  const char* excuse = "";  ///< what the head of the file says where an old release alone has it
};

// clang-format off
inline constexpr MegatronRule kMegatronRules[]{
    {"--use-megatron-fsdp has --ckpt-format fsdp_dtensor, and nothing else has",
     [](const MegatronArguments& a) { return a.has("use-megatron-fsdp") != (a.word("ckpt-format") == "fsdp_dtensor"); }},
    {"Megatron's FSDP takes Adam and SGD",
     [](const MegatronArguments& a) { return a.has("use-megatron-fsdp") && a.word("optimizer") == "muon"; }},
    {"before Blackwell tensor and context ranks have CUDA_DEVICE_MAX_CONNECTIONS=1",
     [](const MegatronArguments& a) { return a.before_blackwell() && !a.fsdp() && (a.tensor() > 1 || a.context() > 1) && a.word("CUDA_DEVICE_MAX_CONNECTIONS") != "1"; }},
    {"either FSDP does not have CUDA_DEVICE_MAX_CONNECTIONS=1",
     [](const MegatronArguments& a) { return a.fsdp() && (!a.has("CUDA_DEVICE_MAX_CONNECTIONS") || a.word("CUDA_DEVICE_MAX_CONNECTIONS") == "1"); }},
    {"--optimizer-cpu-offload has --use-precision-aware-optimizer",
     [](const MegatronArguments& a) { return a.has("optimizer-cpu-offload") && !a.has("use-precision-aware-optimizer"); }},
    {"--use-precision-aware-optimizer is of Adam and the distributed optimizer (optimizer_config.py)",
     [](const MegatronArguments& a) { return a.has("use-precision-aware-optimizer") && (a.word("optimizer") != "adam" || !a.has("use-distributed-optimizer")); }},
    {"moments in other formats have --use-precision-aware-optimizer (optimizer_config.py)",
     [](const MegatronArguments& a) { return a.has("exp-avg-dtype") && !a.has("use-precision-aware-optimizer"); }},
    {"the distributed optimizer is no SGD (distrib_optimizer.py)",
     [](const MegatronArguments& a) { return a.has("use-distributed-optimizer") && a.word("optimizer") == "sgd"; }},
    {"--tp-comm-overlap has --sequence-parallel",
     [](const MegatronArguments& a) { return a.has("tp-comm-overlap") && !a.has("sequence-parallel"); }},
    {"--overlap-param-gather has --overlap-grad-reduce and a sharded optimizer",
     [](const MegatronArguments& a) { return a.has("overlap-param-gather") && !(a.has("overlap-grad-reduce") && (a.has("use-distributed-optimizer") || a.has("use-megatron-fsdp"))); }},
    {"PyTorch's FSDP has no pipeline and no expert ranks",
     [](const MegatronArguments& a) { return a.has("use-torch-fsdp2") && (a.pipeline() > 1 || a.expert() > 1); }},
    {"PyTorch's FSDP has neither the distributed optimizer nor fused accumulation",
     [](const MegatronArguments& a) { return a.has("use-torch-fsdp2") && (a.has("use-distributed-optimizer") || !a.has("no-gradient-accumulation-fusion")); }},
    {"PyTorch's FSDP has untied embeddings and no fp16",
     [](const MegatronArguments& a) { return a.has("use-torch-fsdp2") && (!a.has("untie-embeddings-and-output-weights") || a.has("fp16")); }},
    {"--num-distributed-optimizer-instances divides the data ranks (parallel_state.py)",
     [](const MegatronArguments& a) { return a.number("nnodes") * a.number("nproc-per-node") % (a.tensor() * a.pipeline() * a.number("num-distributed-optimizer-instances")) != 0; }},
    {"pipeline ranks before data ranks: experts have as many data ranks as the rest (parallel_state.py)",
     [](const MegatronArguments& a) { return a.has("use-tp-pp-dp-mapping") && a.pipeline() > 1 && a.number("expert-tensor-parallel-size", a.tensor()) * a.expert() != a.tensor() * a.context(); }},
    {"one of the arguments that cut stages into chunks at most",
     [](const MegatronArguments& a) { return a.has("num-virtual-stages-per-pipeline-rank") && a.has("pipeline-model-parallel-layout"); }},
    {"chunks have a pipeline",
     [](const MegatronArguments& a) { return a.number("num-virtual-stages-per-pipeline-rank") > 1 && a.pipeline() == 1; }},
    {"letters of a hybrid cut stages alone",
     [](const MegatronArguments& a) { return a.has("hybrid-layer-pattern") && (a.has("num-virtual-stages-per-pipeline-rank") || a.has("pipeline-model-parallel-layout") || a.has("account-for-embedding-in-pipeline-split") || a.has("account-for-loss-in-pipeline-split")); }},
    {"layers, with the ends that count as one, divide over the stages",
     [](const MegatronArguments& a) {
       const bool listed = a.has("pipeline-model-parallel-layout") || a.has("hybrid-layer-pattern") || a.has("decoder-first-pipeline-num-layers") || a.has("decoder-last-pipeline-num-layers");
       return !listed && (a.number("num-layers") + (a.has("account-for-embedding-in-pipeline-split") ? 1 : 0) + (a.has("account-for-loss-in-pipeline-split") ? 1 : 0)) % a.pipeline() != 0; }},
    {"prediction modules have rotary positions or none",
     [](const MegatronArguments& a) { return a.has("mtp-num-layers") && a.word("position-embedding-type") == "learned_absolute"; }},
    {"--max-position-embeddings is no shorter than a sequence",
     [](const MegatronArguments& a) { return a.number("max-position-embeddings") < a.number("seq-length"); }},
    {"a sequence divides by twice the context ranks",
     [](const MegatronArguments& a) { return a.context() > 1 && a.number("seq-length") % (2 * a.context()) != 0; }},
    {"one 16-bit format, and one narrow one",
     [](const MegatronArguments& a) { return (a.has("bf16") && a.has("fp16")) || (a.has("fp8-format") && a.has("fp4-format")); }},
    {"--recompute-method is of whole layers",
     [](const MegatronArguments& a) { return a.word("recompute-granularity") == "selective" && a.has("recompute-method"); }},
    {"latent attention has no query groups",
     [](const MegatronArguments& a) { return a.has("multi-latent-attention") && a.has("group-query-attention"); }},
    {"experts divide over their ranks",
     [](const MegatronArguments& a) { return a.number("num-experts", a.expert()) % a.expert() != 0; }},
    {"--async-save has --use-persistent-ckpt-worker, or is switched off",
     [](const MegatronArguments& a) { return a.has("async-save") && !a.has("use-persistent-ckpt-worker"); }},
    {"expert ranks have no fp16",
     [](const MegatronArguments& a) { return a.expert() > 1 && a.has("fp16"); },
     "--fp16 with expert ranks needs megatron-core 0.16"},
    {"grouped products of experts have bf16",
     [](const MegatronArguments& a) { return a.has("moe-grouped-gemm") && !a.has("bf16"); },
     "--moe-grouped-gemm without --bf16 needs megatron-core 0.16"},
    {"expert and tensor ranks have sequence parallelism (model_parallel_config.py)",
     [](const MegatronArguments& a) { return a.expert() > 1 && a.tensor() > 1 && !a.has("sequence-parallel"); },
     "expert and tensor ranks without --sequence-parallel needs megatron-core 0.15"},
};
// clang-format on

/// The rules that the file of a run breaks, and does not say so.
inline std::vector<std::string> broken_megatron_rules(const import::LaunchRun& run) {
  const auto lines = import::write_launch(import::megatron_table(), run);
  const auto remarks = import::megatron_table().remarks(run, lines);
  const MegatronArguments arguments(lines, run.before_blackwell);
  std::vector<std::string> out;
  for (const MegatronRule& rule : kMegatronRules) {
    const std::string_view excuse = rule.excuse;
    const bool said = !excuse.empty() && std::ranges::any_of(remarks, [excuse](const auto& remark) {
      return remark.starts_with(excuse);
    });
    if (rule.broken(arguments) && !said) {
      out.emplace_back(rule.what);
    }
  }
  return out;
}

}  // namespace headway::testing
