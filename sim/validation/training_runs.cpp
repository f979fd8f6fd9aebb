#include "sim/validation/training_runs.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

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
  if (era.rfind("jax", 0) == 0) {
    return "jax-xla";
  }
  if (era == "mlperf" && row.integer("year", 2024) <= 2023) {
    return "megatron-core-2023";
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

training::ClusterSpec row_cluster(const Row& row, const gpu::GpuSpec& gpu) {
  training::ClusterSpec c;
  const int gpus = row.integer("n_gpus", 8);
  c.node.gpus = std::min(row.integer("gpus_per_node", 8), gpus);
  c.nodes = gpus / c.node.gpus;
  c.node.name = "as published";
  c.node.gpu = gpu;
  c.node.scale_up.bandwidth = core::BytesPerSecond(scale_up_rate(gpu.architecture));
  c.node.scale_up.domain_gpus = std::max(c.node.gpus, std::min(row.integer("nvlink_domain", 8), gpus) / c.node.gpus * c.node.gpus);
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
  return m;
}

/// Stages whose layers divide only when embedding and loss count as layers: one layer fewer at each end.
void fit_layers(int layers, workload::ParallelismSpec& p) {
  const int chunks = p.pipeline * p.virtual_stages;
  if (p.pipeline > 1 && layers % chunks != 0 && (layers + 2) % chunks == 0) {
    p.first_stage_layers = (layers + 2) / p.pipeline - 1;
    p.last_stage_layers = p.first_stage_layers;
  }
}

workload::ParallelismSpec row_parallelism(const Row& row, int layers, std::vector<std::string>& assumed) {
  workload::ParallelismSpec p;
  p.tensor = row.integer("tp", 1);
  p.sequence = row.yes("sequence_parallel") && p.tensor > 1;
  p.pipeline = row.integer("pp", 1);
  p.virtual_stages = row.integer("vpp", 1);
  p.context = row.integer("cp", 1);
  p.expert = row.integer("ep", 1);
  static constexpr workload::Sharding kStages[] = {workload::Sharding::zero0, workload::Sharding::zero1,
                                                   workload::Sharding::zero2, workload::Sharding::zero3};
  p.sharding = kStages[std::clamp(row.integer("sharding", 1), 0, 3)];
  if (row.text("source").find("Llama 3 Herd") != std::string::npos) {
    p.context_kind = workload::ContextKind::all_gather;  // the paper's section 3.3.2
  }
  p.micro_batch = row.integer("micro_batch", 1);
  const std::string& recompute = row.text("recompute");
  p.recompute = core::from_word<workload::Recompute>(recompute).value_or(workload::Recompute::none);
  for (const char* field : {"micro_batch", "vpp", "recompute"}) {
    if (row.text("not_stated").find(field) != std::string::npos || !row.stated(field)) {
      assumed.emplace_back(field);
    }
  }
  fit_layers(layers, p);
  return p;
}

/// What this version does not model, in a word, or nothing.
std::string not_modelled(const Row& row) {
  if (row.text("arch") == "moe") {
    return "mixture of experts";
  }
  return "";
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
  return {load_all<gpu::GpuSpec>(roots), load_all<workload::FrameworkSpec>(roots)};
}

RowScenario row_scenario(const CsvTable& table, std::size_t index, const Catalogue& catalogue) {
  const Row row(table, index);
  RowScenario out;
  if (out.skipped = not_modelled(row); !out.skipped.empty()) {
    return out;
  }
  const auto entry = gpu_entry(row.text("gpu"));
  const auto precision = precision_of(row.text("precision"));
  if (!entry || !precision) {
    out.skipped = !entry ? "unknown GPU " + row.text("gpu") : "unknown precision " + row.text("precision");
    return out;
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
  if (row.text("cuda_graph") == "yes" || row.text("cuda_graph").rfind("full_iteration", 0) == 0) {
    s.training.framework.cuda_graphs = true;
  }
  s.parallelism = row_parallelism(row, s.model.layers, out.assumed);
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
  std::vector<RunPrediction> rows(table.rows());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) { rows[i] = predict_row(table, i, catalogue); });
  return rows;
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
