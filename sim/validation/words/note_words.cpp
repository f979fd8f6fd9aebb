#include "sim/validation/words/note_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "sim/core/text.h"
#include "sim/validation/cells/cell_words.h"
#include "sim/validation/names/gpu_names.h"

namespace headway::validation {

namespace {

enum class NoteSays { refused, downtime, straggler, told };

/// Texts that a clause of the notes has, both of them where there are two.
struct NotePhrase {
  std::string_view text, beside;
  NoteSays says;
  const char* field;  ///< that is assumed
  const char* what;   ///< that the figure is of, or that is told
};

constexpr const char* kAllTogether = "all GPUs together";
constexpr const char* kSamples = "samples, not tokens";
constexpr const char* kPartly = "a part of the step";
constexpr const char* kUnmeasured = "what nobody measured";
constexpr const char* kIdle = "GPUs of which some are idle";
constexpr const char* kPadded = "padding, which runs too, is not counted";
constexpr const char* kOptimizer = "the optimizer's step is not in the figure, and is predicted";

constexpr NotePhrase kNotePhrases[] = {
    {"forward only", "", NoteSays::refused, "", "the forward pass alone"},
    {"forward pass only", "", NoteSays::refused, "", "the forward pass alone"},
    {"inference only", "", NoteSays::refused, "", "inference"},
    {"whole cluster", "number", NoteSays::refused, "", kAllTogether},
    {"whole cluster", "figure", NoteSays::refused, "", kAllTogether},
    {"whole cluster", "throughput", NoteSays::refused, "", kAllTogether},
    {"entire cluster", "throughput", NoteSays::refused, "", kAllTogether},
    {"aggregate throughput", "", NoteSays::refused, "", kAllTogether},
    {"samples", "figure is", NoteSays::refused, "", kSamples},
    {"samples", "number is", NoteSays::refused, "", kSamples},
    {"only", "layers timed", NoteSays::refused, "", kPartly},
    {"only", "attention timed", NoteSays::refused, "", kPartly},
    {"only", "mlp timed", NoteSays::refused, "", kPartly},
    {"only", "kernels timed", NoteSays::refused, "", kPartly},
    {"only", "layers measured", NoteSays::refused, "", kPartly},
    {"gpus idle", "half", NoteSays::refused, "", kIdle},
    {"gpus idle", "quarter", NoteSays::refused, "", kIdle},
    {"gpus idle", "third", NoteSays::refused, "", kIdle},
    {"gpus are idle", "", NoteSays::refused, "", kIdle},
    {"idle gpus", "", NoteSays::refused, "", kIdle},
    {"gpus idle", " of ", NoteSays::refused, "", kIdle},
    {"simulated", "", NoteSays::refused, "", kUnmeasured},
    {"theoretical", "estimate", NoteSays::refused, "", kUnmeasured},
    {"theoretical", "throughput", NoteSays::refused, "", kUnmeasured},
    {"figure", "not measured", NoteSays::refused, "", kUnmeasured},
    {"throughput", "not measured", NoteSays::refused, "", kUnmeasured},
    {"estimate", "not measured", NoteSays::refused, "", kUnmeasured},
    {"mixed gpu", "", NoteSays::refused, "", "GPUs of several kinds"},
    {"heterogeneous gpu", "", NoteSays::refused, "", "GPUs of several kinds"},
    {"gpu hour", "", NoteSays::downtime, "downtime", "GPU hours hold the time between steps"},
    {"gpu-hour", "", NoteSays::downtime, "downtime", "GPU hours hold the time between steps"},
    {"gpu day", "", NoteSays::downtime, "downtime", "GPU days hold the time between steps"},
    {"gpu-day", "", NoteSays::downtime, "downtime", "GPU days hold the time between steps"},
    {"incl", "warm", NoteSays::downtime, "downtime", "warm-up is in the figure"},
    {"with eval", "", NoteSays::downtime, "downtime", "evaluation is in the figure"},
    {"incl", "failures", NoteSays::downtime, "downtime", "failures are in the figure"},
    {"incl", "restarts", NoteSays::downtime, "downtime", "restarts are in the figure"},
    {"incl", "evaluation", NoteSays::downtime, "downtime", "evaluation is in the figure"},
    {"incl", "checkpoints", NoteSays::downtime, "downtime", "checkpoints are in the figure"},
    {"incl", "data loading", NoteSays::downtime, "downtime", "data loading is in the figure"},
    {"straggler", "", NoteSays::straggler, "straggler", "a slow GPU makes all wait, here none is"},
    {"no optimizer step", "", NoteSays::told, "optimizer step", kOptimizer},
    {"without optimizer step", "", NoteSays::told, "optimizer step", kOptimizer},
    {"optimizer", "exclud", NoteSays::told, "optimizer step", kOptimizer},
    {"padding", "exclud", NoteSays::told, "padding", kPadded},
    {"padding", "not counted", NoteSays::told, "padding", kPadded},
    {"padding", "%", NoteSays::told, "padding", kPadded},
    {"non-padded", "", NoteSays::told, "padding", kPadded},
    {"nonpadded", "", NoteSays::told, "padding", kPadded},
    {"unpadded tokens", "", NoteSays::told, "padding", kPadded},
    {"loss tokens", "", NoteSays::told, "padding",
     "tokens without a loss, which run too, are not counted"},
    {"bubble", "exclud", NoteSays::told, "bubble", "the pipeline's bubble is predicted"},
    {"layers trained", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"frozen layers", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"layers frozen", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"frozen embedding", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"batch", "ramp", NoteSays::told, "batch ramp", "the batch of the column is the whole run's"},
    {"throttl", "", NoteSays::told, "clock", "clocks are taken to be the GPU's own"},
    {"clocked", "", NoteSays::told, "clock", "clocks are taken to be the GPU's own"},
    {"clock", "locked", NoteSays::told, "clock", "clocks are taken to be the GPU's own"},
    {"clock", "ghz", NoteSays::told, "clock", "clocks are taken to be the GPU's own"},
    {"clock", "mhz", NoteSays::told, "clock", "clocks are taken to be the GPU's own"},
    {"tiled", "loss", NoteSays::told, "loss", "the loss is the software's own, not in pieces"},
    {"tiled", "logits", NoteSays::told, "loss", "the loss is the software's own, not in pieces"},
    {"chunked", "loss", NoteSays::told, "loss", "the loss is the software's own, not in pieces"},
    {"chunked", "entropy", NoteSays::told, "loss", "the loss is the software's own, not in pieces"},
    {"tiled", "mlp", NoteSays::told, "mlp", "the MLP runs in one piece here"}};

/// Whether a clause says how the figure of one GPU in tokens came out of what it names.
bool settles(const std::string& clause, std::string_view what) {
  return (what == kAllTogether &&
          contains_any(clause, std::array{"divided", "per gpu", "a gpu", "/gpu", "/ "})) ||
         (what == kSamples && contains(clause, "seq"));
}

/// Whether a clause says of a phrase that it is not so here: "straggler mitigation", "padding 0%".
bool is_undone(const std::string& clause, const NotePhrase& phrase) {
  const std::string_view field = phrase.field;
  const bool mended =
      contains_any(clause, std::array{"mitigat", "detect", "remov", "drop", "replac"});
  return ((phrase.says == NoteSays::straggler || phrase.what == kIdle) && mended) ||
         (field == "optimizer step" &&
          contains_any(clause, std::array{"state", "memory", "shard"})) ||
         (field == "padding" && (contains(clause, " 0%") || contains(clause, " 0 %")));
}

/// What time in which nothing was trained does to a figure, as a standard deviation of log time to
/// the slow side. Source: goodput of published runs, 0.8 to 0.97
/// (configs/validation/goodput_cases.csv).
constexpr double kDowntimeError = 0.12;
/// The same of a GPU that all others wait for. Judged: one at half speed doubles a step.
constexpr double kStragglerError = 0.4;

void tell_note(const char* field, const char* what, NoteWords& out) {
  const std::pair<std::string, std::string> told{field, std::string("notes: ") + what};
  if (std::find(out.told.begin(), out.told.end(), told) == out.told.end()) {
    out.told.push_back(told);
  }
}

void add_clause(const std::string& clause, NoteWords& out) {
  for (const NotePhrase& phrase : kNotePhrases) {
    if (!contains(clause, phrase.text) || !contains(clause, phrase.beside) ||
        is_undone(clause, phrase)) {
      continue;
    }
    if (phrase.says == NoteSays::refused && settles(clause, phrase.what)) {
      continue;
    }
    if (phrase.says == NoteSays::refused) {
      out.refused = phrase.what;
      continue;
    }
    out.slower = std::max(out.slower, phrase.says == NoteSays::downtime    ? kDowntimeError
                                      : phrase.says == NoteSays::straggler ? kStragglerError
                                                                           : 0);
    tell_note(phrase.field, phrase.what, out);
  }
}

enum class QuantitySays {
  filler,
  per,
  tokens,
  samples,
  figure,
  all,
  sum,
  node,
  gpu,
  second,
  time,
  served,  ///< by a model that is not trained
  made     ///< the same where it stands beside a figure: "generation" is also of chips
};

struct QuantityPhrase {
  std::string_view phrase;
  QuantitySays says;
  double seconds = 0;
};

constexpr QuantityPhrase kQuantityPhrases[] = {
    {"tokens", QuantitySays::tokens},     {"token", QuantitySays::tokens},
    {"tok", QuantitySays::tokens},        {"toks", QuantitySays::tokens},
    {"samples", QuantitySays::samples},   {"sample", QuantitySays::samples},
    {"sequences", QuantitySays::samples}, {"sequence", QuantitySays::samples},
    {"seq", QuantitySays::samples},       {"seqs", QuantitySays::samples},
    {"sentences", QuantitySays::samples}, {"words", QuantitySays::samples},
    {"examples", QuantitySays::samples},  {"images", QuantitySays::samples},
    {"documents", QuantitySays::samples}, {"figure", QuantitySays::figure},
    {"figures", QuantitySays::figure},    {"numbers", QuantitySays::figure},
    {"inference", QuantitySays::served},  {"prefill", QuantitySays::served},
    {"decode", QuantitySays::served},     {"decoding", QuantitySays::served},
    {"serving", QuantitySays::served},    {"generation", QuantitySays::made},
    {"cluster", QuantitySays::sum},       {"nodes", QuantitySays::node},
    {"number", QuantitySays::figure},     {"value", QuantitySays::figure},
    {"throughput", QuantitySays::figure}, {"speed", QuantitySays::figure},
    {"rate", QuantitySays::figure},       {"allgpus", QuantitySays::all},
    {"wholecluster", QuantitySays::all},  {"entirecluster", QuantitySays::all},
    {"fullcluster", QuantitySays::all},   {"clusterwide", QuantitySays::all},
    {"wholemachine", QuantitySays::all},  {"total", QuantitySays::sum},
    {"sum", QuantitySays::sum},           {"summed", QuantitySays::sum},
    {"aggregate", QuantitySays::sum},     {"aggregated", QuantitySays::sum},
    {"global", QuantitySays::sum},        {"together", QuantitySays::sum},
    {"node", QuantitySays::node},         {"server", QuantitySays::node},
    {"host", QuantitySays::node},         {"machine", QuantitySays::node},
    {"dgx", QuantitySays::node},          {"gpu", QuantitySays::gpu},
    {"gpus", QuantitySays::gpu},          {"device", QuantitySays::gpu},
    {"s", QuantitySays::second},          {"sec", QuantitySays::second},
    {"second", QuantitySays::second},     {"min", QuantitySays::time, 60},
    {"minute", QuantitySays::time, 60},   {"hour", QuantitySays::time, 3600},
    {"day", QuantitySays::time, 86400},   {"per", QuantitySays::per},
    {"each", QuantitySays::per},          {"a", QuantitySays::filler},
    {"an", QuantitySays::filler},         {"and", QuantitySays::filler},
    {"are", QuantitySays::filler},        {"as", QuantitySays::filler},
    {"for", QuantitySays::filler},        {"given", QuantitySays::filler},
    {"in", QuantitySays::filler},         {"is", QuantitySays::filler},
    {"measured", QuantitySays::filler},   {"of", QuantitySays::filler},
    {"over", QuantitySays::filler},       {"published", QuantitySays::filler},
    {"reported", QuantitySays::filler},   {"stated", QuantitySays::filler},
    {"the", QuantitySays::filler},        {"training", QuantitySays::filler}};

/// What the words of a clause say together.
struct QuantitySaid {
  int tokens = 0, samples = 0, figure = 0, all = 0, sum = 0, node = 0, gpu = 0, second = 0,
      time = 0, per = 0, served = 0, made = 0;
  double seconds = 1;
  int node_gpus = 0;

  void add(const QuantityPhrase& phrase) {
    const auto counts = std::array{&per,  &tokens, &samples, &figure, &all,    &sum,
                                   &node, &gpu,    &second,  &time,   &served, &made};
    if (phrase.says != QuantitySays::filler) {
      ++*counts[static_cast<std::size_t>(phrase.says) - 1];
    }
    seconds = phrase.seconds > 0 ? phrase.seconds : seconds;
  }
};

/// "per 8xA100" and "per 8 GPUs" as "per 8 gpu node".
std::string with_counted_nodes(const std::string& clause) {
  const auto digit = [&](std::size_t at) {
    return at < clause.size() && std::isdigit(static_cast<unsigned char>(clause[at])) != 0;
  };
  const auto per = clause.find("per ");
  std::size_t at = per == std::string::npos ? clause.size() : per + 4;
  const std::size_t begin = at;
  while (digit(at)) {
    ++at;
  }
  const std::size_t end = at;
  at = std::min(clause.find_first_not_of("x ", at), clause.size());
  const auto behind = std::min(clause.find_first_of(" -,", at), clause.size());
  std::string gpu = clause.substr(at, behind - at);
  gpu += gpu.ends_with('s') ? "" : "s";
  const bool known = gpu == "gpus" || sold_gpus().contains(gpu.substr(0, gpu.size() - 1));
  return end > begin && known && behind >= clause.size() ? clause.substr(0, end) + " gpu node"
                                                         : clause;
}

/// Words of a clause that says nothing but what the figure is; nothing where it says more, or has a
/// figure of its own. "per 8-GPU node" has the GPUs of a node.
std::optional<QuantitySaid> quantity_in(const std::string& clause) {
  static const std::vector<std::string_view> known = phrases_of(kQuantityPhrases);
  QuantitySaid said;
  QuantitySays before = QuantitySays::filler;
  const std::vector<CellWord> words = read_words(with_counted_nodes(clause), known);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto says = [&](std::size_t at, QuantitySays what) {
      return at < words.size() && words[at].phrase &&
             kQuantityPhrases[*words[at].phrase].says == what;
    };
    const bool of_node = words[i].number && before == QuantitySays::per &&
                         says(i + 1, QuantitySays::gpu) && says(i + 2, QuantitySays::node);
    if (of_node) {
      said.node_gpus = *words[i].number;
      i += 1;
    } else if (words[i].number && said.sum > 0 && says(i + 1, QuantitySays::gpu) &&
               words[i - 1].text == "over") {
      continue;  // "total over 128 GPUs"
    } else if (!words[i].phrase) {
      return std::nullopt;
    } else {
      said.add(kQuantityPhrases[*words[i].phrase]);
      before = kQuantityPhrases[*words[i].phrase].says;
    }
  }
  return said;
}

/// "tokens/s of all GPUs", "throughput per node", "samples/s", "tokens per GPU per minute".
void add_quantity(const std::string& clause, NoteWords& out) {
  const auto said = quantity_in(clause);
  if (!said) {
    return;
  }
  const bool rate = said->second > 0 || said->time > 0 || said->figure > 0;
  const bool of_one = said->gpu > said->all && said->per > 0;
  static constexpr std::array<std::string_view, 3> kAlone = {"aggregate", "aggregated", "total"};
  const bool alone = std::find(kAlone.begin(), kAlone.end(), clause) != kAlone.end();
  const bool summed = said->sum > 0 && (said->gpu > 0 || said->node > 0 || rate || alone);
  if (said->served > 0 || (said->made > 0 && (said->tokens > 0 || said->figure > 0))) {
    out.refused = "inference, not training";
  } else if (said->samples > 0 && said->tokens == 0 && rate) {
    out.refused = kSamples;
  } else if ((said->all > 0 || summed) && !of_one) {
    out.refused = kAllTogether;
  } else if (said->node > 0 && said->per > 0 && said->samples == 0 &&
             !(of_one && said->node_gpus == 0)) {
    out.of_node = true;
    out.node_gpus = said->node_gpus > 0 ? said->node_gpus : out.node_gpus;
  }
  out.seconds = said->time > 0 && said->tokens > 0 ? said->seconds : out.seconds;
}

/// Times in which whole runs read their tokens: "24 days for 11.2T tokens", "21 days, 9.8T". They
/// hold the time between steps, as GPU hours do.
bool days_of_a_run(const std::string& notes) {
  // "70B" alone is a model's size, and so is "1T model".
  static constexpr std::array<std::string_view, 11> kWords = {
      "day", "days",     "week",    "weeks",   "month",        "months",
      "t",   "trillion", "ttokens", "btokens", "billiontokens"};
  constexpr std::size_t kTimes = 6;
  bool time = false;
  bool tokens = false;
  bool number = false;
  const std::vector<CellWord> words = read_words(notes, kWords);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CellWord& word = words[i];
    const bool size = i + 1 < words.size() && (words[i + 1].text.starts_with("model") ||
                                               words[i + 1].text.starts_with("param"));
    time = time || (number && word.phrase && *word.phrase < kTimes);
    tokens = tokens || (number && word.phrase && *word.phrase >= kTimes && !size);
    number = !word.text.empty() && word.text.front() >= '0' && word.text.front() <= '9';
  }
  return time && tokens;
}

/// "ran on 64 of 128 GPUs".
bool ran_on_a_part(const std::string& notes) {
  constexpr std::string_view kRan = "ran on ";
  const auto ran = notes.find(kRan);
  const auto begin = ran == std::string::npos ? notes.size() : ran + kRan.size();
  const auto end = std::min(notes.find_first_not_of("0123456789", begin), notes.size());
  return end > begin && notes.compare(end, 4, " of ") == 0;
}

/// "half A100, half V100".
bool halves_of_kinds(const std::string& notes) {
  const auto first = notes.find("half ");
  return first != std::string::npos && notes.find("half ", first + 1) != std::string::npos &&
         contains_any(notes, std::array{"half a100", "half v100", "half h100", "half h200"});
}

/// "MFU 36%", "MFU printed 36%", or "36% MFU"; of two shares beside one another neither is meant.
void add_shares(const std::vector<CellWord>& words, FlopsWords& out) {
  const auto share = [&](std::size_t at) {
    const bool is = at + 1 < words.size() && words[at + 1].text == "%" &&
                    words[at].text.front() >= '0' && words[at].text.front() <= '9';
    return is ? std::atof(words[at].text.c_str()) / 100 : 0.0;
  };
  std::optional<bool> shares_first;  // as at the first word of the clause
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].phrase || words[i].text == "%") {
      continue;
    }
    const bool model = words[i].text == "mfu" || words[i].text.starts_with("modelf");
    const double before = i >= 2 && !(i >= 4 && share(i - 4) > 0) ? share(i - 2) : 0;
    const double behind = share(i + 1) > 0 ? share(i + 1) : share(i + 2);
    shares_first = shares_first.value_or(before > 0);
    (model ? out.mfu : out.hfu) = *shares_first ? before : behind;
  }
}

}  // namespace

NoteWords note_words(const RunRow& row) {
  std::string notes = core::lower_case(row.notes);
  for (auto at = notes.find("incl. "); at != std::string::npos; at = notes.find("incl. ", at)) {
    notes.erase(at + 4, 1);  // no end of a clause
  }
  NoteWords out;
  if (row.gpu_hours) {
    out.slower = kDowntimeError;
    tell_note("downtime", "GPU hours hold the time between steps", out);
  }
  if (halves_of_kinds(notes)) {
    out.refused = "GPUs of several kinds";
  }
  for (const std::string& clause : clauses_of(notes)) {
    // What is denied, "no optimizer step" apart, which is a phrase of its own.
    const bool denied = undenied(clause).size() < clause.size() &&
                        !contains_any(clause, std::array{"optimizer", "not counted", "measured"});
    if (!denied) {
      add_clause(clause, out);
      add_quantity(clause, out);
    }
  }
  const bool all = row.tokens_per_s || row.samples_per_s;
  const bool samples = row.samples_per_s || row.samples_per_s_per_gpu;
  if ((all && out.refused == kAllTogether) || (samples && out.refused == kSamples)) {
    out.refused.clear();  // the column says so too
  }
  if (ran_on_a_part(notes)) {
    out.refused = "a part of the GPUs, which n_gpus should count";
  }
  if (days_of_a_run(notes)) {
    out.slower = std::max(out.slower, kDowntimeError);
    tell_note("downtime", "days of a run hold the time between steps", out);
  }
  return out;
}

FlopsWords flops_words(const std::string& text) {
  static constexpr std::array<std::string_view, 5> kShares = {
      "mfu", "hfu", "%", "modelflopsutilization", "hardwareflopsutilization"};
  FlopsWords out;
  const std::string small = core::lower_case(text);
  for (const std::string& clause : clauses_of(small)) {
    const bool counted = contains(clause, "flop") && contains(clause, "recomput");
    const bool denied = undenied(clause).size() < clause.size() || contains(clause, "exclud");
    const bool recomputed =
        counted && contains_any(clause, std::array{"count", "incl", "with", "hardware"});
    out.hardware = out.hardware || (recomputed && !denied) ||
                   (!denied && ((contains(clause, "hardware") && contains(clause, "flop")) ||
                                has_word(clause, "hfu") || clause == "hardware"));
    out.model = out.model || (recomputed && denied) ||
                (!denied && (contains(clause, "model flop") || contains(clause, "model tflop") ||
                             has_word(clause, "mfu") || clause == "model"));
  }
  for (const std::string& clause : clauses_of(uncompared(small))) {
    add_shares(read_words(clause, kShares), out);
  }
  return out;
}

std::optional<double> cost_of_note(const std::string& field) {
  // Judged: what a step has of each.
  static constexpr std::pair<const char*, double> kCosts[] = {
      {"downtime", 0},           // to one side: kDowntimeError
      {"straggler", 0},          // to one side too
      {"figure", 0.05},          // of a node or a minute, by its notes' words
      {"optimizer step", 0.10},  // of short steps
      {"padding", 0.25},         // a quarter of a batch
      {"bubble", 0.20},
      {"frozen layers", 0.30},  // a step of none has a third of its work
      {"clock", 0.20},
      {"batch ramp", 0.10},  // a batch of half the size
      {"loss", 0.03},
      {"mlp", 0.03},
      {"tflops convention", 0.15}};  // full or half attention, recomputation
  for (const auto& [name, cost] : kCosts) {
    if (field == name) {
      return cost;
    }
  }
  return std::nullopt;
}

}  // namespace headway::validation
