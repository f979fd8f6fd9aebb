#include "sim/import/measured/nccl_tests_log.h"

#include <gmock/gmock.h>

#include "sim/core/error.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using testing::HasSubstr;

std::string log_error(const std::string& text) {
  try {
    read_nccl_tests_log(text, "a.log");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(NcclTestsLog, ReadsTheLayoutOfToday) {
  const auto log = read_nccl_tests_log(
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
      "(us)  (GB/s)  (GB/s)       \n"
      "     1048576        262144     float     sum      -1    27.37   38.31   67.04      0    "
      "26.93   38.94   68.14      0\n"
      "host:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 8\n"
      "     2097152        524288     float     sum      -1    42.21   49.68   86.94    N/A      "
      "N/A     N/A     N/A    N/A\n"
      "# Avg bus bandwidth    : 159.151\n",
      "a.log");
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].bytes, 1048576U);
  EXPECT_EQ(log.rows[0].count, 262144U);
  EXPECT_EQ(log.rows[0].type, "float");
  EXPECT_EQ(log.rows[0].out_of_place->microseconds, 27.37);
  EXPECT_EQ(log.rows[0].in_place->bus_gb_per_s, 68.14);
  EXPECT_FALSE(log.rows[1].in_place);
  EXPECT_EQ(log.rows[1].line, 5);
  EXPECT_EQ(log.average_bus_gb_per_s, 159.151);
}

TEST(NcclTestsLog, ReadsTheOldLayoutWithoutRootAndBehindPrefixesOfMpirun) {
  const auto log = read_nccl_tests_log(
      "[1,0]<stdout>:#       size         count    type   redop     time   algbw   busbw  error    "
      " "
      "time   algbw   busbw  error\n"
      "[1,0]<stdout>:     1048576        262144   float     sum    27.37   38.31   67.04  1e-07    "
      "26.93   38.94   68.14  1e-07\n",
      "a.log");
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0].out_of_place->algorithm_gb_per_s, 38.31);
  EXPECT_EQ(log.rows[0].in_place->microseconds, 26.93);
}

TEST(NcclTestsLog, ReadsAnExcerptWithoutHeadingAndWithoutInPlaceColumns) {
  const auto log =
      read_nccl_tests_log("0:  1024  256  bfloat16  none  -1  10.5  0.1  0.2  0\n", "a");
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0].timing()->microseconds, 10.5);
  EXPECT_FALSE(log.rows[0].in_place);
}

TEST(NcclTestsLog, NamesTheLineOfARowThatIsCutOffOrNoNumber) {
  EXPECT_THAT(log_error("x\n  1024  256  float  sum  -1  10.5\n"),
              HasSubstr("a.log:2:30: the row has 6 cells, which no layout of nccl-tests has"));
  EXPECT_THAT(log_error("  1024  256  float  sum  -1  1o.5  0.1  0.2  0\n"),
              HasSubstr("a.log:1:30: '1o.5' is not a time"));
  EXPECT_THAT(log_error("nothing\n"), HasSubstr("no line of results"));
}

// 8 B to 16 GiB in powers of two are 32 sizes. The file follows
//     T = 14 us + S x 1.75 / 460 GB/s
// and 1 % less in place; times are printed to five digits at least.
TEST(NcclTestsLog, ReadsAWholeLog) {
  const std::string path = kData + "nccl/all_reduce_8_ranks.log";
  const auto log = read_nccl_tests_log(text_of(path), path);
  ASSERT_EQ(log.rows.size(), 32U);
  EXPECT_EQ(log.ranks_listed.size(), 8U);
  EXPECT_EQ(log.rows.back().bytes, 17179869184U);
  double sum = 0;
  for (const auto& row : log.rows) {
    const double spike = row.bytes == 32 ? 5 : 1;
    const double expected = 14 + static_cast<double>(row.bytes) * 1.75 / 460e9 * 1e6;
    EXPECT_NEAR(row.out_of_place->microseconds, spike * expected, 5e-4 * expected) << row.bytes;
    EXPECT_NEAR(row.in_place->microseconds, 0.99 * expected, 5e-4 * expected) << row.bytes;
    sum += row.out_of_place->bus_gb_per_s + row.in_place->bus_gb_per_s;
  }
  // The program's own average is over both placements.
  EXPECT_NEAR(sum / 64, *log.average_bus_gb_per_s, 0.0006);
}

// Counts are printed as "%6g" is; the older `error` is a deviation near rounding, and the last line
// alone says that it is too large.
TEST(NcclTestsLog, SaysWhatDataAreWrong) {
  struct Case {
    const char* cells;
    const char* last;
    const char* wrong;
  };
  for (const auto& [cells, last, wrong] :
       {Case{"0", "0 OK", ""}, Case{"N/A", "0 OK", ""}, Case{"2e-07", "0 OK", ""},
        Case{"9", "9 FAILED", "1 of 2 sizes have wrong values, 9 out of bounds"},
        Case{"1.04858e+06", "1048576 FAILED",
             "1 of 2 sizes have wrong values, 1048576 out of bounds"},
        Case{"2e-01", "18 FAILED", "2 of 2 sizes have wrong values, 18 out of bounds"}}) {
    const auto log = read_nccl_tests_log(
        std::string("1048576 262144 float sum -1 27.37 38.31 67.04 ") + cells +
            "\n2097152 524288 float sum -1 42.21 49.68 86.94 0\n# Out of bounds values : " + last +
            "\n",
        "a.log");
    EXPECT_EQ(wrong_data_of(log), wrong) << cells << ", " << last;
  }
}

// A copy of a running test ends within a row: the row is left out, and the test did not end.
TEST(NcclTestsLog, ALastRowThatIsCutOffIsLeftOut) {
  const std::string whole =
      "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor)\n"
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "1048576 262144 float sum -1 27.37 38.31 67.04 0 27.37 38.31 67.04 0\n";
  const auto cut = read_nccl_tests_log(whole + "2097152 524288 float sum -1 42.21", "a.log");
  EXPECT_EQ(cut.rows.size(), 1U);
  EXPECT_EQ(unfinished_of(cut),
            "it ends within line 4, which is left out; its last size is "
            "1048576 B");
  EXPECT_THROW(read_nccl_tests_log(whole + "2097152 524288 float sum -1 42.21\n", "a.log"),
               core::Error);
}

}  // namespace
}  // namespace headway::import
