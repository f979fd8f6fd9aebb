#include "calibrate/measure/host/dynamic_library.h"

#include <dlfcn.h>
#include <stdexcept>

namespace headway::measure {

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names) {
  std::string reason;
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    reason = reason.empty() ? dlerror() : reason;
  }
  throw std::runtime_error(reason.empty() ? "no library named" : reason);
}

void* DynamicLibrary::find(const char* name) const { return dlsym(handle_, name); }

void* DynamicLibrary::address(const char* name) const {
  void* found = find(name);
  if (found == nullptr) {
    throw std::runtime_error(name_ + " lacks " + name);
  }
  return found;
}

}  // namespace headway::measure
