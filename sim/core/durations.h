// Ranges of the times people give for a run, its failures and its recovery.
//
// The campaign clock counts microseconds in 63 bits: 292,000 years. With every given time below 100
// years, sums of thousands of them fit, and nobody is refused who means what he says.
#pragma once

#include "sim/core/fields.h"

namespace headway::core {

inline constexpr double kCentury = 100 * 365.25 * 86400;  ///< [s]
inline constexpr Range duration{0, kCentury, false, false, "between 0 and 100 years"};
inline constexpr Range some_time{0, kCentury, true, false, "above 0 and at most 100 years"};
/// Periods of what is done again and again: the program simulates every one.
inline constexpr Range period{1, kCentury, false, false, "between 1 s and 100 years"};

}  // namespace headway::core
