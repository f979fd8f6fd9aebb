// Jobs of sweeps name their folder so that whoever reads them finds it, whatever it is called.
#include "sim/report/points/sweep_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFolder = "it's \"mine\" $HOME\\x";

TEST(SweepJobs, QuoteTheFolderAsTheirReaderWantsIt) {
  const auto text = [](JobSystem system) { return job_file(system, kFolder, 7); };
  EXPECT_THAT(text(JobSystem::slurm), HasSubstr(R"(worker 'it'\''s "mine" $HOME\x' --shard)"));
  EXPECT_THAT(text(JobSystem::hq), HasSubstr(R"(--quiet' 'it'\''s "mine" $HOME\x')"));
  EXPECT_THAT(text(JobSystem::k8s), HasSubstr(R"(mountPath: "it's \"mine\" $HOME\\x")"));
  EXPECT_THAT(text(JobSystem::condor),
              HasSubstr(R"(worker 'it''s ""mine"" $(DOLLAR)HOME\x' --shard)"));
  // A macro of the file itself, too, and in the name of what a shard says that fails.
  EXPECT_THAT(job_file(JobSystem::condor, "a$(K)b", 7),
              AllOf(HasSubstr("worker 'a$(DOLLAR)(K)b' --shard $INT(K)/7"),
                    HasSubstr("\nerror = a$(DOLLAR)(K)b/sweep-$(Process).err\n")));
}

/// A task asks for one processor: its worker takes no other of the machine's.
TEST(SweepJobs, LetAWorkerTakeWhatItsTaskAsksFor) {
  for (const JobSystem system : {JobSystem::k8s, JobSystem::hq, JobSystem::condor}) {
    EXPECT_THAT(job_file(system, "run", 7), testing::ContainsRegex("/7\"? --threads 1 --quiet"))
        << core::to_word(system);
  }
  EXPECT_THAT(job_file(JobSystem::slurm, "run", 7),
              HasSubstr("--threads \"${SLURM_CPUS_PER_TASK:-1}\" --quiet"));
}

TEST(SweepJobs, KeepWhatAShardSaysThatFails) {
  EXPECT_THAT(job_file(JobSystem::slurm, "a b", 7),
              HasSubstr("errors='a b'/\"shard-$SLURM_ARRAY_TASK_ID.err\"\nexec 2>\"$errors\"\n"));
  EXPECT_THAT(job_file(JobSystem::condor, "a b", 7),
              HasSubstr("\nerror = a b/sweep-$(Process).err\n"));
}

}  // namespace
}  // namespace headway::report
