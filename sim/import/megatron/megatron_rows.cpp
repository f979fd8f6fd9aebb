#include "sim/import/megatron/megatron_rows.h"

#include <algorithm>
#include <cmath>

#include "sim/core/shown_text.h"
#include "sim/import/megatron/layer_lists.h"

namespace headway::import {

namespace {

bool set_to_expert_layers(workload::ModelSpec& model, const std::vector<int>& layers) {
  workload::ExpertsSpec& moe = *model.moe;
  const auto first = std::ranges::find(layers, 1);
  const bool tail = std::all_of(first, layers.end(), [](int has) { return has == 1; });
  if (first != layers.end() && tail) {
    moe.leading_dense_layers = static_cast<int>(first - layers.begin());
    moe.period = 1;
    return true;
  }
  const int period = static_cast<int>(first - layers.begin()) + 1;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] != (static_cast<int>(i + 1) % period == 0 ? 1 : 0)) {
      return false;
    }
  }
  moe.leading_dense_layers = 0;
  moe.period = period;
  return first != layers.end();
}

void read_expert_layers(LaunchReader& reader,
                        const MegatronSpelling& spell,
                        workload::ModelSpec& model) {
  const std::string key = spell("moe-layer-freq");
  const auto text = spell.layers(reader, "moe-layer-freq");
  if (!text) {
    return;
  }
  const bool number = !text->empty() && text->find_first_not_of("0123456789") == std::string::npos;
  if (number) {
    const int period = reader.whole(key).value_or(1);
    model.moe->period = period;
    if (period > 1) {
      reader.assume(
          fmt::format("{} {}: the experts are taken to be in the last layer of each {}, "
                      "not in the first: the same number of layers",
                      key, period, period));
    }
    return;
  }
  const auto layers = read_layer_pattern(*text);
  if (!layers) {
    reader.complain(key, fmt::format("'{}' is '{}'; write a period such as 2, or a list of 0 and 1 "
                                     "such as ([0]*3+[1]*58)",
                                     key, core::shortened(*text)));
  } else if (model.layers > 0 && layers->size() != static_cast<std::size_t>(model.layers)) {
    reader.complain(
        key, fmt::format("this list has {} layers and the model {}", layers->size(), model.layers));
  } else if (!set_to_expert_layers(model, *layers)) {
    reader.complain(key,
                    "a scenario can say that dense layers come first, or that one layer in so "
                    "many has experts, the last of each period; this list is neither");
  }
}

std::string expert_layers(const workload::ModelSpec& model) {
  const workload::ExpertsSpec& moe = *model.moe;
  if (moe.period > 1 && moe.leading_dense_layers == 0) {
    const int periods = model.layers / moe.period;
    const int rest = model.layers % moe.period;
    return fmt::format("([0]*{}+[1])*{}{}", moe.period - 1, periods,
                       rest > 0 ? fmt::format("+[0]*{}", rest) : "");
  }
  return moe.leading_dense_layers == 0 ? "1"
                                       : fmt::format("([0]*{}+[1]*{})", moe.leading_dense_layers,
                                                     model.layers - moe.leading_dense_layers);
}

void read_expert_width(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  workload::ExpertsSpec& moe = *run.model.moe;
  if (const auto width = reader.whole(spell("moe-ffn-hidden-size"))) {
    reader.place("model.moe.ffn", spell("moe-ffn-hidden-size"));
    moe.ffn = *width;
  } else if (moe.ffn == 0) {
    moe.ffn = run.model.ffn;
    reader.assume(fmt::format("{} is not set: experts are as wide as the MLP, {}",
                              spell("moe-ffn-hidden-size"), moe.ffn));
  }
  const std::string shared = spell("moe-shared-expert-intermediate-size");
  if (const auto width = reader.whole(shared, 0)) {
    reader.place("model.moe.shared_experts", shared);
    if (moe.ffn == 0 || *width % moe.ffn != 0) {
      reader.complain(shared, fmt::format("shared experts of width {} are no multiple of an "
                                          "expert's {}; a scenario counts shared experts of that "
                                          "width",
                                          *width, moe.ffn));
    } else {
      moe.shared_experts = *width / moe.ffn;
    }
  }
}

void read_experts(LaunchReader& reader,
                  const MegatronSpelling& spell,
                  const std::string& number_key,
                  LaunchRun& run) {
  reader.pass_over(spell("moe-grouped-gemm"));
  if (const auto experts = reader.whole(number_key)) {
    reader.place("model.moe.experts", number_key);
    if (!run.model.moe) {
      run.model.moe.emplace();
    }
    run.model.moe->experts = *experts;
  }
  if (!run.model.moe) {
    return;
  }
  read_expert_width(reader, spell, run);
  read_expert_layers(reader, spell, run.model);
  const std::string capacity = spell("moe-expert-capacity-factor");
  if (const auto factor = reader.number(capacity)) {
    reader.place("model.moe.capacity_factor", capacity);
    run.model.moe->capacity_factor = *factor;
  }
}

void write_experts(const LaunchRun& run,
                   const MegatronSpelling& spell,
                   const std::string& number_key,
                   LaunchWriter& out) {
  if (!run.model.moe) {
    return;
  }
  const workload::ExpertsSpec& moe = *run.model.moe;
  out.whole(number_key, moe.experts);
  out.whole(spell("moe-ffn-hidden-size"), moe.ffn);
  if (moe.shared_experts > 0) {
    out.whole(spell("moe-shared-expert-intermediate-size"),
              std::int64_t{moe.shared_experts} * moe.ffn);
  }
  const std::string layers = expert_layers(run.model);
  if (layers == "1") {
    out.whole(spell("moe-layer-freq"), 1);
  } else {
    spell.layers(out, "moe-layer-freq", layers);
  }
  if (moe.capacity_factor > 0) {
    out.bare(spell("moe-expert-capacity-factor"), fmt::format("{}", moe.capacity_factor));
  }
  if (spell.bare_flags && moe.top_k == 1) {
    out.flag("moe-router-pre-softmax");  // of one expert alone softmax has no gradient
  }
  spell.truth(out, "moe-grouped-gemm", true);  // a rank's experts are timed as one grouped product
}

void read_latent(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  if (!reader.flag(spell("multi-latent-attention")).value_or(false)) {
    return;
  }
  if (!run.model.latent) {
    run.model.latent.emplace();
    run.model.latent->no_rope_dim = 128;
  }
  workload::LatentAttentionSpec& latent = *run.model.latent;
  const auto take = [&](const char* word, int& field, const char* path, int least) {
    if (const auto value = reader.whole(spell(word), least)) {
      reader.place(path, spell(word));
      field = *value;
    }
  };
  take("q-lora-rank", latent.query_rank, "model.latent.query_rank", 0);
  take("kv-lora-rank", latent.key_value_rank, "model.latent.key_value_rank", 1);
  take("qk-head-dim", latent.no_rope_dim, "model.latent.no_rope_dim", 1);
  take("qk-pos-emb-head-dim", latent.rope_dim, "model.latent.rope_dim", 1);
  take("v-head-dim", latent.value_dim, "model.latent.value_dim", 1);
  run.model.head_dim = latent.no_rope_dim + latent.rope_dim;
  run.model.key_value_heads = run.model.heads;
}

void write_latent(const LaunchRun& run, const MegatronSpelling& spell, LaunchWriter& out) {
  if (!run.model.latent) {
    return;
  }
  const workload::LatentAttentionSpec& latent = *run.model.latent;
  spell.truth(out, "multi-latent-attention", true);
  if (latent.query_rank > 0) {
    out.whole(spell("q-lora-rank"), latent.query_rank);
  }
  out.whole(spell("kv-lora-rank"), latent.key_value_rank);
  out.whole(spell("qk-head-dim"), latent.no_rope_dim);
  out.whole(spell("qk-pos-emb-head-dim"), latent.rope_dim);
  out.whole(spell("v-head-dim"), latent.value_dim);
}

int padded_to(int rows, std::int64_t multiple) {
  const std::int64_t padded = (rows + multiple - 1) / multiple * multiple;
  return static_cast<int>(std::min<std::int64_t>(padded, 2'000'000'000));
}

/// Tokens of tokenizers that always have the same.
std::optional<int> tokens_of(const std::string& tokenizer) {
  if (tokenizer == "GPT2BPETokenizer") {
    return 50257;
  }
  return tokenizer == "Llama2Tokenizer" ? std::optional(32000) : std::nullopt;
}

void read_vocabulary(LaunchReader& reader,
                     const MegatronSpelling& spell,
                     const std::string& size_key,
                     LaunchRun& run) {
  const std::string multiple_key = spell("make-vocab-size-divisible-by");
  const int multiple = reader.whole(multiple_key).value_or(128);
  const std::string type = spell(spell.bare_flags ? "tokenizer-type" : "tokenizer.type");
  const std::string tokenizer = reader.word(type).value_or("");
  auto size = reader.whole(size_key);
  reader.place("model.vocabulary", size_key);
  if (!size && reader.knows_model()) {
    return;
  }
  if (size && !spell.bare_flags) {
    run.model.vocabulary = *size;  // of NeMo: as it is
    return;
  }
  if (size && tokenizer == "NullTokenizer") {
    size = *size + 1;  // it adds the end of a document
  }
  if (!size) {
    size = tokens_of(tokenizer);
    if (size) {
      reader.assume(fmt::format("{} has {} tokens", tokenizer, *size));
    }
  }
  if (!size) {
    reader.lacks(
        fmt::format("model.vocabulary: {} is not set; name the model's entry (--model) or "
                    "set the rows of the embedding",
                    size_key));
    return;
  }
  const std::int64_t unit = std::int64_t{multiple} * std::max(1, run.parallelism.tensor);
  run.model.vocabulary = padded_to(*size, unit);
  if (run.model.vocabulary != *size) {
    reader.assume(fmt::format("the vocabulary of {} is padded to a multiple of {} x tensor {}: {}",
                              *size, multiple, run.parallelism.tensor, run.model.vocabulary));
  }
}

void write_vocabulary(const LaunchRun& run,
                      const MegatronSpelling& spell,
                      const std::string& size_key,
                      LaunchWriter& out) {
  int multiple = 128;
  while (multiple > 1 &&
         run.model.vocabulary % (std::int64_t{multiple} * run.parallelism.tensor) != 0) {
    multiple /= 2;
  }
  out.whole(spell("make-vocab-size-divisible-by"), multiple);
  if (spell.bare_flags) {  // the null tokenizer adds one for the end of a document
    out.text("tokenizer-type", "NullTokenizer");
    out.whole(size_key, run.model.vocabulary - 1);
  } else {
    out.whole(size_key, run.model.vocabulary);
  }
}

void read_positions(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  const std::string type = spell("position-embedding-type");
  const std::string length = spell("max-position-embeddings");
  std::string word = reader.word(type).value_or("");
  if (reader.flag(spell("use-rotary-position-embeddings")).value_or(false)) {
    word = "rope";
  }
  const auto positions = reader.whole(length);
  reader.place("model.learned_positions", length);
  if (word.empty() && reader.knows_model()) {
    return;
  }
  if (word == "rope" || word == "yarn" || word == "mrope") {
    run.model.learned_positions = 0;
    run.model.rotary = true;
  } else if (word == "none" || word == "alibi") {
    run.model.learned_positions = 0;
    run.model.rotary = false;
  } else if (word.empty() || word == "learned_absolute") {
    run.model.learned_positions = positions.value_or(run.training.sequence_length);
  } else {
    reader.complain(type, fmt::format("'{}' is '{}'; learned_absolute, rope, yarn, alibi and none "
                                      "are read",
                                      type, core::shortened(word)));
  }
}

void write_positions(const LaunchRun& run, const MegatronSpelling& spell, LaunchWriter& out) {
  const workload::ModelSpec& model = run.model;
  const bool learned = model.learned_positions > 0;
  out.text(spell("position-embedding-type"), learned            ? "learned_absolute"
                                             : model.rotary     ? "rope"
                                             : spell.bare_flags ? "none"
                                                                : "alibi");
  out.whole(spell("max-position-embeddings"),
            std::max(model.learned_positions, run.training.sequence_length));  // asserted
}

}  // namespace

std::string MegatronSpelling::operator()(std::string_view word) const {
  std::string key = prefix + std::string(word);
  if (underscores) {
    std::ranges::replace(key, '-', '_');
  }
  return key;
}

void MegatronSpelling::truth(LaunchWriter& out, std::string_view word, bool value) const {
  if (!bare_flags) {
    out.truth((*this)(word), value);
  } else if (value) {
    out.flag((*this)(word));
  }
}

void MegatronSpelling::layers(LaunchWriter& out,
                              std::string_view word,
                              const std::string& pattern) const {
  const auto list = read_layer_pattern(pattern);
  if (bare_flags) {
    out.text((*this)(word), pattern);
  } else {
    out.bare((*this)(word), list ? fmt::format("[{}]", fmt::join(*list, ", ")) : pattern);
  }
}

std::optional<std::string> MegatronSpelling::layers(LaunchReader& reader,
                                                    std::string_view word) const {
  const std::string key = (*this)(word);
  const auto values = reader.words(key);
  return bare_flags || values.size() < 2
             ? reader.word(key)
             : std::optional(fmt::format("[{}]", fmt::join(values, ",")));
}

LaunchRow key_value_heads_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const std::string key = spell("num-query-groups");
    const bool grouped = reader.flag(spell("group-query-attention")).value_or(!spell.bare_flags);
    const auto groups = reader.whole(key);
    reader.place("model.key_value_heads", key);
    if (groups && grouped) {
      run.model.key_value_heads = *groups;
    } else if (grouped && spell.bare_flags) {
      run.model.key_value_heads = 1;
    } else if (run.model.key_value_heads == 0) {
      run.model.key_value_heads = run.model.heads;
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    if (!run.model.latent && run.model.key_value_heads != run.model.heads) {
      if (spell.bare_flags) {
        out.flag(spell("group-query-attention"));
      }
      out.whole(spell("num-query-groups"), run.model.key_value_heads);
    }
  };
  std::vector<std::string> keys{spell("num-query-groups")};
  if (spell.bare_flags) {
    keys.insert(keys.begin(), spell("group-query-attention"));
  }
  return {keys, {"model.key_value_heads"}, LaunchRule{read, write}};
}

LaunchRow head_dim_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const std::string key = spell("kv-channels");
    reader.place("model.head_dim", key);
    if (const auto width = reader.whole(key)) {
      run.model.head_dim = *width;
    } else if (run.model.head_dim == 0 && run.model.heads > 0) {
      run.model.head_dim = run.model.hidden / run.model.heads;
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    if (!run.model.latent) {
      out.whole(spell("kv-channels"), run.model.head_dim);
    }
  };
  return {{spell("kv-channels")}, {"model.head_dim"}, LaunchRule{read, write}};
}

LaunchRow ffn_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const std::string key = spell("ffn-hidden-size");
    reader.place("model.ffn", key);
    if (const auto width = reader.whole(key)) {
      run.model.ffn = *width;
    } else if (run.model.ffn == 0 && !run.model.moe && run.model.hidden > 0) {
      const std::int64_t plain = std::int64_t{4} * run.model.hidden;
      const std::int64_t width_used = run.model.gated_mlp ? plain * 2 / 3 / 64 * 64 : plain;
      run.model.ffn = static_cast<int>(std::min<std::int64_t>(width_used, 2'000'000'000));
      reader.assume(fmt::format("{} is not set: {}, the framework's default", key, run.model.ffn));
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    const bool experts = run.model.ffn == 0 && run.model.moe;
    out.whole(spell("ffn-hidden-size"), experts ? run.model.moe->ffn : run.model.ffn);
  };
  return {{spell("ffn-hidden-size")}, {"model.ffn"}, LaunchRule{read, write}};
}

LaunchRow positions_row(const MegatronSpelling& spell) {
  return {{spell("position-embedding-type"), spell("max-position-embeddings")},
          {"model.learned_positions", "model.rotary"},
          LaunchRule{[spell](LaunchReader& r, LaunchRun& run) { read_positions(r, spell, run); },
                     [spell](const LaunchRun& run, LaunchWriter& out) {
                       write_positions(run, spell, out);
                     }}};
}

LaunchRow dropout_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const auto attention = reader.number(spell("attention-dropout"));
    const auto hidden = reader.number(spell("hidden-dropout"));
    reader.place("model.dropout", spell("hidden-dropout"));
    if (attention || hidden) {
      run.model.dropout = attention.value_or(0) > 0 || hidden.value_or(0) > 0;
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    const char* rate = run.model.dropout.value_or(run.model.biases) ? "0.1" : "0.0";
    out.bare(spell("attention-dropout"), rate);
    out.bare(spell("hidden-dropout"), rate);
  };
  return {{spell("attention-dropout"), spell("hidden-dropout")},
          {"model.dropout"},
          LaunchRule{read, write}};
}

LaunchRow vocabulary_row(const MegatronSpelling& spell, std::string size_key) {
  return {{size_key, spell("make-vocab-size-divisible-by")},
          {"model.vocabulary"},
          LaunchRule{[spell, size_key](LaunchReader& reader, LaunchRun& run) {
                       read_vocabulary(reader, spell, size_key, run);
                     },
                     [spell, size_key](const LaunchRun& run, LaunchWriter& out) {
                       write_vocabulary(run, spell, size_key, out);
                     }}};
}

LaunchRow experts_row(const MegatronSpelling& spell, std::string number_key) {
  return {{number_key, spell("moe-ffn-hidden-size"), spell("moe-shared-expert-intermediate-size"),
           spell("moe-layer-freq"), spell("moe-expert-capacity-factor"), spell("moe-grouped-gemm")},
          {"model.moe.experts", "model.moe.ffn", "model.moe.shared_experts",
           "model.moe.leading_dense_layers", "model.moe.period", "model.moe.capacity_factor"},
          LaunchRule{[spell, number_key](LaunchReader& reader, LaunchRun& run) {
                       read_experts(reader, spell, number_key, run);
                     },
                     [spell, number_key](const LaunchRun& run, LaunchWriter& out) {
                       write_experts(run, spell, number_key, out);
                     }}};
}

LaunchRow latent_row(const MegatronSpelling& spell) {
  return {{spell("multi-latent-attention"), spell("q-lora-rank"), spell("kv-lora-rank"),
           spell("qk-head-dim"), spell("qk-pos-emb-head-dim"), spell("v-head-dim")},
          {"model.latent"},
          LaunchRule{
              [spell](LaunchReader& r, LaunchRun& run) { read_latent(r, spell, run); },
              [spell](const LaunchRun& run, LaunchWriter& out) { write_latent(run, spell, out); }}};
}

// With latent attention the flag puts norms on the compressed queries, keys and values. Source:
// Megatron-LM, megatron/core/models/gpt/gpt_layer_specs.py, 2026: q_layernorm and kv_layernorm.
LaunchRow query_key_norm_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const std::string key = spell("qk-layernorm");
    reader.place("model.query_key_norm", key);
    const bool named = reader.has(key);
    const bool normed = reader.flag(key).value_or(run.model.latent || run.model.query_key_norm);
    run.model.query_key_norm = normed && !run.model.latent;
    if (run.model.latent && (!named || !normed)) {
      reader.assume(
          fmt::format("{} is not set: the norms of latent attention's compressed "
                      "queries, keys and values are counted all the same",
                      key));
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    spell.truth(out, "qk-layernorm", run.model.query_key_norm || run.model.latent.has_value());
  };
  return {{spell("qk-layernorm")}, {"model.query_key_norm"}, LaunchRule{read, write}};
}

void set_megatron_defaults(LaunchRun& run) {
  if (run.model.layers == 0) {
    run.model.gated_mlp = false;
    run.model.biases = true;
    run.model.dropout = true;
    run.model.tied_embeddings = true;
  }
  run.parallelism.sequence = false;
  run.training.framework.tensor_overlap = false;
  run.training.framework.cuda_graphs = false;
}

}  // namespace headway::import
