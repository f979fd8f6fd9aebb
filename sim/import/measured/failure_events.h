// A log of failures that really happened (CSV) as failures to be replayed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/failures/spec.h"

namespace headway::import {

/// What a log says.
struct FailureEvents {
  std::vector<failures::RecordedFailureSpec> events;  ///< in the order of the file
  std::vector<std::string>
      left_out;  ///< rows that stopped no job or have no time, each with its line and the reason
};

/// @param text  CSV with a header; lines before it that begin with '#' are comments. Columns:
///              time (`time`, `datetime`, `datetime_local` or `date`): seconds since the start, or
///              a date as 2022-05-07 with or without 20:14[:30]; kind (`kind` or `event`); and,
///              where there are, component (a word of `failures`), repair [s], nodes_lost
/// @param file  its name, for messages
/// Time 0 is the row whose kind is `start`, else the first with a date.
/// @throws core::Error with every bad line
FailureEvents read_failure_events(std::string_view text, const std::string& file);

}  // namespace headway::import
