#include "calibrate/measure/host/rendezvous.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

#include "calibrate/measure/host/steady.h"

namespace headway::measure {

namespace {

namespace fs = std::filesystem;

/// A file appears whole or not at all: written beside, then renamed.
void publish(const fs::path& path, const std::string& text) {
  const fs::path draft = path.string() + ".draft";
  std::ofstream file(draft);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + draft.string());
  }
  fs::rename(draft, path);
}

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char byte : bytes) {
    out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}
std::string unhex(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return out;
}

/// One line of a hello or of the roster: "nonce gpus host".
struct Hello {
  std::string nonce;
  Introduction who;
};
std::string line_of(const Hello& hello) {
  return fmt::format("{} {} {}\n", hello.nonce, hello.who.gpus, hello.who.host);
}
Hello hello_of(const std::string& line) {
  std::istringstream text(line);
  Hello hello;
  text >> hello.nonce >> hello.who.gpus >> hello.who.host;
  return hello;
}

/// A name that no other process of any run has. It steers nothing but who meets whom.
std::string draw_nonce() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:x}", device(), device(), getpid());
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

class Meeting {
 public:
  Meeting(fs::path folder, int rank, int ranks, const Introduction& me, double patience_s)
      : folder_(std::move(folder)),
        rank_(rank),
        ranks_(ranks),
        mine_{draw_nonce(), me},
        end_s_(steady_seconds() + patience_s) {
    fs::create_directories(folder_);
  }

  /// Rank 0: publishes the roster, again whenever a hello changes, until all have agreed to it.
  Roster lead(const std::string& payload) {
    std::string published;
    while (true) {
      std::string roster = hex(payload) + "\n" + line_of(mine_);
      std::string missing;
      for (int rank = 1; rank < ranks_; ++rank) {
        const std::string line = content(hello_path(rank));
        missing += line.empty() ? " " + std::to_string(rank) : "";
        roster += line;
      }
      if (missing.empty() && roster != published) {
        publish(folder_ / "roster", roster);
        published = roster;
      }
      if (missing.empty() && all_agreed(roster)) {
        Roster out = parse(roster);
        clear();
        return out;
      }
      wait_a_little(missing.empty() ? " (no answer)" : missing);
    }
  }

  /// The others: agree to the first roster that has their own nonce.
  Roster follow() {
    publish(hello_path(rank_), line_of(mine_));
    while (true) {
      const std::string roster = content(folder_ / "roster");
      const std::vector<Hello> hellos = hellos_of(roster);
      const auto at = static_cast<std::size_t>(rank_);
      if (hellos.size() == static_cast<std::size_t>(ranks_) && hellos[at].nonce == mine_.nonce) {
        publish(agreed_path(rank_), mine_.nonce + hellos[0].nonce);
        return parse(roster);
      }
      wait_a_little(" 0");
    }
  }

 private:
  [[nodiscard]] fs::path hello_path(int rank) const {
    return folder_ / fmt::format("hello-{}", rank);
  }
  [[nodiscard]] fs::path agreed_path(int rank) const {
    return folder_ / fmt::format("agreed-{}", rank);
  }

  static std::vector<Hello> hellos_of(const std::string& roster) {
    std::istringstream text(roster);
    std::string line;
    std::getline(text, line);  // the payload
    std::vector<Hello> out;
    while (std::getline(text, line)) {
      out.push_back(hello_of(line));
    }
    return out;
  }
  static Roster parse(const std::string& roster) {
    Roster out;
    out.payload = unhex(roster.substr(0, roster.find('\n')));
    for (const Hello& hello : hellos_of(roster)) {
      out.processes.push_back(hello.who);
    }
    return out;
  }
  [[nodiscard]] bool all_agreed(const std::string& roster) const {
    const std::vector<Hello> hellos = hellos_of(roster);
    for (int rank = 1; rank < ranks_; ++rank) {
      if (content(agreed_path(rank)) !=
          hellos[static_cast<std::size_t>(rank)].nonce + mine_.nonce) {
        return false;
      }
    }
    return true;
  }
  void clear() const {
    std::error_code ignored;
    fs::remove(folder_ / "roster", ignored);
    for (int rank = 1; rank < ranks_; ++rank) {
      fs::remove(hello_path(rank), ignored);
      fs::remove(agreed_path(rank), ignored);
    }
    fs::remove(folder_, ignored);  // only if nothing else is in it
  }
  void wait_a_little(const std::string& missing) const {
    if (steady_seconds() > end_s_) {
      throw std::runtime_error("processes that did not come to " + folder_.string() + ":" +
                               missing);
    }
    rest();
  }

  fs::path folder_;
  int rank_, ranks_;
  Hello mine_;
  double end_s_;
};

}  // namespace

Roster meet(const std::string& folder,
            int rank,
            int ranks,
            const Introduction& me,
            const std::string& payload,
            double patience_s) {
  if (ranks == 1) {
    return {{me}, payload};
  }
  Meeting meeting(folder, rank, ranks, me, patience_s);
  return rank == 0 ? meeting.lead(payload) : meeting.follow();
}

}  // namespace headway::measure
