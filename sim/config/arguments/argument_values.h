// A spec struct from the values of one command-line argument, by its field list: the same reader,
// ranges, units and "did you mean" as in a file.
#pragma once

#include <string>
#include <vector>

#include "sim/config/spec_type.h"

namespace headway::config {

/// One value of an argument, as it was written: key=text.
struct ArgumentValue {
  std::string key, text;
};

/// Reads `values` into the struct behind `record`, whose members keep their initial values where
/// none is given.
/// @param argument  as errors name it, such as "argument --fault hang"
/// @throws core::Error with every fault
void read_argument(const std::string& argument,
                   const std::vector<ArgumentValue>& values,
                   const SpecType& type,
                   void* record);

}  // namespace headway::config
