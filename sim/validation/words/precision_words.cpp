// Words of the column `precision`.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/validation/cells/text_has.h"
#include "sim/validation/words/layout_words.h"

namespace headway::validation {

namespace {

using core::Precision;

enum class PrecisionSays { nothing, format, mixed, pure, blocks, beside };

struct PrecisionPhrase {
  std::string_view phrase;
  PrecisionSays says;
  Precision format = Precision::bf16;
};

constexpr PrecisionPhrase kPrecisionPhrases[] = {
    {"nvfp4", PrecisionSays::format, Precision::nvfp4},
    {"fp4nv", PrecisionSays::format, Precision::nvfp4},
    {"mxfp8", PrecisionSays::format, Precision::mxfp8},
    {"fp8mx", PrecisionSays::format, Precision::mxfp8},
    {"fp8", PrecisionSays::format, Precision::fp8},
    {"float8", PrecisionSays::format, Precision::fp8},
    {"e4m3", PrecisionSays::format, Precision::fp8},
    {"bf16", PrecisionSays::format, Precision::bf16},
    {"bfloat16", PrecisionSays::format, Precision::bf16},
    {"fp16", PrecisionSays::format, Precision::fp16},
    {"float16", PrecisionSays::format, Precision::fp16},
    {"half", PrecisionSays::format, Precision::fp16},
    {"16mixed", PrecisionSays::format, Precision::fp16},  // Lightning's word
    {"comm", PrecisionSays::beside},
    {"comms", PrecisionSays::beside},
    {"communication", PrecisionSays::beside},
    {"allgather", PrecisionSays::beside},
    {"allreduce", PrecisionSays::beside},
    {"reducescatter", PrecisionSays::beside},
    {"alltoall", PrecisionSays::beside},
    {"dispatch", PrecisionSays::beside},
    {"moments", PrecisionSays::beside},
    {"optimizer", PrecisionSays::beside},
    {"w", PrecisionSays::nothing},
    {"tf32", PrecisionSays::format, Precision::tf32},
    {"fp32", PrecisionSays::format, Precision::fp32},
    {"float32", PrecisionSays::format, Precision::fp32},
    {"amp", PrecisionSays::mixed},
    {"mixed", PrecisionSays::mixed},
    {"mixedprecision", PrecisionSays::mixed},
    {"automaticmixedprecision", PrecisionSays::mixed},
    {"pure", PrecisionSays::pure},
    {"true", PrecisionSays::pure},
    {"and", PrecisionSays::nothing},
    {"autocast", PrecisionSays::nothing},
    {"blockwise", PrecisionSays::nothing},
    {"compute", PrecisionSays::nothing},
    {"cs", PrecisionSays::nothing},
    {"current", PrecisionSays::nothing},
    {"deepseek", PrecisionSays::blocks},
    {"delayed", PrecisionSays::nothing},
    {"dynamic", PrecisionSays::nothing},
    {"e5m2", PrecisionSays::nothing},
    {"engine", PrecisionSays::nothing},
    {"gemm", PrecisionSays::nothing},
    {"gemms", PrecisionSays::nothing},
    {"hybrid", PrecisionSays::nothing},
    {"master", PrecisionSays::nothing},
    {"matmul", PrecisionSays::nothing},
    {"matmuls", PrecisionSays::nothing},
    {"nv", PrecisionSays::nothing},
    {"precision", PrecisionSays::nothing},
    {"recipe", PrecisionSays::nothing},
    {"rowwise", PrecisionSays::nothing},
    {"scaling", PrecisionSays::nothing},
    {"ss", PrecisionSays::nothing},
    {"subchannel", PrecisionSays::nothing},
    {"te", PrecisionSays::nothing},
    {"tensorwise", PrecisionSays::nothing},
    {"training", PrecisionSays::nothing},
    {"transformer", PrecisionSays::nothing},
    {"transformerengine", PrecisionSays::nothing},
    {"weights", PrecisionSays::nothing},
    {"with", PrecisionSays::nothing}};

/// Which of two formats the products have: the one that is named first here.
bool narrower(Precision a, Precision b) {
  static constexpr std::array kNarrowFirst = {Precision::nvfp4, Precision::mxfp8, Precision::fp8,
                                              Precision::bf16,  Precision::fp16,  Precision::tf32,
                                              Precision::fp32};
  return std::find(kNarrowFirst.begin(), kNarrowFirst.end(), a) <
         std::find(kNarrowFirst.begin(), kNarrowFirst.end(), b);
}

}  // namespace

PrecisionWords precision_words(const std::string& cell) {
  static const std::vector<std::string_view> known = phrases_of(kPrecisionPhrases);
  PrecisionWords out;
  bool mixed = false, blocks = false;
  std::string taken;
  std::vector<Precision> narrow;  // formats of 16 bits and fewer
  if (all_denied(cell)) {
    out.open = true;
    out.nearness = fmt::format("precision: '{}' names none that is used; the usual is taken", cell);
    return out;
  }
  const std::vector<CellWord> words = read_words(undenied_cell(cell), known);
  for (auto at = words.begin(); at != words.end(); ++at) {
    const CellWord& word = *at;
    if (!word.phrase) {
      add_word(out.unknown, word.text);
      continue;
    }
    const PrecisionPhrase& phrase = kPrecisionPhrases[*word.phrase];
    const auto next = std::next(at);
    if (next != words.end() && next->phrase &&
        kPrecisionPhrases[*next->phrase].says == PrecisionSays::beside &&
        phrase.says == PrecisionSays::format) {
      out.nearness =
          fmt::format("precision: '{} {}' is not of the products", word.text, next->text);
      continue;
    }
    mixed = mixed || phrase.says == PrecisionSays::mixed;
    out.pure = out.pure || phrase.says == PrecisionSays::pure;
    blocks = blocks || phrase.says == PrecisionSays::blocks;
    if (phrase.says != PrecisionSays::format) {
      continue;
    }
    if (std::find(narrow.begin(), narrow.end(), phrase.format) == narrow.end() &&
        narrower(phrase.format, Precision::tf32)) {
      narrow.push_back(phrase.format);
    }
    if (!out.format || narrower(phrase.format, *out.format)) {
      out.format = phrase.format;
      taken = word.text;
    }
  }
  if (!out.format && !mixed) {
    throw core::Error("unknown precision " + cell);
  }
  const bool either =
      narrow.size() > 1 && (contains_any(cell, std::array{"/", "->", "\xE2\x86\x92", " to "}) ||
                            *out.format == Precision::bf16);
  out.open = !out.format || out.pure || blocks || either;
  if (either) {
    out.nearness = fmt::format("precision: of '{}' the products are taken to have {}", cell, taken);
  }
  if (blocks) {
    out.nearness = "precision: scales of blocks are read as those of the software's profile";
  }
  if (out.pure) {
    out.nearness = "precision: without copies in fp32 is read as 16-bit moments beside one";
  }
  return out;
}

}  // namespace headway::validation
