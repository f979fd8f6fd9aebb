// Folders of one room include one another one way: what goes both ways is known, and gets less.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// What the files of each folder include of others.
using Includes = std::map<std::string, std::set<std::string>>;

/// Folders that include each other. A folder, then those after it in the alphabet, by their names
/// in the room. The list may only shrink.
const std::map<std::string, std::string> kBothWays{
    {"apps/headway", "launch measured sweep"},
    {"calibrate/measure/cuda", "host"},
    {"sim/campaign", "job resolve slow"},
    {"sim/campaign/job", "saves slow"},
    {"sim/campaign/resolve", "saves"},
    {"sim/config", "arguments suggestions"},
    {"sim/import/launch", "megatron"},
    {"sim/network", "collective"},
    {"sim/network/collective", "fabric"},
    {"sim/network/flow", "fold loops"},
    {"sim/plan", "shortlist"},
    {"sim/report", "verbs"},
    {"sim/study", "packets points verdict"},
    {"sim/study/evidence", "expect"},
    {"sim/study/points", "verdict"},
    {"sim/training", "degraded occupancy orbits power sites step unequal"},
    {"sim/training/assumptions", "step"},
    {"sim/training/degraded", "step"},
    {"sim/training/imbalance", "step"},
    {"sim/training/orbits", "step"},
    {"sim/training/packets", "step"},
    {"sim/training/sites", "step"},
    {"sim/training/step", "unequal"},
    {"sim/validation", "compared words"},
    {"sim/workload",
     "attention blocks framework memory mixer muon native preconditioner schedule teacher trained "
     "vision"},
    {"sim/workload/attention", "blocks"},
    {"sim/workload/blocks", "latent memory mixer muon native schedule teacher trained vision"},
    {"sim/workload/memory", "muon preconditioner schedule teacher trained vision"},
    {"sim/workload/schedule", "teacher vision"},
    {"sim/workload/trained", "vision"}};

/// Folders each of which reaches each other by includes; '.' is the room itself. The list may only
/// shrink.
const std::set<std::string> kCircles{
    "apps/headway: . launch measured starter sweep",
    "calibrate/measure: cuda host",
    "sim/campaign: . job resolve saves slow",
    "sim/config: . arguments suggestions",
    "sim/import: launch megatron",
    "sim/network: . collective fabric",
    "sim/network: flow fold loops",
    "sim/plan: . shortlist",
    "sim/report: . points verbs",
    "sim/study: . packets points verdict",
    "sim/study: evidence expect",
    "sim/training: . assumptions degraded imbalance occupancy orbits packets power sites step "
    "unequal",
    "sim/validation: . compared words",
    "sim/workload: . attention blocks elementwise framework latent memory mixer muon native "
    "preconditioner schedule teacher trained vision"};

/// "sim/network/flow/engine.h" -> "sim/network".
std::string room_folder(const fs::path& path) {
  return (*path.begin() / *std::next(path.begin())).generic_string();
}

/// "sim/network/flow" -> "flow", "sim/network" -> ".".
std::string name_in_room(const std::string& folder) {
  return fs::path(folder).lexically_relative(room_folder(folder)).generic_string();
}

Includes both_ways(const Includes& includes) {
  Includes found;
  for (const auto& [folder, others] : includes) {
    for (const std::string& other : others) {
      const auto back = includes.find(other);
      if (folder < other && back != includes.end() && back->second.contains(folder)) {
        found[folder].insert(name_in_room(other));
      }
    }
  }
  return found;
}

/// All that a folder reaches by includes.
std::set<std::string> reached_from(const std::string& folder, const Includes& includes) {
  std::set<std::string> reached;
  std::vector<std::string> left{folder};
  while (!left.empty()) {
    const auto next = includes.find(left.back());
    left.pop_back();
    if (next != includes.end()) {
      for (const std::string& other : next->second) {
        if (reached.insert(other).second) {
          left.push_back(other);
        }
      }
    }
  }
  return reached;
}

/// "sim/network: . collective" of every circle.
std::set<std::string> circles(const Includes& includes) {
  Includes reached;
  for (const auto& [folder, ignored] : includes) {
    reached[folder] = reached_from(folder, includes);
  }
  std::set<std::string> found;
  for (const auto& [folder, others] : reached) {
    if (!others.contains(folder)) {
      continue;  // no way leads back
    }
    std::string words;
    for (const std::string& other : others) {
      words += reached[other].contains(folder) ? " " + name_in_room(other) : "";
    }
    found.insert(room_folder(folder) + ":" + words);
  }
  return found;
}

Includes includes_of_the_house() {
  static const std::regex include(R"(^\s*#\s*include "((?:sim|calibrate|apps)/[^"]+)\")");
  Includes includes;
  for (const char* top : {"sim", "calibrate", "apps"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(HEADWAY_SOURCE_DIR "/" + std::string(top))) {
      const fs::path path = fs::relative(entry.path(), HEADWAY_SOURCE_DIR);
      if (path.extension() != ".h" && path.extension() != ".cpp") {
        continue;
      }
      auto& others = includes[path.parent_path().generic_string()];
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch match;
        if (line.starts_with("#") && std::regex_search(line, match, include)) {
          const fs::path other = fs::path(match[1].str()).parent_path();
          if (other != path.parent_path() && room_folder(other) == room_folder(path)) {
            others.insert(other.generic_string());
          }
        }
      }
    }
  }
  return includes;
}

TEST(Closets, IncludeOneAnotherOneWayOrAreKnown) {
  std::map<std::string, std::string> found;
  for (const auto& [folder, others] : both_ways(includes_of_the_house())) {
    for (const std::string& other : others) {
      found[folder] += (found[folder].empty() ? "" : " ") + other;
    }
  }
  EXPECT_EQ(found, kBothWays) << "undo a new one; take an old one out of the list";
}

TEST(Closets, GoInCirclesOnlyWhereKnown) {
  EXPECT_EQ(circles(includes_of_the_house()), kCircles)
      << "undo what makes one larger; take out of the list what is in none";
}

TEST(Closets, StandInTheArchitecturesList) {
  std::map<std::string, std::string> closets;  // of each room, in the order of the alphabet
  for (const auto& [folder, ignored] : includes_of_the_house()) {
    if (const std::string name = name_in_room(folder); name != ".") {
      std::string& names = closets[room_folder(folder)];
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  std::ifstream file(HEADWAY_SOURCE_DIR "/docs/architecture.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [room, names] : closets) {
    EXPECT_NE(text.find("`" + room + "/{" + names + "}`"), std::string::npos)
        << room << "/{" << names << "}";
  }
}

TEST(Closets, ThatGoBothWaysOrInCirclesAreFound) {
  const Includes includes{{"sim/a", {"sim/a/x"}},   {"sim/a/x", {"sim/a", "sim/a/y"}},
                          {"sim/a/y", {"sim/a/z"}}, {"sim/a/z", {"sim/a/x"}},
                          {"sim/b", {"sim/b/x"}},   {"sim/b/x", {}}};
  EXPECT_EQ(both_ways(includes), (Includes{{"sim/a", {"x"}}}));
  EXPECT_EQ(circles(includes), (std::set<std::string>{"sim/a: . x y z"}));
}

}  // namespace
