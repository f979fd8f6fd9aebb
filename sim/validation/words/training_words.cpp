// Words of names, architectures and notes for what is trained, and how its states lie in memory.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/validation/words/model_words.h"

namespace headway::validation {

namespace {

using workload::Offload;
using workload::OptimizerState;

enum class TrainingSays {
  adapters,
  four_bit_adapters,
  rank,
  all_products,
  adam8,
  muon,
  shampoo,
  soap,
  lion,
  adafactor,
  activations_leave,
  states_leave,
  offload,
  packed,
  all_weights,  ///< fine-tuning without adapters
  power,
  watts,
  unmodelled,
  unmodelled_name,  ///< in a name, an architecture or software; notes speak of much else
  beside_models     ///< software that trains beside other models, unless the row says otherwise
};

struct TrainingPhrase {
  std::string_view phrase;
  TrainingSays says;
};

constexpr TrainingPhrase kTrainingPhrases[] = {
    {"lora", TrainingSays::adapters},
    {"qlora", TrainingSays::four_bit_adapters},
    {"r", TrainingSays::rank},
    {"rank", TrainingSays::rank},
    {"allproducts", TrainingSays::all_products},
    {"alllinear", TrainingSays::all_products},
    {"alllinearlayers", TrainingSays::all_products},
    {"8bitadam", TrainingSays::adam8},
    {"8bitadamw", TrainingSays::adam8},
    {"adam8bit", TrainingSays::adam8},
    {"adamw8bit", TrainingSays::adam8},
    {"8bitoptimizer", TrainingSays::adam8},
    {"muon", TrainingSays::muon},
    {"shampoo", TrainingSays::shampoo},
    {"soap", TrainingSays::soap},
    {"lion", TrainingSays::lion},
    {"adafactor", TrainingSays::adafactor},
    {"activationoffload", TrainingSays::activations_leave},
    {"activationoffloading", TrainingSays::activations_leave},
    {"activationsoffloaded", TrainingSays::activations_leave},
    {"offloadactivations", TrainingSays::activations_leave},
    {"offloadedactivations", TrainingSays::activations_leave},
    {"optimizeroffload", TrainingSays::states_leave},
    {"optimizeroffloaded", TrainingSays::states_leave},
    {"optimizeroffloading", TrainingSays::states_leave},
    {"optimizerstatesoffloaded", TrainingSays::states_leave},
    {"optimizercpuoffload", TrainingSays::states_leave},
    {"offloadoptimizer", TrainingSays::states_leave},
    {"zerooffload", TrainingSays::states_leave},
    {"offload", TrainingSays::offload},
    {"offloaded", TrainingSays::offload},
    {"offloading", TrainingSays::offload},
    {"packed", TrainingSays::packed},
    {"packing", TrainingSays::packed},
    {"varlen", TrainingSays::packed},
    {"fullfinetuning", TrainingSays::all_weights},
    {"fullfinetune", TrainingSays::all_weights},
    {"fullft", TrainingSays::all_weights},
    {"fullparameterfinetuning", TrainingSays::all_weights},
    {"fullparameterfinetune", TrainingSays::all_weights},
    {"fullparametertraining", TrainingSays::all_weights},
    {"fullparametertuning", TrainingSays::all_weights},
    {"averagelength", TrainingSays::packed},
    {"variablelength", TrainingSays::packed},
    {"seqvaries", TrainingSays::packed},
    {"powercap", TrainingSays::power},
    {"powercapped", TrainingSays::power},
    {"powerlimit", TrainingSays::power},
    {"powerlimited", TrainingSays::power},
    {"w", TrainingSays::watts},
    {"watt", TrainingSays::watts},
    {"watts", TrainingSays::watts},
    {"peft", TrainingSays::unmodelled},
    {"dora", TrainingSays::unmodelled},
    {"distillation", TrainingSays::unmodelled},
    {"dpo", TrainingSays::unmodelled},
    {"grpo", TrainingSays::unmodelled},
    {"kto", TrainingSays::unmodelled},
    {"ppo", TrainingSays::unmodelled},
    {"rlhf", TrainingSays::unmodelled},
    {"dapo", TrainingSays::unmodelled},
    {"gspo", TrainingSays::unmodelled},
    {"orpo", TrainingSays::unmodelled},
    {"rloo", TrainingSays::unmodelled},
    {"simpo", TrainingSays::unmodelled},
    {"rlvr", TrainingSays::unmodelled},
    {"rewardmodel", TrainingSays::unmodelled},
    {"rewardmodelling", TrainingSays::unmodelled},
    {"rewardmodeling", TrainingSays::unmodelled},
    {"galore", TrainingSays::unmodelled},
    {"qgalore", TrainingSays::unmodelled},
    {"ia3", TrainingSays::unmodelled},
    {"bitfit", TrainingSays::unmodelled},
    {"prefixtuning", TrainingSays::unmodelled},
    {"prefixtuned", TrainingSays::unmodelled},
    {"prompttuning", TrainingSays::unmodelled},
    {"prompttuned", TrainingSays::unmodelled},
    {"ptuning", TrainingSays::unmodelled},
    {"ptuningv2", TrainingSays::unmodelled},
    {"adaptertuning", TrainingSays::unmodelled},
    {"medusa", TrainingSays::unmodelled},
    {"medusaheads", TrainingSays::unmodelled},
    {"lomo", TrainingSays::unmodelled},
    {"mezo", TrainingSays::unmodelled},
    {"relora", TrainingSays::unmodelled},
    {"vllm", TrainingSays::unmodelled},
    {"sglang", TrainingSays::unmodelled},
    {"tensorrtllm", TrainingSays::unmodelled},
    {"trtllm", TrainingSays::unmodelled},
    {"lmdeploy", TrainingSays::unmodelled},
    {"llama.cpp", TrainingSays::unmodelled},
    {"openrlhf", TrainingSays::beside_models},
    {"verl", TrainingSays::beside_models},
    {"trlx", TrainingSays::beside_models},
    {"nemoaligner", TrainingSays::beside_models},
    {"inferenceonly", TrainingSays::unmodelled},
    {"evaluationonly", TrainingSays::unmodelled},
    {"inference", TrainingSays::unmodelled_name},
    {"serving", TrainingSays::unmodelled_name},
    {"decoding", TrainingSays::unmodelled_name},
    {"rl", TrainingSays::unmodelled_name},
    {"reinforcementlearning", TrainingSays::unmodelled_name},
    {"contrastive", TrainingSays::unmodelled_name},
    {"embeddingmodel", TrainingSays::unmodelled_name},
    {"reranker", TrainingSays::unmodelled_name}};

void add_adapters(bool four_bit, TrainingWords& out) {
  if (!out.adapters) {
    out.adapters.emplace();
    out.adapters_open = true;
  }
  out.adapters->base = four_bit ? workload::BaseWeights::nf4 : out.adapters->base;
}

void set_optimizer(TrainingSays says, TrainingWords& out) {
  switch (says) {
    case TrainingSays::adam8:
      out.optimizer = OptimizerState::adam_8bit;
      break;
    case TrainingSays::muon:
      out.optimizer = OptimizerState::muon;
      break;
    case TrainingSays::shampoo:
      out.optimizer = OptimizerState::shampoo;
      break;
    case TrainingSays::soap:
      out.optimizer = OptimizerState::soap;
      break;
    case TrainingSays::lion:
      out.optimizer = OptimizerState::sgd_momentum;
      out.nearness = "notes: Lion is read as one moment in fp32";
      break;
    default:
      out.optimizer = OptimizerState::adam_8bit;
      out.nearness = "notes: Adafactor is read as Adam with moments of 8 bits";
      break;
  }
}

void add_offload(Offload what, bool open, TrainingWords& out) {
  const bool both = out.offload != Offload::none && out.offload != what && !open;
  out.offload_open = open && out.offload == Offload::none;
  out.offload = both ? Offload::all : open && !out.offload_open ? out.offload : what;
}

void add_phrase(TrainingSays says, const std::string& text, TrainingWords& out) {
  switch (says) {
    case TrainingSays::adapters:
      add_adapters(false, out);
      break;
    case TrainingSays::four_bit_adapters:
      add_adapters(true, out);
      break;
    case TrainingSays::activations_leave:
      add_offload(Offload::activations, false, out);
      break;
    case TrainingSays::states_leave:
      add_offload(Offload::optimizer, false, out);
      break;
    case TrainingSays::offload:
      add_offload(Offload::optimizer, true, out);
      break;
    case TrainingSays::packed:
      out.packed = true;
      break;
    case TrainingSays::unmodelled:
      out.refused = text;
      break;
    case TrainingSays::adam8:
    case TrainingSays::muon:
    case TrainingSays::shampoo:
    case TrainingSays::soap:
    case TrainingSays::lion:
    case TrainingSays::adafactor:
      set_optimizer(says, out);
      break;
    case TrainingSays::all_weights:
      out.all_weights = true;
      break;
    case TrainingSays::rank:
    case TrainingSays::all_products:
    case TrainingSays::power:
    case TrainingSays::watts:
    case TrainingSays::unmodelled_name:
    case TrainingSays::beside_models:
      break;
  }
}

/// The first word of a text that says this; empty: none does.
std::string word_that(TrainingSays says, const std::string& text) {
  static const std::vector<std::string_view> known = phrases_of(kTrainingPhrases);
  for (const CellWord& word : read_words(undenied(text), known)) {
    if (word.phrase && kTrainingPhrases[*word.phrase].says == says) {
      return word.text;
    }
  }
  return "";
}

/// Software whose trainer runs beside other models, where nothing else of the row names training of
/// one alone; empty: none.
std::string trains_beside(const RunRow& row) {
  static constexpr std::array<const char*, 6> kAlone = {"sft",         "fine-tun",  "finetun",
                                                        "pretraining", "pre-train", "pretrain"};
  const std::string software = word_that(TrainingSays::beside_models, row.era);
  const std::string said =
      core::lower_case(row.era + " " + row.model + " " + row.arch + " " + row.notes);
  return contains_any(said, kAlone) || software.empty()
             ? ""
             : software +
                   " (other models beside the one that trains; notes of SFT or pretraining "
                   "say that there are none)";
}

/// The word of free texts for training beside other models or for none, in a clause that does not
/// say that it was before this run or after it; empty: none.
std::string unmodelled_here(const std::string& text) {
  static constexpr std::array<const char*, 9> kElsewhen = {
      "before", "after", "later", "then ", "next", "followed", "prior", "earlier", "teacher not"};
  for (const std::string& clause : clauses_of(core::lower_case(text))) {
    const std::string word = word_that(TrainingSays::unmodelled, clause);
    if (!word.empty() && !contains_any(clause, kElsewhen)) {
      return word;
    }
  }
  return "";
}

enum class TextOf { name, notes };

/// Numbers that belong to a phrase: "r=16", "rank 16", "power cap 500 W"; in a name also "LoRA-16",
/// while notes speak of other numbers behind the word.
void read_text(const std::string& text, TextOf text_of, TrainingWords& out) {
  static const std::vector<std::string_view> known = phrases_of(kTrainingPhrases);
  const std::vector<CellWord> words = read_words(undenied(text), known);
  const auto says = [&](std::size_t at, TrainingSays what) {
    return at < words.size() && words[at].phrase &&
           kTrainingPhrases[*words[at].phrase].says == what;
  };
  bool power = false;
  double watts = 0;
  int rank = 0;
  bool all_products = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].phrase) {
      add_phrase(kTrainingPhrases[*words[i].phrase].says, words[i].text, out);
    }
    power = power || says(i, TrainingSays::power);
    all_products = all_products || says(i, TrainingSays::all_products);
    const int number = words[i].number.value_or(0);
    const bool of_rank =
        i > 0 && (says(i - 1, TrainingSays::rank) ||
                  (text_of == TextOf::name && (says(i - 1, TrainingSays::adapters) ||
                                               says(i - 1, TrainingSays::four_bit_adapters))));
    rank = of_rank && number > 0 && !(i + 1 < words.size() && words[i + 1].text == "bit") ? number
                                                                                          : rank;
    watts = number > 0 && says(i + 1, TrainingSays::watts) ? number : watts;
  }
  constexpr int kMostRank = 512;  // twice the largest of published runs
  if (out.adapters && rank > kMostRank) {
    out.refused = fmt::format("adapters of rank {}, more than {}", rank, kMostRank);
  } else if (out.adapters && rank > 0) {
    out.adapters->rank = rank;
    out.adapters_open = !all_products;
  }
  out.power = power && watts > 0 ? watts : out.power;
}

}  // namespace

TrainingWords training_words(const RunRow& row) {
  TrainingWords out;
  read_text(row.model, TextOf::name, out);
  read_text(row.arch, TextOf::name, out);
  for (const std::string& text : {row.model, row.arch, row.era}) {
    out.refused =
        out.refused.empty() ? word_that(TrainingSays::unmodelled_name, text) : out.refused;
  }
  out.refused = out.refused.empty() ? trains_beside(row) : out.refused;
  // A note may speak of other runs: what it changes is told, and what it only compares with is none
  // of this one. So of the words for the software.
  const TrainingWords before = out;
  const std::string free = uncompared(row.era + "; " + row.notes);
  read_text(free, TextOf::notes, out);
  out.adapters = out.all_weights ? before.adapters : out.adapters;
  out.adapters_open = out.all_weights ? before.adapters_open : out.adapters_open;
  if (const std::string here = unmodelled_here(free); before.refused.empty() && !here.empty()) {
    out.refused = here;
  } else if (before.refused.empty() && !word_that(TrainingSays::unmodelled, free).empty()) {
    out.nearness = "notes: '" + out.refused + "' is taken for a word on other training";
    out.refused.clear();
  }
  if (row.cpu_offload_layers.value_or(0) > 0 && out.offload_open) {
    out.offload = Offload::none;  // the column says of what
    out.offload_open = false;
  }
  const bool changed = out.optimizer != before.optimizer || out.offload != before.offload ||
                       out.adapters.has_value() != before.adapters.has_value();
  if (changed && out.nearness.empty()) {
    out.nearness = "notes: their words for adapters, optimizer or offload are taken for this run";
    if (out.adapters) {
      out.nearness += fmt::format(", adapters of rank {}", out.adapters->rank);
    }
  }
  return out;
}

}  // namespace headway::validation
