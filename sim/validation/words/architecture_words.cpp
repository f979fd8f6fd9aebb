// Names of models whose architecture no column of a shape says.
#include <cctype>

#include "sim/core/text.h"
#include "sim/validation/words/model_words.h"

namespace headway::validation {

namespace {

constexpr const char* kStateSpaces = "layers of state spaces";
constexpr const char* kLinear = "layers of linear attention or recurrence";
constexpr const char* kSparse = "sparse attention";
constexpr const char* kEncoder = "an encoder";
constexpr const char* kImages = "an encoder of images, and how many images a sequence has";
constexpr const char* kDiffusion = "a diffusion model";
constexpr const char* kShared = "keys and values that layers share";

struct NamePhrase {
  std::string_view phrase;
  const char* untold;
};

constexpr NamePhrase kNamePhrases[] = {{"mamba", kStateSpaces},
                                       {"jamba", kStateSpaces},
                                       {"zamba", kStateSpaces},
                                       {"bamba", kStateSpaces},
                                       {"hymba", kStateSpaces},
                                       {"samba", kStateSpaces},
                                       {"falconmamba", kStateSpaces},
                                       {"falconh1", kStateSpaces},
                                       {"nemotronh", kStateSpaces},
                                       {"nemotronnano", kStateSpaces},
                                       {"nemotron3nano", kStateSpaces},
                                       {"nemotron3super", kStateSpaces},
                                       {"nemotron3ultra", kStateSpaces},
                                       {"granite4h", kStateSpaces},
                                       {"granite4htiny", kStateSpaces},
                                       {"granite4hsmall", kStateSpaces},
                                       {"rwkv", kLinear},
                                       {"retnet", kLinear},
                                       {"hyena", kLinear},
                                       {"stripedhyena", kLinear},
                                       {"griffin", kLinear},
                                       {"hawk", kLinear},
                                       {"recurrentgemma", kLinear},
                                       {"xlstm", kLinear},
                                       {"deltanet", kLinear},
                                       {"qwen3next", kLinear},
                                       {"qwen3.5", kLinear},
                                       {"kimilinear", kLinear},
                                       {"minimaxtext", kLinear},
                                       {"minimax01", kLinear},
                                       {"minimaxm1", kLinear},
                                       {"deepseekv3.2", kSparse},
                                       {"dsa", kSparse},
                                       {"glm5", kSparse},
                                       {"bert", kEncoder},
                                       {"roberta", kEncoder},
                                       {"deberta", kEncoder},
                                       {"modernbert", kEncoder},
                                       {"electra", kEncoder},
                                       {"t5", kEncoder},
                                       {"mt5", kEncoder},
                                       {"byt5", kEncoder},
                                       {"ul2", kEncoder},
                                       {"bart", kEncoder},
                                       {"whisper", kEncoder},
                                       {"vit", kEncoder},
                                       {"clip", kEncoder},
                                       {"siglip", kEncoder},
                                       {"vl", kImages},
                                       {"vlm", kImages},
                                       {"vision", kImages},
                                       {"multimodal", kImages},
                                       {"llava", kImages},
                                       {"internvl", kImages},
                                       {"pixtral", kImages},
                                       {"paligemma", kImages},
                                       {"idefics", kImages},
                                       {"dit", kDiffusion},
                                       {"sdxl", kDiffusion},
                                       {"sd3", kDiffusion},
                                       {"stablediffusion", kDiffusion},
                                       {"unet", kDiffusion},
                                       {"flux", kDiffusion},
                                       {"cla", kShared},
                                       {"yoco", kShared}};

}  // namespace

std::string untold_architecture(const std::string& model) {
  static const std::vector<std::string_view> known = phrases_of(kNamePhrases);
  for (const CellWord& word : read_words(model, known)) {
    if (word.phrase) {
      return kNamePhrases[*word.phrase].untold;
    }
  }
  return "";
}

std::string bare_name(const std::string& name) {
  std::string bare;
  for (const char c : core::lower_case(name)) {
    bare += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : "";
  }
  return bare;
}

}  // namespace headway::validation
