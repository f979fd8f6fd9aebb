// Counts and figures that other columns, or the words of a cell, say.
#pragma once

#include <map>
#include <string>

#include "sim/validation/cells/number_words.h"
#include "sim/validation/run_row.h"

namespace headway::validation {

/// GPUs of so many nodes, and the batch of so many micro-batches, or of so many sequences a GPU;
/// told. What nodes have is a problem of the row where it is not stated.
/// @param worded  numbers in words, by column
void settle_counts(const std::map<std::string, NumberWords>& worded, RunRow& row);

/// Tokens a second and GPU where the row states the figure otherwise: of all GPUs, in sequences or
/// steps, as the time of a step, as GPU hours of a whole run; told, but of a step's time, which
/// says it exactly. A figure that its cell or the notes say is of a node, or of other than a
/// second, is of one GPU and a second then, and shares of the peak are shares of 1.
/// @param figures  figures in words, by column
void settle_other_figures(const std::map<std::string, NumberWords>& figures, RunRow& row);

/// An MI250 is a module of two dies, each a GPU to programs, and a node has four modules. A row
/// that counts modules counts half the ranks, and what it measured is of two.
void settle_modules(RunRow& row);

}  // namespace headway::validation
