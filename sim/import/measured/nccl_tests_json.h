// Reads the report that nccl-tests writes with `-J FILE` (its src/util.cu, file versions 1 and 2).
#pragma once

#include <string>
#include <string_view>

#include "sim/import/measured/nccl_tests_log.h"

namespace headway::import {

/// The same content as a log: one row an entry of `results`.
/// @throws core::Error naming the line: no JSON, no `results`, a result without size or type, a
/// time or bandwidth that is no number, CPU times (-C 1)
NcclTestsLog read_nccl_tests_json(std::string_view text, const std::string& file_name);

}  // namespace headway::import
