#include "sim/validation/names/software_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/validation/cells/text_has.h"

namespace headway::validation {

namespace {

template <std::size_t size>
bool names_any(const std::string& words, const std::array<std::string_view, size>& names) {
  return std::ranges::any_of(names, [&](auto name) { return has_word(words, name); });
}

constexpr std::array<std::string_view, 2> kMinimal = {"nanogpt", "nanochat"};

/// Trainers of transformers' models, which they compile whole.
constexpr std::array<std::string_view, 12> kTransformers = {
    "hf",           "hugging",       "transformers", "trl",           "axolotl",        "unsloth",
    "llamafactory", "llama-factory", "ms-swift",     "llama-recipes", "llama-cookbook", "xtuner"};

/// Modules of PyTorch one by one, with its own sharded data parallelism, DTensor or tensor ranks
/// written beside them: none has Transformer Engine.
constexpr std::array<std::string_view, 14> kOnPyTorch = {
    "openrlhf", "verl",    "lit-gpt",       "litgpt",  "lightning", "composer",  "lingua",
    "picotron", "bmtrain", "sagemaker-smp", "vescale", "olmo",      "olmo-core", "opt"};
/// The same, of which names have more letters behind ("colossalai").
constexpr std::array<const char*, 4> kOnPyTorchOpen = {"colossal", "fairseq", "metaseq", "open_lm"};

/// Megatron-LM moved to other chips, or run beside other software: its modules without user
/// buffers.
constexpr std::array<std::string_view, 2> kOnMegatron = {"mindspeed", "primus"};

/// Software whose own formula has every forward twice where all layers recompute: 96 B s l h^2 and
/// not 72. Source: Narayanan et al. 2021 (arXiv 2104.04473), section 5.1 and appendix;
/// microsoft/Megatron-DeepSpeed, megatron/utils.py (throughput_calculator,
/// checkpoint_activations_factor 4); EleutherAI/gpt-neox, megatron/logging.py (get_flops); metaseq
/// and SageMaker's library (MiCS, arXiv 2205.00119) report by the same.
constexpr std::array<const char*, 5> kEveryForward = {"megatron-deepspeed", "neox", "metaseq",
                                                      "sagemaker", "unfused-megatron"};

}  // namespace

bool counts_every_forward(const std::string& words, int year) {
  constexpr int kLast = 2022;  // Megatron-LM since: model FLOPs (num_floating_point_operations)
  return contains_any(words, kEveryForward) ||
         (year <= kLast && contains_any(words, std::array{"megatron", "deepspeed"}));
}

bool minimal_trainer(const std::string& words) { return names_any(words, kMinimal); }

bool returns_loss(const std::string& words) {
  return minimal_trainer(words) || names_any(words, kTransformers);
}

std::string stand_in_profile(const std::string& words, const std::string& old_megatron) {
  if (minimal_trainer(words)) {
    return "pytorch-minimal";
  }
  if (contains(words, "llm.c")) {
    return "llm-c";
  }
  if (names_any(words, kTransformers) || names_any(words, kOnPyTorch) ||
      contains_any(words, kOnPyTorchOpen)) {
    return "pytorch-fsdp";
  }
  if (has_word(words, "alpa")) {
    return "jax-xla";  // XLA's SPMD partitioner, of JAX in 2022
  }
  if (contains(words, "paddle")) {
    return old_megatron;  // fused kernels written by hand, FlashAttention, no Transformer Engine
  }
  return names_any(words, kOnMegatron) ? "megatron-lm-2025" : "";
}

}  // namespace headway::validation
