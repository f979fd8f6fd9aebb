// Decoders of 2019 to 2023 and others whose configurations have keys of their own.
#include <algorithm>
#include <array>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

namespace {

using workload::ModelSpec;

/// n_embd, n_layer, n_head, n_inner (4 n_embd where it is missing): GPT-2 and its heirs.
void read_gpt_shape(JsonObject& json, ModelSpec& model, bool tied) {
  read_shape(json, model, tied, {"n_layer", "n_embd", "n_head"});
  read_head_dim(json, model);
  model.ffn = json.whole_or("n_inner", 4 * model.hidden);
  model.gated_mlp = false;
  model.biases = true;
}

void read_gpt2(JsonObject& json, ModelSpec& model) {
  read_gpt_shape(json, model, true);
  set_attention_kind(model);
  model.learned_positions = json.whole_or("n_positions", 1024);
  read_dropout(json, model, {"resid_pdrop", "embd_pdrop"}, 0.1);
}

void read_gpt_bigcode(JsonObject& json, ModelSpec& model) {
  read_gpt2(json, model);
  if (json.flag_or("multi_query", true)) {
    model.key_value_heads = 1;
  }
  set_attention_kind(model);
}

/// Attention has no biases and one layer's are a few thousand numbers, so they are counted all the
/// same.
void read_gptj(JsonObject& json, ModelSpec& model) {
  read_gpt_shape(json, model, false);
  set_attention_kind(model);
  model.parallel_block = true;
  model.norms = 1;
  read_dropout(json, model, {"resid_pdrop", "embd_pdrop"}, 0);
}

/// Attention and MLP side by side, each on a norm of its own.
void read_gpt_neox(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.gated_mlp = false;
  model.biases = true;
  model.parallel_block = json.flag_or("use_parallel_residual", true);
  read_dropout(json, model, {"hidden_dropout"}, 0);
}

void read_opt(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true);
  read_head_dim(json, model);
  set_attention_kind(model);
  model.ffn = json.whole("ffn_dim");
  model.gated_mlp = false;
  model.biases = json.flag_or("enable_bias", true);
  model.learned_positions = json.whole("max_position_embeddings") + 2;
  if (json.whole_or("word_embed_proj_dim", model.hidden) != model.hidden) {
    json.complain("word_embed_proj_dim",
                  "'word_embed_proj_dim' must be 'hidden_size': embeddings narrower than the "
                  "residual stream cannot be described");
  }
  read_dropout(json, model, {"dropout"}, 0.1);
}

/// The key that the file has, of two spellings.
const char* either(const JsonObject& json, const char* first, const char* second) {
  return json.has(first) ? first : second;
}

/// ALiBi: neither rotary embedding nor a table of positions.
void read_bloom(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true,
             {either(json, "n_layer", "num_hidden_layers"), either(json, "hidden_size", "n_embed"),
              either(json, "n_head", "num_attention_heads")});
  read_head_dim(json, model);
  set_attention_kind(model);
  model.ffn = 4 * model.hidden;
  model.gated_mlp = false;
  model.biases = true;
  model.rotary = false;
  read_dropout(json, model, {"hidden_dropout"}, 0);
}

int falcon_norms(JsonObject& json, const ModelSpec& model, bool newer) {
  if (!model.parallel_block) {
    return 2;
  }
  return newer ? json.whole_or("num_ln_in_parallel_attn", 2) : 1;
}

void read_falcon(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true,
             {either(json, "num_hidden_layers", "n_layer"), "hidden_size",
              either(json, "num_attention_heads", "n_head")});
  read_head_dim(json, model);
  const bool newer = json.flag_or("new_decoder_architecture", false);
  const bool multi_query = json.flag_or("multi_query", true);
  const char* grouped = either(json, "num_kv_heads", "n_head_kv");
  model.key_value_heads =
      newer ? json.whole_or(grouped, model.heads) : (multi_query ? 1 : model.heads);
  set_attention_kind(model);
  model.ffn = json.whole_or("ffn_hidden_size", 4 * model.hidden);
  model.gated_mlp = false;
  model.biases = json.flag_or("bias", false);
  model.rotary = !json.flag_or("alibi", false);
  model.parallel_block = newer || json.flag_or("parallel_attn", true);
  model.norms = falcon_norms(json, model, newer);
  read_dropout(json, model, {"hidden_dropout"}, 0);
}

void read_mpt(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true, {"n_layers", "d_model", "n_heads"});
  read_head_dim(json, model);
  model.key_value_heads = json.whole_or("attn_config.kv_n_heads", model.heads);
  if (json.word("attn_config.attn_type") == "multiquery_attention") {
    model.key_value_heads = 1;
  }
  set_attention_kind(model);
  model.ffn = json.whole_or("expansion_ratio", 4) * model.hidden;
  model.gated_mlp = false;
  model.biases = !json.flag_or("no_bias", true);
  model.rotary = !json.flag_or("attn_config.alibi", true);
  if (model.rotary && json.flag_or("learned_pos_emb", true)) {
    model.learned_positions = json.whole("max_seq_len");
  }
  model.query_key_norm = json.flag_or("attn_config.qk_ln", false);
  read_dropout(json, model, {"resid_pdrop", "emb_pdrop"}, 0);
}

constexpr std::array kOlderFamilies{Family{"gpt2", read_gpt2},
                                    Family{"gpt_bigcode", read_gpt_bigcode},
                                    Family{"gptj", read_gptj},
                                    Family{"gpt_neox", read_gpt_neox},
                                    Family{"opt", read_opt},
                                    Family{"bloom", read_bloom},
                                    Family{"falcon", read_falcon},
                                    Family{"RefinedWeb", read_falcon},
                                    Family{"RefinedWebModel", read_falcon},
                                    Family{"mpt", read_mpt}};

}  // namespace

std::span<const Family> older_families() { return kOlderFamilies; }

}  // namespace headway::import
