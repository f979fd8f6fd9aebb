// Names of GPUs, as published tables write them, and the formats they compute in.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/names/instance_names.h"
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
  std::string second;    ///< another model of the catalogue that it names too; empty: none
  std::string unknown;   ///< words that say nothing that is known
};

/// Models that a catalogue has: "h100", "mi300x".
using GpuModels = std::set<std::string>;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : core::lower_case(text)) {
    const bool digits =
        !words.back().empty() && words.back().find_first_not_of("0123456789") == std::string::npos;
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (c == '*' && digits) {
      words.back() += 'x';  // "8*A100"
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
             ? core::whole_text_as<double>(word.substr(0, std::min(digits, kMostDigits)))
                   .value_or(0)
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

/// "80 gb" and "275 w" as one word, "40" where a board has so much memory, "mi 300x" as one.
std::vector<std::string> joined(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 8> kSizes = {"16", "32", "40",  "48",
                                                             "80", "94", "141", "192"};
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const bool unit = word == "g" || word == "gb" || word == "gib" || word == "w" ||
                      word == "watt" || word == "watts";
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

/// "a100sxm480gb" as "a100", "sxm4" and "80gb", "h100s" as "h100"; V100S is a GPU of its own.
std::vector<std::string> parted(const std::string& word, const GpuModels& models) {
  if (models.contains(word)) {
    return {word};
  }
  if (word.ends_with("s") && word != "v100s" && models.contains(word.substr(0, word.size() - 1))) {
    return {word.substr(0, word.size() - 1)};
  }
  for (const std::string_view board : {"sxm", "pcie"}) {
    const auto at = word.find(board);
    if (at == std::string::npos || !models.contains(word.substr(0, at))) {
      continue;
    }
    std::size_t end = at + board.size();
    end += board == "sxm" && end < word.size() &&
                   std::isdigit(static_cast<unsigned char>(word[end])) != 0
               ? 1
               : 0;
    std::vector<std::string> parts{word.substr(0, at), word.substr(at, end - at)};
    if (end < word.size()) {
      parts.push_back(word.substr(end));
    }
    return parts;
  }
  return {word};
}

/// Words of a name, of which those that may be models are still together with "rtx".
std::vector<std::string> name_words(const std::string& text, const GpuModels& models) {
  std::vector<std::string> words;
  for (const std::string& word : joined(words_of(text))) {
    const bool rtx = word.starts_with("rtx") && word.size() > 3;
    for (std::string& part : parted(rtx ? word.substr(3) : word, models)) {
      words.push_back(std::move(part));
    }
  }
  return words;
}

/// A cell without names of instances, whose digits are no sizes, but with the models that they
/// name: "ND96isr_H100_v5".
std::string without_instances_but_models(const WithoutInstances& cell, const GpuModels& models) {
  std::string text = cell.text;
  for (const InstanceName& name : cell.names) {
    for (const std::string& word : words_of(name.text)) {
      text += models.contains(word) ? " " + word : "";
    }
  }
  return text;
}

/// Words beside a model that make it another chip: "3090 Ti", "4090 D", "H20-3e", "A800 40GB
/// Active" (a workstation's card with PCIe).
bool other_chip(const std::string& word) {
  static constexpr std::array<std::string_view, 8> kWords = {"ti", "super",  "laptop", "d",
                                                             "3e", "active", "maxq",   "mobile"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Words that say nothing of a GPU's speed.
bool plain_word(const std::string& word) {
  static constexpr std::array<std::string_view, 22> kWords = {
      "x",      "with",  "memory", "server", "edition", "node",   "nodes",   "per",
      "module", "gcd",   "gcds",   "die",    "board",   "boards", "limited", "limit",
      "capped", "power", "to",     "at",     "on",      "each"};
  const bool number = word.find_first_not_of("x0123456789") == std::string::npos;
  constexpr std::size_t kCount = 3;  // digits, or "x" and two
  return (number && word.size() < kCount) || word.size() == 1 || word.starts_with("nvl") ||
         std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool superchip(const std::string& word) { return word.starts_with("g") && word.ends_with("00"); }

/// Whether two models of a cell are one: "RTX PRO 6000", of which each half is one of the
/// catalogue's, and a superchip beside the GPU on it, "GH200 (H100 96GB)".
bool one_name(const std::string& a, const std::string& b) {
  const auto is = [&](std::string_view one, std::string_view other) {
    return (a == one && b == other) || (a == other && b == one);
  };
  return is("pro", "6000") || is("gh200", "h100") || is("gh200", "h200") || is("gb200", "b200") ||
         is("gb300", "b300");
}

/// Takes the model among the words of a name: the first that the catalogue has, else GH200 where
/// its two halves are named, else the first word that is nothing else.
void take_model(const std::vector<std::string>& words, const GpuModels& models, GpuName& name) {
  std::string first;
  std::string rest;
  bool grace = false;
  bool hopper = false;
  for (const std::string& word : words) {
    grace = grace || word == "grace";
    hopper = hopper || word == "hopper";
    const bool model = models.contains(word) || stand_in(word) != word;
    if (model && name.model.empty()) {
      name.model = word;
    } else if (model && word != name.model) {
      const bool one = one_name(name.model, word);
      name.model = one && superchip(word) ? word : name.model;
      name.second = one ? name.second : word;
    } else if (!model && other_chip(word) && !(first + name.model).empty()) {
      (name.model.empty() ? first : name.model) += word;
    } else if (!model && !maker_word(word)) {
      first = first.empty() ? word : first;
      add_word(rest, plain_word(word) ? "" : word);
    }
  }
  if (name.model.empty() && grace && hopper) {
    name.model = "gh200";
  }
  name.model = name.model.empty() ? first : name.model;
  name.unknown = rest;
}

GpuName read_name(const std::string& text, const GpuModels& models) {
  GpuName name;
  bool quadro = false;
  name.bandwidth = bandwidth_in(text);
  std::vector<std::string> others;
  const WithoutInstances cell = without_instances(undenied_cell(text));
  for (const std::string& word : name_words(without_instances_but_models(cell, models), models)) {
    if (memory_word(word) > 0) {
      name.memory = memory_word(word);
    } else if (power_word(word) > 0) {
      name.power = power_word(word);
    } else if (word.starts_with("hbm")) {
      name.stacks = word;
    } else if (!board_word(word).empty()) {
      name.board = board_word(word);
    } else {
      others.push_back(word);
    }
    quadro = quadro || word == "quadro";
  }
  take_model(others, models, name);
  for (const InstanceName& instance : cell.names) {
    add_word(name.unknown, instance.text);
  }
  settle_name(quadro, name);
  return name;
}

/// The models of a catalogue's entries, whose names have one each.
GpuModels models_of(const Catalogue& catalogue) {
  GpuModels models;
  for (const auto& [entry, gpu] : catalogue.gpus) {
    models.insert(read_name(entry, {}).model);
  }
  return models;
}

/// Models that are known by their names: those of the catalogue, and others that are sold.
const GpuModels& sold_models() {
  static const GpuModels models = {
      "p100",   "p40",    "v100",   "t4",     "a2",     "a10",    "a16",    "a30",   "a40",
      "a100",   "a800",   "a4000",  "a5000",  "a6000",  "l4",     "l20",    "l40",   "l40s",
      "h20",    "h100",   "h200",   "h800",   "gh200",  "b100",   "b200",   "b300",  "gb10",
      "gb200",  "gb300",  "2080ti", "3060",   "3070",   "3080",   "3080ti", "3090",  "3090ti",
      "4070",   "4080",   "4090",   "5070",   "5080",   "5090",   "mi50",   "mi100", "mi210",
      "mi250x", "mi300a", "mi300x", "mi308x", "mi325x", "mi350x", "mi355x", "mi455x"};
  return models;
}

/// "3g.40gb": slices of a GPU and their memory.
bool slices(const std::string& cell) {
  const std::string text = core::lower_case(cell);
  const auto digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (auto at = text.find("g."); at != std::string::npos; at = text.find("g.", at + 1)) {
    if (at > 0 && digit(at - 1) && digit(at + 2)) {
      return true;
    }
  }
  return false;
}

/// What a cell names that is no GPU of the catalogue, whatever stands beside it: chips that have no
/// entry, and parts of a GPU.
void check_chips(const std::string& cell) {
  static constexpr std::array<std::string_view, 55> kChips = {
      "tpu",       "tpus",  "trillium",  "ironwood", "gaudi",     "gaudi2",    "gaudi3",
      "habana",    "hpu",   "hpus",      "trainium", "trainium2", "trainium3", "trn1",
      "trn2",      "trn3",  "cerebras",  "wse",      "graphcore", "ipu",       "ipus",
      "ascend",    "npu",   "910a",      "910b",     "910b2",     "910b3",     "910c",
      "ponte",     "pvc",   "1550",      "mi50",     "mi60",      "mi100",     "mi210",
      "mi300c",    "titan", "cambricon", "kunlun",   "kunlunxin", "groq",      "lpu",
      "sambanova", "p100",  "k80",       "m60",      "p40",       "gtx",       "metax",
      "hygon",     "dcu",   "jetson",    "orin",     "gb10",      "v100s"};
  const bool named = !read_name(cell, sold_models()).model.empty() &&
                     sold_models().contains(read_name(cell, sold_models()).model);
  const auto site_word = [](const std::string& word) {
    return word == "ascend" || word == "titan";
  };
  for (const std::string& word : words_of(undenied_cell(cell))) {
    const bool chip = std::find(kChips.begin(), kChips.end(), without_count(word)) != kChips.end();
    if ((chip && !(named && site_word(word))) || word.starts_with("tpuv") ||
        word.starts_with("mlu")) {
      throw core::Error("unknown GPU " + cell);
    }
    if (word == "mig" || word == "vgpu" || slices(cell)) {
      throw core::Error("'" + cell + "' is a part of a GPU, which is not modelled");
    }
  }
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
    const GpuName name = read_name(entry, {});
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

}  // namespace

std::string gpu_entry(const std::string& name, const Catalogue& catalogue, Assumed& assumed) {
  check_chips(name);
  GpuName wanted = read_name(name, models_of(catalogue));
  if (!wanted.second.empty()) {
    throw core::Error(
        fmt::format("'{}' names two GPUs, {} and {}", name, wanted.model, wanted.second));
  }
  if (const std::string other = stand_in(wanted.model); other != wanted.model) {
    wanted.model = other;
    assume(assumed, "gpu");
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

std::string unknown_gpu_words(const std::string& name, const Catalogue& catalogue) {
  return read_name(name, models_of(catalogue)).unknown;
}

bool apply_variant(const std::string& text, const Catalogue& catalogue, gpu::GpuSpec& gpu) {
  const GpuName name = read_name(text, models_of(catalogue));
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
  const GpuName a = read_name(entry, {});
  const GpuName b = read_name(other, {});
  return a.model == b.model && a.board == b.board;
}

bool is_other_gpu(const std::string& text, const gpu::GpuSpec& gpu) {
  const GpuModels& sold = sold_models();
  const GpuName there = read_name(text, sold);
  const GpuName here = read_name(gpu.name, sold);
  const std::string model = stand_in(there.model);
  if (!sold.contains(model) || !sold.contains(stand_in(here.model))) {
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
         read_name(row.gpu, {}).power == 0 && training_words(row).power == 0;
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
