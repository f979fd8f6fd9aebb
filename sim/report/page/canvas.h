// Pictures in time that the page's script draws on a canvas: the pipeline, what runs on the GPUs,
// one trial of a run.
#pragma once

#include <string>

#include "sim/report/read_result.h"

namespace headway::report {

/// All that a result has, as HTML; empty where it has none.
/// @param id  of the result's section
std::string canvases_of(const ReadResult& result, const std::string& id);

}  // namespace headway::report
