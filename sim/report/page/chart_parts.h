// What charts are put together from: axes, bars, parts of a whole.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/report/page/charts.h"

namespace headway::report {

/// One field of the data on one axis.
Json axis(const char* field,
          const char* type,
          const std::string& title,
          const Json& more = Json::object());

/// A specification of one mark over these rows.
Json base(const Json& values, const char* mark);

/// Height of a chart with a row for each value of `field`. Said in pixels: Vega-Lite warns where it
/// has to find it itself and the width is the page's.
/// @param row  height of a row [pixels]
Json height_of_rows(const Json& values, const char* field, int row);

/// Horizontal bars, one a row of {what, value}, in the order of the rows.
Json bars(const Json& values, const std::string& quantity);

/// The same where rows have long names: each under its own, which is folded to a narrow screen.
/// @param parts  where rows are {what, part, place, value}, those of one bar in turn: all parts
/// that
///               there are, by their places
Json named_bars(Json values, const std::string& quantity, const Json& parts = nullptr);

/// Kinds of memory, from what stays to what comes and goes.
inline constexpr std::array kHeldKinds{"weights", "gradients", "optimizer",  "buffers",
                                       "slack",   "logits",    "activations"};

/// Bars to either side of `zero`, each under its words, so that what is too small to be seen beside
/// the largest is still told: rows of {what, value, text, side}.
/// @param zero   where bars begin
/// @param scale  of the axis, as Vega-Lite has it
Json two_sided(const Json& values, const std::string& quantity, double zero, const Json& scale);

/// Bars from `begin` to `end` of each row.
Json spans(const Json& values, const std::string& quantity);

/// Parts of a whole, the largest first, each beginning where the last ended: where the step or the
/// money goes. Zeros and what is no number are left out.
Json waterfall(const Json& object, double scale, const std::string& quantity);

/// The number times a factor; null stays null, and Vega draws nothing there.
Json times(const Json& number, double factor);

/// The causes of a step's seconds, and the accounts of a run's, under the words of the tables.
Json step_in_words(const Json& breakdown);
Json run_in_words(const Json& ledger);

/// The axis along which groups with short names lie side by side: they are upright, and where they
/// are too close some are left out.
Json upright(const char* field, const std::string& title, const Json& more = Json::object());

/// "pipeline_bubble" as people read it.
std::string spaced(std::string key);

/// The chart, if there is anything to draw.
void add(std::vector<Chart>& charts, const char* id, const std::string& title, Json spec);

/// The charts of `headway run`.
void add_run(const Json& result, std::vector<Chart>& charts);
/// The chart of `headway sweep`.
void add_sweep(const Json& result, std::vector<Chart>& charts);

}  // namespace headway::report
