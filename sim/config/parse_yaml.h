// YAML text -> tree. The only door to libyaml.
#pragma once

#include "sim/config/tree.h"

namespace headway::config {

/// Parses the one document of `file`. Refused, each with its place: invalid UTF-8, control
/// characters, tabs in the indentation, duplicate keys, anchors, aliases, merge keys, tags, several
/// documents, an empty document, nesting deeper than 64.
/// @throws core::Error
Node parse_yaml(const SourceFile& file);

}  // namespace headway::config
