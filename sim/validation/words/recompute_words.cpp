// Words of the column `recompute`, and of the modules in `recompute_detail`.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/words/layout_words.h"

namespace headway::validation {

namespace {

using workload::Recompute;
using workload::RecomputePart;

/// What a phrase says.
enum class RecomputeSays {
  nothing,
  none,
  full,
  selective,
  part,
  module,  ///< a part by its name in Megatron-Core's recompute_modules
  some,    ///< it recomputes, what is not said
  block,
  layer,
  groups,  ///< every layer recomputes, so many of them from one kept input
  offload,
  every,
  of,
  ordinal,
  percent,
  matrix_products,   ///< a policy of XLA that keeps them
  input_projections  ///< one that keeps queries, keys and values only
};

struct RecomputePhrase {
  std::string_view phrase;
  RecomputeSays says;
  RecomputePart part = RecomputePart::core_attention;
  int period = 0;  ///< of an ordinal
};

constexpr RecomputePhrase kRecomputePhrases[] = {
    {"none", RecomputeSays::none},
    {"no", RecomputeSays::none},
    {"off", RecomputeSays::none},
    {"false", RecomputeSays::none},
    {"disabled", RecomputeSays::none},
    {"everythingsaveable", RecomputeSays::none},
    {"full", RecomputeSays::full},
    {"uniform", RecomputeSays::groups},
    {"yes", RecomputeSays::full},
    {"true", RecomputeSays::full},
    {"on", RecomputeSays::full},
    {"enabled", RecomputeSays::full},
    {"nothingsaveable", RecomputeSays::full},
    {"gradientcheckpointing", RecomputeSays::full},  // transformers: of every layer
    {"selective", RecomputeSays::selective},
    {"sac", RecomputeSays::selective},
    {"attn", RecomputeSays::part},
    {"attention", RecomputeSays::part},
    {"core", RecomputeSays::part},
    {"coreattn", RecomputeSays::module, RecomputePart::core_attention},
    {"coreattention", RecomputeSays::part},
    {"mlaupproj", RecomputeSays::module, RecomputePart::latent_up},
    {"layernorm", RecomputeSays::module, RecomputePart::norms},
    {"norms", RecomputeSays::part, RecomputePart::norms},
    {"moeact", RecomputeSays::module, RecomputePart::activation},
    {"gelu", RecomputeSays::part, RecomputePart::activation},
    {"swiglu", RecomputeSays::part, RecomputePart::activation},
    {"activationfunction", RecomputeSays::part, RecomputePart::activation},
    {"mlp", RecomputeSays::module, RecomputePart::mlp},
    {"moe", RecomputeSays::module, RecomputePart::experts},
    {"op", RecomputeSays::part, RecomputePart::operators},
    {"ops", RecomputeSays::part, RecomputePart::operators},
    {"operator", RecomputeSays::part, RecomputePart::operators},
    {"peroperator", RecomputeSays::part, RecomputePart::operators},
    {"ac", RecomputeSays::some},
    {"actckpt", RecomputeSays::some},
    {"activation", RecomputeSays::some},
    {"activations", RecomputeSays::some},
    {"checkpoint", RecomputeSays::some},
    {"checkpointed", RecomputeSays::some},
    {"checkpointing", RecomputeSays::some},
    {"ckpt", RecomputeSays::some},
    {"recompute", RecomputeSays::some},
    {"recomputed", RecomputeSays::some},
    {"recomputation", RecomputeSays::some},
    {"remat", RecomputeSays::some},
    {"rematerialization", RecomputeSays::some},
    {"offload", RecomputeSays::offload},
    {"offloaded", RecomputeSays::offload},
    {"offloading", RecomputeSays::offload},
    {"cpuoffload", RecomputeSays::offload},
    {"cpuoffloading", RecomputeSays::offload},
    {"block", RecomputeSays::block},
    {"partial", RecomputeSays::block},
    {"layer", RecomputeSays::layer},
    {"layers", RecomputeSays::layer},
    {"blocks", RecomputeSays::layer},
    {"wholelayer", RecomputeSays::layer},
    {"every", RecomputeSays::every},
    {"each", RecomputeSays::every},
    {"of", RecomputeSays::of},
    {"other", RecomputeSays::ordinal, {}, 2},
    {"second", RecomputeSays::ordinal, {}, 2},
    {"third", RecomputeSays::ordinal, {}, 3},
    {"fourth", RecomputeSays::ordinal, {}, 4},
    {"%", RecomputeSays::percent},
    {"dotssaveable", RecomputeSays::matrix_products},
    {"checkpointdots", RecomputeSays::matrix_products},
    {"dotswithnobatchdimssaveable", RecomputeSays::matrix_products},
    {"checkpointdotswithnobatchdims", RecomputeSays::matrix_products},
    {"minimal", RecomputeSays::matrix_products},
    {"saveqkvproj", RecomputeSays::input_projections},
    {"act", RecomputeSays::nothing},
    {"all", RecomputeSays::nothing},
    {"and", RecomputeSays::nothing},
    {"checkpoints", RecomputeSays::some},
    {"cpu", RecomputeSays::nothing},
    {"first", RecomputeSays::nothing},
    {"granularity", RecomputeSays::nothing},
    {"method", RecomputeSays::nothing},
    {"mode", RecomputeSays::nothing},
    {"nd", RecomputeSays::nothing},
    {"num", RecomputeSays::nothing},
    {"to", RecomputeSays::nothing},
    {"per", RecomputeSays::nothing},
    {"policy", RecomputeSays::nothing},
    {"rd", RecomputeSays::nothing},
    {"the", RecomputeSays::nothing},
    {"th", RecomputeSays::nothing},
    {"transformer", RecomputeSays::nothing},
    {"whole", RecomputeSays::nothing}};

/// What the words of a cell say together.
struct RecomputeSaid {
  bool none = false, full = false, selective = false, some = false, block = false, layer = false,
       groups = false;
  int period = 0, count = 0;
  bool share = false;     ///< the count is of a hundred layers
  bool fraction = false;  ///< "1/4": of what, is not said
};

/// "every 2nd", "8 layers", "8 of 32": which one a number is follows from the word before it.
void add_number(int number, RecomputeSays before, RecomputeSaid& said) {
  if (before == RecomputeSays::every || before == RecomputeSays::of) {
    said.period = number;
  } else {
    said.count = number;
  }
}

void add_part(RecomputePart part, RecomputeWords& out) {
  if (std::find(out.parts.begin(), out.parts.end(), part) == out.parts.end()) {
    out.parts.push_back(part);
  }
}

void add_phrase(const RecomputePhrase& phrase, RecomputeSaid& said, RecomputeWords& out) {
  switch (phrase.says) {
    case RecomputeSays::none:
      said.none = true;
      break;
    case RecomputeSays::full:
      said.full = true;
      break;
    case RecomputeSays::selective:
      said.selective = true;
      break;
    case RecomputeSays::some:
      said.some = true;
      break;
    case RecomputeSays::block:
      said.block = true;
      break;
    case RecomputeSays::layer:
      said.layer = true;
      break;
    case RecomputeSays::ordinal:
      said.period = phrase.period;
      break;
    case RecomputeSays::groups:
      said.full = said.groups = true;
      break;
    case RecomputeSays::offload:
      out.offload = true;
      break;
    case RecomputeSays::percent:
      said.share = true;
      break;
    case RecomputeSays::part:
    case RecomputeSays::module:
      add_part(phrase.part, out);
      break;
    case RecomputeSays::matrix_products:
    case RecomputeSays::input_projections:
      add_part(RecomputePart::core_attention, out);
      add_part(phrase.says == RecomputeSays::matrix_products ? RecomputePart::activation
                                                             : RecomputePart::mlp,
               out);
      add_part(RecomputePart::norms, out);
      out.open = true;
      out.nearness = "recompute: XLA's policy is read as the nearest parts of a layer";
      break;
    case RecomputeSays::every:
    case RecomputeSays::of:
    case RecomputeSays::nothing:
      break;
  }
}

/// Layers of which some recompute whole. Whether the words say so.
bool some_layers(const std::string& cell, RecomputeSaid& said, RecomputeWords& out) {
  constexpr int kPercent = 100;
  if (said.share && said.count < kPercent) {
    out.period = kPercent;
    out.layers = said.count;
  } else if (said.period > 1) {
    out.period = said.period;
    out.layers = std::clamp(said.count, 1, said.period);
    if (said.fraction) {
      out.open = true;
      out.nearness =
          fmt::format("recompute: '{}' is read as {} of {} layers", cell, out.layers, said.period);
    }
  } else if (said.count > 1 && !said.share && (said.block || said.layer)) {
    out.first_layers = said.count;
    out.open = out.open || !said.block;  // of each stage, or of the model
  } else if (said.block) {
    out.period = 2;  // half way between none and all
    out.open = true;
  } else {
    return false;
  }
  return true;
}

/// Megatron's method "uniform" with so many layers: all recompute, from one kept input a group.
void settle_groups(RecomputeSaid& said, RecomputeWords& out) {
  if (!said.groups || said.block) {
    return;
  }
  if (said.count > 1) {
    out.nearness = fmt::format(
        "recompute: every layer keeps its input here, not one of each group of {}", said.count);
  }
  said.count = 0;
  said.layer = false;
}

/// What offload beside no kind of recomputation leaves: no kind, read both ways.
bool only_offload(const RecomputeSaid& said, RecomputeWords& out) {
  if (!out.offload || said.none || said.full || said.selective || said.block || said.layer ||
      !out.parts.empty()) {
    return false;
  }
  out.kind = Recompute::none;
  out.open = true;
  out.nearness = "recompute: offload of activations is read as no recomputation";
  return true;
}

void decide(const std::string& cell, RecomputeSaid& said, RecomputeWords& out) {
  settle_groups(said, out);
  if (only_offload(said, out)) {
    return;
  }
  const bool other = said.full || said.selective || said.block || !out.parts.empty();
  if (said.none && !other) {
    out.kind = Recompute::none;
  } else if (said.none || (said.share && said.count == 0)) {
    throw core::Error("unknown recompute '" + cell + "'");
  } else if (some_layers(cell, said, out)) {
    out.kind = Recompute::full;
    out.parts.clear();
  } else if (said.full || said.share) {
    out.kind = Recompute::full;
    out.open = out.open || said.selective || !out.parts.empty();
    out.parts.clear();
  } else if (said.selective || !out.parts.empty()) {
    out.kind = Recompute::selective;
  } else if (said.layer || said.some) {
    out.kind = Recompute::full;
    out.open = out.open || said.some;
  } else {
    throw core::Error("unknown recompute '" + cell + "'");
  }
}

/// "1/4" and "1 in 4" are "1 of 4".
std::string with_ratios(const std::string& text, bool& fraction) {
  std::string out;
  const auto number = [&](std::size_t at) {
    const auto next = text.find_first_not_of(' ', at);
    return next != std::string::npos && std::isdigit(static_cast<unsigned char>(text[next])) != 0;
  };
  const auto after_number = [&] {
    const auto last = out.find_last_not_of(' ');
    return last != std::string::npos && std::isdigit(static_cast<unsigned char>(out[last])) != 0;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool slash = text[at] == '/';
    const std::size_t length = slash ? 1 : text.compare(at, 3, "in ") == 0 ? 2 : 0;
    if (length > 0 && after_number() && number(at + length)) {
      fraction = fraction || slash;
      out += " of ";
      at += length - 1;
    } else {
      out += text[at];
    }
  }
  return out;
}

/// Cells of one word: a flag, or the share of layers that recompute.
bool one_word(const std::string& cell, const std::vector<CellWord>& words, RecomputeWords& out) {
  if (words.size() == 1 && words[0].number && *words[0].number <= 1) {
    out.kind = *words[0].number == 1 ? Recompute::full : Recompute::none;
    return true;
  }
  const bool yes = cell == "Y" || cell == "y" || cell == "T";
  if (yes || cell == "N" || cell == "n" || cell == "F") {
    out.kind = yes ? Recompute::full : Recompute::none;
    return true;
  }
  if (all_denied(cell)) {
    const auto names = [&](std::initializer_list<RecomputeSays> kinds) {
      return std::any_of(words.begin(), words.end(), [&](const CellWord& word) {
        const bool technique = word.text == "gradientcheckpointing";  // no kind of it
        return word.phrase && !technique &&
               std::find(kinds.begin(), kinds.end(), kRecomputePhrases[*word.phrase].says) !=
                   kinds.end();
      });
    };
    if (names({RecomputeSays::full, RecomputeSays::groups, RecomputeSays::selective,
               RecomputeSays::part, RecomputeSays::module, RecomputeSays::block})) {
      throw core::Error("unknown recompute '" + cell + "'");  // one kind is denied, which is not?
    }
    const bool offload_only = names({RecomputeSays::offload});
    out.open = offload_only;  // what is denied is another thing
    out.kind = offload_only ? std::nullopt : std::optional(Recompute::none);
    return true;
  }
  constexpr int kPercent = 100;
  const double share = std::atof(cell.c_str());
  if (words.size() == 1 && share > 0 && share < 1) {
    out.kind = Recompute::full;
    out.period = kPercent;
    out.layers = std::max(1, static_cast<int>(std::lround(kPercent * share)));
    out.open = true;
    out.nearness = fmt::format("recompute: '{}' is read as a share of the layers", cell);
    return true;
  }
  return false;
}

/// A number that says nothing beside the words is told.
void tell_unused(const RecomputeSaid& said, RecomputeWords& out) {
  if (said.count > 1 && out.period == 1 && out.first_layers == 0 && !said.share) {
    add_word(out.unknown, std::to_string(said.count));
  }
}

}  // namespace

RecomputeWords recompute_words(const std::string& cell) {
  RecomputeWords out;
  if (cell.empty()) {
    return out;
  }
  static const std::vector<std::string_view> known = phrases_of(kRecomputePhrases);
  RecomputeSaid said;
  const std::vector<CellWord> words =
      read_words(with_ratios(undenied_cell(cell), said.fraction), known);
  if (one_word(cell, words, out)) {
    return out;
  }
  RecomputeSays before = RecomputeSays::nothing;
  for (const CellWord& word : words) {
    const bool last = &word == &words.back();
    if (word.number && last && before == RecomputeSays::selective) {
      said.period = *word.number;  // "selective 2" is torchtitan's selective_ac_option
      said.full = said.period == 1;
    } else if (word.number) {
      add_number(*word.number, before, said);
    } else if (word.phrase) {
      add_phrase(kRecomputePhrases[*word.phrase], said, out);
    } else {
      add_word(out.unknown, word.text);
    }
    before = word.phrase ? kRecomputePhrases[*word.phrase].says : RecomputeSays::nothing;
  }
  decide(cell, said, out);
  tell_unused(said, out);
  return out;
}

std::vector<RecomputePart> parts_in_detail(const std::string& detail) {
  if (detail.find("per-operator") != std::string::npos) {
    return {RecomputePart::operators};
  }
  const auto modules = detail.find("modules");
  const std::string words =
      modules == std::string::npos ? detail : detail.substr(std::min(modules + 8, detail.size()));
  RecomputeWords found;
  std::string word;
  for (const char c : words + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c == '_' ? "" : std::string(1, c);
      continue;
    }
    for (const RecomputePhrase& phrase : kRecomputePhrases) {
      if (phrase.says == RecomputeSays::module && phrase.phrase == word) {
        add_part(phrase.part, found);
      }
    }
    word.clear();
  }
  return found.parts;
}

}  // namespace headway::validation
