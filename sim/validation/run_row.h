// One row of a table of published runs: a column a member, read by one list.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/fields.h"
#include "sim/import/csv.h"
#include "sim/validation/cells/text_has.h"

namespace headway::validation {

/// Whether a cell only says that nothing is known: "n/a", "nan", "not stated" ...
bool says_nothing(const std::string& cell);

/// Bounds of what a row may state: a hundred times the largest published run, or more. What lies
/// beyond is a slip (tokens in a column of sequences, parameters in a column of widths).
inline constexpr core::Range kDegrees{1, 1e6, false, false, "from 1 to a million"};
inline constexpr core::Range kFewOrNone{0, 1e6, false, false, "from 0 to a million"};
inline constexpr core::Range kLayers{1, 10000, false, false, "from 1 to 10,000"};
inline constexpr core::Range kWidths{1, 1e6, false, false, "from 1 to a million"};
inline constexpr core::Range kTokens{1, 1e8, false, false, "from 1 to a hundred million"};
inline constexpr core::Range kExperts{1, 10000, false, false, "from 1 to 10,000"};
inline constexpr core::Range kYears{2012, 2100, false, false, "a year from 2012"};
inline constexpr core::Range kGigabits{0, 1e5, false, false, "from 0 to 100,000"};
inline constexpr core::Range kFigures{0, 1e30, true, false, "positive"};

/// A cell whose number is not quite what it says: rounded, or counted in something else.
struct AboutCell {
  std::string column;
  std::string why;  ///< told; empty: nothing to tell
};

/// What a source states of one run; a cell that is blank or says nothing ("n/a") leaves its member
/// empty.
struct RunRow {
  std::string id, gpu, network, model, arch, sharding, recompute, recompute_detail, precision,
      precision_detail, era, cuda_graph, moe_routing, attention, head_dim, not_stated;
  std::optional<int> n_gpus, gpus_per_node, nvlink_domain, n_layers, d_model, n_heads, n_kv_heads,
      d_ffn, vocab, seq_len, n_experts, top_k, n_shared_experts, d_ffn_dense, n_dense_layers,
      global_batch, micro_batch, tp, pp, vpp, cp, ep, etp, shard_group_size, cpu_offload_layers,
      n_nodes, grad_accumulation;
  std::optional<double> nics_per_node, nic_gbps;
  std::optional<bool> gated_mlp, sequence_parallel, tp_comm_overlap, async_tp, torch_compile,
      moe_a2a_overlap;

  std::string source, derivation, confidence, notes, recovered, release, network_source, group,
      unreadable;
  std::optional<int> year, dp;
  std::optional<double> measured_tokens_per_s_per_gpu, measured_step_time_s, step_time_s,
      measured_tflops_per_gpu, published_tflops_per_gpu, tflops_per_gpu, measured_peak_mem_gib,
      model_flops_per_token, params_b, active_params_b, weight;
  /// Other quantities that say the figure (compared/other_figures.h).
  std::optional<double> tokens_per_s, samples_per_s, samples_per_s_per_gpu, steps_per_s,
      step_time_ms, mfu, hfu, gpu_hours, trained_tokens;

  double figure_spread = 0;  ///< half the range that the figure's cell gives, in log time
  std::string figure_note;   ///< what stands in brackets behind a figure of TFLOP/s

  std::string profile;   ///< the catalogue's, where the era is its name; empty: by other columns
  std::size_t line = 0;  ///< of the file
  std::string problems;  ///< why cells cannot be read, with line and columns; empty: all can
  std::vector<AboutCell> abouts;  ///< cells whose number is not quite what it says

  /// Whether a column, by name, has a value.
  [[nodiscard]] bool stated(std::string_view column) const;
  /// The column has a value and is not listed as one that the source does not state.
  [[nodiscard]] bool certain(std::string_view column) const;
  /// Whether `not_stated` lists the column.
  /// Of experts, by its architecture or their number.
  [[nodiscard]] bool is_mixture() const;
  [[nodiscard]] bool listed_as_not_stated(std::string_view column) const;

  /// What makes a configuration: rows of one source that are equal here are repeats.
  template <class Self, class V>
  static void configuration(Self& row, V& v);
  /// All columns.
  template <class Self, class V>
  static void fields(Self& row, V& v);
};

/// Reads a row; cells that cannot be read are named in `problems`.
RunRow read_run_row(const import::CsvTable& table, std::size_t row);

/// Columns that no run has, told with a guess.
/// @throws core::Error if the table lacks the id or all measured figures
std::vector<std::string> check_run_columns(const import::CsvTable& table);

/// All that makes a row's configuration, its source included, as one text.
std::string configuration_text(const RunRow& row);

template <class Self, class V>
void RunRow::configuration(Self& row, V& v) {
  v.optional("gpu", row.gpu, "GPU, as the source calls it.");
  v.optional("n_gpus", row.n_gpus, "GPUs that train.", kDegrees);
  v.optional("gpus_per_node", row.gpus_per_node, "GPUs of a node.", kDegrees);
  v.optional("nics_per_node", row.nics_per_node, "Network cards of a node.", kFewOrNone);
  v.optional("nic_gbps", row.nic_gbps, "Rate of a card, one direction [Gbit/s].", kGigabits);
  v.optional("nvlink_domain", row.nvlink_domain, "GPUs that share NVLink.", kDegrees);
  v.optional("model", row.model, "Name of the model.");
  v.optional("arch", row.arch, "dense, moe ...");
  v.optional("n_layers", row.n_layers, "Layers.", kLayers);
  v.optional("d_model", row.d_model, "Hidden width.", kWidths);
  v.optional("n_heads", row.n_heads, "Query heads.", kWidths);
  v.optional("n_kv_heads", row.n_kv_heads, "Key and value heads.", kWidths);
  v.optional("d_ffn", row.d_ffn, "Inner width of the MLP, of one expert in a mixture.", kWidths);
  v.optional("seq_len", row.seq_len, "Tokens of a sequence.", kTokens);
  v.optional("n_experts", row.n_experts, "Experts of a layer.", kExperts);
  v.optional("top_k", row.top_k, "Experts a token goes to.", kExperts);
  v.optional("n_shared_experts", row.n_shared_experts, "Experts of every token.", kFewOrNone);
  v.optional("d_ffn_dense", row.d_ffn_dense, "Inner width of a mixture's dense layers.", kWidths);
  v.optional("n_dense_layers", row.n_dense_layers, "Dense layers of a mixture.", kFewOrNone);
  v.optional("global_batch", row.global_batch, "Sequences of a step.", kTokens);
  v.optional("micro_batch", row.micro_batch, "Sequences of a micro-batch.", kDegrees);
  v.optional("tp", row.tp, "Tensor-parallel degree.", kDegrees);
  v.optional("sequence_parallel", row.sequence_parallel, "Norms split over the tensor group.");
  v.optional("pp", row.pp, "Pipeline stages.", kDegrees);
  v.optional("vpp", row.vpp, "Chunks of a stage.", kDegrees);
  v.optional("cp", row.cp, "Context-parallel degree.", kDegrees);
  v.optional("ep", row.ep, "Expert-parallel degree.", kDegrees);
  v.optional("etp", row.etp, "Tensor-parallel degree inside an expert.", kDegrees);
  v.optional("sharding", row.sharding, "zero0 to zero3, fsdp, hsdp ...");
  v.optional("shard_group_size", row.shard_group_size, "Ranks of one sharded copy.", kDegrees);
  v.optional("recompute", row.recompute, "none, selective, full, block ...");
  v.optional("recompute_detail", row.recompute_detail, "Modules that are recomputed.");
  v.optional("precision", row.precision, "Format of the operands.");
  v.optional("precision_detail", row.precision_detail, "Scales and exceptions.");
  v.optional("era", row.era, "Family and year of the software.");
  v.optional("tp_comm_overlap", row.tp_comm_overlap, "Tensor transfers beside products.");
  v.optional("cuda_graph", row.cuda_graph, "What runs from a recorded graph.");
  v.optional("cpu_offload_layers", row.cpu_offload_layers, "Layers whose activations leave.",
             kFewOrNone);
  v.optional("moe_a2a_overlap", row.moe_a2a_overlap, "Exchange of experts beside products.");
  v.optional("torch_compile", row.torch_compile, "Compiled kernels.");
  v.optional("async_tp", row.async_tp, "Tensor transfers cut to pieces.");
  v.optional("moe_routing", row.moe_routing, "Capacity and padding.");
  v.optional("attention", row.attention, "mha, gqa, mqa, mla, window.");
  v.optional("vocab", row.vocab, "Rows of the embedding.", kTokens);
  v.optional("head_dim", row.head_dim, "Width of a head.");
  v.optional("gated_mlp", row.gated_mlp, "Gate beside the MLP's first product.");
  v.optional("not_stated", row.not_stated, "Columns that the source does not state.");
  v.optional("network", row.network, "The network in the source's words.");
}

template <class Self, class V>
void RunRow::fields(Self& row, V& v) {
  v.optional("id", row.id, "Name of the row, source first; else its line.");
  v.required("measured_tokens_per_s_per_gpu", row.measured_tokens_per_s_per_gpu,
             "The published figure [tokens/s/GPU].", kFigures);
  configuration(row, v);
  v.optional("source", row.source, "Document and place.");
  v.optional("year", row.year, "Of the run.", kYears);
  v.optional("dp", row.dp, "Replicas.", kDegrees);
  v.optional("derivation", row.derivation, "How the figure follows from what is published.");
  v.optional("confidence", row.confidence, "high, medium, low.");
  v.optional("notes", row.notes, "What else is known.");
  v.optional("recovered", row.recovered, "Columns taken from elsewhere.");
  v.optional("release", row.release, "Of the software.");
  v.optional("network_source", row.network_source, "stated or assumed.");
  v.optional("unreadable", row.unreadable, "Why the line has no cells (import/even_rows.h).");
  v.optional("group", row.group, "Rows that are one configuration.");
  v.optional("weight", row.weight, "In the headline.", kFigures);
  v.optional("params_b", row.params_b, "Parameters [1e9].", kFigures);
  v.optional("active_params_b", row.active_params_b, "Parameters a token meets [1e9].", kFigures);
  v.optional("model_flops_per_token", row.model_flops_per_token, "FLOPs.", kFigures);
  v.optional("measured_peak_mem_gib", row.measured_peak_mem_gib, "Fullest GPU [GiB].", kFigures);
  v.optional("measured_step_time_s", row.measured_step_time_s, "Step [s].", kFigures);
  v.optional("step_time_s", row.step_time_s, "The same.", kFigures);
  v.optional("measured_tflops_per_gpu", row.measured_tflops_per_gpu, "TFLOP/s.", kFigures);
  v.optional("published_tflops_per_gpu", row.published_tflops_per_gpu, "The same.", kFigures);
  v.optional("tflops_per_gpu", row.tflops_per_gpu, "The same.", kFigures);
  v.optional("n_nodes", row.n_nodes, "Nodes, in place of n_gpus.", kDegrees);
  v.optional("grad_accumulation", row.grad_accumulation, "Micro-batches of a step.", kDegrees);
  v.optional("tokens_per_s", row.tokens_per_s, "Tokens a second of all GPUs [1/s].", kFigures);
  v.optional("samples_per_s", row.samples_per_s, "Sequences of all GPUs [1/s].", kFigures);
  v.optional("samples_per_s_per_gpu", row.samples_per_s_per_gpu, "Of one GPU [1/s].", kFigures);
  v.optional("steps_per_s", row.steps_per_s, "Steps a second [1/s].", kFigures);
  v.optional("step_time_ms", row.step_time_ms, "Step [ms].", kFigures);
  v.optional("mfu", row.mfu, "Model FLOPs over the GPU's peak, a share or in %.", kFigures);
  v.optional("hfu", row.hfu, "The same with recomputed forwards.", kFigures);
  v.optional("gpu_hours", row.gpu_hours, "GPU hours of a run of trained_tokens.", kFigures);
  v.optional("trained_tokens", row.trained_tokens, "Tokens of a whole run.", kFigures);
}

}  // namespace headway::validation
