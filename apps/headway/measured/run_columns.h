// Columns of the table of published runs, explained.
#pragma once

#include <string>

namespace headway::apps {

/// What a column of `headway validate --runs` means and its bounds; empty: it is none, by its own
/// name or another that tables have.
std::string explain_run_column(const std::string& name);

}  // namespace headway::apps
