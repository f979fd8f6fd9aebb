// What two scenarios say differently, field by field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/training/scenario.h"

namespace headway::config {

/// A field whose values differ.
struct FieldDifference {
  std::string key;               ///< as `--set` takes it
  std::optional<std::string> a;  ///< as a file writes it; absent where the first one has none
  std::optional<std::string> b;

  template <class V>
  void fields(V& v) const {
    v.part("key", key, "path of the field, as `--set` takes it");
    v.part("a", a, "of the first file, a long one cut; null where it has none");
    v.part("b", b, "of the second file, likewise");
  }
};

/// All of them, in the order of the fields, defaults included. Parts with different names, such as
/// two nodes of the catalogue, are one difference: their names. Left out is what changes no
/// prediction: the scenario's name, `claim`, `assert`, `sweep` and `search`.
std::vector<FieldDifference> differing_fields(training::Scenario a, training::Scenario b);

}  // namespace headway::config
