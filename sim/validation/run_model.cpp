// The model of a published run.
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/validation/cells/degree_words.h"
#include "sim/validation/cells/number_words.h"
#include "sim/validation/names/model_names.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/run_software.h"
#include "sim/validation/words/attention_words.h"
#include "sim/validation/words/model_words.h"
#include "sim/workload/closed_form.h"

namespace headway::validation {

namespace {

/// Refuses what the program has no model of, by name.
void check_modelled(const RunRow& row) {
  static constexpr std::array<const char*, 16> kOther = {
      "linear", "mamba", "ssm",   "hybrid",    "lightning",   "sparse",      "cross", "retention",
      "rwkv",   "delta", "hyena", "recurrent", "state-space", "state space", "kda",   "none"};
  static constexpr std::array<const char*, 26> kArchitectures = {
      "dense", "moe",     "decoder", "transformer", "gpt",
      "llama", "mixture", "mixtral", "mistral",     "causal",
      "llm",   "sft",     "mqa",     "gqa",         "mha",
      "mla",   "bloom",   "alibi",   "rope",        "parallel attention",
      "neox",  "falcon",  "palm",    "qwen",        "gemma",
      "swiglu"};
  const std::string attention = core::lower_case(row.attention);
  std::string architecture = core::lower_case(row.arch);
  for (const std::string_view adapters : {"qlora", "lora"}) {
    if (const auto at = architecture.find(adapters); at != std::string::npos) {
      architecture.replace(at, adapters.size(), "llm");  // of any decoder
    }
  }
  if (const auto sparse = architecture.find("sparse");
      sparse != std::string::npos && row.is_mixture()) {
    architecture.erase(sparse, 6);  // of experts, not of attention
  }
  const bool other_architecture =
      contains_any(architecture, kOther) ||
      contains_any(architecture,
                   std::array{"encoder", "vl", "vision", "diffusion", "dit", "multimodal"});
  if (!architecture.empty() &&
      (other_architecture || !contains_any(architecture, kArchitectures))) {
    throw core::Error("unmodelled: architecture '" + row.arch + "'");
  }
  if (const std::string untold = untold_architecture(undenied(row.arch)); !untold.empty()) {
    throw core::Error("unmodelled: architecture '" + row.arch + "' has " + untold);
  }
  if (contains_any(attention, kOther) || !other_attention(row.attention).empty()) {
    throw core::Error("unmodelled: attention '" + row.attention + "'");
  }
}

/// The model of the catalogue that a name means whose architecture no column says; nothing where
/// the name says nothing of the kind.
/// @throws core::Error if the catalogue has no such model, or other columns
const workload::ModelSpec* named_model(const RunRow& row, const Catalogue& catalogue) {
  const std::string untold = untold_architecture(row.model);
  if (untold.empty()) {
    const auto entry = catalogue.models.find(row.model);  // with_named_model has put it there
    const bool own = entry != catalogue.models.end() && !entry->second.layer_pattern.empty();
    return own && disagreement(row, entry->second).empty() ? &entry->second : nullptr;
  }
  const std::string wanted = bare_name(row.model);
  std::string differs;
  for (const auto& [entry, model] : catalogue.models) {
    const std::string name = bare_name(entry);
    const bool same = contains(wanted, name) || name.starts_with(wanted);
    if (!same || model.vision || untold_architecture(entry).empty()) {
      continue;
    }
    const std::string other = disagreement(row, model);
    if (other.empty()) {
      return &model;
    }
    differs = fmt::format(", and columns are not the catalogue's {} ({})", entry, other);
  }
  throw core::Error(fmt::format("unmodelled: '{}' has {}{}", row.model, untold,
                                differs.empty() ? ", which no column says" : differs));
}

/// Stated columns that a model of the catalogue has too.
int agreements(const RunRow& row, const workload::ModelSpec& model) {
  const auto same = [](std::optional<int> stated, int figure) { return stated == figure ? 1 : 0; };
  return same(row.n_layers, model.layers) + same(row.n_kv_heads, model.key_value_heads) +
         same(row.vocab, model.vocabulary) +
         same(row.d_ffn, model.moe ? model.moe->ffn : model.ffn);
}

/// The catalogue's model of this shape, whatever its number of layers (published proxies cut
/// layers): same width, and same heads, experts and inner width where stated; of several, the one
/// with most columns alike. Nothing if there is none.
const workload::ModelSpec* same_shape(const RunRow& row, const Catalogue& catalogue) {
  const workload::ModelSpec* found = nullptr;
  for (const auto& [name, model] : catalogue.models) {
    const int experts = model.moe ? model.moe->experts : 0;
    const bool same = model.hidden == row.d_model.value_or(0) &&
                      model.heads == row.n_heads.value_or(model.heads) &&
                      experts == (row.is_mixture() ? row.n_experts.value_or(experts) : 0) &&
                      model.moe.has_value() == row.is_mixture() &&
                      (row.is_mixture() || model.ffn == row.d_ffn.value_or(model.ffn)) &&
                      (!row.gated_mlp || model.gated_mlp == row.gated_mlp.value_or(false));
    if (same && (found == nullptr || agreements(row, model) > agreements(row, *found))) {
      found = &model;
    }
  }
  return found;
}

/// Fills a blank column: the figure of the catalogue's model, else `otherwise`; either is assumed.
int filled(std::optional<int> stated,
           const char* column,
           const workload::ModelSpec* known,
           int workload::ModelSpec::*figure,
           int otherwise,
           Assumed& assumed) {
  if (stated) {
    return *stated;
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
workload::ExpertsSpec row_experts(const RunRow& row,
                                  const workload::ModelSpec* known,
                                  Assumed& assumed) {
  workload::ExpertsSpec moe = known != nullptr ? *known->moe : workload::ExpertsSpec{};
  for (const char* column : {"n_experts", "top_k", "d_ffn"}) {
    if (!row.stated(column)) {
      if (known == nullptr) {
        throw core::Error(std::string(column) + " is not stated");
      }
      assume(assumed, column);
    }
  }
  moe.experts = row.n_experts.value_or(moe.experts);
  moe.top_k = row.top_k.value_or(moe.top_k);
  moe.shared_experts = row.n_shared_experts.value_or(moe.shared_experts);
  moe.ffn = row.d_ffn.value_or(moe.ffn);
  if (row.n_dense_layers.has_value()) {
    const int dense = row.n_dense_layers.value_or(0);
    moe.period = dense > 0 && 2 * dense == row.n_layers.value_or(0) ? 2 : 1;
    moe.leading_dense_layers = moe.period == 1 ? dense : 0;
  }
  // Whoever drops tokens fills the capacity up: Megatron-Bridge, apply_moe_token_drop, 2025.
  moe.capacity_factor = stated_capacity(row);
  moe.padded = moe.capacity_factor > 0;
  return moe;
}

/// Widths of a head: the column's, the model's, or an equal share.
HeadWidths widths_of_head(const RunRow& row,
                          const workload::ModelSpec& m,
                          const workload::ModelSpec* known) {
  if (row.head_dim.empty()) {
    return {known != nullptr ? known->head_dim : m.hidden / m.heads, 0};
  }
  const auto widths = head_widths(row.head_dim);
  if (!widths || !kWidths.contains(widths->keys) ||
      (widths->values > 0 && !kWidths.contains(widths->values))) {
    throw core::Error(fmt::format("line {}: '{}' in column 'head_dim' must be a whole number {}",
                                  row.line, core::shortened(row.head_dim), kWidths.words));
  }
  return *widths;
}

/// Inner width of dense layers. Without any statement 4 x hidden, or 8/3 of it with a gate.
void fill_mlp(const RunRow& row,
              const workload::ModelSpec* known,
              Assumed& assumed,
              workload::ModelSpec& m) {
  const int four = 4 * m.hidden;
  constexpr int kUnit = 256;  // LLaMA's multiple_of: widths that kernels are fast for
  if (row.gated_mlp.has_value()) {
    m.gated_mlp = row.gated_mlp.value_or(false);
  } else {
    m.gated_mlp = known != nullptr ? known->gated_mlp : row.d_ffn.value_or(four) != four;
    assume(assumed, "gated_mlp");
  }
  m.biases = !m.gated_mlp;
  // Models of GPT's kind have learned positions or ALiBi, those with a gate rotary embedding.
  const bool alike = known != nullptr && known->gated_mlp == m.gated_mlp;
  m.rotary = alike ? known->rotary && known->learned_positions == 0 : m.gated_mlp;
  m.scaled_rotary = alike && known->scaled_rotary;
  m.ffn = m.moe ? row.d_ffn_dense.value_or(known != nullptr ? known->ffn : 0)
                : filled(row.d_ffn, "d_ffn", known, &workload::ModelSpec::ffn,
                         m.gated_mlp ? (four * 2 / 3 + kUnit - 1) / kUnit * kUnit : four, assumed);
}

/// Heads of keys and values: the column's, the words' for attention or of a blank one for the
/// architecture, the catalogue's model's, else one for each query head.
int key_value_heads(const RunRow& row,
                    int heads,
                    const workload::ModelSpec* known,
                    Assumed& assumed) {
  const AttentionWords attention = attention_words(row.attention);
  const bool named =
      row.attention.empty() && !row.n_kv_heads && has_word(core::lower_case(row.arch), "mqa");
  if (attention.single || named) {
    return 1;
  }
  if (attention.key_value_heads > 0 && !row.n_kv_heads) {
    return attention.key_value_heads;
  }
  return attention.equal ? row.n_kv_heads.value_or(heads)
                         : filled(row.n_kv_heads, "n_kv_heads", known,
                                  &workload::ModelSpec::key_value_heads, heads, assumed);
}

void fill_attention(const RunRow& row,
                    const workload::ModelSpec* known,
                    Assumed& assumed,
                    workload::ModelSpec& m) {
  const AttentionWords words = attention_words(row.attention);
  m.attention = m.key_value_heads == m.heads ? workload::AttentionKind::multi_head
                                             : workload::AttentionKind::grouped_query;
  const bool known_latent = known != nullptr && known->latent && row.attention.empty();
  if (words.latent || known_latent) {
    m.attention = workload::AttentionKind::multi_latent;
    m.latent = latent_ranks(m.hidden, known, assumed);
    m.head_dim = m.latent->no_rope_dim + m.latent->rope_dim;
    m.value_dim = 0;  // the latent ranks have it
  } else if (row.attention.empty() && known != nullptr && known->window > 0) {
    m.attention = known->attention;
    m.window = known->window;
    m.window_period = known->window_period;
    m.leading_full_layers = std::min(known->leading_full_layers, m.layers - 1);
    m.full_attention = known->full_attention;
    m.value_dim = m.head_dim == known->head_dim ? known->value_dim : 0;
  } else if (words.window > 0) {
    m.attention = workload::AttentionKind::sliding_window;
    m.window = words.window;
    m.window_period = words.period;
  }
  if (words.rotary.has_value()) {
    m.rotary = words.rotary.value_or(true);
  }
}

/// Whether the head multiplies by the embedding's table: what the stated number of parameters says,
/// where it is twice as near to one as to the other; else as the catalogue's model does, else as
/// models of GPT's kind do and those with a gate do not (Megatron-LM,
/// --untie-embeddings-and-output-weights; Llama 2 and 3).
bool ties_embeddings(const RunRow& row,
                     const workload::ModelSpec* known,
                     workload::ModelSpec m,
                     Assumed& assumed) {
  const bool usual = known != nullptr ? known->tied_embeddings : !m.gated_mlp;
  if (!row.params_b || *row.params_b <= 0) {
    if (known == nullptr) {
      assume(assumed, "params_b");
    }
    return usual;
  }
  const auto distance = [&](bool tied) {
    m.tied_embeddings = tied;
    return std::abs(std::log(workload::count_parameters(m).total() / (*row.params_b * 1e9)));
  };
  const double tied = distance(true);
  const double untied = distance(false);
  return 2 * tied < untied || (usual && 2 * untied >= tied);
}

}  // namespace

std::string disagreement(const RunRow& row, const workload::ModelSpec& model) {
  std::string found;
  const auto compare = [&](const char* column, std::optional<int> stated, int figure) {
    if (stated && *stated != figure) {
      found += fmt::format("{}{} {} for {}", found.empty() ? "" : ", ", column, *stated, figure);
    }
  };
  compare("n_layers", row.n_layers, model.layers);
  compare("d_model", row.d_model, model.hidden);
  compare("n_heads", row.n_heads, model.heads);
  compare("n_kv_heads", row.n_kv_heads, model.key_value_heads);
  compare("d_ffn", row.d_ffn, model.moe ? model.moe->ffn : model.ffn);
  compare("n_experts", row.is_mixture() ? row.n_experts : std::optional(0),
          model.moe ? model.moe->experts : 0);
  compare("top_k", row.top_k, model.moe ? model.moe->top_k : 0);
  return found;
}

void check_kind(const RunRow& row, const Catalogue& catalogue) {
  const TrainingWords words = training_words(row);
  if (!words.refused.empty()) {
    throw core::Error("unmodelled: training by '" + words.refused + "'");
  }
  if (named_model(row, catalogue) == nullptr) {
    check_modelled(row);
  }
}

workload::ModelSpec row_model(const RunRow& row, const Catalogue& catalogue, Assumed& assumed) {
  const TrainingWords words = training_words(row);
  if (words.adapters_open) {
    assume(assumed, "adapters");
  }
  if (const workload::ModelSpec* named = named_model(row, catalogue)) {
    workload::ModelSpec m = *named;
    m.vocabulary = row.vocab.value_or(m.vocabulary);
    m.adapters = words.adapters;
    return m;
  }
  if (row.arch.empty()) {
    assume(assumed, "arch");
  }
  const workload::ModelSpec* known = same_shape(row, catalogue);
  workload::ModelSpec m;
  m.name = row.model;
  m.layers = row.n_layers.value_or(0);
  m.hidden = row.d_model.value_or(0);
  if (row.n_heads.value_or(0) < 1 && known == nullptr) {
    throw core::Error("n_heads is not stated");
  }
  m.heads = filled(row.n_heads, "n_heads", known, &workload::ModelSpec::heads, 0, assumed);
  m.key_value_heads = key_value_heads(row, m.heads, known, assumed);
  const HeadWidths widths = widths_of_head(row, m, known);
  m.head_dim = widths.keys;
  m.value_dim = widths.values == widths.keys ? 0 : widths.values;
  if (row.is_mixture()) {
    m.moe = row_experts(row, known, assumed);
  }
  fill_mlp(row, known, assumed, m);
  constexpr int kGptVocabulary = 51200;       // GPT-2's 50,257, padded
  constexpr int kCurrentVocabulary = 128256;  // Llama 3's
  m.vocabulary = filled(row.vocab, "vocab", known, &workload::ModelSpec::vocabulary,
                        m.gated_mlp ? kCurrentVocabulary : kGptVocabulary, assumed);
  fill_attention(row, known, assumed, m);
  m.multi_token_prediction = known != nullptr ? known->multi_token_prediction : 0;
  if (m.multi_token_prediction > 0 && m.layers != known->layers) {
    m.multi_token_prediction = 0;  // a cut of some layers: whether the modules stayed is not said
    assume(assumed, "multi_token_prediction");
  }
  if (m.multi_token_prediction > 0) {
    m.dense_prediction = m.moe && known->dense_prediction;
    m.windowed_prediction = m.window > 0 && known->windowed_prediction;
  }
  m.tied_embeddings = ties_embeddings(row, known, m, assumed);
  m.adapters = words.adapters;
  return m;
}

}  // namespace headway::validation
