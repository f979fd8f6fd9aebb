// What is written right but cannot be done.
#pragma once

#include "sim/core/error.h"

namespace headway::core {

/// The input keeps every rule, but what it asks for cannot be: a step longer than the clock counts,
/// a simulation larger than this machine's memory. Exit code 3; the text says which part and what
/// to do.
class Infeasible : public Error {
  using Error::Error;
};

/// The program's exit code after an error of the input: 3 if it is infeasible, else 2.
inline int exit_code(const Error& error) {
  return dynamic_cast<const Infeasible*>(&error) != nullptr ? 3 : 2;
}

}  // namespace headway::core
