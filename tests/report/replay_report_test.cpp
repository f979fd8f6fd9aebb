// What `headway replay` prints.
#include "sim/report/measured/replay_report.h"

#include <gmock/gmock.h>

#include "sim/report/read_result.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Ranks 0 to 2 compute 2 of 8 ms, rank 3 half of it; two all-reduces of 3 MB.
study::ReplayReport replayed() {
  study::ReplayReport report;
  report.machine = "2 x DGX H100";
  report.ranks = 4;
  report.nodes = 12;
  report.time = core::Seconds(8e-3);
  report.rows = {{0, 3, core::Seconds(2e-3), core::Seconds(6e-3)},
                 {3, 1, core::Seconds(4e-3), core::Seconds(8e-3)}};
  study::ReplayCollective row;
  row.bytes = core::Bytes(3e6);
  row.ranks = 4;
  row.calls = 2;
  row.nodes = 1;
  row.alone = core::Seconds(1.5e-3);
  row.algorithm = network::Algorithm::ring;
  report.collectives = {row};
  report.links = {{"nic", 0.25, 0.5}};
  report.assumptions = {"nothing"};
  report.limit = "The replay takes 8.00 ms.";
  return report;
}

TEST(ReplayReport, NamesRanksTransfersAndLinks) {
  const std::string text = to_text(replay_document(replayed()), {200, false});
  EXPECT_THAT(text, HasSubstr("Traces of 4 ranks on 2 x DGX H100\n"));
  EXPECT_THAT(text, testing::ContainsRegex("0 and 2 like it +2\\.00 +6\\.00 +25\\.0"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +3 +4\\.00 +8\\.00 +50\\.0"));
  EXPECT_THAT(text, testing::ContainsRegex("all_reduce +3\\.00 +4 +1 +2 +1,?500 +ring"));
  EXPECT_THAT(text, testing::ContainsRegex("nic +25\\.0 +50\\.0"));
  EXPECT_THAT(text, HasSubstr("Assumed: nothing.\n"));
  EXPECT_THAT(text, testing::EndsWith("The replay takes 8.00 ms.\n"));
}

TEST(ReplayReport, OfTracesThatWereOnlyCheckedHasNoTimes) {
  auto report = replayed();
  report.machine.reset();
  report.time.reset();
  report.links.clear();
  report.rows = {{0, 4, core::Seconds(2e-3), std::nullopt}};
  report.collectives.front().alone.reset();
  report.collectives.front().nodes.reset();
  report.collectives.front().algorithm.reset();
  const std::string text = to_text(replay_document(report), {200, false});
  EXPECT_THAT(text, HasSubstr("Traces of 4 ranks, 12 nodes\n"));
  EXPECT_THAT(text, testing::ContainsRegex("0 and 3 like it +2\\.00 +- +-\n"));
  EXPECT_THAT(text, testing::ContainsRegex("all_reduce +3\\.00 +4 +- +2 +- +-\n"));
  EXPECT_THAT(text, Not(HasSubstr("busiest")));
}

TEST(ReplayReport, AReplayWithoutTransfersHasNoTableOfThem) {
  auto report = replayed();
  report.collectives.clear();
  EXPECT_THAT(to_text(replay_document(report), {200, false}), Not(HasSubstr("Transfers")));
}

TEST(ReplayReport, CsvHasALineATransfer) {
  EXPECT_EQ(replay_csv(replayed()),
            "collective,message [MB],ranks,nodes,calls,alone [us],algorithm\n"
            "all_reduce,3.00,4,1,2,1500,ring\n");
}

TEST(ReplayReport, JsonIsAsItsSchemaSays) {
  const ReadResult result(Json::parse(replay_json(replayed())), "r.json");
  EXPECT_EQ(result.type().schema, "headway.replay/1");
  EXPECT_EQ(result.json()["rows"][0]["count"], 3);
  EXPECT_EQ(result.json()["collectives"][0]["message_bytes"], 3e6);
}

}  // namespace
}  // namespace headway::report
