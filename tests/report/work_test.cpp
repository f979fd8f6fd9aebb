// Questions that several processes answer: how they are cut, written down and refused.
#include "sim/report/points/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/report/result_json.h"

namespace headway::report {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

// Shards follow each other, leave nothing out, and differ by one part at most.
TEST(Work, IsCutIntoShardsThatHoldEveryPartOnce) {
  for (const std::size_t parts : {1U, 7U, 60U, 1000U}) {
    for (const std::int64_t shards : {1, 3, 7, 60}) {
      std::size_t next = 0;
      for (std::int64_t shard = 1; shard <= shards; ++shard) {
        const auto [first, count] = parts_of_shard(parts, shards, shard);
        EXPECT_EQ(first, next);
        EXPECT_LE(count, parts / static_cast<std::size_t>(shards) + 1);
        next += count;
      }
      EXPECT_EQ(next, parts);
    }
  }
}

WorkManifest some_manifest() {
  WorkManifest manifest;
  manifest.request.kind = WorkKind::plan;
  manifest.request.text = "headway: 1\n";
  manifest.request.file = "a.yaml";
  manifest.request.set = {"cluster.nodes=4"};
  manifest.request.plan.keep = 17;
  manifest.digest = "00ff";
  manifest.shards = 5;
  return manifest;
}

TEST(Work, IsReadAsItWasWritten) {
  const std::string text = work_manifest(some_manifest());
  EXPECT_TRUE(is_work_manifest(text));
  EXPECT_FALSE(is_work_manifest("{}"));
  EXPECT_FALSE(is_work_manifest("no JSON"));
  const WorkManifest read = read_work_manifest(text, "f");
  EXPECT_EQ(read.request.kind, WorkKind::plan);
  EXPECT_EQ(read.request.text, "headway: 1\n");
  EXPECT_EQ(read.request.file, "a.yaml");
  EXPECT_EQ(read.request.set, std::vector<std::string>{"cluster.nodes=4"});
  EXPECT_EQ(read.request.plan.keep, 17);
  EXPECT_EQ(read.digest, "00ff");
  EXPECT_EQ(read.shards, 5);
}

TEST(Work, RefusesFoldersThatAreNotItsOwn) {
  Json json = Json::parse(work_manifest(some_manifest()));
  const auto said = [&] { return refusal([&] { read_work_manifest(json.dump(), "f"); }); };
  EXPECT_EQ(said(), "");
  json["kind"] = "zzz";
  EXPECT_THAT(said(), HasSubstr("f: this is no shared question of this program: its kind is none"));
  json["kind"] = Json::parse(work_manifest(some_manifest()))["kind"];
  json["shards"] = 0;
  EXPECT_THAT(said(), HasSubstr("f: it has at least one shard"));
  json["version"] = "0.0.1";
  EXPECT_THAT(said(), HasSubstr("f: it was begun by version 0.0.1; this is "));
  json.erase("version");
  EXPECT_THAT(said(), HasSubstr("f: this is no shared question of this program: "));
  json["schema"] = "another";
  EXPECT_THAT(said(), HasSubstr("f: this is no shared question of this program"));
}

}  // namespace
}  // namespace headway::report
