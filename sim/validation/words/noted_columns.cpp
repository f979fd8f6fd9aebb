// Columns that stand in notes, or beside the name of software.
#include <array>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/cells/cell_words.h"
#include "sim/validation/words/layout_words.h"
#include "sim/validation/words/note_words.h"

namespace headway::validation {

namespace {

/// Fills a blank column by a clause; a stated one that differs is told.
void note_column(
    const char* column, const std::string& clause, bool differs, std::string& cell, RunRow& row) {
  if (cell.empty()) {
    cell = clause;
    row.abouts.push_back({column, fmt::format("notes: '{}' is read as {}", clause, column)});
  } else if (differs) {
    row.abouts.push_back({column, fmt::format("notes: '{}' is not what {} says", clause, column)});
  }
}

/// A format, and nothing of weights that lie beside the products.
void note_format(const std::string& clause, RunRow& row) {
  const bool digits = clause.find_first_of("0123456789") != std::string::npos;
  if (!digits || contains_any(clause, std::array{"master", "weight", "grad"})) {
    return;
  }
  try {
    const PrecisionWords words = precision_words(clause);
    const auto stated =
        row.precision.empty() ? words.format : precision_words(row.precision).format;
    if (words.format && words.unknown.empty()) {
      note_column("precision", clause, stated != words.format, row.precision, row);
    }
  } catch (const core::Error&) {
    return;  // it names none
  }
}

void note_recompute(const std::string& clause, RunRow& row) {
  if (!contains_any(clause, std::array{"recomput", "activation", "gradient check", "remat"})) {
    return;
  }
  try {
    const RecomputeWords words = recompute_words(clause);
    const auto stated = row.recompute.empty() ? words.kind : recompute_words(row.recompute).kind;
    if (words.kind && words.unknown.empty()) {
      note_column("recompute", clause, stated != words.kind, row.recompute, row);
    }
  } catch (const core::Error&) {
    return;  // it names none
  }
}

/// "torch.compile on", "no torch.compile", "no flash attention".
void note_kernels(const std::string& clause, RunRow& row) {
  static constexpr std::array<std::string_view, 9> kCompiled = {
      "torchcompile", "compile", "compiled", "on", "off", "used", "with", "enabled", "disabled"};
  static constexpr std::array<std::string_view, 5> kFlash = {"flash", "flashattention", "attention",
                                                             "used", "flashattn"};
  const bool denied = all_denied(clause);
  const auto only = [&](const auto& known, std::string_view first) {
    bool found = false;
    for (const CellWord& word :
         read_words(denied ? clause.substr(clause.find(' ') + 1) : clause, known)) {
      if (!word.phrase) {
        return false;
      }
      found = found || word.text.starts_with(first);
    }
    return found;
  };
  if (only(kCompiled, "torchcompile") && !row.torch_compile) {
    row.torch_compile = !denied;
    row.abouts.push_back({"torch_compile", fmt::format("notes: '{}' is read as torch_compile {}",
                                                       clause, denied ? "no" : "yes")});
  }
  if (denied && only(kFlash, "flash")) {
    const bool blank = row.attention.empty();
    row.attention = blank ? "unfused" : row.attention;
    row.abouts.push_back({"attention", fmt::format("notes: '{}' {}", clause,
                                                   blank ? "is read as attention that is not fused"
                                                         : "is not read: attention is stated")});
  }
}

}  // namespace

RunRow with_noted_columns(RunRow row) {
  for (const std::string& clause : clauses_of(core::lower_case(uncompared(row.notes)))) {
    // "Recompute not stated" denies something else than "no recompute" does.
    const bool first = clause.starts_with("no ") || clause.starts_with("without ");
    if (!clause.empty() && (first || undenied(clause) == clause)) {
      note_format(clause, row);
      note_recompute(clause, row);
      note_kernels(clause, row);
    }
  }
  std::string word;
  for (const char c : core::lower_case(row.era) + " ") {
    if (std::string_view(" +,/()").find(c) == std::string_view::npos) {
      word += c;
      continue;
    }
    note_format(word, row);
    word.clear();
  }
  return row;
}

}  // namespace headway::validation
