// Names of cloud instances in a source's words: names, however many digits they have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::validation {

/// An instance that a text names.
struct InstanceName {
  std::string text;          ///< as it stands there, in small letters: "a3-megagpu-8g"
  const char* node = "";     ///< the catalogue's node; empty: it has none
  const char* gpu = "";      ///< GPU of that node
  const char* network = "";  ///< word for its network; empty: none of its own
};

/// A text without the instances it names.
struct WithoutInstances {
  std::string text;
  std::vector<InstanceName> names;
};
WithoutInstances without_instances(const std::string& text);

}  // namespace headway::validation
