#include "sim/import/layer_letters.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "sim/core/shown_text.h"

namespace headway::import {

namespace {

using workload::LayerContent;

struct HalfName {
  char letter;
  std::string_view word;
  LayerContent content;
};
constexpr std::array kHalves{HalfName{'M', "mamba", LayerContent::mixer_only},
                             HalfName{'*', "attention", LayerContent::attention_only},
                             HalfName{'-', "mlp", LayerContent::mlp_only},
                             HalfName{'E', "moe", LayerContent::experts_only}};

/// Letters that Megatron-LM knows and that have no place in such a pattern here.
struct OtherLetter {
  char letter;
  const char* what;
};
constexpr std::array kOtherLetters{OtherLetter{'G', ", a gated delta network,"},
                                   OtherLetter{'D', ", sparse attention by an indexer,"},
                                   OtherLetter{'+', ", latent attention,"}};

std::string unknown_letter(char letter) {
  const auto* const other =
      std::ranges::find(kOtherLetters, letter, [](const OtherLetter& one) { return one.letter; });
  return fmt::format(
      "'{}'{} cannot be a layer of its own; known are M (Mamba-2), * (attention), - "
      "(MLP) and E (experts)",
      core::visible(std::string(1, letter)), other == kOtherLetters.end() ? "" : other->what);
}

/// One prediction module, as its layers say it.
void add_prediction(LetteredLayers& out, const std::vector<LayerContent>& module) {
  const bool experts =
      std::ranges::find(out.layers, LayerContent::experts_only) != out.layers.end();
  ++out.predictions;
  if (out.problem.empty()) {
    out.problem = prediction_problem(module, experts);
  }
}

}  // namespace

std::string prediction_problem(const std::vector<LayerContent>& layers, bool experts) {
  const LayerContent second = experts ? LayerContent::experts_only : LayerContent::mlp_only;
  return layers == std::vector{LayerContent::attention_only, second}
             ? ""
             : fmt::format(
                   "a prediction module of this model can be attention and then {} ('{}'); "
                   "others are not modelled",
                   experts ? "experts" : "an MLP", experts ? "*E" : "*-");
}

LetteredLayers read_layer_letters(std::string_view text) {
  LetteredLayers out;
  std::vector<LayerContent> module;
  int begun = 0;  // layers before this chunk
  bool predicts = false;
  for (const char letter : text) {
    const auto* const half =
        std::ranges::find(kHalves, letter, [](const HalfName& one) { return one.letter; });
    if (letter == '/') {
      if (predicts) {
        add_prediction(out, std::exchange(module, {}));
      }
      predicts = true;
    } else if (letter == '|' && !predicts) {
      out.chunks.push_back(static_cast<int>(out.layers.size()) - begun);
      begun = static_cast<int>(out.layers.size());
    } else if (half == kHalves.end()) {
      out.problem = unknown_letter(letter);
      return out;
    } else {
      (predicts ? module : out.layers).push_back(half->content);
    }
  }
  if (predicts) {
    add_prediction(out, module);
  }
  if (!out.chunks.empty()) {
    out.chunks.push_back(static_cast<int>(out.layers.size()) - begun);
  }
  return out;
}

LetteredLayers read_half_words(const std::vector<std::string>& words) {
  LetteredLayers out;
  for (const std::string& word : words) {
    const auto* const half =
        std::ranges::find(kHalves, word, [](const HalfName& one) { return one.word; });
    if (half == kHalves.end()) {
      out.problem = fmt::format(
          "layers of type '{}' are not modelled; known are mamba, attention, mlp and moe",
          core::shortened(word));
      return out;
    }
    out.layers.push_back(half->content);
  }
  return out;
}

std::string layer_letters(const workload::ModelSpec& model, const std::vector<int>& chunks) {
  const auto& pattern = model.layer_pattern;
  if (pattern.empty() || (model.mixer && model.mixer->kind != workload::MixerKind::mamba2)) {
    return "";
  }
  std::string text;
  std::size_t chunk = 0;
  int left = chunks.empty() ? model.layers : chunks.front();
  for (int layer = 0; layer < model.layers; ++layer) {
    while (left == 0 && chunk + 1 < chunks.size()) {
      text += '|';
      left = chunks[++chunk];
    }
    const LayerContent content = pattern[static_cast<std::size_t>(layer) % pattern.size()];
    const auto* const half =
        std::ranges::find(kHalves, content, [](const HalfName& one) { return one.content; });
    if (half == kHalves.end()) {
      return "";
    }
    text += half->letter;
    --left;
  }
  for (int i = 0; i < model.multi_token_prediction; ++i) {
    text += model.moe ? "/*E" : "/*-";
  }
  return text;
}

std::vector<LayerContent> shortest_pattern(const std::vector<LayerContent>& layers) {
  for (std::size_t period = 1; period < layers.size(); ++period) {
    bool repeats = true;
    for (std::size_t i = period; i < layers.size() && repeats; ++i) {
      repeats = layers[i] == layers[i - period];
    }
    if (repeats) {
      return {layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(period)};
    }
  }
  return layers;
}

}  // namespace headway::import
