#include "apps/headway/serve/worker.h"

#include <array>
#include <csignal>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using Clock = std::chrono::steady_clock;

/// How often it is looked whether a newer question came.
constexpr int kLookMs = 20;
/// Of an answer; a run with 200,000 spans in its pictures has 9 MB.
constexpr std::size_t kLargestAnswer = std::size_t{256} << 20U;

/// A file descriptor that is closed with its owner.
class File {
 public:
  explicit File(int file) : file_(file) {}
  ~File() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return file_; }

 private:
  int file_;
};

/// A file in memory that holds the text, to be read from its start; below zero: there is none.
int file_with(const std::string& text) {
  const int file = ::memfd_create("question", 0);
  std::size_t done = 0;
  while (file >= 0 && done < text.size()) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote <= 0) {
      ::close(file);
      return -1;
    }
    done += static_cast<std::size_t>(wrote);
  }
  if (file >= 0) {
    ::lseek(file, 0, SEEK_SET);
  }
  return file;
}

/// Becomes the program that answers. Between fork and exec of a program with threads only system
/// calls are allowed.
[[noreturn]] void become_worker(int question, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(question, STDIN_FILENO);
  ::dup2(answer, STDOUT_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  std::array<char, 8> program{"headway"}, verb{"serve"};
  std::array<char, 9> flag{"--answer"};
  const std::array<char*, 4> words{program.data(), verb.data(), flag.data(), nullptr};
  ::execv("/proc/self/exe", words.data());
  ::_exit(1);
}

/// Reads to the end, the deadline or the flag.
Worked::End read_answer(int file,
                        Clock::time_point deadline,
                        const std::atomic<bool>& replaced,
                        std::string& text) {
  std::array<char, 1U << 16U> buffer{};
  while (true) {
    if (replaced) {
      return Worked::End::replaced;
    }
    if (Clock::now() > deadline) {
      return Worked::End::late;
    }
    pollfd waited{file, POLLIN, 0};
    if (::poll(&waited, 1, kLookMs) <= 0) {
      continue;
    }
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got == 0) {
      return Worked::End::answered;
    }
    if (got < 0 || text.size() > kLargestAnswer) {
      return Worked::End::failed;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Worked work(const std::string& question,
            std::chrono::seconds limit,
            const std::atomic<bool>& replaced) {
  Worked out;
  const File asked(file_with(question));
  std::array<int, 2> ends{-1, -1};
  if (asked.get() < 0 || ::pipe(ends.data()) != 0) {
    return out;
  }
  const File answer(ends[0]);
  const pid_t child = ::fork();
  if (child == 0) {
    become_worker(asked.get(), ends[1]);
  }
  ::close(ends[1]);
  if (child < 0) {
    return out;
  }
  out.end = read_answer(answer.get(), Clock::now() + limit, replaced, out.text);
  if (out.end != Worked::End::answered) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (out.end == Worked::End::answered && out.code != 0 && out.code != kUsage) {
    out.end = Worked::End::failed;
  }
  return out;
}

}  // namespace

Workers::Flag Workers::enter(const std::string& slot) {
  const std::lock_guard lock(mutex_);
  if (const auto before = running_.find(slot); before != running_.end()) {
    *before->second = true;
  } else if (processes_ >= most_) {
    return nullptr;
  }
  ++processes_;
  return running_[slot] = std::make_shared<std::atomic<bool>>(false);
}

void Workers::leave(const std::string& slot, const Flag& flag) {
  const std::lock_guard lock(mutex_);
  --processes_;
  if (const auto mine = running_.find(slot); mine != running_.end() && mine->second == flag) {
    running_.erase(mine);
  }
}

Worked Workers::run(const std::string& slot, const std::string& question) {
  const Flag replaced = enter(slot);
  if (replaced == nullptr) {
    return {Worked::End::busy, 0, ""};
  }
  auto worked = work(question, limit_, *replaced);
  leave(slot, replaced);
  return worked;
}

void Workers::stop(const std::string& slot) {
  const std::lock_guard lock(mutex_);
  if (const auto running = running_.find(slot); running != running_.end()) {
    *running->second = true;
  }
}

}  // namespace headway::apps
