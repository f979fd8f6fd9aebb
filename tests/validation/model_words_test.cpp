// Names of models and words of notes that the columns of a shape cannot say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using workload::Offload;
using workload::OptimizerState;

TEST(ModelWords, NamesOfWhatNoColumnSaysAreRefused) {
  for (const char* name : {"BERT-large",
                           "T5-11B",
                           "ViT-22B",
                           "Whisper",
                           "DiT-XL",
                           "Stable Diffusion XL",
                           "Flux",
                           "LLaVA-1.5",
                           "Qwen2-VL-7B",
                           "Llama 3.2 11B Vision",
                           "Bamba-9B",
                           "RecurrentGemma-9B",
                           "Griffin",
                           "Hymba-1.5B",
                           "RetNet 6.7B",
                           "RWKV-6",
                           "Mamba-2 8B",
                           "Granite-4.0-H",
                           "Nemotron Nano 9B v2",
                           "Nemotron 3 Nano 30B-A3B",
                           "Falcon-H1-7B",
                           "Qwen3-Next-80B-A3B",
                           "Kimi Linear 48B",
                           "MiniMax-Text-01",
                           "DeepSeek-V3.2-Exp",
                           "DeepSeek-V3 (DSA)"}) {
    EXPECT_THAT(predicted({{"model", name}}).status,
                HasSubstr("skipped:unmodelled: '" + std::string(name) + "' has "));
  }
  for (const char* name :
       {"Llama 3 8B", "Nemotron-4 15B", "Granite 3 8B", "GPT-NeoX 20B", "Pythia-2.8B"}) {
    EXPECT_EQ(predicted({{"model", name}}).status, "ok") << name;
  }
  for (const char* name : {"DeepSeek-V3", "Grok-1 314B", "Kimi-K2"}) {  // beside arch dense
    EXPECT_EQ(
        predicted({{"model", name}}).status,
        fmt::format("ok-assumed: model: '{}' names a mixture, arch says dense and is taken", name));
  }
}

TEST(ModelWords, NamesOfImagesSoundsTablesAndOtherLayersAreRefused) {
  for (const char* name : {"SD 3.5 Large",
                           "PixArt-alpha",
                           "Open-Sora 1.1",
                           "Wan2.1 14B",
                           "HunyuanVideo",
                           "BLIP-2",
                           "ResNet-50",
                           "Swin-L",
                           "Chameleon 7B",
                           "Emu2",
                           "wav2vec 2.0",
                           "HuBERT",
                           "MusicGen large",
                           "VALL-E",
                           "ESM-2 15B",
                           "AlphaFold2",
                           "DLRM",
                           "mBART",
                           "NLLB-54B MoE",
                           "AlexaTM 20B (seq2seq)",
                           "XLNet",
                           "RoBERTa-like 1B",
                           "Longformer",
                           "Performer",
                           "ZAYA1 (CCA)",
                           "JetMoE-8B",
                           "BitNet b1.58 2B",
                           "Gemma 3n E4B (MatFormer)",
                           "Diffusion LM LLaDA-8B",
                           "Mixture-of-Depths 3B",
                           "Character.AI cross-layer KV",
                           "Universal Transformer looped Ouro 1.4B"}) {
    EXPECT_THAT(predicted({{"model", name}}).status,
                HasSubstr("skipped:unmodelled: '" + std::string(name) + "' has "));
  }
  for (const char* name : {"Swinburne 7B", "Emu-cluster Llama", "Albert 7B", "Performance GPT 1B",
                           "Chameleon Cloud GPT", "Dream of Llama", "Gemma 3 4B", "Audiobook GPT",
                           "Encore 7B", "Mochizuki 3B", "GPT pretrain"}) {
    EXPECT_EQ(predicted({{"model", name}}).status, "ok") << name;
  }
}

TEST(ModelWords, OtherAttentionAndArchitecturesAreRefused) {
  for (const char* attention : {"gqa, CCA", "Longformer", "Performer", "BigBird", "cross-layer KV",
                                "mha, mixture of attention"}) {
    EXPECT_EQ(predicted({{"attention", attention}}).status,
              std::string("skipped:unmodelled: attention '") + attention + "'");
  }
  EXPECT_EQ(predicted({{"attention", "gqa, no CCA"}}).status, "ok");
  for (const char* arch :
       {"seq2seq transformer", "looped decoder", "mixture-of-depths decoder", "dense BitNet"}) {
    EXPECT_THAT(predicted({{"arch", arch}}).status, HasSubstr("skipped:unmodelled: architecture"));
  }
}

// The catalogue's own model where the columns are its; each column that is not is told.
TEST(ModelWords, AModelOfTheCatalogueIsTakenWhereItsColumnsAgree) {
  const auto& falcon = catalogue().models.at("falcon-h1-7b");
  const Cells cells{{"model", "Falcon-H1-7B"}, {"arch", "hybrid"},  {"n_layers", "44"},
                    {"d_model", "3072"},       {"n_heads", "12"},   {"n_kv_heads", "2"},
                    {"d_ffn", "12288"},        {"vocab", "130048"}, {"attention", ""},
                    {"head_dim", ""}};
  EXPECT_EQ(scenario(cells).model.mixer, falcon.mixer);
  EXPECT_EQ(scenario(cells).model.layer_pattern, falcon.layer_pattern);
  Cells fewer = cells;
  fewer["n_layers"] = "40";
  EXPECT_EQ(predicted(fewer).status,
            "skipped:unmodelled: 'Falcon-H1-7B' has layers of state spaces, and columns are not "
            "the catalogue's falcon-h1-7b (n_layers 40 for 44)");
}

/// A run that states no shape.
Cells named(const char* model, Cells changes = {}) {
  for (const char* column : {"n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "d_ffn",
                             "gated_mlp", "vocab", "arch", "attention"}) {
    changes.insert({column, ""});
  }
  changes.insert({"model", model});
  return changes;
}

// A name that is one of the catalogue's alone says what no column does; told, and an assumption.
TEST(ModelWords, ANameStandsForColumnsThatAreNotThere) {
  for (const auto& [name, entry] :
       {std::pair("Llama-3.1-8B", "llama-3.1-8b"), std::pair("llama 3.1 8b", "llama-3.1-8b"),
        std::pair("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        std::pair("Meta-Llama-3-8B", "llama-3.1-8b"),
        std::pair("Qwen3-30B-A3B", "qwen3-30b-a3b")}) {
    const auto model = scenario(named(name)).model;
    const workload::ModelSpec& known = catalogue().models.at(entry);
    EXPECT_EQ(model.layers, known.layers) << name;
    EXPECT_EQ(model.hidden, known.hidden) << name;
    EXPECT_EQ(model.moe.has_value(), known.moe.has_value()) << name;
    EXPECT_EQ(model.key_value_heads, known.key_value_heads) << name;
    EXPECT_THAT(predicted(named(name)).assumed, Contains("model")) << name;
    EXPECT_THAT(predicted(named(name)).status,
                HasSubstr(std::string("is taken as the catalogue's ") + entry));
  }
  EXPECT_EQ(predicted(named("Llama")).status,
            "skipped:n_layers is not stated, and the catalogue has no such model");
  EXPECT_THAT(predicted(named("Llama-3.1-8B", {{"params_b", "7"}})).status,
              HasSubstr("params_b 7 is not the catalogue's llama-3.1-8b (8.03)"));
  EXPECT_THAT(predicted(named("Llama-3.1-8B", {{"d_ffn", "11008"}})).status,
              HasSubstr("columns are not the catalogue's llama-3.1-8b (d_ffn 11008 for"));
  EXPECT_THAT(predicted(named("Llama-3.1-8B", {{"params_b", "8"}})).status,
              testing::StartsWith("ok-assumed"));
}

TEST(ModelWords, ArchitecturesMayBeNamesOfAttentionOrFamilies) {
  for (const char* arch : {"MQA", "GQA", "BLOOM-like, ALiBi", "mqa, parallel attention", "RoPE"}) {
    EXPECT_EQ(predicted({{"arch", arch}}).status, "ok") << arch;
  }
  const Cells single{{"arch", "MQA"}, {"attention", ""}, {"n_kv_heads", ""}};
  EXPECT_EQ(scenario(single).model.key_value_heads, 1);
}

TEST(ModelWords, AdaptersAreTrainedWhereTheyAreNamed) {
  struct Case {
    const char* column;
    const char* text;
    int rank;
    workload::BaseWeights base;
  };
  using workload::BaseWeights;
  for (const Case& c : {Case{"model", "Llama 2 70B LoRA", 16, BaseWeights::full},
                        Case{"model", "Llama 3 8B QLoRA", 16, BaseWeights::nf4},
                        Case{"arch", "dense+LoRA", 16, BaseWeights::full},
                        Case{"arch", "lora", 16, BaseWeights::full},
                        Case{"notes", "LoRA r=8, base frozen", 8, BaseWeights::full},
                        Case{"notes", "QLoRA 4 bit, rank 64", 64, BaseWeights::nf4}}) {
    const auto model = scenario({{c.column, c.text}}).model;
    ASSERT_TRUE(model.adapters.has_value()) << c.text;
    EXPECT_EQ(model.adapters->rank, c.rank) << c.text;
    EXPECT_EQ(model.adapters->base, c.base) << c.text;
    EXPECT_THAT(predicted({{c.column, c.text}}).assumed, Contains("adapters")) << c.text;
  }
  EXPECT_EQ(predicted({{"model", "Llama 3 8B LoRA rank 16 on all linear layers"}}).status, "ok");
  EXPECT_EQ(but_unread(predicted({{"notes", "LoRA rank 16 on all linear layers"}}).status),
            "ok-assumed: notes: their words for adapters, optimizer or offload are taken for this "
            "run, adapters of rank 16");
  EXPECT_FALSE(scenario({{"notes", "full fine-tuning, no LoRA"}}).model.adapters.has_value());
}

TEST(ModelWords, TrainingBesideOtherModelsIsRefusedByName) {
  for (const char* word : {"DPO", "GRPO", "PPO", "RLHF", "PEFT", "distillation"}) {
    const std::string text = std::string("Llama 3 8B ") + word;
    EXPECT_THAT(predicted({{"model", text}}).status, HasSubstr("unmodelled: training by '"));
  }
  for (const char* name :
       {"Llama-3-8B RLOO", "Llama-3-8B ORPO", "Llama KTO", "Reward model 7B", "Llama 8B inference",
        "Llama-2-7b GaLore", "Llama-2-7b IA3", "prefix tuning Llama-7B", "Llama prompt-tuning",
        "Llama-3.1-8B-Instruct + Medusa heads", "Llama-3-8B (RL)"}) {
    EXPECT_THAT(predicted({{"model", name}}).status, HasSubstr("unmodelled: training by '"))
        << name;
  }
  EXPECT_EQ(predicted({{"model", "DeepSeek-R1-Distill-Llama-8B"}}).status, "ok");
  EXPECT_EQ(predicted({{"notes", "used for inference and RL later"}}).status_class, "ok");
}

TEST(ModelWords, NotesNameTheOptimizer) {
  const auto state = [](const char* notes) {
    return scenario({{"notes", notes}}).training.optimizer_state;
  };
  EXPECT_EQ(state("8-bit Adam"), OptimizerState::adam_8bit);
  EXPECT_EQ(state("Muon optimizer"), OptimizerState::muon);
  EXPECT_EQ(state("distributed optimizer"), OptimizerState::adam_fp32);
  EXPECT_THAT(predicted({{"notes", "8-bit Adam"}}).status, HasSubstr("are taken for this run"));
  EXPECT_THAT(predicted({{"notes", "Adafactor"}}).status, HasSubstr("Adafactor is read as"));
  EXPECT_THAT(predicted({{"notes", "Adafactor"}}).assumed, Contains("optimizer"));
}

TEST(ModelWords, WordsForTheSoftwareNameOffloadToo) {
  const Cells cells{{"era", "DeepSpeed ZeRO-3 offload"},
                    {"sharding", "zero3"},
                    {"pp", "1"},
                    {"tp", "1"},
                    {"dp", "16"}};
  EXPECT_EQ(scenario(cells).parallelism.offload, workload::Offload::optimizer);
  EXPECT_THAT(predicted({{"notes", "varlen attention"}}).assumed, Contains("documents"));
}

TEST(ModelWords, NotesNameWhatLeavesTheGpu) {
  const auto offload = [](const char* notes) {
    return scenario({{"notes", notes}}).parallelism.offload;
  };
  EXPECT_EQ(offload("activation offload to CPU"), Offload::activations);
  EXPECT_EQ(offload("optimizer offloaded to CPU (ZeRO-Offload)"), Offload::optimizer);
  EXPECT_EQ(offload("optimizer offload and activation offload"), Offload::all);
  EXPECT_EQ(offload("no offload"), Offload::none);
  EXPECT_EQ(offload("CPU offload"), Offload::optimizer);
  EXPECT_THAT(predicted({{"notes", "CPU offload"}}).assumed, Contains("offload"));
}

TEST(ModelWords, NotesNamePackedDocumentsAndLimitsOfPower) {
  for (const Cells& cells : {Cells{{"notes", "packed sequences"}}, Cells{{"model", "SFT packed"}},
                             Cells{{"notes", "seq varies, average length 700"}}}) {
    EXPECT_EQ(but_unread(predicted(cells).status),
              "ok-assumed: documents in a sequence are read as one");
    EXPECT_THAT(predicted(cells).assumed, Contains("documents"));
  }
  const Cells limited{{"notes", "power cap 500 W"}};
  EXPECT_EQ(scenario(limited).cluster.node.gpu.power.si(), 500);
  EXPECT_THAT(predicted(limited).assumed, IsEmpty());
  EXPECT_THAT(predicted({{"notes", "power cap"}}).assumed, Contains("power"));
}

}  // namespace
}  // namespace headway::validation
