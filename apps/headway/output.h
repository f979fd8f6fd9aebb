// Where results go: standard output, or a file that is whole or not there at all.
#pragma once

#include <string>

#include "apps/headway/options.h"

namespace headway::apps {

/// Finds out before any work whether --out can be written.
/// @throws core::Error if it exists without --force, is no plain file, or its folder is missing
void check_out(const CommonOptions& options);

/// Prints `text`, or writes it to --out: first to a file beside it, which then takes its name.
/// @throws core::Error if the file cannot be written
void deliver(const CommonOptions& options, const std::string& text);

/// A remark on standard error, unless --quiet.
void remark(const CommonOptions& options, const std::string& text);

}  // namespace headway::apps
