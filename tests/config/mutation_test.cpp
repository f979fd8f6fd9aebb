// A quick stand-in for the fuzzer of tests/fuzz: damaged scenarios must be read or refused, nothing
// else.
#include <cstdint>
#include <exception>
#include <gtest/gtest.h>
#include <string>

#include "sim/config/load.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): the same damage everywhere.
std::uint64_t draw(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

void damage(std::string& text, std::uint64_t& state) {
  static constexpr const char* kPieces[] = {"{",      "}",    "[",     "]",   ": ", "- ",    "\n",
                                            "\t",     "\"",   "'",     "&a ", "*a", "<<: ",  "!!",
                                            "? ",     "|",    ">",     "#",   "%",  "---\n", "\xff",
                                            "use: x", "null", "1e999", "-0",  ","};
  const std::size_t at = draw(state) % (text.size() + 1);
  const std::size_t length = draw(state) % 9;
  switch (draw(state) % 4) {
    case 0:
      text.erase(at, length);
      return;
    case 1:
      text.insert(at, kPieces[draw(state) % std::size(kPieces)]);
      return;
    case 2:
      text.insert(at, text.substr(draw(state) % (text.size() + 1), length * 8));
      return;
    default:
      if (at < text.size()) {
        text[at] = static_cast<char>(draw(state) % 256);
      }
  }
}

TEST(Mutation, DamagedScenariosAreReadOrRefused) {
  std::uint64_t state = 20260601;
  int refused = 0;
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text(test_files::kScenario);
    for (std::uint64_t hits = 1 + draw(state) % 4; hits > 0; --hits) {
      damage(text, state);
    }
    try {
      load_scenario_text(text, "damaged.yaml");
      ++read;
    } catch (const core::Error& error) {
      ++refused;
      ASSERT_FALSE(std::string(error.what()).empty());
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << text;
    }
  }
  // Damage inside comments and names is harmless; most other damage is not.
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 50);
}

TEST(Mutation, DeepNestingIsRefusedWithoutHarm) {
  for (const char* opening : {"[", "{a: ", "- ", "? "}) {
    std::string text = "headway: 1\nname: ";
    for (int i = 0; i < 50000; ++i) {
      text += opening;
    }
    EXPECT_THROW(load_scenario_text(text, "deep.yaml"), core::Error) << opening;
  }
}

}  // namespace
}  // namespace headway::config
