#include "calibrate/measure/host/rendezvous.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace headway::measure {
namespace {

namespace fs = std::filesystem;

class RendezvousTest : public testing::Test {
 protected:
  RendezvousTest() { fs::remove_all(folder_); }
  ~RendezvousTest() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(folder_);
    std::ofstream(folder_ / name) << text;
  }
  std::vector<Roster> meet_all(int ranks) const {
    std::vector<Roster> rosters(static_cast<std::size_t>(ranks));
    std::vector<std::jthread> threads;
    for (int rank = ranks - 1; rank >= 0; --rank) {  // the leader comes last
      threads.emplace_back([&, rank] {
        rosters[static_cast<std::size_t>(rank)] =
            meet(folder_.string(), rank, ranks, {"host" + std::to_string(rank / 2), rank + 1},
                 rank == 0 ? std::string("id\0\xff\n", 5) : "ignored", 20);
      });
    }
    threads.clear();  // joins
    return rosters;
  }
  void expect_met(const std::vector<Roster>& rosters) const {
    for (const Roster& roster : rosters) {
      EXPECT_EQ(roster.payload, std::string("id\0\xff\n", 5));
      ASSERT_EQ(roster.processes.size(), rosters.size());
      EXPECT_EQ(roster.processes[2], (Introduction{"host1", 3}));
    }
    EXPECT_FALSE(fs::exists(folder_));  // nothing is left behind
  }
  fs::path folder_ = fs::path(testing::TempDir()) / ("headway-meet-" + std::to_string(getpid()));
};

TEST_F(RendezvousTest, EveryProcessLearnsOfAllAndThePayload) { expect_met(meet_all(4)); }

TEST_F(RendezvousTest, FilesOfABrokenRunDoNoHarm) {
  write("hello-1", "0123 8 old-host\n");
  write("hello-3", "4567 8 old-host\n");
  write("agreed-3", "4567cafe");
  write("roster", "6f6c64\ncafe 8 old\n0123 8 old-host\nbeef 8 old\n4567 8 old-host\n");
  expect_met(meet_all(4));
}

TEST_F(RendezvousTest, OneProcessMeetsNobody) {
  EXPECT_EQ(meet(folder_.string(), 0, 1, {"here", 8}, "id", 0).payload, "id");
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(RendezvousTest, TheMissingAreNamed) {
  try {
    meet(folder_.string(), 0, 3, {"here", 1}, "id", 0.1);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(": 1 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace headway::measure
