// Execution traces that ASTRA-sim and PyTorch's converter wrote.
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"
#include "tests/external/file.h"

namespace headway::apps {
namespace {

using nlohmann::json;

class RealTraces : public ProgramTest {
 protected:
  static std::string file(const std::string& name) {
    return "'" + std::filesystem::absolute(import::kExternal + name).string() + "'";
  }
};

// One collective of 1 MB on eight GPUs; the folder has the traces of the first ranks, which do what
// all do.
TEST_F(RealTraces, MicrobenchmarksOfAstraSimTakeWhatHeadwayCollectiveSays) {
  for (const std::string kind : {"all_reduce", "reduce_scatter", "all_to_all"}) {
    const auto outcome = run("replay " +
                             file("astra-sim-astra-sim/examples/workload/microbenchmarks/" + kind +
                                  "/8npus_1MB/" + kind + ".0.et") +
                             " --ranks 8 --cluster dgx-h100 --format json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto alone =
        run("collective " + kind + " --cluster dgx-h100 --gpus 8 -b 1M -e 1M --format json");
    EXPECT_NEAR(json::parse(outcome.out)["time_s"].get<double>(),
                json::parse(alone.out)["rows"][0]["time_s"].get<double>(), 1e-12)
        << kind;
  }
  const auto folder =
      run("replay " +
          file("astra-sim-astra-sim/examples/workload/microbenchmarks/all_gather/8npus_1MB") +
          " --format json");
  ASSERT_EQ(folder.code, 0) << folder.err;
  EXPECT_EQ(json::parse(folder.out)["ranks"], 2);
}

// A network of 25.6 M parameters (102 MB of gradients) under DDP: 3,664 nodes of a CPU and a GPU,
// with seven collectives.
TEST_F(RealTraces, ATraceOfPyTorchIsReplayed) {
  ASSERT_EQ(std::system(("tar -C '" + folder_.string() + "' --warning=none -xzf " +
                         file("mlcommons-chakra/tests/data/feeder_tests_trace.tar.gz"))
                            .c_str()),
            0);
  const auto outcome =
      run("replay tests/data/chakra.0.et --ranks 16 --cluster dgx-h100 --nodes 2 --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["trace_nodes"], 16 * 3664);
  EXPECT_EQ(result["collectives"].size(), 7U);
  EXPECT_GE(result["time_s"], result["rows"][0]["computation_s"]);
}

}  // namespace
}  // namespace headway::apps
