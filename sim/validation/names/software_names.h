// Names of training software that no published run was compared with.
#pragma once

#include <string>

namespace headway::validation {

/// The profile that stands in for software of these words, in small letters: that of its family.
/// Empty: no family is known.
/// @param old_megatron  profile of the year's Megatron-LM with kernels of its own
std::string stand_in_profile(const std::string& words, const std::string& old_megatron);

/// Whether the software is PyTorch that one reads in a file: nothing beside the step is waited for.
bool minimal_trainer(const std::string& words);

/// Whether its model's forward returns the loss, which torch.compile then makes part of its graph.
/// torchtitan, fms-fsdp and litgpt compile a model that returns logits.
/// Source: nanoGPT, model.py; transformers, models/llama/modeling_llama.py (LlamaForCausalLM);
/// litgpt, pretrain.py (chunked_cross_entropy of the compiled model's logits).
bool returns_loss(const std::string& words);

/// Whether the TFLOP/s that software of these words prints of a year hold the forwards that
/// recomputation of all layers adds.
bool counts_every_forward(const std::string& words, int year);

}  // namespace headway::validation
