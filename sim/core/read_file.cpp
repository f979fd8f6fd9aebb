#include "sim/core/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "sim/core/error.h"

namespace headway::core {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string message) {
  if (path.empty()) {
    throw Error(kEmptyName);
  }
  throw Error(SourceMark{path.string(), 0, 0, 1, ""}, std::move(message));
}

/// Why the last call on the file failed, in the words of the system.
[[noreturn]] void fail_with_errno(const std::filesystem::path& path, int cause) {
  if (cause == ENOENT || cause == ENOTDIR) {
    fail(path, "there is no such file");
  }
  if (cause == EISDIR) {
    fail(path, "is a directory; name a file in it");
  }
  fail(path, fmt::format("cannot be read: {}", std::strerror(cause)));
}

}  // namespace

void refuse_larger(const std::filesystem::path& path, std::size_t limit, const char* how) {
  const bool whole = limit >= (std::size_t{1} << 20U);
  fail(path, fmt::format("{} larger than {} {}, the most that is read of such a file; is it the "
                         "right one? If so, cut it down to the part that is needed",
                         how, whole ? limit >> 20U : limit, whole ? "MiB" : "bytes"));
}

std::string read_file(const std::filesystem::path& path, std::size_t limit) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) {
    fail_with_errno(path, errno);
  }
  std::string text;
  std::size_t block = std::size_t{1} << 14U;
  for (std::size_t got = 1; got > 0 && text.size() <= limit;) {
    const std::size_t before = text.size();
    const std::size_t wanted = std::min(block, limit + 1 - before);
    text.resize(before + wanted);
    got = std::fread(text.data() + before, 1, wanted, file.get());
    text.resize(before + got);
    block *= 2;
  }
  if (std::ferror(file.get()) != 0) {
    fail_with_errno(path, errno);
  }
  if (text.size() > limit) {
    refuse_larger(path, limit);
  }
  return text;
}

}  // namespace headway::core
