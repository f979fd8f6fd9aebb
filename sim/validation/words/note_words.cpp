#include "sim/validation/words/note_words.h"

#include <algorithm>
#include <array>

#include "sim/core/text.h"
#include "sim/validation/words/cell_words.h"

namespace headway::validation {

namespace {

enum class NoteSays { refused, downtime, told };

/// Texts that a clause of the notes has, both of them where there are two.
struct NotePhrase {
  std::string_view text, beside;
  NoteSays says;
  const char* field;  ///< that is assumed
  const char* what;   ///< that the figure is of, or that is told
};

constexpr const char* kAllTogether = "all GPUs together";
constexpr const char* kSamples = "samples, not tokens";

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
    {"mixed gpu", "", NoteSays::refused, "", "GPUs of several kinds"},
    {"heterogeneous gpu", "", NoteSays::refused, "", "GPUs of several kinds"},
    {"gpu hour", "", NoteSays::downtime, "downtime", "GPU hours hold the time between steps"},
    {"gpu-hour", "", NoteSays::downtime, "downtime", "GPU hours hold the time between steps"},
    {"gpu day", "", NoteSays::downtime, "downtime", "GPU days hold the time between steps"},
    {"gpu-day", "", NoteSays::downtime, "downtime", "GPU days hold the time between steps"},
    {"incl", "failures", NoteSays::downtime, "downtime", "failures are in the figure"},
    {"incl", "restarts", NoteSays::downtime, "downtime", "restarts are in the figure"},
    {"no optimizer step", "", NoteSays::told, "optimizer step",
     "the optimizer's step is not in the figure, and is predicted"},
    {"without optimizer step", "", NoteSays::told, "optimizer step",
     "the optimizer's step is not in the figure, and is predicted"},
    {"padding", "exclud", NoteSays::told, "padding", "padding, which runs too, is not counted"},
    {"bubble", "exclud", NoteSays::told, "bubble", "the pipeline's bubble is predicted"},
    {"layers trained", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"frozen layers", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"layers frozen", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
    {"frozen embedding", "", NoteSays::told, "frozen layers", "all layers are taken to be trained"},
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

void add_clause(const std::string& clause, NoteWords& out) {
  for (const NotePhrase& phrase : kNotePhrases) {
    if (!contains(clause, phrase.text) || !contains(clause, phrase.beside)) {
      continue;
    }
    if (phrase.says == NoteSays::refused && settles(clause, phrase.what)) {
      continue;
    }
    if (phrase.says == NoteSays::refused) {
      out.refused = phrase.what;
      continue;
    }
    out.downtime = out.downtime || phrase.says == NoteSays::downtime;
    const std::pair<std::string, std::string> told{phrase.field,
                                                   std::string("notes: ") + phrase.what};
    if (std::find(out.told.begin(), out.told.end(), told) == out.told.end()) {
      out.told.push_back(told);
    }
  }
}

/// "half A100, half V100".
bool halves_of_kinds(const std::string& notes) {
  const auto first = notes.find("half ");
  return first != std::string::npos && notes.find("half ", first + 1) != std::string::npos &&
         contains_any(notes, std::array{"half a100", "half v100", "half h100", "half h200"});
}

}  // namespace

NoteWords note_words(const RunRow& row) {
  constexpr std::string_view kEnds = ",;()\n";
  const std::string notes = core::lower_case(row.notes);
  NoteWords out;
  if (halves_of_kinds(notes)) {
    out.refused = "GPUs of several kinds";
  }
  for (std::size_t at = 0; at < notes.size();) {
    const std::size_t end =
        std::min({notes.find_first_of(kEnds, at), notes.find(". ", at), notes.size()});
    const std::string clause = notes.substr(at, end - at);
    // What is denied, "no optimizer step" apart, which is a phrase of its own.
    const bool denied = undenied(clause).size() < clause.size() && !contains(clause, "optimizer");
    if (!denied) {
      add_clause(clause, out);
    }
    at = end + 1;
  }
  return out;
}

std::optional<double> cost_of_note(const std::string& field) {
  // Judged: what a step has of each.
  static constexpr std::pair<const char*, double> kCosts[] = {
      {"downtime", 0},           // to one side: kDowntimeError
      {"optimizer step", 0.10},  // of short steps
      {"padding", 0.25},         // a quarter of a batch
      {"bubble", 0.20},
      {"frozen layers", 0.30},  // a step of none has a third of its work
      {"clock", 0.20},
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
