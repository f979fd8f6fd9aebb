// The model of a published run.
#include <cmath>

#include "sim/core/error.h"
#include "sim/validation/run_parts.h"

namespace headway::validation {

namespace {

/// "gqa, window 128 on every 2nd layer": 128 and 2; "sliding window 4096": 4096 on every layer.
void read_window(const std::string& text, workload::ModelSpec& m) {
  const auto number_after = [&text](std::string_view word) {
    const auto at = text.find(word);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
  };
  if (!contains(text, "window")) {
    return;
  }
  m.window = number_after("window ");
  m.window_period = std::max(1, number_after("every "));
  if (m.window < 1) {
    throw core::Error("unmodelled: attention '" + text + "' (the window's tokens are not stated)");
  }
  m.attention = workload::AttentionKind::sliding_window;
}

bool is_moe(const Row& row) {
  return contains(row.lower_text("arch"), "moe") || contains(row.lower_text("arch"), "mixture") ||
         row.integer("n_experts", 0) > 1;
}

/// Refuses what the program has no model of, by name.
void check_modelled(const Row& row) {
  static constexpr std::array<const char*, 16> kOther = {
      "linear", "mamba", "ssm",   "hybrid",    "lightning",   "sparse",      "cross", "retention",
      "rwkv",   "delta", "hyena", "recurrent", "state-space", "state space", "kda",   "none"};
  static constexpr std::array<const char*, 15> kAttention = {
      "mha",   "mqa",     "gqa",   "mla",      "window", "full", "causal", "multi",
      "group", "softmax", "flash", "standard", "sdpa",   "self", "global"};
  static constexpr std::array<const char*, 9> kArchitectures = {
      "dense", "moe", "decoder", "transformer", "gpt", "llama", "mixture", "causal", "llm"};
  const std::string attention = row.lower_text("attention");
  std::string architecture = row.lower_text("arch");
  if (const auto sparse = architecture.find("sparse"); sparse != std::string::npos && is_moe(row)) {
    architecture.erase(sparse, 6);  // of experts, not of attention
  }
  const bool other_architecture =
      contains_any(architecture, kOther) ||
      contains_any(architecture,
                   std::array{"encoder", "vl", "vision", "diffusion", "dit", "multimodal"});
  if (!architecture.empty() &&
      (other_architecture || !contains_any(architecture, kArchitectures))) {
    throw core::Error("unmodelled: architecture '" + row.text("arch") + "'");
  }
  if (!attention.empty() &&
      (contains_any(attention, kOther) || !contains_any(attention, kAttention))) {
    throw core::Error("unmodelled: attention '" + row.text("attention") + "'");
  }
  static constexpr std::array<const char*, 6> kNames = {"mamba", "jamba",      "zamba",
                                                        "rwkv",  "nemotron-h", "nemotronh"};
  if (contains_any(row.lower_text("model"), kNames)) {
    throw core::Error("unmodelled: state-space or recurrent layers of '" + row.text("model") + "'");
  }
}

/// Stated columns that a model of the catalogue has too.
int agreements(const Row& row, const workload::ModelSpec& model) {
  const auto same = [&](const char* column, int figure) {
    return row.integer(column, -1) == figure ? 1 : 0;
  };
  return same("n_layers", model.layers) + same("n_kv_heads", model.key_value_heads) +
         same("vocab", model.vocabulary) + same("d_ffn", model.moe ? model.moe->ffn : model.ffn);
}

/// The catalogue's model of this shape, whatever its number of layers (published proxies cut
/// layers): same width, and same heads, experts and inner width where stated; of several, the one
/// with most columns alike. Nothing if there is none.
const workload::ModelSpec* same_shape(const Row& row, const Catalogue& catalogue) {
  const workload::ModelSpec* found = nullptr;
  for (const auto& [name, model] : catalogue.models) {
    const int experts = model.moe ? model.moe->experts : 0;
    const bool same = model.hidden == row.integer("d_model", 0) &&
                      model.heads == row.positive("n_heads", model.heads) &&
                      experts == (is_moe(row) ? row.positive("n_experts", experts) : 0) &&
                      model.moe.has_value() == is_moe(row) &&
                      (is_moe(row) || model.ffn == row.positive("d_ffn", model.ffn)) &&
                      (!row.stated("gated_mlp") || model.gated_mlp == row.yes("gated_mlp"));
    if (same && (found == nullptr || agreements(row, model) > agreements(row, *found))) {
      found = &model;
    }
  }
  return found;
}

/// Fills a blank column: the figure of the catalogue's model, else `otherwise`; either is assumed.
int filled(const Row& row,
           const char* column,
           const workload::ModelSpec* known,
           int workload::ModelSpec::*figure,
           int otherwise,
           Assumed& assumed) {
  if (row.integer(column, 0) > 0) {
    return row.integer(column, 0);
  }
  assume(assumed, column);
  return known != nullptr ? known->*figure : otherwise;
}

/// Ranks of latent attention, which no column states: those of the catalogue's model; else those
/// that DeepSeek-V2, V3 and Kimi K2 share, whose queries are compressed, but those of the small
/// V2-Lite. Source: config.json of deepseek-ai/DeepSeek-V2, -V2-Lite, -V3 and
/// moonshotai/Kimi-K2-Instruct.
workload::LatentAttentionSpec latent_ranks(int hidden,
                                           const workload::ModelSpec* known,
                                           Assumed& assumed) {
  if (known != nullptr && known->latent) {
    return *known->latent;
  }
  assume(assumed, "latent ranks");
  constexpr int kCompressedWidth = 5120;  // of DeepSeek-V2, the narrowest with compressed queries
  workload::LatentAttentionSpec latent;
  latent.query_rank = hidden >= kCompressedWidth ? 1536 : 0;
  return latent;
}

/// Experts of a row; its dense layers come first, but every second layer is dense where half of
/// them are (Llama 4 Maverick).
workload::ExpertsSpec row_experts(const Row& row,
                                  const workload::ModelSpec* known,
                                  Assumed& assumed) {
  workload::ExpertsSpec moe = known != nullptr ? *known->moe : workload::ExpertsSpec{};
  for (const char* column : {"n_experts", "top_k", "d_ffn"}) {
    if (row.integer(column, 0) < 1) {
      if (known == nullptr) {
        throw core::Error(std::string(column) + " is not stated");
      }
      assume(assumed, column);
    }
  }
  moe.experts = row.positive("n_experts", moe.experts);
  moe.top_k = row.positive("top_k", moe.top_k);
  moe.shared_experts = row.integer("n_shared_experts", moe.shared_experts);
  moe.ffn = row.positive("d_ffn", moe.ffn);
  if (row.stated("n_dense_layers")) {
    const int dense = row.integer("n_dense_layers", 0);
    moe.period = dense > 0 && 2 * dense == row.integer("n_layers", 0) ? 2 : 1;
    moe.leading_dense_layers = moe.period == 1 ? dense : 0;
  }
  moe.capacity_factor = 0;
  moe.padded = false;
  if (contains(row.text("moe_routing"), "capacity factor 1.0, padded")) {
    moe.capacity_factor = 1;
    moe.padded = true;
  }
  return moe;
}

/// Width of a head: the column's first number where it is one, the model's, or an equal share.
int head_width(const Row& row, const workload::ModelSpec& m, const workload::ModelSpec* known) {
  const std::string& text = row.text("head_dim");
  if (!text.empty() && !contains(text, " ")) {
    return row.positive("head_dim", m.hidden / m.heads);
  }
  return text.empty() && known != nullptr ? known->head_dim : m.hidden / m.heads;
}

/// Inner width of dense layers. Without any statement 4 x hidden, or 8/3 of it with a gate.
void fill_mlp(const Row& row,
              const workload::ModelSpec* known,
              Assumed& assumed,
              workload::ModelSpec& m) {
  const int four = 4 * m.hidden;
  constexpr int kUnit = 256;  // LLaMA's multiple_of: widths that kernels are fast for
  if (row.stated("gated_mlp")) {
    m.gated_mlp = row.yes("gated_mlp");
  } else {
    m.gated_mlp = known != nullptr ? known->gated_mlp : row.integer("d_ffn", four) != four;
    assume(assumed, "gated_mlp");
  }
  m.biases = !m.gated_mlp;
  m.ffn = m.moe ? row.integer("d_ffn_dense", known != nullptr ? known->ffn : 0)
                : filled(row, "d_ffn", known, &workload::ModelSpec::ffn,
                         m.gated_mlp ? (four * 2 / 3 + kUnit - 1) / kUnit * kUnit : four, assumed);
}

void fill_attention(const Row& row,
                    const workload::ModelSpec* known,
                    Assumed& assumed,
                    workload::ModelSpec& m) {
  const std::string attention = row.lower_text("attention");
  m.attention = m.key_value_heads == m.heads ? workload::AttentionKind::multi_head
                                             : workload::AttentionKind::grouped_query;
  const bool known_latent = known != nullptr && known->latent && !row.stated("attention");
  if (contains(attention, "mla") || contains(attention, "latent") || known_latent) {
    m.attention = workload::AttentionKind::multi_latent;
    m.latent = latent_ranks(m.hidden, known, assumed);
    m.head_dim = m.latent->no_rope_dim + m.latent->rope_dim;
  } else if (attention.empty() && known != nullptr && known->window > 0) {
    m.attention = known->attention;
    m.window = known->window;
    m.window_period = known->window_period;
  } else {
    read_window(attention, m);
  }
}

}  // namespace

workload::ModelSpec row_model(const Row& row, const Catalogue& catalogue, Assumed& assumed) {
  check_modelled(row);
  if (!row.stated("arch")) {
    assume(assumed, "arch");
  }
  const workload::ModelSpec* known = same_shape(row, catalogue);
  workload::ModelSpec m;
  m.name = row.text("model");
  m.layers = row.integer("n_layers", 0);
  m.hidden = row.integer("d_model", 0);
  if (row.integer("n_heads", 0) < 1 && known == nullptr) {
    throw core::Error("n_heads is not stated");
  }
  m.heads = filled(row, "n_heads", known, &workload::ModelSpec::heads, 0, assumed);
  const bool single = contains(row.lower_text("attention"), "mqa");
  const bool equal = row.lower_text("attention") == "mha";
  m.key_value_heads = single  ? 1
                      : equal ? row.integer("n_kv_heads", m.heads)
                              : filled(row, "n_kv_heads", known,
                                       &workload::ModelSpec::key_value_heads, m.heads, assumed);
  m.head_dim = head_width(row, m, known);
  if (is_moe(row)) {
    m.moe = row_experts(row, known, assumed);
  }
  fill_mlp(row, known, assumed, m);
  constexpr int kGptVocabulary = 51200;       // GPT-2's 50,257, padded
  constexpr int kCurrentVocabulary = 128256;  // Llama 3's
  m.vocabulary = filled(row, "vocab", known, &workload::ModelSpec::vocabulary,
                        m.gated_mlp ? kCurrentVocabulary : kGptVocabulary, assumed);
  fill_attention(row, known, assumed, m);
  m.multi_token_prediction = known != nullptr ? known->multi_token_prediction : 0;
  return m;
}

}  // namespace headway::validation
