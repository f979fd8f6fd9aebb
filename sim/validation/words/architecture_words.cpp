// Names of models whose architecture no column of a shape says.
#include <array>
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
constexpr const char* kCompressed = "attention between convolutions over compressed heads";
constexpr const char* kBothSides = "an encoder and a decoder";
constexpr const char* kDrawn = "tokens of images, whose share of a sequence is open";
constexpr const char* kConvolutions = "convolutions or windows over images";
constexpr const char* kSounds = "an encoder or codes of sound";
constexpr const char* kScience = "layers of its own for molecules or weather";
constexpr const char* kTables = "the embedding tables of a recommender";
constexpr const char* kMixedHeads = "experts of attention heads";
constexpr const char* kNested = "matrices nested in one another and embeddings of each layer";
constexpr const char* kTernary = "weights of less than two bits";
constexpr const char* kLooped = "layers that run several times";
constexpr const char* kSkipped = "layers that tokens skip";
constexpr const char* kRecurrent = "recurrence over segments or steps";

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
                                       {"yoco", kShared},
                                       {"diffusion", kDiffusion},
                                       {"maskeddiffusion", kDiffusion},
                                       {"llada", kDiffusion},
                                       {"llada1.5", kDiffusion},
                                       {"llada2", kDiffusion},
                                       {"mdlm", kDiffusion},
                                       {"sedd", kDiffusion},
                                       {"dream7b", kDiffusion},
                                       {"sd1", kDiffusion},
                                       {"sd1.5", kDiffusion},
                                       {"sd2", kDiffusion},
                                       {"sd2.1", kDiffusion},
                                       {"sd3.5", kDiffusion},
                                       {"stablevideodiffusion", kDiffusion},
                                       {"pixart", kDiffusion},
                                       {"pixartalpha", kDiffusion},
                                       {"pixartsigma", kDiffusion},
                                       {"sora", kDiffusion},
                                       {"opensora", kDiffusion},
                                       {"opensoraplan", kDiffusion},
                                       {"wan2", kDiffusion},
                                       {"wan2.1", kDiffusion},
                                       {"wan2.2", kDiffusion},
                                       {"hunyuanvideo", kDiffusion},
                                       {"hunyuandit", kDiffusion},
                                       {"cogvideo", kDiffusion},
                                       {"cogvideox", kDiffusion},
                                       {"cogview", kDiffusion},
                                       {"ltxvideo", kDiffusion},
                                       {"moviegen", kDiffusion},
                                       {"mochi1", kDiffusion},
                                       {"imagen", kDiffusion},
                                       {"dalle", kDiffusion},
                                       {"dalle2", kDiffusion},
                                       {"dalle3", kDiffusion},
                                       {"kolors", kDiffusion},
                                       {"emuvideo", kDiffusion},
                                       {"svd", kDiffusion},
                                       {"emu2", kDrawn},
                                       {"emu3", kDrawn},
                                       {"emu3.5", kDrawn},
                                       {"chameleon7b", kDrawn},
                                       {"chameleon34b", kDrawn},
                                       {"chameleon30b", kDrawn},
                                       {"metachameleon", kDrawn},
                                       {"transfusion", kDrawn},
                                       {"januspro", kDrawn},
                                       {"showo", kDrawn},
                                       {"videopoet", kDrawn},
                                       {"parti20b", kDrawn},
                                       {"vqgan", kDrawn},
                                       {"blip", kImages},
                                       {"blip2", kImages},
                                       {"instructblip", kImages},
                                       {"flamingo", kImages},
                                       {"openflamingo", kImages},
                                       {"kosmos1", kImages},
                                       {"kosmos2", kImages},
                                       {"minicpmv", kImages},
                                       {"molmo", kImages},
                                       {"cogvlm", kImages},
                                       {"fuyu", kImages},
                                       {"qwenvl", kImages},
                                       {"qwen2.5omni", kImages},
                                       {"qwen3omni", kImages},
                                       {"phi3v", kImages},
                                       {"resnet", kConvolutions},
                                       {"resnext", kConvolutions},
                                       {"convnext", kConvolutions},
                                       {"efficientnet", kConvolutions},
                                       {"swin", kConvolutions},
                                       {"swinv2", kConvolutions},
                                       {"swintransformer", kConvolutions},
                                       {"yolo", kConvolutions},
                                       {"maskrcnn", kConvolutions},
                                       {"stylegan", kConvolutions},
                                       {"vae", kConvolutions},
                                       {"dino", kEncoder},
                                       {"dinov2", kEncoder},
                                       {"dinov3", kEncoder},
                                       {"beit", kEncoder},
                                       {"mae", kEncoder},
                                       {"segmentanything", kEncoder},
                                       {"distilbert", kEncoder},
                                       {"albertbase", kEncoder},
                                       {"albertlarge", kEncoder},
                                       {"albertxlarge", kEncoder},
                                       {"albertxxlarge", kEncoder},
                                       {"camembert", kEncoder},
                                       {"xlmr", kEncoder},
                                       {"xlmroberta", kEncoder},
                                       {"robertalike", kEncoder},
                                       {"bertlike", kEncoder},
                                       {"encoder", kEncoder},
                                       {"mlm", kEncoder},
                                       {"esm", kEncoder},
                                       {"esm1", kEncoder},
                                       {"esm2", kEncoder},
                                       {"esm3", kEncoder},
                                       {"longformer", kEncoder},
                                       {"bigbird", kEncoder},
                                       {"performer", kEncoder},
                                       {"linformer", kEncoder},
                                       {"reformer", kEncoder},
                                       {"nystromformer", kEncoder},
                                       {"perceiver", kEncoder},
                                       {"ernie3", kEncoder},
                                       {"ernie2", kEncoder},
                                       {"mbart", kBothSides},
                                       {"mbart50", kBothSides},
                                       {"alexatm", kBothSides},
                                       {"nllb", kBothSides},
                                       {"m2m100", kBothSides},
                                       {"seq2seq", kBothSides},
                                       {"encoderdecoder", kBothSides},
                                       {"pegasus", kBothSides},
                                       {"flant5", kBothSides},
                                       {"codet5", kBothSides},
                                       {"longt5", kBothSides},
                                       {"t0pp", kBothSides},
                                       {"switchc", kBothSides},
                                       {"switchtransformer", kBothSides},
                                       {"gshardm4", kBothSides},
                                       {"bartlarge", kBothSides},
                                       {"marian", kBothSides},
                                       {"wav2vec", kSounds},
                                       {"wav2vec2", kSounds},
                                       {"hubert", kSounds},
                                       {"wavlm", kSounds},
                                       {"data2vec", kSounds},
                                       {"conformer", kSounds},
                                       {"musicgen", kSounds},
                                       {"musiclm", kSounds},
                                       {"audiogen", kSounds},
                                       {"audiolm", kSounds},
                                       {"audio", kSounds},
                                       {"speech", kSounds},
                                       {"encodec", kSounds},
                                       {"valle", kSounds},
                                       {"valle2", kSounds},
                                       {"tts", kSounds},
                                       {"asr", kSounds},
                                       {"seamlessm4t", kSounds},
                                       {"voicebox", kSounds},
                                       {"qwen2audio", kSounds},
                                       {"qwenaudio", kSounds},
                                       {"alphafold", kScience},
                                       {"alphafold2", kScience},
                                       {"alphafold3", kScience},
                                       {"openfold", kScience},
                                       {"esmfold", kScience},
                                       {"rosettafold", kScience},
                                       {"evoformer", kScience},
                                       {"graphcast", kScience},
                                       {"gnn", kScience},
                                       {"gcn", kScience},
                                       {"dlrm", kTables},
                                       {"hstu", kTables},
                                       {"bert4rec", kTables},
                                       {"sasrec", kTables},
                                       {"deepfm", kTables},
                                       {"recommender", kTables},
                                       {"recommendation", kTables},
                                       {"cca", kCompressed},
                                       {"ccgqa", kCompressed},
                                       {"zaya", kCompressed},
                                       {"zaya1", kCompressed},
                                       {"crosslayer", kShared},
                                       {"crosslayerkv", kShared},
                                       {"crosslayerattention", kShared},
                                       {"jetmoe", kMixedHeads},
                                       {"mixtureofattention", kMixedHeads},
                                       {"mixtureofattentionheads", kMixedHeads},
                                       {"switchhead", kMixedHeads},
                                       {"gemma3n", kNested},
                                       {"matformer", kNested},
                                       {"bitnet", kTernary},
                                       {"b1.58", kTernary},
                                       {"1.58bit", kTernary},
                                       {"onebit", kTernary},
                                       {"ternary", kTernary},
                                       {"looped", kLooped},
                                       {"loopedtransformer", kLooped},
                                       {"universaltransformer", kLooped},
                                       {"ouro", kLooped},
                                       {"huginn", kLooped},
                                       {"recurrentdepth", kLooped},
                                       {"mixtureofrecursions", kLooped},
                                       {"mixtureofdepths", kSkipped},
                                       {"mixtureofdepth", kSkipped},
                                       {"xlnet", kRecurrent},
                                       {"transformerxl", kRecurrent},
                                       {"lstm", kRecurrent},
                                       {"gru", kRecurrent},
                                       {"rnn", kRecurrent}};

}  // namespace

std::string other_attention(const std::string& attention) {
  static constexpr std::array<std::string_view, 21> kOther = {"longformer",
                                                              "bigbird",
                                                              "performer",
                                                              "linformer",
                                                              "reformer",
                                                              "nystromformer",
                                                              "cca",
                                                              "ccgqa",
                                                              "compressedconvolutional",
                                                              "crosslayer",
                                                              "crosslayerkv",
                                                              "crosslayerattention",
                                                              "cla",
                                                              "yoco",
                                                              "sharedkv",
                                                              "kvsharing",
                                                              "mixtureofattention",
                                                              "switchhead",
                                                              "moba",
                                                              "dsa",
                                                              "nsa"};
  for (const CellWord& word : read_words(undenied(attention), kOther)) {
    if (word.phrase) {
      return word.text;
    }
  }
  return "";
}

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
