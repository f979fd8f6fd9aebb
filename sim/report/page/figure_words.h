// Figures of results as people name and read them: "step" and "4.20 s" in place of a path and a
// number.
#pragma once

#include <string>
#include <string_view>

#include "sim/report/result_json.h"

namespace headway::report {

/// Figures of plans and of points of a sweep are those of runs.
inline constexpr const char* kRunSchema = "headway.run/1";

/// What a figure is called: "wall clock, median". Paths that have no other name stay as they are,
/// with blanks.
/// @param path  in its result, as "campaign.wall_days.p50"
std::string figure_name(std::string_view path);

/// The unit that people read it in: %, GiB and days in place of 1, B and d; empty for counts.
/// @param schema  of the result that has the path, as "headway.run/1"
std::string figure_unit(std::string_view schema, std::string_view path);

/// How many of these units one of the field list's is.
double figure_factor(std::string_view schema, std::string_view path);

/// A value in that unit, without and with it; null is "-".
std::string figure_number(std::string_view schema, std::string_view path, const Json& value);
std::string figure_text(std::string_view schema, std::string_view path, const Json& value);

/// "step [s]": the heading of a column, the title of an axis.
std::string figure_heading(std::string_view schema, std::string_view path);

/// Microseconds as people read them: "20.3 ms".
std::string microseconds_text(double us);

}  // namespace headway::report
