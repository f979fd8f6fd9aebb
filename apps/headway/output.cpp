#include "apps/headway/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sim/core/shown_text.h"
#include "sim/report/wrap.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

/// Columns of a terminal that does not say how many it has, and the fewest that tables are made
/// for.
constexpr std::size_t kUsualWidth = 80, kNarrowest = 20;

/// Through links: the file that a link names is written, not the link.
fs::path target_of(const std::string& out) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(out, error), error);
  return error ? fs::path(out) : resolved;
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

[[noreturn]] void refuse(const std::string& out, const std::string& why) {
  throw core::Error(fmt::format("cannot write '{}': {}", out, why));
}

[[noreturn]] void refuse_existing(const std::string& out) {
  throw core::Error(fmt::format("'{}' exists; use --force to overwrite it", out));
}

/// What is written to as it is, since nothing can take its name: a pipe, a terminal, a stream that
/// is open already.
bool is_stream(const std::string& out) {
  std::error_code ignored;
  const auto status = fs::status(out, ignored);
  if (out == "/dev/stdout" || out == "/dev/stderr" || out.starts_with("/dev/fd/")) {
    return !fs::is_socket(status);  // which no name opens
  }
  return fs::is_fifo(status) || fs::is_character_file(status);
}

void check_one(const std::string& out, bool force) {
  std::error_code ignored;
  if (is_stream(out)) {
    if (::access(out.c_str(), W_OK) != 0) {
      refuse(out, std::strerror(errno));
    }
    return;
  }
  if (fs::is_symlink(out, ignored) && !fs::exists(out, ignored)) {
    refuse(out, "it is a link that leads nowhere; remove it or name another file");
  }
  const fs::path target = target_of(out);
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, ignored)) {
    refuse(out, fmt::format("the folder '{}' does not exist", folder_of(out).string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(out, fmt::format("the folder '{}': {}", folder_of(out).string(), std::strerror(errno)));
  }
  const auto status = fs::status(target, ignored);
  if (!fs::exists(status)) {
    return;
  }
  if (!fs::is_regular_file(status)) {
    refuse(out, "it is no plain file");
  }
  if (!force) {
    refuse_existing(out);
  }
}

/// Writes all of `text`; false with errno set if that fails.
bool write_all(int file, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) {
      return false;
    }
    done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
  }
  return true;
}

/// @throws core::Error if not all of it can be written
void write_stream(const OutFile& out) {
  const int file = ::open(out.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const bool written = file >= 0 && write_all(file, out.text);
  const int cause = errno;
  if (file >= 0) {
    ::close(file);
  }
  if (!written && cause != EPIPE) {
    refuse(out.path, std::strerror(cause));
  }
}

/// A file beside the one it shall become; gone again unless it got that name.
class Draft {
 public:
  Draft(const OutFile& out, std::size_t number)
      : out_(out.path), target_(target_of(out.path)), path_(name(number, 0)) {
    // Processes of several containers may have one number and one folder, and one that was killed
    // leaves its draft behind: what is there is another's.
    int file = create();
    for (std::size_t other = 1; file < 0 && errno == EEXIST && other < kMostDrafts; ++other) {
      path_ = name(number, other);
      file = create();
    }
    if (file < 0) {
      refuse(out_, std::strerror(errno));
    }
    // What takes the place of a file is for those whom that file is for.
    struct stat old {};
    const bool kept = ::stat(target_.c_str(), &old) != 0 || !S_ISREG(old.st_mode) ||
                      ::fchmod(file, old.st_mode & 07777U) == 0;
    const bool written = kept && write_all(file, out.text) && ::fsync(file) == 0;
    const int cause = errno;
    ::close(file);
    if (!written) {
      ::unlink(path_.c_str());
      refuse(out_, std::strerror(cause));
    }
  }
  ~Draft() {
    if (!placed_) {
      ::unlink(path_.c_str());
    }
  }
  Draft(Draft&& other) noexcept
      : out_(std::move(other.out_)),
        target_(std::move(other.target_)),
        path_(std::move(other.path_)),
        placed_(std::exchange(other.placed_, true)) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft& operator=(Draft&&) = delete;

  void place(bool force) {
    if (force) {
      placed_ = std::rename(path_.c_str(), target_.c_str()) == 0;
    } else {
      // link(2) does not replace, whatever others did since check_out.
      placed_ = ::link(path_.c_str(), target_.c_str()) == 0;
      if (placed_) {
        ::unlink(path_.c_str());
      } else if (errno == EPERM || errno == EOPNOTSUPP) {  // a file system without links
        placed_ =
            ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0;
      }
    }
    if (!placed_ && errno == EEXIST) {
      refuse_existing(out_);
    }
    if (!placed_) {
      refuse(out_, std::strerror(errno));
    }
  }

 private:
  static constexpr std::size_t kMostDrafts = 1000;  ///< of one number, of other processes

  [[nodiscard]] fs::path name(std::size_t number, std::size_t other) const {
    return folder_of(target_) / fmt::format(".headway.{}.{}.{}.tmp", ::getpid(), number, other);
  }
  [[nodiscard]] int create() const {
    return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }

  std::string out_;
  fs::path target_, path_;
  bool placed_ = false;
};

}  // namespace

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      // Takes the lowest free number, which is this one.
      std::ignore = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

void print_error(std::string_view text) noexcept {
  std::ignore = std::fwrite(text.data(), 1, text.size(), stderr);
  std::ignore = std::fflush(stderr);
}

std::size_t error_columns() {
  winsize window{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return known ? window.ws_col : kUsualWidth;
}

void print_complaint(std::string_view text) {
  if (::isatty(STDERR_FILENO) == 0) {
    print_error(text);
    return;
  }
  std::string shown;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t bar = line.find_first_not_of(" 0123456789");
    const bool of_input = bar != std::string_view::npos && bar > 0 && line[bar] == '|';
    shown += of_input || line.empty() ? std::string(line) + "\n"
                                      : report::hanging(line, error_columns());
    begin = end + 1;
  }
  print_error(shown);
}

void print_result(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return;
  }
  if (errno != EPIPE) {
    throw LostOutput(std::strerror(errno));
  }
}

void print_help(std::string_view text) {
  print_result(report::hanging(text, page_of(CommonOptions{}).width));
}

void check_out(const CommonOptions& options, const std::vector<std::string>& beside) {
  std::vector<std::string> names = beside;
  names.push_back(options.out);
  std::erase(names, "");
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (target_of(names[i]) == target_of(names[j])) {
        refuse(names[i], "two results would go to this one file; name another for one of them");
      }
    }
    check_one(names[i], options.force);
    for (const std::string& read : options.named) {
      std::error_code none;
      if (fs::is_regular_file(read, none) && target_of(names[i]) == target_of(read)) {
        refuse(names[i], "it is what is read here; name another file");
      }
    }
  }
}

bool is_dumb_terminal() {
  const char* kind = std::getenv("TERM");
  return kind != nullptr && (*kind == '\0' || std::string_view(kind) == "dumb");
}

report::Page page_of(const CommonOptions& options) {
  const bool terminal = options.out.empty() && ::isatty(STDOUT_FILENO) != 0;
  report::Page page;
  if (terminal) {
    winsize window{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    page.width = known ? std::max<std::size_t>(kNarrowest, window.ws_col) : kUsualWidth;
  }
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: present and not empty
  const bool plain = (no_color != nullptr && *no_color != '\0') || is_dumb_terminal();
  page.colour = options.color == "always" || (options.color == "auto" && terminal && !plain);
  return page;
}

OutFile printed(const report::Document& document, const CommonOptions& options) {
  if (options.format == "md") {
    return {options.out, report::to_markdown(document)};
  }
  const auto page = page_of(options);
  return {options.out, report::to_text(document, page), page.colour};
}

OutFile printed(const report::Table& table, const CommonOptions& options) {
  if (options.format == "csv") {
    return {options.out, report::to_csv(table)};
  }
  if (options.format == "md") {
    return {options.out, report::to_markdown(table)};
  }
  const auto page = page_of(options);
  return {options.out, report::to_text(table, page), page.colour};
}

void deliver(const CommonOptions& options, const std::string& text) {
  deliver(options, OutFile{options.out, text});
}

void deliver(const CommonOptions& options, const OutFile& file) {
  deliver(options, std::vector<OutFile>{file});
}

void deliver(const CommonOptions& options, const std::vector<OutFile>& files) {
  std::vector<Draft> drafts;
  for (const auto& file : files) {
    if (!file.path.empty() && !is_stream(file.path)) {
      drafts.emplace_back(file, drafts.size());
    }
  }
  for (auto& draft : drafts) {
    draft.place(options.force);
  }
  for (const auto& file : files) {
    if (file.path.empty()) {
      print_result(options.format == "json" || file.toned ? file.text : core::visible(file.text));
    } else if (is_stream(file.path)) {
      write_stream(file);
    } else {
      remark(options, fmt::format("wrote {}", file.path));
    }
  }
}

void remark(const CommonOptions& options, const std::string& text) {
  if (!options.quiet) {
    print_complaint(core::visible(fmt::format("headway: {}\n", text)));
  }
}

}  // namespace headway::apps
