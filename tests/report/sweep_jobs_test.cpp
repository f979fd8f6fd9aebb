// Jobs of sweeps name their folder so that whoever reads them finds it, whatever it is called.
#include "sim/report/points/sweep_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::report {
namespace {

using testing::HasSubstr;

constexpr const char* kFolder = "it's \"mine\" $HOME\\x";

TEST(SweepJobs, QuoteTheFolderAsTheirReaderWantsIt) {
  const auto text = [](JobSystem system) { return job_file(system, kFolder, 7); };
  EXPECT_THAT(text(JobSystem::slurm), HasSubstr(R"(worker 'it'\''s "mine" $HOME\x' --shard)"));
  EXPECT_THAT(text(JobSystem::hq), HasSubstr(R"(--quiet' 'it'\''s "mine" $HOME\x')"));
  EXPECT_THAT(text(JobSystem::k8s), HasSubstr(R"(mountPath: "it's \"mine\" $HOME\\x")"));
  EXPECT_THAT(text(JobSystem::condor), HasSubstr(R"(worker 'it''s ""mine"" $HOME\x' --shard)"));
}

}  // namespace
}  // namespace headway::report
