#include "apps/headway/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <unistd.h>

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

/// Through links: the file that a link names is replaced, not the link.
fs::path target_of(const std::string& out) {
  std::error_code error;
  const fs::path resolved = fs::canonical(out, error);
  return error ? fs::path(out) : resolved;
}

[[noreturn]] void refuse(const fs::path& path, const char* step) {
  throw core::Error(fmt::format("cannot {} '{}': {}", step, path.string(), std::strerror(errno)));
}

/// Writes all of `text` and makes it durable; false with errno set if that fails.
bool write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) {
      return false;
    }
    done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
  }
  return ::fsync(file) == 0;
}

void replace_file(const fs::path& target, const std::string& text) {
  const fs::path draft = target.string() + fmt::format(".{}.tmp", ::getpid());
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    refuse(draft, "create");
  }
  const bool written = write_all(file, text);
  const int cause = errno;
  ::close(file);
  if (!written || std::rename(draft.c_str(), target.c_str()) != 0) {
    errno = written ? errno : cause;
    const int reason = errno;
    ::unlink(draft.c_str());
    errno = reason;
    refuse(target, "write");
  }
}

}  // namespace

void check_out(const CommonOptions& options) {
  if (options.out.empty()) {
    return;
  }
  const fs::path target = target_of(options.out);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw core::Error(fmt::format("cannot write '{}': the folder '{}' does not exist", options.out,
                                  folder.string()));
  }
  if (!fs::exists(target)) {
    return;
  }
  if (!fs::is_regular_file(target)) {
    throw core::Error(fmt::format("cannot write '{}': it is no plain file", options.out));
  }
  if (!options.force) {
    throw core::Error(fmt::format("'{}' exists; use --force to overwrite it", options.out));
  }
}

void deliver(const CommonOptions& options, const std::string& text) {
  if (options.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  check_out(options);  // again: another program may have written it meanwhile
  replace_file(target_of(options.out), text);
  remark(options, fmt::format("wrote {}", options.out));
}

void remark(const CommonOptions& options, const std::string& text) {
  if (!options.quiet) {
    fmt::print(stderr, "headway: {}\n", text);
  }
}

}  // namespace headway::apps
