// What the configuration looks like, for editors and for Python, printed from the field lists.
#pragma once

#include <string>
#include <string_view>

namespace headway::config {

/// JSON Schema (draft-07) of the files of one kind ("gpus", "nodes", ..., "scenarios"); committed
/// in `configs/schema`.
/// @throws core::Error if `kind` is none of `catalogue_kinds()`
std::string schema_of(std::string_view kind);

/// The text of `python/headway/scenario.py`: one dataclass a spec struct.
std::string python_dataclasses();

}  // namespace headway::config
