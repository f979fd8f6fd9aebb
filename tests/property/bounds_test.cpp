// Whatever powers of two stand in the fields of a scenario, a run or a plan ends with a result, a
// complaint or a refusal; never with a fault of the program, and never with figures that cannot be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/infeasible.h"
#include "sim/report/run_json.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/study/plan.h"
#include "sim/study/predict.h"

#include "tests/property/spec_leaves.h"
#include "tests/sanitized.h"

namespace headway::testing {
namespace {

using config::LoadedScenario;
using config::Shape;

/// Reproducible draws.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
};

/// More than the tests themselves hold and any small scenario needs.
constexpr rlim_t kMemory = rlim_t{4} << 30;
/// Processor time of one scenario [s]: those here take milliseconds, so what takes as long hangs.
#ifdef HEADWAY_SANITIZED
constexpr double kHangs = 800;  // sanitized code takes twenty times as long
#else
constexpr double kHangs = 90;  // 45 s of two processors
#endif

/// No more than 4 GB as long as it lives; sanitizers are left alone.
class MemoryLimit {
 public:
  MemoryLimit() {
    getrlimit(RLIMIT_AS, &before_);
#ifndef HEADWAY_SANITIZED
    const rlimit limit{std::min(kMemory, before_.rlim_max), before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

/// HEADWAY_PROPERTY_SCALE=25 makes the deep run 25 times as many.
int scale() {
  const char* scale = std::getenv("HEADWAY_PROPERTY_SCALE");
  return scale == nullptr ? 1 : std::max(1, std::atoi(scale));
}

const config::SpecType& scalar_of(const Leaf& leaf) {
  return may_be_absent(*leaf.type) ? *leaf.type->element : *leaf.type;
}

bool is_size(const Leaf& leaf) {
  const Shape shape = scalar_of(leaf).shape;
  return shape == Shape::integer || shape == Shape::number || shape == Shape::quantity;
}

std::vector<Leaf> sizes_of(training::Scenario& scenario) {
  std::vector<Leaf> sizes;
  add_leaves(*config::find_kind("scenarios")->type, {}, &scenario, "", sizes);
  std::erase_if(sizes, [](const Leaf& leaf) { return !is_size(leaf) || leaf.path == "headway"; });
  return sizes;
}

/// Sequences of a step: more are simulated, in minutes instead of seconds.
constexpr double kMostSequences = 65'536;
/// Layers of a model: 4,096 of two kinds in turn are searched in a minute.
constexpr double kMostLayers = 1'024;

/// The exponents of the powers of two that a field takes; of a range without an end those to 2^80.
std::pair<int, int> exponents(const Leaf& leaf) {
  const config::SpecType& type = scalar_of(leaf);
  const bool whole = type.shape == Shape::integer;
  // As a double the largest whole number may be rounded up, to one that does not fit.
  const auto largest = std::bit_width(static_cast<std::uint64_t>(type.largest)) - 1;
  const double most = leaf.path == "training.global_batch" ? kMostSequences
                      : leaf.path == "model.layers"        ? kMostLayers
                                                           : std::exp2(whole ? largest : 80);
  const double low = std::max(leaf.range.low, std::exp2(whole ? 0 : -60));
  return {static_cast<int>(std::ceil(std::log2(low))),
          static_cast<int>(std::floor(std::log2(std::min(leaf.range.high, most))))};
}

/// Writes a power of two that the field takes.
std::string draw_into(const Leaf& leaf, Draw& draw) {
  const auto [low, high] = exponents(leaf);
  const int count = std::max(1, high - low + 1);
  const int exponent = low + static_cast<int>(draw.below(static_cast<std::size_t>(count)));
  const double value = std::exp2(exponent);
  if (leaf.range.contains(value)) {
    change(*leaf.type, leaf.value, value);
  }
  return leaf.path + "=2^" + std::to_string(exponent) + " ";
}

bool of_the_layout(const std::string& path) {
  return path.starts_with("parallelism.") || path.starts_with("model.") ||
         path == "cluster.nodes" || path.starts_with("cluster.fabric.") ||
         path == "training.global_batch" || path == "training.sequence_length";
}

/// Powers of two in one to three fields; every other time in those that a layout is made of, with
/// the data-parallel degree left open so that some of them fit.
std::string draw_fields(LoadedScenario& loaded, Draw& draw) {
  const bool layout = draw.below(2) == 0;
  std::vector<Leaf> sizes = sizes_of(loaded.scenario);
  if (layout) {
    std::erase_if(sizes, [](const Leaf& leaf) { return !of_the_layout(leaf.path); });
  }
  std::string what;
  for (auto count = 1 + draw.below(3); count > 0; --count) {
    what += draw_into(sizes[draw.below(sizes.size())], draw);
  }
  if (layout) {
    loaded.scenario.parallelism.data = {};
  }
  loaded.scenario.run.trials = std::min(loaded.scenario.run.trials, 2);
  return what;
}

/// Figures that are differences.
bool may_be_negative(const std::string& key) {
  return key == "error" || key == "ettr_gain" || key == "change" || key == "saves" ||
         key == "behind";  // of a class of layouts, by the analytic tier
}

/// Every number of a result is finite and, but for differences, not negative.
void expect_possible(const nlohmann::json& value,
                     const std::string& path,
                     const std::string& what) {
  if (value.is_structured()) {
    for (const auto& [key, item] : value.items()) {
      expect_possible(item, path + "/" + key, what);
    }
  } else if (value.is_number()) {
    const double number = value.get<double>();
    EXPECT_TRUE(std::isfinite(number) &&
                (number >= 0 || may_be_negative(path.substr(path.rfind('/') + 1))))
        << path << " is " << number << " with " << what;
  }
}

/// The exit code of what is asked; a fault of the program fails the test.
template <class Ask>
int code_of(const std::string& what, Ask ask) {
  const std::clock_t began = std::clock();
  int code = 1;
  try {
    code = ask();
  } catch (const core::Error& error) {
    code = core::exit_code(error);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\nwith " << what;
  }
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, kHangs) << what;
  return code;
}

int run_code(const LoadedScenario& loaded, const std::string& what) {
  return code_of(what, [&] {
    study::PredictOptions options;
    options.threads = 1;
    const auto report = study::predict(loaded, options);
    EXPECT_GT(report.step.time.si(), 0) << what;
    EXPECT_GT(report.step.memory.peak.si(), 0) << what;
    expect_possible(nlohmann::json::parse(report::run_json(report)), "", what);
    return study::exit_code(report.status);
  });
}

int plan_code(const LoadedScenario& loaded, const std::string& what) {
  return code_of(what, [&] {
    plan::PlanOptions options;
    options.threads = 1;
    options.keep = 1;
    const auto report = study::search_plans(loaded, options, {});
    expect_possible(nlohmann::json::parse(report::plan_json(report)), "", what);
    return study::exit_code(report.status());
  });
}

LoadedScenario load(const std::string& name) {
  return config::load_scenario(HEADWAY_SOURCE_DIR "/tests/property/fields/" + name + ".yaml",
                               {{HEADWAY_SOURCE_DIR "/configs"}, {}});
}

/// How often each exit code was seen in so many draws from each scenario.
template <class Ask>
std::map<int, int> draw_codes(int cases, std::uint64_t seed, Ask ask) {
  const MemoryLimit limit;
  std::map<int, int> codes;
  for (const char* name : {"dense", "failing", "mixture", "older"}) {
    const LoadedScenario base = load(name);
    for (int i = 0; i < cases; ++i) {
      Draw draw(seed + static_cast<std::uint64_t>(i));
      LoadedScenario drawn = base;
      const std::string what = std::string(name) + ": " + draw_fields(drawn, draw);
      const int code = ask(drawn, what);
      ++codes[code];
      EXPECT_TRUE(code == 0 || code == 2 || code == 3) << code << " with " << what;
    }
  }
  return codes;
}

TEST(Bounds, RunsOfPowersOfTwoEndInAResultAComplaintOrARefusal) {
  const auto codes = draw_codes(150 * scale(), 1, run_code);
  // Neither all is refused, nor is all taken.
  EXPECT_GT(codes.at(0), 60);
  EXPECT_GT(codes.at(2), 60);
  EXPECT_GT(codes.at(3), 6);
}

TEST(Bounds, PlansOfPowersOfTwoEndInAResultAComplaintOrARefusal) {
  // A plan takes seconds, a run milliseconds.
  const auto codes = draw_codes(scale(), 1'000'001, plan_code);
  EXPECT_GT(codes.at(0), 2);
}

}  // namespace
}  // namespace headway::testing
