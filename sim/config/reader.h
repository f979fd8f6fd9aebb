// Resolved tree -> spec struct, by its field list; every fault is collected, none stops the
// reading.
#pragma once

#include "sim/config/load.h"
#include "sim/config/spec_type.h"
#include "sim/config/tree.h"

namespace headway::config {

/// What reading fills beside the struct.
struct ReadResult {
  core::SourceMarks& marks;
  Sources& sources;
  StandardErrors& standard_errors;
  Complaints& complaints;
};

/// Reads `root` into the struct behind `record`, whose members keep their initial values where the
/// tree is silent. Faults: unknown key, missing key, wrong type, missing or wrong unit, out of
/// range, unknown word.
void read_record(const Node& root, const SpecType& type, void* record, ReadResult result);

}  // namespace headway::config
