// Opens the listener when somebody serves: what it brings (cpp-httplib, OpenSSL, brotli) takes as
// long to load as a small run takes to simulate.
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <random>

#include "sim/core/error.h"

#include "apps/headway/serve/listener.h"

namespace headway::apps {

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) {
    token += fmt::format("{:08x}", device());
  }
  return token;
}

void listen(const ListenOptions& options) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string file = (program.parent_path() / "headway_listener.so").string();
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = library != nullptr ? ::dlsym(library, "headway_listen") : nullptr;
  if (entry == nullptr) {
    throw core::Error(fmt::format(
        "headway serve needs its listener beside the program: {}; install it again", ::dlerror()));
  }
  reinterpret_cast<void (*)(const ListenOptions&)>(entry)(options);
}

}  // namespace headway::apps
