// Spec struct -> tree -> YAML text, with every default written out.
#pragma once

#include <string>

#include "sim/config/spec_type.h"
#include "sim/config/tree.h"

namespace headway::config {

/// The value behind `value` as a tree that reads back to an equal value. Absent optionals are left
/// out.
/// @param place given to every node
Node to_tree(const SpecType& type, const void* value, const Place& place);

/// A tree as YAML text: block style, two spaces a level.
std::string to_yaml(const Node& root);

/// `text` as a string of YAML: in double quotes, with its escapes.
std::string quoted(const std::string& text);

/// Both: the canonical text of a spec.
std::string write_spec(const SpecType& type, const void* value);

}  // namespace headway::config
