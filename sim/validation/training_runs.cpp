#include "sim/validation/training_runs.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/core/statistics.h"
#include "sim/training/step.h"

namespace headway::validation {

namespace {

using import::CsvTable;

/// Reads one row's cells by column name.
class Row {
 public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  [[nodiscard]] const std::string& text(std::string_view column) const { return table_.text(row_, column); }
  [[nodiscard]] bool yes(std::string_view column) const { return text(column) == "yes"; }
  [[nodiscard]] int integer(std::string_view column, int otherwise) const {
    return table_.integer(row_, column).value_or(otherwise);
  }
  [[nodiscard]] double number(std::string_view column, double otherwise) const {
    return table_.number(row_, column).value_or(otherwise);
  }
  [[nodiscard]] bool stated(std::string_view column) const { return !text(column).empty(); }

 private:
  const CsvTable& table_;
  std::size_t row_;
};

std::optional<std::string> gpu_entry(const std::string& name) {
  static constexpr std::pair<const char*, const char*> kEntries[] = {
      {"A100-80G-SXM", "a100-80gb-sxm"}, {"A100-40G-SXM", "a100-40gb-sxm"}, {"H100-80G-SXM", "h100-sxm"},
      {"H200-SXM", "h200-sxm"},          {"B200", "b200-sxm"},              {"B300", "b300-sxm"},
      {"GB200", "gb200"},                {"GB300", "gb300"},                {"MI300X", "mi300x"},
      {"MI355X", "mi355x"}};
  for (const auto& [row_name, entry] : kEntries) {
    if (name == row_name) {
      return entry;
    }
  }
  return std::nullopt;
}

/// Measured curves of collectives inside a node of this GPU, where the catalogue has them.
std::string calibration_entry(const std::string& gpu_entry) {
  const bool a100 = gpu_entry.rfind("a100", 0) == 0;
  return "nccl-" + (a100 ? "a100-sxm" : gpu_entry);
}

/// The framework profile of a row's era.
std::string framework_entry(const Row& row) {
  const std::string& era = row.text("era");
  const std::string& source = row.text("source");
  if (era == "unfused-megatron-2021") {
    const bool deepspeed = source.find("BigScience") != std::string::npos || source.find("DeepSpeed") != std::string::npos ||
                           source.find("MT-NLG") != std::string::npos;
    return deepspeed ? "megatron-deepspeed-2022" : (row.yes("sequence_parallel") ? "megatron-sp-2022" : "megatron-lm-2021");
  }
  if (era == "pytorch-fsdp") {
    return "pytorch-fsdp";
  }
  if (era == "jax-paxml-unfused") {
    return "jax-paxml";
  }
  if (era.rfind("jax", 0) == 0) {
    return "jax-xla";
  }
  if (era.rfind("meta-llama3", 0) == 0) {
    return "llama-3-2024";
  }
  if (era == "mlperf") {
    return row.integer("year", 2024) <= 2023 ? "megatron-core-2023" : "mlperf";
  }
  return "megatron-core";
}

std::optional<core::Precision> precision_of(const std::string& text) {
  if (text == "fp16-mixed") {
    return core::Precision::fp16;
  }
  return core::from_word<core::Precision>(text);
}

/// One direction of NVLink in bytes a second and GPU, by generation (data sheets: half of the two-way figure).
double scale_up_rate(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::ampere:
      return 300e9;
    case gpu::Architecture::hopper:
    case gpu::Architecture::cdna3:
      return 450e9;
    case gpu::Architecture::blackwell:
    case gpu::Architecture::cdna4:
      return 900e9;
  }
  HEADWAY_CHECK(false, "architecture {}", static_cast<int>(architecture));
}

/// GPUs of an NVLink domain that a job fills: as many whole nodes as divide the job evenly, so that 256 GPUs use 64 of
/// each rack's 72.
int domain_gpus(int most, int node_gpus, int gpus) {
  int nodes = std::max(1, std::min(most, gpus) / node_gpus);
  while (gpus / node_gpus % nodes != 0) {
    --nodes;
  }
  return nodes * node_gpus;
}

training::ClusterSpec row_cluster(const Row& row, const gpu::GpuSpec& gpu) {
  training::ClusterSpec c;
  const int gpus = row.integer("n_gpus", 8);
  c.node.gpus = std::min(row.integer("gpus_per_node", 8), gpus);
  c.nodes = gpus / c.node.gpus;
  c.node.name = "as published";
  c.node.gpu = gpu;
  c.node.scale_up.bandwidth = core::BytesPerSecond(scale_up_rate(gpu.architecture));
  c.node.scale_up.domain_gpus = domain_gpus(row.integer("nvlink_domain", 8), c.node.gpus, gpus);
  c.node.scale_up.in_switch_reduction = gpu.architecture != gpu::Architecture::ampere;
  // A row without network cards ran on one node; the fabric is then never used.
  c.node.nic.count = std::max(1, std::min(row.integer("nics_per_node", c.node.gpus), c.node.gpus));
  c.node.nic.bandwidth = core::BytesPerSecond(std::max(1.0, row.number("nic_gbps", 400)) * 1e9 / 8);
  c.fabric.name = "as published";
  c.fabric.topology = c.node.nic.count < c.node.gpus ? network::Topology::fat_tree : network::Topology::rail_optimized;
  c.fabric.link_bandwidth = c.node.nic.bandwidth;
  c.storage.name = "none";
  c.storage.write_bandwidth = core::BytesPerSecond(1e12);
  c.storage.read_bandwidth = core::BytesPerSecond(1e12);
  return c;
}

/// Compression of latent attention, which no column states: that of DeepSeek-V3, which Kimi K2 shares.
/// Source: config.json of deepseek-ai/DeepSeek-V3 and moonshotai/Kimi-K2-Instruct.
workload::LatentAttentionSpec deepseek_latent() {
  workload::LatentAttentionSpec latent;
  latent.query_rank = 1536;
  latent.key_value_rank = 512;
  latent.no_rope_dim = 128;
  latent.rope_dim = 64;
  latent.value_dim = 128;
  return latent;
}

/// "gqa, window 128 on every 2nd layer": 128 and 2.
void read_window(const std::string& text, workload::ModelSpec& m) {
  const auto number_after = [&text](std::string_view word) {
    const auto at = text.find(word);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
  };
  m.window = number_after("window ");
  m.window_period = std::max(1, number_after("every "));
  if (m.window > 0) {
    m.attention = workload::AttentionKind::sliding_window;
  }
}

/// Experts of a row; its dense layers come first, but every second layer is dense in Llama 4 Maverick.
workload::ExpertsSpec row_experts(const Row& row) {
  workload::ExpertsSpec moe;
  moe.experts = row.integer("n_experts", 1);
  moe.top_k = row.integer("top_k", 1);
  moe.shared_experts = row.integer("n_shared_experts", 0);
  moe.ffn = row.integer("d_ffn", 0);
  const int dense = row.integer("n_dense_layers", 0);
  if (2 * dense == row.integer("n_layers", 0)) {
    moe.period = 2;
  } else {
    moe.leading_dense_layers = dense;
  }
  if (row.text("moe_routing").find("capacity factor 1.0, padded") != std::string::npos) {
    moe.capacity_factor = 1;
    moe.padded = true;
  }
  return moe;
}

workload::ModelSpec row_model(const Row& row) {
  workload::ModelSpec m;
  m.name = row.text("model");
  m.layers = row.integer("n_layers", 0);
  m.hidden = row.integer("d_model", 0);
  m.heads = row.integer("n_heads", 0);
  m.key_value_heads = row.integer("n_kv_heads", m.heads);
  const std::string& head_dim = row.text("head_dim");
  m.head_dim = head_dim.find(' ') == std::string::npos ? row.integer("head_dim", m.hidden / m.heads) : m.hidden / m.heads;
  m.ffn = row.integer("d_ffn", 0);
  m.gated_mlp = row.yes("gated_mlp");
  m.vocabulary = row.integer("vocab", 0);
  m.biases = !m.gated_mlp;
  m.attention = m.key_value_heads == m.heads ? workload::AttentionKind::multi_head : workload::AttentionKind::grouped_query;
  const std::string& attention = row.text("attention");
  if (attention == "mla") {
    m.attention = workload::AttentionKind::multi_latent;
    m.latent = deepseek_latent();
    m.head_dim = m.latent->no_rope_dim + m.latent->rope_dim;
  } else {
    read_window(attention, m);
  }
  // DeepSeek-V3 trains with one prediction module (its report, section 2.2; on by default in NeMo and Megatron-Bridge).
  m.multi_token_prediction = m.name.starts_with("DeepSeek") ? 1 : 0;
  if (row.text("arch") == "moe") {
    m.moe = row_experts(row);
    m.ffn = row.integer("d_ffn_dense", 0);
  }
  return m;
}

/// Stages whose layers divide only when embedding and loss count as layers: one layer fewer at each end.
void fit_layers(int layers, workload::ParallelismSpec& p) {
  const int chunks = p.pipeline * p.virtual_stages;
  if (p.pipeline > 1 && layers % chunks != 0 && (layers + 2) % chunks == 0) {
    p.first_stage_layers = (layers + 2) / p.pipeline - 1;
    p.last_stage_layers = p.first_stage_layers;
  } else if (p.pipeline > 1 && layers % chunks != 0) {
    // Equal chunks as far as the layers go (the layouts of Megatron-Bridge's recipes).
    const int each = (layers + chunks - 1) / chunks;
    for (int left = layers, i = 0; i < chunks; ++i, left -= p.chunk_layers.back()) {
      p.chunk_layers.push_back(std::min(left, each));
    }
  }
}

/// "selective modules=mla_up_proj+mlp" in this program's words; core attention where no other module is named.
std::vector<workload::RecomputePart> recompute_parts(const std::string& detail) {
  using workload::RecomputePart;
  static constexpr std::pair<const char*, RecomputePart> kModules[] = {{"core_attn", RecomputePart::core_attention},
                                                                       {"mla_up_proj", RecomputePart::latent_up},
                                                                       {"layernorm", RecomputePart::norms},
                                                                       {"moe_act", RecomputePart::activation},
                                                                       {"mlp", RecomputePart::mlp}};
  std::vector<RecomputePart> parts;
  for (const auto& [module, part] : kModules) {
    if (detail.find(module) != std::string::npos) {
      parts.push_back(part);
    }
  }
  return parts;
}

/// Megatron-Core recipes interleave as far as the layers allow: the largest divisor of a stage's layers up to 8.
/// Older software, and layers that do not divide, one chunk a stage.
int usual_virtual_stages(const Row& row, int layers, int pipeline) {
  const std::string& era = row.text("era");
  const bool recipes = era == "megatron-core-2024+" || era == "mlperf" || era.rfind("meta-llama3", 0) == 0;
  const int counted = layers % pipeline == 0 ? layers : layers + 2;
  if (!recipes || pipeline == 1 || counted % pipeline != 0) {
    return 1;
  }
  const int stage = counted / pipeline;
  int best = 1;
  for (int chunks = 2; chunks <= std::min(stage, 8); ++chunks) {
    best = stage % chunks == 0 ? chunks : best;
  }
  return best;
}

workload::ParallelismSpec row_parallelism(const Row& row, int layers, std::vector<std::string>& assumed) {
  workload::ParallelismSpec p;
  p.tensor = row.integer("tp", 1);
  p.sequence = row.yes("sequence_parallel") && p.tensor > 1;
  p.pipeline = row.integer("pp", 1);
  p.virtual_stages = row.integer("vpp", 1);
  p.context = row.integer("cp", 1);
  p.expert = row.integer("ep", 1);
  // NeMo divides experts over the tensor ranks unless told otherwise, as for Grok; the recipes of latent attention's
  // models and of Megatron-Bridge do not.
  const bool nemo = row.text("release").starts_with('v') && row.text("attention") != "mla";
  p.expert_tensor = row.text("arch") == "moe" && nemo ? p.tensor : 1;
  static constexpr workload::Sharding kStages[] = {workload::Sharding::zero0, workload::Sharding::zero1,
                                                   workload::Sharding::zero2, workload::Sharding::zero3};
  p.sharding = kStages[std::clamp(row.integer("sharding", 1), 0, 3)];
  if (row.text("source").find("Llama 3 Herd") != std::string::npos) {
    p.context_kind = workload::ContextKind::all_gather;  // the paper's section 3.3.2
  }
  p.micro_batch = row.integer("micro_batch", 1);
  const std::string& recompute = row.text("recompute");
  p.recompute = core::from_word<workload::Recompute>(recompute).value_or(workload::Recompute::none);
  if (p.recompute == workload::Recompute::selective) {
    p.recompute_parts = recompute_parts(row.text("recompute_detail"));
  }
  if (row.text("era") == "jax-maxtext") {
    // Saves the query, key, value and output projections only (recompute_detail).
    p.recompute_parts = {workload::RecomputePart::core_attention, workload::RecomputePart::mlp};
  }
  if (row.text("era") == "jax-paxml-unfused") {
    p.recompute = workload::Recompute::none;  // only element-wise operations: the profile's
  }
  for (const char* field : {"micro_batch", "vpp", "recompute"}) {
    if (row.text("not_stated").find(field) != std::string::npos || !row.stated(field)) {
      assumed.emplace_back(field);
    }
  }
  if (row.text("not_stated").find("vpp") != std::string::npos || !row.stated("vpp")) {
    p.virtual_stages = usual_virtual_stages(row, layers, p.pipeline);
  }
  fit_layers(layers, p);
  return p;
}

/// The error of a prediction where fields had to be assumed. What a wrong guess costs, by masking stated fields of the
/// development rows: micro-batch 7 %, virtual stages 5 %, recompute 10 %.
double relative_error(double base, const std::vector<std::string>& assumed) {
  double square = base * base;
  for (const std::string& field : assumed) {
    const double cost = field == "micro_batch" ? 0.07 : field == "vpp" ? 0.05 : 0.10;
    square += cost * cost;
  }
  return std::sqrt(square);
}

template <class Spec>
const Spec& find(const std::map<std::string, Spec>& entries, const std::string& name) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    throw core::Error(fmt::format("the catalogue has no entry '{}'; is HEADWAY_CONFIGS complete?", name));
  }
  return found->second;
}

template <class Spec>
std::map<std::string, Spec> load_all(const std::vector<std::filesystem::path>& roots) {
  std::map<std::string, Spec> entries;
  config::LoadOptions options;
  options.roots = roots;
  for (const auto& entry : config::list_entries(Spec::kCatalogue, roots)) {
    entries.emplace(entry.name, config::load_entry<Spec>(entry.path, options).spec);
  }
  return entries;
}

}  // namespace

Catalogue load_catalogue(const std::vector<std::filesystem::path>& roots) {
  return {load_all<gpu::GpuSpec>(roots), load_all<workload::FrameworkSpec>(roots),
          load_all<training::CalibrationSpec>(roots)};
}

RowScenario row_scenario(const CsvTable& table, std::size_t index, const Catalogue& catalogue) {
  const Row row(table, index);
  RowScenario out;
  const auto entry = gpu_entry(row.text("gpu"));
  const auto precision = precision_of(row.text("precision"));
  if (!entry || !precision) {
    out.skipped = !entry ? "unknown GPU " + row.text("gpu") : "unknown precision " + row.text("precision");
    return out;
  }
  for (const char* column : {"n_gpus", "n_layers", "d_model", "n_heads", "seq_len", "global_batch"}) {
    if (row.integer(column, 0) < 1) {
      out.skipped = std::string(column) + " is not stated";
      return out;
    }
  }
  training::Scenario s;
  s.name = row.text("id");
  s.cluster = row_cluster(row, find(catalogue.gpus, *entry));
  s.model = row_model(row);
  s.training.sequence_length = row.integer("seq_len", 0);
  s.training.global_batch = row.integer("global_batch", 0);
  s.training.precision = *precision;
  s.training.framework = find(catalogue.frameworks, framework_entry(row));
  if (row.stated("tp_comm_overlap")) {
    s.training.framework.tensor_overlap = row.yes("tp_comm_overlap");
  }
  if (row.text("arch") == "moe" && !row.text("release").starts_with('v')) {
    // Recipes of Megatron-Bridge dispatch with DeepEP or HybridEP; NeMo's plainly.
    s.training.framework.expert_dispatch = workload::ExpertDispatch::deduplicated;
  }
  if (row.text("cuda_graph") == "yes" || row.text("cuda_graph").rfind("full_iteration", 0) == 0) {
    s.training.framework.cuda_graphs = true;
  }
  s.parallelism = row_parallelism(row, s.model.layers, out.assumed);
  if (const auto measured = catalogue.calibrations.find(calibration_entry(*entry)); measured != catalogue.calibrations.end()) {
    s.calibration.collectives = measured->second.collectives;
  }
  s.calibration.relative_error = relative_error(s.calibration.relative_error, out.assumed);
  out.scenario = std::move(s);
  return out;
}

namespace {

/// The first line of a message, for a status cell.
std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }

RunPrediction predict_row(const CsvTable& table, std::size_t index, const Catalogue& catalogue) {
  const Row row(table, index);
  RunPrediction p;
  p.id = row.text("id");
  p.source = p.id.substr(0, p.id.rfind('-'));
  p.group = row.text("group");
  p.gpu = row.text("gpu");
  p.precision = row.text("precision");
  p.kind = row.text("arch");
  p.model = row.text("model");
  p.gpus = row.integer("n_gpus", 0);
  p.weight = row.number("weight", 1);
  p.measured = row.number("measured_tokens_per_s_per_gpu", 0);
  const RowScenario built = row_scenario(table, index, catalogue);
  if (!built.scenario) {
    p.status = "skipped:" + built.skipped;
    return p;
  }
  try {
    const auto checked = training::check(*built.scenario);
    const auto step = training::simulate_step(checked, {.fold = true, .trace = false});
    p.predicted = step.tokens_per_s_per_gpu;
    p.error = *p.predicted / p.measured - 1;
    p.low = *p.predicted * (step.time / step.interval_high);
    p.high = *p.predicted * (step.time / step.interval_low);
    p.status = built.assumed.empty() ? "ok" : "ok-assumed";
  } catch (const core::Error& error) {
    p.status = "skipped:" + first_line(error.what());
  }
  return p;
}

}  // namespace

std::vector<RunPrediction> predict_runs(const CsvTable& table, const Catalogue& catalogue) {
  std::vector<std::size_t> all(table.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return predict_runs(table, catalogue, all);
}

std::vector<RunPrediction> predict_runs(const CsvTable& table,
                                        const Catalogue& catalogue,
                                        const std::vector<std::size_t>& chosen) {
  std::vector<RunPrediction> rows(chosen.size());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) { rows[i] = predict_row(table, chosen[i], catalogue); });
  return rows;
}

std::size_t row_of(const CsvTable& table, const std::string& id) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "id") == id) {
      return row;
    }
  }
  throw core::Error(fmt::format("the table has no row '{}'", id));
}

RunSummary summarize(const std::vector<RunPrediction>& rows) {
  RunSummary summary;
  std::vector<double> errors;
  double covered = 0;
  for (const auto& row : rows) {
    if (!row.error) {
      ++summary.n_skipped;
      continue;
    }
    errors.push_back(std::abs(*row.error));
    covered += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  summary.n = errors.size();
  if (errors.empty()) {
    return summary;
  }
  std::sort(errors.begin(), errors.end());
  const auto n = static_cast<double>(errors.size());
  const auto share_within = [&](double limit) {
    return static_cast<double>(std::upper_bound(errors.begin(), errors.end(), limit) - errors.begin()) / n;
  };
  summary.median_abs_error = core::quantile_of_sorted(errors, 0.5);
  summary.p90_abs_error = core::quantile_of_sorted(errors, 0.9);
  double sum = 0;
  for (const double error : errors) {
    sum += error;
  }
  summary.mean_abs_error = sum / n;
  summary.within_5 = share_within(0.05);
  summary.within_10 = share_within(0.10);
  summary.coverage_90 = covered / n;
  return summary;
}

std::vector<std::pair<std::string, RunSummary>> summarize_by(const std::vector<RunPrediction>& rows,
                                                             std::string RunPrediction::*property) {
  std::map<std::string, std::vector<RunPrediction>> parts;
  for (const auto& row : rows) {
    parts[row.*property].push_back(row);
  }
  std::vector<std::pair<std::string, RunSummary>> summaries;
  for (const auto& [name, part] : parts) {
    summaries.emplace_back(name, summarize(part));
  }
  return summaries;
}

}  // namespace headway::validation
