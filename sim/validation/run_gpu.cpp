// Names of GPUs, as published tables write them, and the formats they compute in.
#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/names/gpu_names.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/layout_words.h"
#include "sim/validation/words/model_words.h"

namespace headway::validation {

using namespace core::literals;

namespace {

/// The models of a catalogue's entries, whose names have one each.
GpuModels models_of(const Catalogue& catalogue) {
  GpuModels models;
  for (const auto& [entry, gpu] : catalogue.gpus) {
    models.insert(read_gpu_name(entry, {}).model);
  }
  return models;
}

/// An entry that may be meant, and how well it fits: less is better.
struct Candidate {
  std::string entry;
  double misfit = 0;
};

constexpr double kSameMemory = 0.15;  ///< "96 GB" and 94 GiB are one board
constexpr double kOtherMemory = 1;    ///< misfit of an entry with another memory, at least
constexpr double kTooWeak = 2;        ///< of one whose board cannot draw the power of the name

/// Whether the name's power is more than the board may draw; less is a limit that was set.
bool too_weak(const GpuName& wanted, const gpu::GpuSpec& gpu) {
  constexpr double kRounding = 1.02;
  return wanted.power > kRounding * gpu.power.si();
}

/// Whether a node of the catalogue has this GPU: it is then the one that is usually meant.
bool has_node(const gpu::GpuSpec& gpu, const Catalogue& catalogue) {
  return std::any_of(catalogue.nodes.begin(), catalogue.nodes.end(),
                     [&](const auto& node) { return node.second.gpu.name == gpu.name; });
}

std::vector<Candidate> candidates_of(const GpuName& wanted, const Catalogue& catalogue) {
  std::vector<Candidate> candidates;
  // More than any board has is the memory of the CPU beside it (GH200 480GB).
  constexpr double kMostMemory = 320;
  for (const auto& [entry, gpu] : catalogue.gpus) {
    const GpuName name = read_gpu_name(entry, {});
    const bool other_board =
        !wanted.board.empty() && !name.board.empty() && wanted.board != name.board;
    if (name.model != wanted.model || other_board) {
      continue;
    }
    const double memory = gpu.memory / 1_GiB;
    const bool told = wanted.memory > 0 && wanted.memory < kMostMemory;
    const double off = told ? std::abs(memory / wanted.memory - 1) : 0;
    // A board held below the power of its kind is meant where a name tells its memory.
    const bool capped = gpu.power < gpu.sustained.power && !told;
    const double board = name.board == "sxm" || wanted.board == name.board ? 0 : 0.01;
    const double node = has_node(gpu, catalogue) ? 0 : 0.005;
    // Without a stated memory the larger board is the usual one; it decides last.
    candidates.push_back({entry, (off > kSameMemory || capped ? kOtherMemory + off : 0) + board +
                                     node + 1e-3 / memory +
                                     (too_weak(wanted, gpu) ? kTooWeak : 0)});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.misfit < b.misfit; });
  return candidates;
}

/// Cards in PCIe slots that were made for export: the same chip and memory as the card that they
/// are named after, only their NVLink bridges are slower.
/// Source: NVIDIA A800 PCIe and H800 PCIe product briefs, 2022 and 2023.
std::optional<GpuName> card_of_exports(GpuName name) {
  if (name.board != "pcie" || (name.model != "a800" && name.model != "h800")) {
    return std::nullopt;
  }
  name.model[1] = '1';
  return name;
}

/// The GPU of the cloud's instance that a name has beside it, if its memory is the stated one;
/// empty: none.
std::string entry_of_instance(const GpuName& wanted, const Catalogue& catalogue) {
  const auto node = catalogue.nodes.find(wanted.instance.node);
  if (node == catalogue.nodes.end()) {
    return "";
  }
  const gpu::GpuSpec& there = node->second.gpu;
  const bool same =
      wanted.memory <= 0 || std::abs(there.memory / 1_GiB / wanted.memory - 1) <= kSameMemory;
  for (const auto& [entry, gpu] : catalogue.gpus) {
    if (same && gpu.name == there.name) {
      return entry;
    }
  }
  return "";
}

}  // namespace

std::string gpu_entry(const std::string& name, const Catalogue& catalogue, Assumed& assumed) {
  check_chips(name);
  GpuName wanted = read_gpu_name(name, models_of(catalogue));
  if (!wanted.second.empty()) {
    throw core::Error(
        fmt::format("'{}' names two GPUs, {} and {}", name, wanted.model, wanted.second));
  }
  if (const std::string other = nearest_gpu(wanted.model); other != wanted.model) {
    wanted.model = other;
    assume(assumed, "gpu");
  }
  if (const std::string entry = entry_of_instance(wanted, catalogue); !entry.empty()) {
    return entry;
  }
  auto candidates = candidates_of(wanted, catalogue);
  if (const auto card = card_of_exports(wanted); candidates.empty() && card) {
    candidates = candidates_of(*card, catalogue);
    assume(assumed, "gpu");
  }
  if (candidates.empty()) {
    throw core::Error("unknown GPU " + name);
  }
  const auto alike = std::count_if(candidates.begin(), candidates.end(),
                                   [](const Candidate& c) { return c.misfit < kOtherMemory; });
  if (alike != 1 && candidates.size() > 1) {
    assume(assumed, "gpu");
  }
  return candidates.front().entry;
}

/// Bandwidth of a generation's stacks [GB/s of each GB of capacity]; 0: it comes in several.
/// Source: data sheets: HBM2e 2,039 GB/s of 80 GB (A100, H100 PCIe), HBM3 3,350 GB/s of 80 GB.
double stacks_rate(const std::string& generation) {
  return generation == "hbm2e" ? 2039.0 / 80 : generation == "hbm3" ? 3350.0 / 80 : 0;
}

InstanceName instance_in_gpu(const std::string& name, const Catalogue& catalogue) {
  return read_gpu_name(name, models_of(catalogue)).instance;
}

std::string unknown_gpu_words(const std::string& name, const Catalogue& catalogue) {
  return read_gpu_name(name, models_of(catalogue)).unknown;
}

bool apply_variant(const std::string& text, const Catalogue& catalogue, gpu::GpuSpec& gpu) {
  const GpuName name = read_gpu_name(text, models_of(catalogue));
  const gpu::GpuSpec before = gpu;
  constexpr double kMostMemory = 320;  // beyond: of the CPU beside it
  constexpr double kRounding = 0.03;   // 141 GB and 143 GB are one board
  const double memory = gpu.memory / 1_GiB;
  if (name.memory > 0 && name.memory < kMostMemory &&
      std::abs(name.memory / memory - 1) > kRounding) {
    gpu.memory = name.memory * 1_GiB;
    gpu.name += fmt::format(", {:g} GB", name.memory);
  }
  constexpr double kFullStacks = 80;  // GB: smaller boards have stacks of half the capacity
  const double stacks =
      gpu.memory / 1_GiB >= kFullStacks ? stacks_rate(name.stacks) * (gpu.memory / 1_GiB) : 0;
  const double bandwidth = name.bandwidth > 0 ? name.bandwidth : stacks;
  constexpr double kSameStacks = 0.1;
  if (bandwidth > 0 && std::abs(bandwidth * 1e9 / gpu.memory_bandwidth.si() - 1) > kSameStacks) {
    gpu.memory_bandwidth = core::BytesPerSecond(bandwidth * 1e9);
    gpu.name += fmt::format(", {:.2g} TB/s", bandwidth / 1e3);
  }
  if (name.power > gpu.idle_power.si() && std::abs(name.power / gpu.power.si() - 1) > kRounding) {
    gpu.power = core::Watts(name.power);
    gpu.name += fmt::format(", {:g} W", name.power);
  }
  return !(gpu == before);
}

bool same_board(const std::string& entry, const std::string& other) {
  const GpuName a = read_gpu_name(entry, {});
  const GpuName b = read_gpu_name(other, {});
  return a.model == b.model && a.board == b.board;
}

bool is_other_gpu(const std::string& text, const gpu::GpuSpec& gpu) {
  const GpuModels& sold = sold_gpus();
  const GpuName there = read_gpu_name(text, sold);
  const GpuName here = read_gpu_name(gpu.name, sold);
  const std::string model = nearest_gpu(there.model);
  if (!sold.contains(model) || !sold.contains(nearest_gpu(here.model))) {
    return false;
  }
  const double memory = gpu.memory / 1_GiB;
  return model != nearest_gpu(here.model) ||
         (!there.board.empty() && !here.board.empty() && there.board != here.board) ||
         (there.memory > 0 && std::abs(there.memory / memory - 1) > kSameMemory);
}

bool limited_power(const RunRow& row) {
  static constexpr std::array<const char*, 6> kWords = {
      "power-limited", "power limited", "power-capped", "power capped", "power cap", "power limit"};
  return contains_any(core::lower_case(row.gpu + " " + row.notes), kWords) &&
         read_gpu_name(row.gpu, {}).power == 0 && training_words(row).power == 0;
}

void set_formats(const RunRow& row, training::Scenario& s, Assumed& assumed) {
  using core::Precision;
  const bool stated = !row.precision.empty();
  const PrecisionWords words = stated ? precision_words(row.precision) : PrecisionWords{};
  const auto architecture = s.cluster.node.gpu.architecture;
  const bool old = architecture == gpu::Architecture::volta ||
                   architecture == gpu::Architecture::turing;  // without bf16
  const Precision usual = stated && old ? Precision::fp16 : s.training.framework.usual.precision;
  s.training.precision = words.format.value_or(usual);
  if (words.pure) {
    s.training.optimizer_state = workload::OptimizerState::adam_bf16;
  }
  const TrainingWords training = training_words(row);
  s.training.optimizer_state = training.optimizer.value_or(s.training.optimizer_state);
  if (!training.nearness.empty()) {
    assume(assumed, "optimizer");
  }
  if (!stated || words.open) {
    assume(assumed, "precision");
  }
}

}  // namespace headway::validation
