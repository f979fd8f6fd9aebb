// Names of GPUs, as published tables write them, and the formats they compute in.
#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/layout_words.h"
#include "sim/validation/words/model_words.h"

namespace headway::validation {

using namespace core::literals;

namespace {

/// A GPU's name, taken apart.
struct GpuName {
  std::string model;     ///< "h100"
  std::string board;     ///< "sxm", "pcie", "nvl"; empty: not said
  double memory = 0;     ///< GB; 0: not said
  double power = 0;      ///< W; 0: not said
  double bandwidth = 0;  ///< of the memory [GB/s]; 0: not said
  std::string stacks;    ///< generation of the memory, "hbm2e"; empty: not said
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : core::lower_case(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

/// "80gb" of these units: 80; 0: no size.
double sized(const std::string& word, std::initializer_list<std::string_view> units) {
  std::size_t digits = 0;
  while (digits < word.size() && std::isdigit(static_cast<unsigned char>(word[digits])) != 0) {
    ++digits;
  }
  constexpr std::size_t kMostDigits = 6;  // no GPU has a petabyte
  const std::string unit = word.substr(digits);
  return digits > 0 && std::find(units.begin(), units.end(), unit) != units.end()
             ? std::stod(word.substr(0, std::min(digits, kMostDigits)))
             : 0;
}

double memory_word(const std::string& word) { return sized(word, {"g", "gb", "gib"}); }
double power_word(const std::string& word) { return sized(word, {"w", "watt", "watts"}); }

/// Servers that carry SXM or OAM boards are called by their names too.
std::string board_word(const std::string& word) {
  const bool server = word == "oam" || word == "hgx" || word == "dgx" || word == "teton";
  return word.starts_with("sxm") || server ? "sxm"
         : word.starts_with("pcie")        ? "pcie"
         : word == "nvl"                   ? "nvl"
                                           : "";
}

bool maker_word(const std::string& word) {
  static constexpr std::array<std::string_view, 22> kWords = {
      "nvidia", "amd",       "instinct", "tesla",       "geforce",  "quadro",  "rtx",   "gpu",
      "gpus",   "ada",       "ultra",    "superchip",   "volta",    "turing",  "grand", "ampere",
      "hopper", "blackwell", "grace",    "accelerator", "superpod", "lovelace"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// "8x a100", "8xa100": how many is another column's.
std::string without_count(const std::string& word) {
  std::size_t digits = 0;
  while (digits < word.size() && std::isdigit(static_cast<unsigned char>(word[digits])) != 0) {
    ++digits;
  }
  const bool count = digits > 0 && digits < word.size() && word[digits] == 'x';
  return count ? word.substr(digits + 1) : word;
}

/// "80 gb" as one word, "40" where a board has so much memory, "mi 300x" as one.
std::vector<std::string> joined(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 8> kSizes = {"16", "32", "40",  "48",
                                                             "80", "94", "141", "192"};
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const bool unit = word == "g" || word == "gb" || word == "gib";
    const bool digits = !out.empty() && !out.back().empty() &&
                        std::all_of(out.back().begin(), out.back().end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    if ((unit && digits) || (!out.empty() && out.back() == "mi")) {
      out.back() += word;
    } else {
      out.push_back(without_count(word));
    }
  }
  for (std::size_t i = 1; i < out.size(); ++i) {
    const bool size = std::find(kSizes.begin(), kSizes.end(), out[i]) != kSizes.end();
    out[i] += size ? "gb" : "";
  }
  std::erase(out, "");
  return out;
}

/// Boards that differ from an entry's by little: the entry stands for them.
/// Source: data sheets: A10G 125 of 125 TFLOP/s and 600 GB/s, MI250 362 of 383 TFLOP/s.
std::string stand_in(const std::string& model) {
  return model == "a10g" ? "a10" : model == "mi250" ? "mi250x" : model;
}

/// "2.4 TB/s", "3350GB/s": the memory's bandwidth [GB/s]; 0: not said.
double bandwidth_in(const std::string& text) {
  const std::string words = core::lower_case(text);
  for (const auto& [unit, factor] : {std::pair{"tb/s", 1e3}, {"gb/s", 1.0}}) {
    const auto end = words.find(unit);
    if (end == std::string::npos || end == 0) {
      continue;
    }
    const auto last = words.find_last_not_of(' ', end - 1);
    auto begin = last;
    while (begin != std::string::npos && begin > 0 &&
           contains("0123456789.", words.substr(begin - 1, 1))) {
      --begin;
    }
    const double figure = begin == std::string::npos ? 0 : std::atof(words.c_str() + begin);
    if (figure > 0) {
      return figure * factor;
    }
  }
  return 0;
}

/// Names of which a word is not what it seems.
void settle_name(bool quadro, GpuName& name) {
  // What the driver calls a GH200 is the memory of its CPU: 120 and 480 GB beside 96 GB of HBM3.
  // Source: NVIDIA GH200 Grace Hopper Superchip data sheet, 2024.
  if (name.model == "gh200" && (name.memory == 120 || name.memory == 480)) {
    name.memory = 96;
  }
  // 128 GB are the module's, of two dies (AMD Instinct MI250X data sheet, 2021).
  if (name.model.starts_with("mi250") && name.memory == 128) {
    name.memory = 64;
  }
  // Turing's RTX 6000 and 8000 were Quadros, of 24 and 48 GB; Ada's RTX 6000 has 48.
  constexpr double kMostOfTuring = 24;
  const bool turing = name.model == "6000" && name.memory > 0 && name.memory <= kMostOfTuring;
  if (turing ||
      (quadro && (name.model == "6000" || name.model == "8000" || name.model == "5000"))) {
    name.model = "quadro" + name.model;
  }
}

GpuName read_name(const std::string& text) {
  GpuName name;
  bool quadro = false;
  name.bandwidth = bandwidth_in(text);
  for (std::string word : joined(words_of(text))) {
    if (word.starts_with("rtx") && word.size() > 3) {
      word = word.substr(3);
    }
    if (memory_word(word) > 0) {
      name.memory = memory_word(word);
    } else if (power_word(word) > 0) {
      name.power = power_word(word);
    } else if (word.starts_with("hbm")) {
      name.stacks = word;
    } else if (!board_word(word).empty()) {
      name.board = board_word(word);
    } else if (name.model.empty() && !maker_word(word)) {
      name.model = word;
    } else if (word == "ti" || word == "super" || word == "laptop") {
      name.model += word;  // another chip
    }
    quadro = quadro || word == "quadro";
  }
  settle_name(quadro, name);
  return name;
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
    const GpuName name = read_name(entry);
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

}  // namespace

std::string gpu_entry(const std::string& name, const Catalogue& catalogue, Assumed& assumed) {
  GpuName wanted = read_name(name);
  if (const std::string other = stand_in(wanted.model); other != wanted.model) {
    wanted.model = other;
    assume(assumed, "gpu");
  }
  const auto candidates = candidates_of(wanted, catalogue);
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

bool apply_variant(const std::string& text, gpu::GpuSpec& gpu) {
  const GpuName name = read_name(text);
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
  const GpuName a = read_name(entry);
  const GpuName b = read_name(other);
  return a.model == b.model && a.board == b.board;
}

namespace {

/// Models that are known by their names: those of the catalogue, and others that are sold.
bool known_model(const std::string& model) {
  static constexpr std::array<std::string_view, 53> kModels = {
      "p100",   "p40",    "v100",   "t4",     "a2",     "a10",    "a16",    "a30",   "a40",
      "a100",   "a800",   "a4000",  "a5000",  "a6000",  "l4",     "l20",    "l40",   "l40s",
      "h20",    "h100",   "h200",   "h800",   "gh200",  "b100",   "b200",   "b300",  "gb10",
      "gb200",  "gb300",  "2080ti", "3060",   "3070",   "3080",   "3080ti", "3090",  "3090ti",
      "4070",   "4080",   "4090",   "5070",   "5080",   "5090",   "mi50",   "mi100", "mi210",
      "mi250x", "mi300a", "mi300x", "mi308x", "mi325x", "mi350x", "mi355x", "mi455x"};
  return std::find(kModels.begin(), kModels.end(), model) != kModels.end();
}

}  // namespace

bool is_other_gpu(const std::string& text, const gpu::GpuSpec& gpu) {
  const GpuName there = read_name(text);
  const GpuName here = read_name(gpu.name);
  const std::string model = stand_in(there.model);
  if (!known_model(model) || !known_model(stand_in(here.model))) {
    return false;
  }
  const double memory = gpu.memory / 1_GiB;
  return model != stand_in(here.model) ||
         (!there.board.empty() && !here.board.empty() && there.board != here.board) ||
         (there.memory > 0 && std::abs(there.memory / memory - 1) > kSameMemory);
}

bool limited_power(const RunRow& row) {
  static constexpr std::array<const char*, 6> kWords = {
      "power-limited", "power limited", "power-capped", "power capped", "power cap", "power limit"};
  return contains_any(core::lower_case(row.gpu + " " + row.notes), kWords) &&
         read_name(row.gpu).power == 0 && training_words(row).power == 0;
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
