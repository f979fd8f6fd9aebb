// Rows about the layout: recomputation, uneven stages, context and expert ranks.
#include <algorithm>

#include "sim/core/shown_text.h"
#include "sim/import/megatron/megatron_rows.h"
#include "sim/workload/layout.h"

namespace headway::import {

namespace {

using workload::ContextKind;
using workload::ExpertDispatch;
using workload::Recompute;
using workload::RecomputePart;

struct PartWord {
  RecomputePart part;
  std::string_view word;
};
/// What Megatron calls the parts of --recompute-modules.
constexpr PartWord kPartWords[]{{RecomputePart::core_attention, "core_attn"},
                                {RecomputePart::latent_up, "mla_up_proj"},
                                {RecomputePart::norms, "layernorm"},
                                {RecomputePart::activation, "moe_act"},
                                {RecomputePart::mlp, "mlp"},
                                {RecomputePart::experts, "moe"}};

struct ContextWord {
  ContextKind kind;
  std::string_view word;
};
constexpr ContextWord kContextWords[]{{ContextKind::ring, "p2p"},
                                      {ContextKind::all_gather, "all_gather"},
                                      {ContextKind::all_to_all, "a2a"}};

/// Layers of a chunk that is not cut short; 0 if unknown.
int layers_of_chunk(const LaunchRun& run) {
  const int middle = middle_layers(run);
  const int chunks = std::max(1, run.parallelism.virtual_stages);
  return middle % chunks == 0 ? middle / chunks : 0;
}

void read_recompute_layers(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  const std::string method = spell(spell.recompute + "-method");
  const std::string number = spell(spell.recompute + "-num-layers");
  const auto word = reader.word(method);
  const auto layers = reader.whole(number);
  if (!word || !layers) {
    return;
  }
  if (*word == "uniform") {
    if (*layers > 1) {
      reader.not_modelled(number, "inputs are kept of every layer, not of groups of layers");
    }
  } else if (*word == "block" && !run.parallelism.chunk_layers.empty()) {
    reader.place("parallelism.chunk_recompute", number);
    for (const int chunk : run.parallelism.chunk_layers) {
      run.parallelism.chunk_recompute.push_back(std::min(chunk, *layers));
    }
  } else if (*word == "block") {
    const int chunk = layers_of_chunk(run);
    if (chunk == 0) {
      reader.not_modelled(number, "layers do not divide evenly over stages: all recompute");
    } else if (*layers < chunk) {
      reader.place("parallelism.recompute_layers", number);
      run.parallelism.recompute_layers = *layers;
      run.parallelism.recompute_period = chunk;
    }
  } else {
    reader.complain(method, fmt::format("'{}' is '{}'; it is uniform or block", method,
                                        core::shortened(*word)));
  }
}

void read_recompute_parts(LaunchReader& reader, const std::string& key, LaunchRun& run) {
  for (const std::string& word : reader.words(key)) {
    const auto* found = std::ranges::find(kPartWords, word, &PartWord::word);
    if (found != std::end(kPartWords)) {
      run.parallelism.recompute_parts.push_back(found->part);
    } else {
      reader.not_modelled(key,
                          fmt::format("'{}' is not recomputed by itself", core::shortened(word)));
    }
  }
}

void read_recompute(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  const std::string granularity = spell(spell.recompute + "-granularity");
  std::string word = reader.word(granularity).value_or("");
  if (word.empty() && reader.flag(spell("recompute-activations")).value_or(false)) {
    word = "selective";
  }
  reader.place("parallelism.recompute", granularity);
  for (const char* rest : {"-method", "-num-layers"}) {
    reader.pass_over(spell(spell.recompute + rest));
  }
  reader.pass_over(spell("recompute-modules"));
  if (word == "full") {
    run.parallelism.recompute = Recompute::full;
    read_recompute_layers(reader, spell, run);
  } else if (word == "selective") {
    run.parallelism.recompute = Recompute::selective;
    read_recompute_parts(reader, spell("recompute-modules"), run);
  } else if (!word.empty()) {
    reader.complain(granularity, fmt::format("'{}' is '{}'; it is full or selective", granularity,
                                             core::shortened(word)));
  }
}

/// Whether Megatron recomputes a part of this model by itself. moe_act is the experts' activation;
/// layernorm is the norms that are modules of their own, before experts and before latent
/// attention: those of other layers are inside Transformer Engine's product. With delayed scales it
/// refuses both. Source: megatron-core 0.14.0, transformer_config.py (__post_init__),
/// transformer_layer.py, models/gpt/gpt_layer_specs.py.
bool has_part(const LaunchRun& run, RecomputePart part) {
  const bool delayed = run.training.precision == core::Precision::fp8 &&
                       run.training.framework.scaling == workload::Scaling::delayed;
  switch (part) {
    case RecomputePart::core_attention:
    case RecomputePart::mlp:
      return true;
    case RecomputePart::latent_up:
      return run.model.latent.has_value();
    case RecomputePart::norms:
      return !delayed && (run.model.moe || run.model.latent);
    case RecomputePart::activation:
      return !delayed && run.model.moe;
    case RecomputePart::experts:
      return run.model.moe.has_value();
    case RecomputePart::operators:
      break;
  }
  return false;
}

std::vector<std::string> module_words(const LaunchRun& run) {
  std::vector<std::string> words;
  for (const PartWord& part : kPartWords) {
    const auto& asked = run.parallelism.recompute_parts;
    if (std::ranges::find(asked, part.part) != asked.end() && has_part(run, part.part)) {
      words.emplace_back(part.word);
    }
  }
  return words;
}

/// Layers of each chunk that recompute; 0: all.
int block_layers(const LaunchRun& run) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (!p.chunk_recompute.empty()) {
    return std::ranges::max(p.chunk_recompute);  // where they differ, the most
  }
  const int chunk = layers_of_chunk(run);
  const bool some = p.recompute_period > 1 && chunk > 0 && chunk % p.recompute_period == 0;
  return some ? chunk / p.recompute_period * p.recompute_layers : 0;
}

void write_recompute(const LaunchRun& run, const MegatronSpelling& spell, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  std::vector<std::string> words = module_words(run);
  const bool parts = p.recompute == Recompute::selective;
  if (p.recompute == Recompute::none || (parts && words.empty() && !p.recompute_parts.empty())) {
    return;  // without modules 'selective' would be core_attn
  }
  out.text(spell(spell.recompute + "-granularity"), parts ? "selective" : "full");
  if (parts && !words.empty()) {
    out.list(spell("recompute-modules"), std::move(words));
  } else if (!parts) {
    const int layers = block_layers(run);
    out.text(spell(spell.recompute + "-method"), layers > 0 ? "block" : "uniform");
    out.whole(spell(spell.recompute + "-num-layers"), std::max(1, layers));
  }
}

/// Layers of a stage if the embedding, or the head, counted as one; 0 if that does not divide.
int layers_with_ends(const LaunchRun& run, bool first, bool last) {
  const int layers = run.model.layers + (first ? 1 : 0) + (last ? 1 : 0);
  return layers % run.parallelism.pipeline == 0 ? layers / run.parallelism.pipeline : 0;
}

void read_uneven(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  workload::ParallelismSpec& p = run.parallelism;
  const std::string first = spell("decoder-first-pipeline-num-layers");
  const std::string last = spell("decoder-last-pipeline-num-layers");
  if (const auto layers = reader.whole(first)) {
    reader.place("parallelism.first_stage_layers", first);
    p.first_stage_layers = *layers;
  }
  if (const auto layers = reader.whole(last)) {
    reader.place("parallelism.last_stage_layers", last);
    p.last_stage_layers = *layers;
  }
  const std::string embedding = spell("account-for-embedding-in-pipeline-split");
  const std::string loss = spell("account-for-loss-in-pipeline-split");
  const bool less_first = reader.flag(embedding).value_or(false);
  const bool less_last = reader.flag(loss).value_or(false);
  if ((less_first || less_last) && p.pipeline > 1 && run.model.layers > 0) {
    const int layers = layers_with_ends(run, less_first, less_last);
    if (layers < 2) {
      reader.complain(
          less_first ? embedding : loss,
          fmt::format("{} layers, with the ends of the model counted as layers, do not "
                      "divide over {} stages",
                      run.model.layers + (less_first ? 1 : 0) + (less_last ? 1 : 0), p.pipeline));
      return;
    }
    p.first_stage_layers = less_first ? layers - 1 : p.first_stage_layers;
    p.last_stage_layers = less_last ? layers - 1 : p.last_stage_layers;
  }
}

void write_uneven(const LaunchRun& run, const MegatronSpelling& spell, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  const bool first = p.first_stage_layers > 0;
  const bool last = p.last_stage_layers > 0;
  if ((!first && !last) || (spell.bare_flags && !chunks_of_layout(run).empty())) {
    return;
  }
  const int layers = layers_with_ends(run, first, last);
  if (layers > 1 && (!first || p.first_stage_layers == layers - 1) &&
      (!last || p.last_stage_layers == layers - 1)) {
    if (first) {
      spell.truth(out, "account-for-embedding-in-pipeline-split", true);
    }
    if (last) {
      spell.truth(out, "account-for-loss-in-pipeline-split", true);
    }
    return;
  }
  if (first) {
    out.whole(spell("decoder-first-pipeline-num-layers"), p.first_stage_layers);
  }
  if (last) {
    out.whole(spell("decoder-last-pipeline-num-layers"), p.last_stage_layers);
  }
}

void read_dispatcher(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  const std::string key = spell("moe-token-dispatcher-type");
  const auto word = reader.word(key);
  if (!word) {
    return;
  }
  reader.place("training.framework.expert_dispatch", key);
  const bool deepep = reader.flag(spell("moe-enable-deepep")).value_or(false);
  const std::string backend = reader.word(spell("moe-flex-dispatcher-backend")).value_or("");
  ExpertDispatch& dispatch = run.training.framework.expert_dispatch;
  if (*word == "alltoall" || *word == "alltoall_seq") {
    dispatch = ExpertDispatch::all_to_all;
  } else if (*word == "allgather") {
    dispatch = ExpertDispatch::all_gather;
  } else if (*word == "flex") {
    dispatch = ExpertDispatch::deduplicated;
    if (!deepep && backend.empty()) {
      reader.assume("the flex dispatcher is DeepEP");
    }
  } else {
    reader.complain(key, fmt::format("'{}' is '{}'; it is alltoall, allgather or flex", key,
                                     core::shortened(*word)));
  }
}

}  // namespace

std::vector<int> chunks_of_layout(const LaunchRun& run) {
  const workload::ParallelismSpec& p = run.parallelism;
  // Without ends of their own stages are asserted to divide the layers; a stage of an encoder of
  // images has fewer.
  const bool alike = p.first_stage_layers == 0 && p.last_stage_layers == 0;
  const bool uneven = p.first_stage_layers % p.virtual_stages != 0 ||
                      p.last_stage_layers % p.virtual_stages != 0 ||
                      (alike && run.model.layers % p.pipeline != 0);
  return p.chunk_layers.empty() && uneven && !workload::layout_problem(run.model, p)
             ? workload::layers_of_chunks(run.model, p)
             : p.chunk_layers;
}

LaunchRow recompute_row(const MegatronSpelling& spell) {
  return {{spell(spell.recompute + "-granularity"), spell(spell.recompute + "-method"),
           spell(spell.recompute + "-num-layers"), spell("recompute-modules")},
          {"parallelism.recompute", "parallelism.recompute_parts", "parallelism.recompute_layers",
           "parallelism.recompute_period", "parallelism.chunk_recompute"},
          LaunchRule{[spell](LaunchReader& r, LaunchRun& run) { read_recompute(r, spell, run); },
                     [spell](const LaunchRun& run, LaunchWriter& out) {
                       write_recompute(run, spell, out);
                     }}};
}

LaunchRow expert_tensor_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const std::string key = spell("expert-tensor-parallel-size");
    reader.place("parallelism.expert_tensor", key);
    if (const auto ranks = reader.whole(key)) {
      run.parallelism.expert_tensor = *ranks;
    } else if (run.model.moe) {
      run.parallelism.expert_tensor = run.parallelism.tensor;
      if (run.parallelism.tensor > 1) {
        reader.assume(
            fmt::format("{} is not set: that of the rest, {}", key, run.parallelism.tensor));
      }
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    if (run.model.moe) {
      out.whole(spell("expert-tensor-parallel-size"), run.parallelism.expert_tensor);
    }
  };
  return {{spell("expert-tensor-parallel-size")},
          {"parallelism.expert_tensor"},
          LaunchRule{read, write}};
}

LaunchRow context_kind_row(const MegatronSpelling& spell) {
  const auto read = [spell](LaunchReader& reader, LaunchRun& run) {
    const std::string key = spell("cp-comm-type");
    const auto words = reader.words(key);
    reader.place("parallelism.context_kind", key);
    if (words.empty()) {
      return;
    }
    const std::string word = words[0] == "allgather" ? "all_gather" : words[0];
    const auto* found = std::ranges::find(kContextWords, word, &ContextWord::word);
    if (found != std::end(kContextWords)) {
      run.parallelism.context_kind = found->kind;
    } else {
      reader.not_modelled(key, "read as p2p, a ring");
    }
  };
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    if (run.parallelism.context > 1) {
      const auto* found =
          std::ranges::find(kContextWords, run.parallelism.context_kind, &ContextWord::kind);
      out.text(spell("cp-comm-type"), std::string(found->word));
    }
  };
  return {{spell("cp-comm-type")}, {"parallelism.context_kind"}, LaunchRule{read, write}};
}

LaunchRow dispatcher_row(const MegatronSpelling& spell) {
  const auto write = [spell](const LaunchRun& run, LaunchWriter& out) {
    if (!run.model.moe) {
      return;
    }
    const ExpertDispatch dispatch = run.training.framework.expert_dispatch;
    const bool deepep = dispatch == ExpertDispatch::deduplicated;
    out.text(spell("moe-token-dispatcher-type"), deepep ? "flex"
                                                 : dispatch == ExpertDispatch::all_gather
                                                     ? "allgather"
                                                     : "alltoall");
    if (deepep) {
      spell.truth(out, "moe-enable-deepep", true);
    }
  };
  return {{spell("moe-token-dispatcher-type"), spell("moe-enable-deepep")},
          {"training.framework.expert_dispatch"},
          LaunchRule{[spell](LaunchReader& r, LaunchRun& run) { read_dispatcher(r, spell, run); },
                     write},
          1,
          [](const LaunchRun& run) { return run.model.moe.has_value(); }};
}

LaunchRow uneven_stages_row(const MegatronSpelling& spell) {
  return {{spell("decoder-first-pipeline-num-layers"), spell("decoder-last-pipeline-num-layers"),
           spell("account-for-embedding-in-pipeline-split"),
           spell("account-for-loss-in-pipeline-split")},
          {"parallelism.first_stage_layers", "parallelism.last_stage_layers"},
          LaunchRule{
              [spell](LaunchReader& r, LaunchRun& run) { read_uneven(r, spell, run); },
              [spell](const LaunchRun& run, LaunchWriter& out) { write_uneven(run, spell, out); }}};
}

LaunchRow ruled(std::vector<std::string> keys,
                std::vector<std::string> paths,
                void (*read)(LaunchReader&, LaunchRun&),
                void (*write)(const LaunchRun&, LaunchWriter&)) {
  return {std::move(keys), std::move(paths), LaunchRule{read, write}};
}

void need_gpus(LaunchReader& reader, const LaunchRun& run, std::string_view how) {
  if (run.gpus == 0) {
    reader.lacks(
        fmt::format("cluster.nodes: the file does not say on how many GPUs it runs; {}", how));
  }
}

}  // namespace headway::import
