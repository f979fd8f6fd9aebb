// A shared library opened at run time: a machine without it loses one part of the measurement, not
// the program.
#pragma once

#include <string>
#include <vector>

namespace headway::measure {

/// One opened library; never closed, as GPU libraries keep threads and memory of their own.
class DynamicLibrary {
 public:
  /// Opens the first of `names` that the loader finds.
  /// @throws std::runtime_error naming the library and the loader's reason
  explicit DynamicLibrary(const std::vector<std::string>& names);

  /// @throws std::runtime_error if the library lacks `name`
  template <class Function>
  void load(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address(name));
  }
  /// Null if the library lacks it.
  template <class Function>
  void load_optional(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(find(name));
  }

 private:
  [[nodiscard]] void* address(const char* name) const;
  [[nodiscard]] void* find(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace headway::measure
