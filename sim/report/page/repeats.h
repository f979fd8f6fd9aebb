// Long lists of a page, written short.
#pragma once

#include "sim/report/read_result.h"

namespace headway::report {

/// The list with [n, p] in place of n entries in a row that are each the same as the one p before
/// it, p at most 16: spans of micro-batches repeat. The page's script undoes it (`whole`).
/// @param list  of numbers
Json without_repeats(const Json& list);

}  // namespace headway::report
