#include "calibrate/measure/host/storage.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

#include "calibrate/measure/host/number_formats.h"
#include "calibrate/measure/host/steady.h"

namespace headway::measure {

namespace {

constexpr std::size_t kAlignment = 4096;  // of memory, offset and length under O_DIRECT

[[noreturn]] void io_failed(const std::string& what, const std::string& path) {
  throw std::runtime_error(fmt::format("{} {}: {}", what, path, std::strerror(errno)));
}

/// An open file descriptor.
class File {
 public:
  /// Opens with O_DIRECT; without it where the file system refuses.
  File(std::string path, int flags) : path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), flags | O_DIRECT, 0600);
    if (descriptor_ < 0 && errno == EINVAL) {
      direct_ = false;
      descriptor_ = open(path_.c_str(), flags, 0600);
    }
    if (descriptor_ < 0) {
      io_failed("cannot open", path_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }

  void write_at(const char* data, std::size_t bytes, std::uint64_t offset) const {
    if (pwrite(descriptor_, data, bytes, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes)) {
      io_failed("cannot write", path_);
    }
  }
  void read_at(char* data, std::size_t bytes, std::uint64_t offset) const {
    if (pread(descriptor_, data, bytes, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes)) {
      io_failed("cannot read", path_);
    }
  }
  void sync() const {
    if (fsync(descriptor_) != 0) {
      io_failed("cannot sync", path_);
    }
  }
  /// Asks the kernel to forget the file's pages; only matters without O_DIRECT.
  void forget_pages() const {
    static_cast<void>(posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED));
  }
  [[nodiscard]] bool direct() const { return direct_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool direct_ = true;
};

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};
using AlignedBlock = std::unique_ptr<char, Free>;

AlignedBlock aligned_block(std::uint64_t bytes) {
  return AlignedBlock(static_cast<char*>(std::aligned_alloc(kAlignment, bytes)));
}

/// Random bytes, so that a compressing file system gains nothing; the first eight of each block say
/// which stream and block it is.
void fill(char* block, std::uint64_t bytes, std::uint64_t stream) {
  for (std::uint64_t i = 0; i < bytes / 8; ++i) {
    const std::uint64_t word = mixed_bits(stream, i);
    std::memcpy(block + 8 * i, &word, 8);
  }
}
std::uint64_t label(std::uint64_t stream, std::uint64_t index) {
  return mixed_bits(stream + 77, index);
}

/// One thread a stream, all started together; rethrows what the first one threw.
template <class Work>
double time_streams(int streams, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const double begin = steady_seconds();
  {
    std::vector<std::jthread> threads;
    for (int stream = 0; stream < streams; ++stream) {
      threads.emplace_back([&, stream] {
        try {
          work(stream);
        } catch (...) {
          const std::lock_guard lock(mutex);
          failure = failure ? failure : std::current_exception();
        }
      });
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  return steady_seconds() - begin;
}

/// The files of one run, removed at its end whatever happens.
class RunFiles {
 public:
  explicit RunFiles(const StorageRun& run) {
    for (int stream = 0; stream < run.streams; ++stream) {
      paths_.push_back(fmt::format("{}/.headway-calibrate-{}-{}", run.folder, getpid(), stream));
    }
  }
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;
  ~RunFiles() {
    for (const std::string& path : paths_) {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  }
  [[nodiscard]] const std::string& path(int stream) const {
    return paths_[static_cast<std::size_t>(stream)];
  }

 private:
  std::vector<std::string> paths_;
};

}  // namespace

StorageTimes time_storage(const StorageRun& run) {
  const RunFiles names(run);
  const std::uint64_t blocks = run.bytes_per_stream / run.block;
  std::vector<AlignedBlock> memory;
  std::vector<std::unique_ptr<File>> files;
  for (int stream = 0; stream < run.streams; ++stream) {
    memory.push_back(aligned_block(run.block));
    fill(memory.back().get(), run.block, static_cast<std::uint64_t>(stream));
    files.push_back(std::make_unique<File>(names.path(stream), O_RDWR | O_CREAT | O_TRUNC));
  }
  StorageTimes times;
  times.direct = files.front()->direct();
  std::vector<char> right(static_cast<std::size_t>(run.streams), 1);
  const auto each = [&](const auto& work) {
    return time_streams(run.streams, [&](int stream) {
      const auto at = static_cast<std::size_t>(stream);
      work(*files[at], memory[at].get(), static_cast<std::uint64_t>(stream), right[at]);
    });
  };
  times.write_s = each([&](const File& file, char* block, std::uint64_t stream, char&) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t word = label(stream, i);
      std::memcpy(block, &word, 8);
      file.write_at(block, run.block, i * run.block);
    }
  });
  times.sync_s = each([](const File& file, char*, std::uint64_t, char&) { file.sync(); });
  for (const auto& file : files) {
    file->forget_pages();
  }
  times.read_s = each([&](const File& file, char* block, std::uint64_t stream, char& ok) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      file.read_at(block, run.block, i * run.block);
      const std::uint64_t first = label(stream, i), last = mixed_bits(stream, run.block / 8 - 1);
      if (std::memcmp(block, &first, 8) != 0 || std::memcmp(block + run.block - 8, &last, 8) != 0) {
        ok = 0;
      }
    }
  });
  times.right = std::all_of(right.begin(), right.end(), [](char ok) { return ok == 1; });
  return times;
}

double time_metadata(const std::string& folder) {
  const std::string path = fmt::format("{}/.headway-calibrate-{}-entry", folder, getpid());
  const AlignedBlock block = aligned_block(kAlignment);
  fill(block.get(), kAlignment, 1);
  const double begin = steady_seconds();
  {
    const File file(path, O_RDWR | O_CREAT | O_TRUNC);
    file.write_at(block.get(), kAlignment, 0);
    file.sync();
  }
  std::filesystem::rename(path, path + "-2");
  std::filesystem::remove(path + "-2");
  return steady_seconds() - begin;
}

}  // namespace headway::measure
