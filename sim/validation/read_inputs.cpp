#include "sim/validation/read_inputs.h"

#include <algorithm>

#include "sim/core/digest.h"
#include "sim/core/read_file.h"

namespace headway::validation {

namespace fs = std::filesystem;

ReadInput table_input(const std::string& file, std::string_view text) {
  return {file, core::hash_text(text)};
}

ReadInput catalogue_input(const std::vector<fs::path>& roots) {
  ReadInput all{"catalogue", 0};
  for (const fs::path& root : roots) {
    std::vector<std::string> names;
    for (const auto& file : fs::recursive_directory_iterator(root)) {
      const std::string kind = file.path().extension().string();
      if (file.is_regular_file() && (kind == ".yaml" || kind == ".csv")) {
        names.push_back(file.path().lexically_relative(root).generic_string());
      }
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string text = core::read_file(root / name, core::kLargestMeasurement);
      all.digest = core::combine(all.digest, core::hash_text(name));
      all.digest = core::combine(all.digest, core::hash_text(text));
    }
  }
  return all;
}

}  // namespace headway::validation
