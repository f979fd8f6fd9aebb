#include "sim/validation/run_software.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "sim/core/ranges.h"
#include "sim/core/text.h"
#include "sim/validation/names/software_names.h"
#include "sim/validation/words/layout_words.h"

namespace headway::validation {

namespace {

/// Year of the software: the one that its era ends with ("megatron-flash-2023"), else that of the
/// run; 2024 where the source has none.
int year_of(const RunRow& row) {
  const auto digits = row.era.find_last_not_of("0123456789") + 1;
  const std::string ending = row.era.substr(std::min(digits, row.era.size()));
  const bool year = ending.size() == 4 && ending.starts_with("20");
  return (year ? core::whole_text_as<int>(ending) : row.year).value_or(2024);
}

/// Megatron before FlashAttention, by what tells its kinds apart: sequence parallelism, or the
/// selective recompute that came with it; bf16, whose gradients are accumulated and reduced in fp32
/// (the large runs in bf16 were DeepSpeed's); sharded states beside pipelines, which Megatron-LM
/// had only when it had FlashAttention too. fp16 without any of them is Megatron-LM's.
std::string unfused_megatron(const RunRow& row) {
  if (row.sequence_parallel.value_or(false) || core::lower_case(row.recompute) == "selective") {
    return "megatron-sp-2022";
  }
  if (contains(core::lower_case(row.precision), "bf16")) {
    return "megatron-deepspeed-bf16-2022";
  }
  const bool deepspeed = contains_any(core::lower_case(row.era), std::array{"deepspeed", "neox"}) ||
                         sharded_stage(row.sharding) > 0;
  return deepspeed ? "megatron-deepspeed-2022" : "megatron-lm-2021";
}

/// Whether a row's notes name a PyTorch of before summer 2025 ("torch 2.7 dev"): its torchtitan did
/// not compile the loss yet and had one group of sharded weights for embedding and head.
bool early_torch(const RunRow& row) {
  constexpr std::string_view kWords = "torch 2.";
  constexpr int kLastEarly = 7;
  const std::string notes = core::lower_case(row.notes);
  const auto found = notes.find(kWords);
  return found != std::string::npos &&
         std::atoi(notes.c_str() + found + kWords.size()) <= kLastEarly;
}

/// FSDP2, llm-foundry where the software is named, with attention in Triton, or PyTorch's own FSDP
/// with scaled_dot_product_attention.
std::string pytorch(const RunRow& row, const std::string& words) {
  const bool second =
      contains(words, "titan") || contains(words, "fsdp2") ||
      contains_any(core::lower_case(row.sharding), std::array{"fsdp2", "fully_shard"}) ||
      row.async_tp.has_value();
  if (second) {
    return year_of(row) <= 2024 || early_torch(row) ? "torchtitan-2024" : "torchtitan";
  }
  const std::string named = core::lower_case(words + " " + row.source + " " + row.model);
  return contains(named, "foundry") ? "llm-foundry" : "pytorch-fsdp";
}

/// Number of a release, "25.05.04" of "v25.05.04".
std::string release_number(const RunRow& row) {
  const auto begin = row.release.find_first_of("0123456789");
  return begin == std::string::npos ? "" : row.release.substr(begin);
}

/// Megatron-Core and what is built on it, by year, benchmark and, for mixtures, release.
std::string megatron_core(const RunRow& row,
                          const std::string& words,
                          bool rack,
                          Assumed& assumed) {
  if (year_of(row) <= 2023) {
    return "megatron-core-2023";
  }
  if (contains(words, "mlperf")) {
    return "mlperf";
  }
  // Without a release, and without the name of what has recipes of its own: Megatron-LM's scripts.
  const bool plain = row.release.empty() && !contains(core::lower_case(row.notes), "nemo");
  if (!row.is_mixture()) {
    return row.release.empty() && row.year == 2024 ? "megatron-core-2024"
           : plain                                 ? "megatron-lm-2025"
                                                   : "megatron-core";
  }
  const std::string release = release_number(row);
  constexpr const char* kFirstBridge = "25.07";  // container that first had Megatron-Bridge
  constexpr const char* kSecondNemo = "25.05";  // recipes of mixtures moved to nemo/collections/llm
  if (release.empty()) {
    // What era and notes call the software is its family still; the title of a document is not.
    // Megatron itself has no releases of recipes that a row could state: how far its profile is off
    // is what its comparisons show.
    const std::string notes = core::lower_case(row.notes);
    const std::string called = core::lower_case(row.era) + " " + notes;
    const bool bridge = contains(called, "bridge");
    const bool nemo = has_word(called, "nemo");
    const bool megatron = contains(notes, "megatron");
    const bool recipes = bridge || nemo || year_of(row) <= 2024;
    if (recipes || !megatron) {
      assume(assumed, bridge || nemo || megatron ? "release" : "software");
    }
    if (recipes) {
      return bridge ? "megatron-bridge-2025" : "nemo-2024";
    }
    return sharded_stage(row.sharding) == 3 ? "megatron-fsdp-2025" : "megatron-lm-2025";
  }
  if (release < kFirstBridge) {
    return release < kSecondNemo ? "nemo-1-2024" : "nemo-2024";
  }
  return release >= "26.06" && rack ? "megatron-bridge-2026-nvl72" : "megatron-bridge-2025";
}

/// Forks of Megatron-LM of 2021 that kept its kernels: GPT-NeoX and Megatron-DeepSpeed.
bool old_megatron(const std::string& words) {
  return contains_any(words, std::array{"neox", "megatron-deepspeed"});
}

/// The profile of a family of software that these words name; empty: they name none.
std::string family(const RunRow& row, const std::string& words, bool rack, Assumed& assumed) {
  static constexpr std::array<const char*, 4> kPyTorch = {"fsdp", "titan", "fairscale", "foundry"};
  static constexpr std::array<const char*, 10> kJax = {
      "jax", "maxtext", "xla", "paxml", "levanter", "axlearn", "easylm", "t5x", "flax", "praxis"};
  static constexpr std::array<const char*, 5> kMegatron = {"megatron-core", "megatron-flash",
                                                           "mlperf", "nemo", "megatron-bridge"};
  if (words.starts_with("unfused-megatron") || old_megatron(words)) {
    return unfused_megatron(row);
  }
  if (contains(words, "nanotron")) {
    return "nanotron";
  }
  if (contains_any(words, kPyTorch)) {
    return pytorch(row, words);
  }
  if (contains_any(words, kJax)) {
    return contains(words, "paxml") ? "jax-paxml" : "jax-xla";
  }
  // Trainers that are called by their makers' models, or that documents name in passing: the era
  // alone says them.
  const std::string era = core::lower_case(row.era);
  if (contains(era, "llama3")) {
    return "llama-3-2024";
  }
  if (contains(era, "deepspeed") && !contains(era, "megatron")) {
    return "deepspeed";
  }
  if (contains(era, "deepseek") || contains(era, "hai-llm")) {
    return "deepseek-v3-2024";
  }
  if (contains_any(words, kMegatron)) {
    return megatron_core(row, words, rack, assumed);
  }
  // Most software is built on PyTorch: its name alone says least.
  constexpr int kUnfused = 2022;  // the last year
  if (contains(words, "megatron-lm") && year_of(row) > kUnfused) {
    return megatron_core(row, words, rack, assumed);
  }
  return contains(words, "torch") && !contains(words, "megatron") ? pytorch(row, words) : "";
}

/// What trains by PyTorch's or DeepSpeed's sharded data parallelism, whatever it is called.
constexpr std::array<const char*, 5> kSharded = {"deepspeed", "zero", "hugging", "hf-",
                                                 "accelerate"};

/// What is taken of software, and whether it is one of two readings.
struct TakenSoftware {
  std::string profile;
  bool either = false;  ///< a name that no list knows: eager PyTorch or plain Megatron-LM
};

/// Without a known era: families that the source's words name, then what stands in for the era's
/// own name, then fully sharded data parallelism. A name that says nothing is read two ways, and
/// where there is none it is Megatron of the year.
TakenSoftware nearest(const RunRow& row, bool rack, Assumed& assumed) {
  assume(assumed, "era");
  const std::string words = core::lower_case(row.era) + " " + core::lower_case(row.source);
  const std::string era = core::lower_case(row.era);
  const bool sharded = sharded_stage(row.sharding) == 3;
  const bool named = contains(words, "megatron");
  const bool megatron = named || row.pp.value_or(1) > 1;
  const bool nameless = era.empty() || named;
  // Megatron-Core's runs have sequence parallelism wherever they have tensor parallelism.
  const bool without_sequence = row.tp.value_or(1) > 1 && row.sequence_parallel.has_value() &&
                                !row.sequence_parallel.value_or(false);
  const std::string known = stand_in_profile(era, unfused_megatron(row));
  const bool on_pytorch = known == "pytorch-fsdp";
  if (!known.empty() && !on_pytorch) {
    return {known};
  }
  const bool old = year_of(row) <= 2022 || (megatron && without_sequence);
  if (nameless && !sharded && !on_pytorch && old) {
    return {unfused_megatron(row)};
  }
  const bool zero = on_pytorch || (!megatron && (sharded || contains_any(era, kSharded)));
  if (const std::string other = family(row, words, rack, assumed); !other.empty() && !zero) {
    return {other};
  }
  if (zero || (!megatron && contains_any(words, kSharded))) {
    return {contains_any(words, std::array{"jax", "maxtext"}) ? "jax-xla" : pytorch(row, words)};
  }
  return nameless ? TakenSoftware{megatron_core(row, words, rack, assumed)}
                  : TakenSoftware{pytorch(row, words), true};
}

TakenSoftware software_of(const RunRow& row, bool rack, Assumed& assumed) {
  if (!row.profile.empty()) {
    return {row.profile};
  }
  const std::string known = family(row, core::lower_case(row.era), rack, assumed);
  return known.empty() ? nearest(row, rack, assumed) : TakenSoftware{known};
}

/// Whether the whole iteration runs from a recorded graph: "full_iteration:[...]" or
/// "local:full_iteration", but not "none:full_iteration", whose implementation is switched off. A
/// plain "yes" is all of a dense model's step; a mixture waits for its token counts, so that only
/// its attention can be recorded without saying more.
bool whole_iteration_recorded(const std::string& flag, bool mixture) {
  return (import::flag_of(flag).value_or(false) && !mixture) ||
         flag.starts_with("full_iteration") || flag.starts_with("local:full_iteration");
}

/// torchao's and Transformer Engine's recipes.
std::optional<workload::Scaling> scaling_in_words(const std::string& words) {
  using workload::Scaling;
  static constexpr std::pair<std::string_view, Scaling> kScalings[] = {
      {"rowwise", Scaling::row},        {"row-wise", Scaling::row},
      {"mxfp8_cublas", Scaling::block}, {"blockwise", Scaling::block},
      {"block-wise", Scaling::block},   {"per-block", Scaling::block},
      {"tensorwise", Scaling::tensor},  {"tensor-wise", Scaling::tensor},
      {"per-tensor", Scaling::tensor},  {"current scaling", Scaling::tensor},
      {"delayed", Scaling::delayed}};
  for (const auto& [word, scaling] : kScalings) {
    if (contains(words, word)) {
      return scaling;
    }
  }
  return std::nullopt;
}

/// The dispatcher that a row's notes name: a library that sends one copy of a token to each GPU, or
/// Megatron-Core's `moe_token_dispatcher_type`; nothing where they name none.
std::optional<workload::ExpertDispatch> dispatch_in_words(const RunRow& row) {
  using workload::ExpertDispatch;
  const std::string words = core::lower_case(row.notes + " " + row.moe_routing);
  if (contains_any(words, std::array{"deepep", "hybridep", "hybrid-ep", "flex dispatcher"})) {
    return ExpertDispatch::deduplicated;
  }
  if (contains_any(words, std::array{"allgather dispatch", "all-gather dispatch"})) {
    return ExpertDispatch::all_gather;
  }
  const bool plain =
      contains_any(words, std::array{"alltoall dispatch", "all-to-all dispatch", "a2a dispatch"});
  return plain ? std::optional(ExpertDispatch::all_to_all) : std::nullopt;
}

/// Megatron's selective recomputation of early years, which is of core attention: of a fused kernel
/// there is nothing to be gained by it, so a run that names it had none.
bool recomputes_core_attention(const RunRow& row) {
  const std::string words = core::lower_case(row.era);
  const bool megatron = contains(words, "megatron") || contains(words, "nemo");
  return megatron && core::lower_case(row.recompute) == "selective" && row.recompute_detail.empty();
}

}  // namespace

double stated_capacity(const RunRow& row) {
  constexpr std::string_view kWords = "capacity factor ";
  const std::string text = core::lower_case(row.moe_routing);
  const auto found = text.find(kWords);
  const double factor =
      found == std::string::npos ? 0 : std::atof(text.c_str() + found + kWords.size());
  return core::load_ratio.contains(factor) ? factor : 0;
}

std::string framework_entry(const RunRow& row, bool rack, Assumed& assumed) {
  return software_of(row, rack, assumed).profile;
}

std::optional<RunRow> read_as_megatron(const RunRow& row, bool rack) {
  Assumed said;
  if (!software_of(row, rack, said).either) {
    return std::nullopt;
  }
  RunRow other = row;
  other.era = "megatron-lm";
  other.profile.clear();
  other.tp_comm_overlap = row.tp_comm_overlap.value_or(false);
  return other;
}

bool stands_in(const RunRow& row, const Assumed& assumed) {
  const bool open = std::find(assumed.begin(), assumed.end(), "era") != assumed.end();
  return open && !row.era.empty() && !contains_any(core::lower_case(row.era), kSharded);
}

void apply_flags(const RunRow& row, bool stand_in, workload::FrameworkSpec& framework) {
  const std::string era = core::lower_case(row.era);
  if (stand_in || contains(era, "rocm")) {
    framework.tensor_overlap = false;  // user buffers are Transformer Engine's on NVIDIA's GPUs
  }
  // A profile that does not say what it costs has nothing that hides a collective: asynchronous
  // linears are no user buffers.
  for (const auto& flag : {row.tp_comm_overlap, row.async_tp}) {
    framework.tensor_overlap =
        framework.tensor_interference > 0 && flag.value_or(framework.tensor_overlap);
  }
  if (row.torch_compile.has_value()) {
    const bool compiled = row.torch_compile.value_or(false);
    framework.elementwise =
        compiled ? workload::Elementwise::compiled : workload::Elementwise::eager;
    if (compiled && returns_loss(era)) {
      framework.loss = workload::Loss::fused;
    } else if (!compiled && framework.loss == workload::Loss::fused) {
      framework.loss = workload::Loss::separate;
    }
  }
  if (recomputes_core_attention(row) && year_of(row) <= 2023) {
    framework.attention_kernels = workload::AttentionKernels::unfused;
  }
  constexpr int kFused = 2023;  // PyTorch 2.0, March 2023: scaled_dot_product_attention
  const std::string attention = core::lower_case(row.era + " " + row.attention + " " + row.notes);
  if (framework.attention_kernels == workload::AttentionKernels::sdpa && row.year &&
      year_of(row) < kFused &&
      !contains_any(attention, std::array{"flash", "xformers", "memory-efficient", "sdpa"})) {
    framework.attention_kernels = workload::AttentionKernels::unfused;
  }
  constexpr int kFlash = 2023;  // both forks took FlashAttention that year, and so did Paddle
  if ((old_megatron(era) || contains(era, "paddle")) && year_of(row) >= kFlash) {
    framework.attention_kernels = workload::AttentionKernels::flash2;
  }
  if (has_word(era, "alpa")) {
    framework.attention_kernels = workload::AttentionKernels::unfused;  // XLA of 2022
  }
  framework.scaling = scaling_in_words(core::lower_case(row.precision + " " + row.precision_detail))
                          .value_or(framework.scaling);
  framework.expert_dispatch = dispatch_in_words(row).value_or(framework.expert_dispatch);
  if (stated_capacity(row) > 0) {
    framework.expert_dispatch = workload::ExpertDispatch::all_to_all;
  }
  if (row.moe_a2a_overlap.has_value()) {
    framework.expert_overlap = row.moe_a2a_overlap.value_or(false);
  }
  if (!row.cuda_graph.empty()) {
    const std::string flag = core::lower_case(row.cuda_graph);
    const bool mixture = row.is_mixture();
    const bool yes = import::flag_of(flag).value_or(false);
    framework.cuda_graphs = whole_iteration_recorded(flag, mixture);
    framework.attention_graphs = mixture && (yes || contains(flag, "'attn'"));
  }
}

workload::ReportedMemory reported_memory(const RunRow& row,
                                         const workload::FrameworkSpec& framework) {
  using workload::ReportedMemory;
  const std::string words = core::lower_case(row.notes);
  return contains(words, "allocated")    ? ReportedMemory::allocated
         : contains(words, "reserved")   ? ReportedMemory::reserved
         : contains(words, "nvidia-smi") ? ReportedMemory::device
                                         : framework.usual.reported_memory;
}

bool fuses_permutation(const RunRow& row, const workload::ModelSpec& model) {
  return model.latent && model.moe && release_number(row) >= "25.03";
}

bool scores_in_memory(const RunRow& row,
                      const workload::ModelSpec& model,
                      gpu::Architecture architecture) {
  const std::string release = release_number(row);
  return model.latent && model.latent->no_rope_dim + model.latent->rope_dim > 128 &&
         architecture == gpu::Architecture::blackwell && !release.empty() && release < "25.07";
}

bool exchanges_plainly(const RunRow& row, gpu::Architecture architecture) {
  const std::string release = release_number(row);
  return row.is_mixture() && architecture == gpu::Architecture::blackwell && !release.empty() &&
         release < "25.11" && !dispatch_in_words(row);
}

bool remakes_attention(const RunRow& row, const training::Scenario& scenario) {
  constexpr int kLastYear = 2025;
  const auto& parts = scenario.parallelism.recompute_parts;
  const bool operators =
      std::find(parts.begin(), parts.end(), workload::RecomputePart::operators) != parts.end();
  return operators && year_of(row) <= kLastYear &&
         scenario.training.framework.attention_kernels == workload::AttentionKernels::sdpa &&
         scenario.cluster.node.gpu.architecture == gpu::Architecture::blackwell;
}

}  // namespace headway::validation
