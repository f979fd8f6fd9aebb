// Rows that Megatron-LM's arguments and NeMo's configuration, which names the same things, share.
#pragma once

#include <string>

#include "sim/import/launch/launch_table.h"

namespace headway::import {

/// How a framework spells Megatron's settings: behind a prefix, with underscores.
struct MegatronSpelling {
  std::string prefix;                   ///< "model."
  bool underscores = false;             ///< num_layers, not num-layers
  bool bare_flags = true;               ///< a flag is true by being there
  std::string recompute = "recompute";  ///< the word before -granularity, -method, -num-layers
  [[nodiscard]] std::string operator()(std::string_view word) const;
  /// Writes a truth as this framework does.
  void truth(LaunchWriter& out, std::string_view word, bool value) const;
  /// Which layers, "4" or a list such as "[0]*3+[1]*58": arguments have the text, a configuration
  /// the number or the list itself.
  void layers(LaunchWriter& out, std::string_view word, const std::string& pattern) const;
  /// The same as it is written; a configuration's list as "[0,0,1]".
  [[nodiscard]] std::optional<std::string> layers(LaunchReader& reader,
                                                  std::string_view word) const;
};

/// Query groups; absent: one a head.
LaunchRow key_value_heads_row(const MegatronSpelling& spell);
/// Width of a head; absent: hidden / heads.
LaunchRow head_dim_row(const MegatronSpelling& spell);
/// Width of the MLP; absent: 4 x hidden, with SwiGLU two thirds of it in multiples of 64.
LaunchRow ffn_row(const MegatronSpelling& spell);
/// Learned positions, rotary ones or none.
LaunchRow positions_row(const MegatronSpelling& spell);
/// Dropout of attention and residual.
LaunchRow dropout_row(const MegatronSpelling& spell);
/// Rows of the embedding, padded to a multiple for each tensor rank.
LaunchRow vocabulary_row(const MegatronSpelling& spell, std::string size_key);
/// Experts: their number, width, shared ones, which layers have them, capacity.
LaunchRow experts_row(const MegatronSpelling& spell, std::string number_key);
/// Granularity, method, layers and parts.
LaunchRow recompute_row(const MegatronSpelling& spell);
/// Tensor ranks of an expert; absent: those of the rest.
LaunchRow expert_tensor_row(const MegatronSpelling& spell);
/// The ring, all-gather or all-to-all of context ranks.
LaunchRow context_kind_row(const MegatronSpelling& spell);
/// How tokens reach experts.
LaunchRow dispatcher_row(const MegatronSpelling& spell);
/// Multi-latent attention and its ranks.
LaunchRow latent_row(const MegatronSpelling& spell);
/// Norms of queries and keys; with latent attention those of their compressed forms, which a
/// scenario always has.
LaunchRow query_key_norm_row(const MegatronSpelling& spell);
/// One fewer layer on the first and last stage, or as many as are named.
LaunchRow uneven_stages_row(const MegatronSpelling& spell);

/// Overlap of tensor communication, which is asserted to have sequence parallelism.
LaunchRow tensor_overlap_row(const MegatronSpelling& spell, std::string key);
/// Pipeline ranks before data ranks.
LaunchRow rank_order_row(const MegatronSpelling& spell);

/// What Megatron-LM shards of a run: it refuses some sharding of some optimizers and layouts.
enum class MegatronSharding { none, optimizer, megatron_fsdp, torch_fsdp };
MegatronSharding megatron_sharding(const LaunchRun& run);
/// Whether the optimizer may have state in other formats, or on the host.
bool takes_precise_optimizer(const LaunchRun& run);
/// Sharding, and the variable of the environment that is asserted about it.
LaunchRow megatron_sharding_row();
LaunchRow megatron_data_overlap_row();
LaunchRow megatron_offload_row();
/// Which releases of megatron-core take the settings, where not all do.
std::vector<std::string> megatron_remarks(const LaunchRun& run,
                                          const std::vector<LaunchLine>& lines);

/// Layers of single halves by letter, and the Mamba-2 mixer among them.
LaunchRow hybrid_row();
/// The letters of a run's layers, with "|" where it says how stages are cut; empty where they are
/// no single halves: then the arguments of other models cut stages.
std::string hybrid_letters(const LaunchRun& run);
/// The width of latent experts.
LaunchRow latent_experts_row();
/// Keys that an indexer chooses, or gated delta networks in some layers.
LaunchRow attention_variant_row(const MegatronSpelling& spell);
/// The gate of attention's output.
LaunchRow attention_gate_row(const MegatronSpelling& spell);

/// Layers of each chunk where Megatron-LM wants them listed: those of the run, or of stages whose
/// layers do not divide; else empty.
std::vector<int> chunks_of_layout(const LaunchRun& run);

/// A row of two functions.
LaunchRow ruled(std::vector<std::string> keys,
                std::vector<std::string> paths,
                void (*read)(LaunchReader&, LaunchRun&),
                void (*write)(const LaunchRun&, LaunchWriter&));

/// What both frameworks do unless told: plain MLPs with biases and dropout, tied embeddings (where
/// no model is given), no sequence parallelism, no overlap of tensor communication, no CUDA graphs.
void set_megatron_defaults(LaunchRun& run);

/// Rows of number formats, optimizer and kernels.
std::vector<LaunchRow> megatron_recipe_rows();
/// Megatron-LM's arguments without effect on time.
std::span<const std::string_view> megatron_no_effect();
/// Those that change it and have no place in a scenario.
std::span<const NotModelled> megatron_not_modelled();

/// The GPUs that tensor, context and pipeline ranks must divide: what is not known is missing.
void need_gpus(LaunchReader& reader, const LaunchRun& run, std::string_view how);

}  // namespace headway::import
