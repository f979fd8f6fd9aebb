// What monitors print of GPUs.
#include "sim/import/measured/gpu_monitor.h"

#include <gmock/gmock.h>

#include "sim/core/error.h"

namespace headway::import {
namespace {

using testing::HasSubstr;

std::string monitor_complaint(const std::string& text) {
  try {
    read_gpu_monitor(text, "m.txt");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(GpuMonitor, ReadsDmonAndLeavesIdleSamplesOut) {
  const auto gpus = read_gpu_monitor(
      "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
      "# Idx      W      C      C      %      %    MHz    MHz\n"
      "    0    600     60      -     99     40   2619   1500\n"
      "    1    620     61      -     99     40   2619   1700\n"
      "    0    640     62      -     99     40   2619   1520\n"
      "    0     90     40      -      0      0   2619   1980\n",
      "m.txt");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].node, "");  // the file does not say
  EXPECT_EQ(gpus[0].gpu, "0");
  EXPECT_EQ(gpus[0].samples, 2);
  EXPECT_DOUBLE_EQ(gpus[0].power_w, 620);
  EXPECT_DOUBLE_EQ(gpus[0].sm_clock_mhz, 1510);
  EXPECT_DOUBLE_EQ(gpus[1].temperature_c, 61);
}

// Nothing but quotation marks is a line without cells.
TEST(GpuMonitor, ALineOfQuotationMarksIsComplainedOf) {
  EXPECT_THAT(monitor_complaint("# gpu pwr gtemp sm pclk\n\"\"\n0 500 60 99 1900\n"),
              HasSubstr("the line has 0 cells, the heading 5"));
}

TEST(GpuMonitor, ReadsQueriesAndTablesOfDcgm) {
  const auto query = read_gpu_monitor(
      "timestamp, index, power.draw [W], clocks.current.sm [MHz]\n"
      "2026/10/02 10:00:00.000, 3, 412.55 W, 1980 MHz\n",
      "q.csv");
  EXPECT_EQ(query.front().gpu, "3");
  EXPECT_DOUBLE_EQ(query.front().power_w, 412.55);
  EXPECT_DOUBLE_EQ(query.front().sm_clock_mhz, 1980);
  const auto dcgm = read_gpu_monitor(
      "hostname,gpu,DCGM_FI_DEV_SM_CLOCK,DCGM_FI_DEV_POWER_USAGE\n"
      "n1,0,1410,300\n"
      "n2,0,1200,300\n",
      "d.csv");
  ASSERT_EQ(dcgm.size(), 2U);
  EXPECT_EQ(dcgm[1].node, "n2");
  EXPECT_DOUBLE_EQ(dcgm[1].sm_clock_mhz, 1200);
  const auto dcgmi = read_gpu_monitor(
      "#Entity   POWER   SMCLK\n"
      "ID         W       MHz\n"
      "GPU 0     650.1    1755\n",
      "e.txt");
  EXPECT_EQ(dcgmi.front().gpu, "GPU 0");
  EXPECT_DOUBLE_EQ(dcgmi.front().sm_clock_mhz, 1755);
}

// Whoever stops a monitor cuts its last line off.
TEST(GpuMonitor, ALastLineThatIsCutOffIsLeftOutAndSaid) {
  struct Case {
    const char* last;
    bool cut;
  };
  const std::string head = "# gpu    pwr   pclk\n# Idx      W    MHz\n 0 660 1769\n 1 650 1747\n";
  for (const auto& [last, cut] :
       {Case{"", false}, Case{" 0 640 1750\n", false}, Case{" 0 65", true}, Case{" 0 65\n\n", true},
        Case{" 0 640 17", true}}) {
    std::vector<std::string> remarks;
    const auto gpus = read_gpu_monitor(head + last, "m.txt", &remarks);
    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_GT(gpus[0].sm_clock_mhz, 1750) << last;
    EXPECT_EQ(gpus[0].samples, last == std::string(" 0 640 1750\n") ? 2 : 1);
    EXPECT_EQ(remarks, cut ? std::vector<std::string>{"m.txt:5: the last line is cut off; it is "
                                                      "left out"}
                           : std::vector<std::string>{});
  }
  // The only sample of a GPU in a file without a last end of line.
  EXPECT_EQ(read_gpu_monitor("gpu,pclk\n0,1700\n1,1710", "m.csv").size(), 2U);
}

TEST(GpuMonitor, OtherNamesOfPowerAndClocksStandInForThem) {
  const auto query = read_gpu_monitor(
      "timestamp, index, power.draw.average [W], clocks.current.graphics [MHz]\n"
      "2026/11/20 10:10:10.1, 0, 660.31 W, 1769 MHz\n",
      "q.csv");
  EXPECT_DOUBLE_EQ(query.front().power_w, 660.31);
  EXPECT_DOUBLE_EQ(query.front().sm_clock_mhz, 1769);
  const auto both = read_gpu_monitor(
      "index, clocks.sm [MHz], clocks.gr [MHz], power.draw [W], power.draw.average [W]\n"
      "0, 1755, 1000, 650, 100\n",
      "q.csv");
  EXPECT_DOUBLE_EQ(both.front().sm_clock_mhz, 1755);
  EXPECT_DOUBLE_EQ(both.front().power_w, 650);
  const auto dcgmi = read_gpu_monitor(
      "# Entity  SMACT  POWER  SMCLK\n      Id\n    GPU 0    0.951   660.305   1769\n", "e.txt");
  EXPECT_DOUBLE_EQ(dcgmi.front().sm_clock_mhz, 1769);
}

TEST(GpuMonitor, SaysWhereItCannotRead) {
  EXPECT_THAT(monitor_complaint("a,b\n1,2\n"), HasSubstr("no heading with a GPU"));
  EXPECT_THAT(monitor_complaint("gpu,pwr\n"), HasSubstr("no sample of a GPU"));
  EXPECT_THAT(monitor_complaint("gpu,pwr\n0,high\n"), HasSubstr("'high' is no figure"));
  EXPECT_THAT(monitor_complaint("gpu,pwr\n0\n0,5\n"),
              HasSubstr("the line has 1 cells, the heading 2"));
  EXPECT_THAT(monitor_complaint("gpu,pwr\n0\n"), HasSubstr("no sample of a GPU"));
  EXPECT_FALSE(is_gpu_monitor("step,loss\n"));
}

}  // namespace
}  // namespace headway::import
