#include <algorithm>
#include <cmath>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/validation/run_software.h"
#include "sim/validation/training_runs.h"

namespace headway::validation {

namespace {

using import::CsvTable;

std::optional<std::string> gpu_entry(const std::string& name) {
  static constexpr std::pair<const char*, const char*> kEntries[] = {
      {"A100-80G-SXM", "a100-80gb-sxm"},
      {"A100-40G-SXM", "a100-40gb-sxm"},
      {"H100-80G-SXM", "h100-sxm"},
      {"H100-80G-PCIe", "h100-pcie"},
      {"H200-SXM", "h200-sxm"},
      {"H800-80G-SXM", "h800-sxm"},
      {"B200", "b200-sxm"},
      {"B300", "b300-sxm"},
      {"GB200", "gb200"},
      {"GB300", "gb300"},
      {"MI300X", "mi300x"},
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

std::optional<core::Precision> precision_of(const std::string& text) {
  if (text == "fp16-mixed") {
    return core::Precision::fp16;
  }
  return core::from_word<core::Precision>(text);
}

/// One direction of NVLink in bytes a second and GPU, by generation (data sheets: half of the
/// two-way figure).
double scale_up_rate(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::volta:
    case gpu::Architecture::turing:
      return 150e9;
    case gpu::Architecture::ampere:
    case gpu::Architecture::ada:
      return 300e9;
    case gpu::Architecture::hopper:
    case gpu::Architecture::cdna2:
    case gpu::Architecture::cdna3:
      return 450e9;
    case gpu::Architecture::blackwell:
    case gpu::Architecture::cdna4:
      return 900e9;
  }
  HEADWAY_CHECK(false, "architecture {}", static_cast<int>(architecture));
}

/// GPUs of an NVLink domain that a job fills: as many whole nodes as divide the job evenly, so that
/// 256 GPUs use 64 of each rack's 72.
int domain_gpus(int most, int node_gpus, int gpus) {
  int nodes = std::max(1, std::min(most, gpus) / node_gpus);
  while (gpus / node_gpus % nodes != 0) {
    --nodes;
  }
  return nodes * node_gpus;
}

template <class Spec>
const Spec& find(const std::map<std::string, Spec>& entries, const std::string& name) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    throw core::Error(
        fmt::format("the catalogue has no entry '{}'; is HEADWAY_CONFIGS complete?", name));
  }
  return found->second;
}

training::ClusterSpec row_cluster(const Row& row,
                                  const gpu::GpuSpec& gpu,
                                  const Catalogue& catalogue) {
  training::ClusterSpec c;
  const int gpus = row.integer("n_gpus", 8);
  c.node.gpus = std::min(row.integer("gpus_per_node", 8), gpus);
  c.nodes = gpus / c.node.gpus;
  c.node.name = "as published";
  c.node.gpu = gpu;
  c.node.scale_up.bandwidth = core::BytesPerSecond(scale_up_rate(gpu.architecture));
  c.node.scale_up.domain_gpus = domain_gpus(row.integer("nvlink_domain", 8), c.node.gpus, gpus);
  c.node.scale_up.in_switch_reduction = scale_up_rate(gpu.architecture) > 300e9;
  // A row without network cards ran on one node; the fabric is then never used.
  c.node.nic.count = std::max(1, std::min(row.integer("nics_per_node", c.node.gpus), c.node.gpus));
  c.node.nic.bandwidth = core::BytesPerSecond(std::max(1.0, row.number("nic_gbps", 400)) * 1e9 / 8);
  c.fabric.name = "as published";
  c.fabric.topology = c.node.nic.count < c.node.gpus ? network::Topology::fat_tree
                                                     : network::Topology::rail_optimized;
  c.fabric.link_bandwidth = c.node.nic.bandwidth;
  if (row.text("network").find("Omni-Path") != std::string::npos) {
    c.fabric.efficiency = find(catalogue.fabrics, "omni-path-100").efficiency;
  }
  c.storage.name = "none";
  c.storage.write_bandwidth = core::BytesPerSecond(1e12);
  c.storage.read_bandwidth = core::BytesPerSecond(1e12);
  return c;
}

/// Compression of latent attention, which no column states: that of DeepSeek-V3, which Kimi K2
/// shares. Source: config.json of deepseek-ai/DeepSeek-V3 and moonshotai/Kimi-K2-Instruct.
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

/// Experts of a row; its dense layers come first, but every second layer is dense in Llama 4
/// Maverick.
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
  if (row.text("model").starts_with("DeepSeek")) {
    // n_group and topk_group of its config.json; Kimi K2 has one group.
    moe.routing_groups = 8;
    moe.group_limit = 4;
  }
  if (row.text("moe_routing").find("capacity factor 1.0, padded") != std::string::npos) {
    moe.capacity_factor = 1;
    moe.padded = true;
  }
  return moe;
}

/// Megatron pads the vocabulary to 128 entries on each tensor-parallel rank
/// (make_vocab_size_divisible_by).
int padded_vocabulary(const Row& row) {
  const int stated = row.integer("vocab", 0);
  const std::string& era = row.text("era");
  const bool pads = !era.starts_with("jax") && !era.starts_with("pytorch");
  const int unit = pads ? 128 * std::max(1, row.integer("tp", 1)) : 1;
  return (stated + unit - 1) / unit * unit;
}

workload::ModelSpec row_model(const Row& row) {
  workload::ModelSpec m;
  m.name = row.text("model");
  m.layers = row.integer("n_layers", 0);
  m.hidden = row.integer("d_model", 0);
  m.heads = row.integer("n_heads", 0);
  m.key_value_heads = row.integer("n_kv_heads", m.heads);
  const std::string& head_dim = row.text("head_dim");
  m.head_dim = head_dim.find(' ') == std::string::npos ? row.integer("head_dim", m.hidden / m.heads)
                                                       : m.hidden / m.heads;
  m.ffn = row.integer("d_ffn", 0);
  m.gated_mlp = row.yes("gated_mlp");
  m.vocabulary = padded_vocabulary(row);
  m.biases = !m.gated_mlp;
  m.attention = m.key_value_heads == m.heads ? workload::AttentionKind::multi_head
                                             : workload::AttentionKind::grouped_query;
  const std::string& attention = row.text("attention");
  if (attention == "mla") {
    m.attention = workload::AttentionKind::multi_latent;
    m.latent = deepseek_latent();
    m.head_dim = m.latent->no_rope_dim + m.latent->rope_dim;
  } else {
    read_window(attention, m);
  }
  // DeepSeek-V3 trains with one prediction module (its report, section 2.2; on by default in NeMo
  // and Megatron-Bridge).
  m.multi_token_prediction = m.name.starts_with("DeepSeek") ? 1 : 0;
  if (row.text("arch") == "moe") {
    m.moe = row_experts(row);
    m.ffn = row.integer("d_ffn_dense", 0);
  }
  return m;
}

/// Stages whose layers divide only when embedding and loss count as layers: one layer fewer at each
/// end.
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

/// "selective modules=mla_up_proj+mlp" in this program's words; core attention where no other
/// module is named.
std::vector<workload::RecomputePart> recompute_parts(const std::string& detail) {
  using workload::RecomputePart;
  static constexpr std::pair<const char*, RecomputePart> kModules[] = {
      {"core_attn", RecomputePart::core_attention},
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

/// Megatron-Core recipes interleave as far as the layers allow: the largest divisor of a stage's
/// layers up to 8. Older software, and layers that do not divide, one chunk a stage.
int usual_virtual_stages(const Row& row, int layers, int pipeline) {
  const std::string& era = row.text("era");
  const bool recipes =
      era.starts_with("megatron-core") || era == "mlperf" || era.starts_with("meta-llama3");
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

workload::ParallelismSpec row_parallelism(const Row& row,
                                          int layers,
                                          std::vector<std::string>& assumed) {
  workload::ParallelismSpec p;
  p.tensor = row.integer("tp", 1);
  p.sequence = row.yes("sequence_parallel") && p.tensor > 1;
  p.pipeline = row.integer("pp", 1);
  p.virtual_stages = row.integer("vpp", 1);
  p.context = row.integer("cp", 1);
  p.expert = row.integer("ep", 1);
  // NeMo divides experts over the tensor ranks unless told otherwise, as for Grok; the recipes of
  // latent attention's models and of Megatron-Bridge do not.
  const bool nemo = row.text("release").starts_with('v') && row.text("attention") != "mla";
  p.expert_tensor = row.text("arch") == "moe" && nemo ? p.tensor : 1;
  static constexpr workload::Sharding kStages[] = {
      workload::Sharding::zero0, workload::Sharding::zero1, workload::Sharding::zero2,
      workload::Sharding::zero3};
  const int group = row.integer("shard_group_size", row.integer("gpus_per_node", 8));
  if (row.text("sharding") == "hsdp" &&
      group < row.integer("n_gpus", 1) / (p.tensor * p.pipeline)) {
    p.sharding = workload::Sharding::hsdp;
    p.shard_group_size = group;
  } else if (row.text("sharding") == "hsdp") {
    p.sharding = workload::Sharding::zero3;  // one copy
  } else {
    p.sharding = kStages[std::clamp(row.integer("sharding", 1), 0, 3)];
  }
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
  if (row.integer("cpu_offload_layers", 0) > 0) {
    assumed.emplace_back("cpu_offload_layers");  // copies are taken to hide behind the computation
  }
  fit_layers(layers, p);
  return p;
}

/// The error of a prediction where fields had to be assumed. What a wrong guess costs, by masking
/// stated fields of the development rows: micro-batch 7 %, virtual stages 5 %, recompute 10 %;
/// activations copied to the host 10 %, a guess.
double relative_error(double base, const std::vector<std::string>& assumed) {
  double square = base * base;
  for (const std::string& field : assumed) {
    const double cost = field == "micro_batch" ? 0.07 : field == "vpp" ? 0.05 : 0.10;
    square += cost * cost;
  }
  return std::sqrt(square);
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
          load_all<training::CalibrationSpec>(roots), load_all<network::FabricSpec>(roots)};
}

RowScenario row_scenario(const CsvTable& table, std::size_t index, const Catalogue& catalogue) {
  const Row row(table, index);
  RowScenario out;
  const auto entry = gpu_entry(row.text("gpu"));
  const auto precision = precision_of(row.text("precision"));
  if (!entry || !precision) {
    out.skipped =
        !entry ? "unknown GPU " + row.text("gpu") : "unknown precision " + row.text("precision");
    return out;
  }
  for (const char* column :
       {"n_gpus", "n_layers", "d_model", "n_heads", "seq_len", "global_batch"}) {
    if (row.integer(column, 0) < 1) {
      out.skipped = std::string(column) + " is not stated";
      return out;
    }
  }
  training::Scenario s;
  s.name = row.text("id");
  s.cluster = row_cluster(row, find(catalogue.gpus, *entry), catalogue);
  s.model = row_model(row);
  s.training.sequence_length = row.integer("seq_len", 0);
  s.training.global_batch = row.integer("global_batch", 0);
  s.training.precision = *precision;
  s.training.framework = find(catalogue.frameworks, framework_entry(row));
  apply_flags(row, s.training.framework);
  s.parallelism = row_parallelism(row, s.model.layers, out.assumed);
  if (const auto measured = catalogue.calibrations.find(calibration_entry(*entry));
      measured != catalogue.calibrations.end()) {
    s.calibration.collectives = measured->second.collectives;
  }
  s.calibration.relative_error = relative_error(s.calibration.relative_error, out.assumed);
  out.scenario = std::move(s);
  return out;
}

}  // namespace headway::validation
