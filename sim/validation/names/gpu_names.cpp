#include "sim/validation/names/gpu_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/cells/cell_words.h"
#include "sim/validation/cells/text_has.h"
#include "sim/validation/names/instance_names.h"

namespace headway::validation {

namespace {

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

/// A size of memory without its unit: "A100-40". What counts nodes or racks is none, nor is a
/// factor, and a size that has its unit stands beside no other.
void add_units(std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 8> kSizes = {"16", "32", "40",  "48",
                                                             "80", "94", "141", "192"};
  static constexpr std::array<std::string_view, 14> kCounted = {
      "node", "nodes", "server", "servers", "host",     "hosts", "machine",
      "gpu",  "gpus",  "rack",   "racks",   "machines", "of",    "x"};
  const auto among = [](const auto& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  const bool stated = std::any_of(words.begin(), words.end(),
                                  [](const auto& word) { return memory_word(word) > 0; });
  for (std::size_t i = 1; i < words.size() && !stated; ++i) {
    const bool counts = i + 1 < words.size() && among(kCounted, words[i + 1]);
    words[i] += among(kSizes, words[i]) && !counts && words[i - 1] != "x" ? "gb" : "";
  }
}

/// "80 gb" and "275 w" as one word, "40" where a board has so much memory, "mi 300x" as one.
std::vector<std::string> joined(const std::vector<std::string>& words) {
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
  add_units(out);
  std::erase(out, "");
  return out;
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
  static constexpr std::array<std::string_view, 33> kWords = {
      "x",      "with",  "memory", "server", "edition", "node",    "nodes",   "per",  "of",
      "module", "gcd",   "gcds",   "die",    "board",   "boards",  "limited", "rack", "racks",
      "capped", "power", "to",     "at",     "on",      "each",    "limit",   "cap",  "servers",
      "aws",    "azure", "gcp",    "oci",    "ec2",     "instance"};
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
    const bool model = models.contains(word) || nearest_gpu(word) != word;
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

}  // namespace

// Source: data sheets: A10G 125 of 125 TFLOP/s and 600 GB/s, MI250 362 of 383 TFLOP/s.
std::string nearest_gpu(const std::string& model) {
  return model == "a10g" ? "a10" : model == "mi250" ? "mi250x" : model;
}

GpuName read_gpu_name(const std::string& text, const GpuModels& models) {
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
  for (const InstanceName& instance : cell.names) {
    name.instance = name.instance.node[0] == '\0' ? instance : name.instance;
  }
  const bool named = std::any_of(others.begin(), others.end(),
                                 [&](const std::string& word) { return models.contains(word); });
  if (!named && models.contains(name.instance.gpu)) {
    others.insert(others.begin(), name.instance.gpu);
  }
  take_model(others, models, name);
  name.instance = name.model == name.instance.gpu ? name.instance : InstanceName{};
  for (const InstanceName& instance : cell.names) {
    if (name.instance.node[0] == '\0' || std::string_view(instance.node) != name.instance.node) {
      add_word(name.unknown, instance.text);
    }
  }
  settle_name(quadro, name);
  return name;
}

const GpuModels& sold_gpus() {
  static const GpuModels models = {
      "p100",   "p40",    "v100",   "t4",     "a2",     "a10",    "a16",    "a30",   "a40",
      "a100",   "a800",   "a4000",  "a5000",  "a6000",  "l4",     "l20",    "l40",   "l40s",
      "h20",    "h100",   "h200",   "h800",   "gh200",  "b100",   "b200",   "b300",  "gb10",
      "gb200",  "gb300",  "2080ti", "3060",   "3070",   "3080",   "3080ti", "3090",  "3090ti",
      "4070",   "4080",   "4090",   "5070",   "5080",   "5090",   "mi50",   "mi100", "mi210",
      "mi250x", "mi300a", "mi300x", "mi308x", "mi325x", "mi350x", "mi355x", "mi455x"};
  return models;
}

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
  const bool named = !read_gpu_name(cell, sold_gpus()).model.empty() &&
                     sold_gpus().contains(read_gpu_name(cell, sold_gpus()).model);
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

}  // namespace headway::validation
