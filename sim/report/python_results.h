// Types of all results for editors and checkers of Python, printed from the field lists.
#pragma once

#include <string>

namespace headway::report {

/// The text of `python/headway/results.pyi`: a class for each record of the results, with a
/// property for each of its figures.
std::string python_results_types();

/// The text of `python/headway/results.py`: what these names are at run time.
std::string python_results_module();

}  // namespace headway::report
