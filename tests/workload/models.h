// Models and recipes that the tests of this room share.
#pragma once

#include "sim/workload/spec.h"

namespace headway::workload::tests {

inline constexpr double kS = 4096;  // tokens of a sequence

inline ModelSpec llama(const char* name, int layers, int hidden, int heads, int ffn) {
  ModelSpec model;
  model.name = name;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.key_value_heads = 8;
  model.head_dim = 128;
  model.ffn = ffn;
  model.vocabulary = 128256;
  return model;
}
inline ModelSpec llama_8b() { return llama("Llama 3.1 8B", 32, 4096, 32, 14336); }
inline ModelSpec llama_70b() { return llama("Llama 3.1 70B", 80, 8192, 64, 28672); }
inline ModelSpec llama_405b() { return llama("Llama 3.1 405B", 126, 16384, 128, 53248); }

inline ModelSpec gpt(const char* name, int layers, int hidden, int heads) {
  ModelSpec model;
  model.name = name;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.key_value_heads = heads;
  model.head_dim = hidden / heads;
  model.ffn = 4 * hidden;
  model.gated_mlp = false;
  model.vocabulary = 51200;
  model.tied_embeddings = true;
  model.biases = true;
  model.learned_positions = 2048;
  model.attention = AttentionKind::multi_head;
  return model;
}
inline ModelSpec gpt_175b() { return gpt("GPT-3 175B", 96, 12288, 96); }
inline ModelSpec megatron_1t() { return gpt("Megatron 1T", 128, 25600, 160); }

inline ModelSpec mixtral_8x7b() {
  ModelSpec model = llama("Mixtral 8x7B", 32, 4096, 32, 14336);
  model.vocabulary = 32000;
  model.moe = ExpertsSpec{8, 2, 0, 14336, 0, 1};
  return model;
}

inline ModelSpec deepseek_v3() {
  ModelSpec model;
  model.name = "DeepSeek-V3";
  model.layers = 61;
  model.hidden = 7168;
  model.heads = 128;
  model.key_value_heads = 128;
  model.head_dim = 192;
  model.ffn = 18432;
  model.vocabulary = 129280;
  model.attention = AttentionKind::multi_latent;
  model.latent = LatentAttentionSpec{1536, 512, 128, 64, 128};
  model.moe = ExpertsSpec{256, 8, 1, 2048, 3, 1};
  model.multi_token_prediction = 1;
  return model;
}

inline TrainingSpec recipe(int sequence_length, int global_batch) {
  TrainingSpec training;
  training.sequence_length = sequence_length;
  training.global_batch = global_batch;
  return training;
}

/// Megatron of 2021: nothing fused, nothing overlapped.
inline TrainingSpec recipe_2021(int sequence_length, int global_batch) {
  TrainingSpec training = recipe(sequence_length, global_batch);
  training.framework.attention_kernels = AttentionKernels::unfused;
  training.framework.loss = Loss::in_place;
  training.framework.data_overlap = false;
  training.framework.gradient_bytes = 2;
  training.framework.reduce_bytes = 2;
  return training;
}

inline ParallelismSpec split(int tensor, int pipeline) {
  ParallelismSpec parallelism;
  parallelism.tensor = tensor;
  parallelism.pipeline = pipeline;
  return parallelism;
}

/// Experts over `expert` ranks, each over `expert_tensor` of them.
inline ParallelismSpec expert_split(int tensor, int expert, int expert_tensor = 1) {
  ParallelismSpec parallelism = split(tensor, 1);
  parallelism.expert = expert;
  parallelism.expert_tensor = expert_tensor;
  return parallelism;
}

}  // namespace headway::workload::tests
