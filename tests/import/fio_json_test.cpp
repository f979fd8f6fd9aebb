// What fio prints: a whole file of three jobs.
#include "sim/import/measured/fio_json.h"

#include <gtest/gtest.h>

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

// 64,000 MiB in 16 s by 8 jobs of 4 deep, 96,000 MiB in 12 s by 8 of 1, 1,024 MiB in 5 s through
// the page cache with 16,384 syncs of 1.8 ms. Directions that did not run give nothing.
TEST(FioJson, AFileOfThreeJobsIsRead) {
  const std::string path = kData + "storage/fio.json";
  const auto timings = read_fio_json(text_of(path), path);
  ASSERT_EQ(timings.size(), 4U);
  const FioTiming& save = timings[0];
  EXPECT_EQ(save.job, "save");
  EXPECT_EQ(save.direction, FioDirection::write);
  EXPECT_EQ(save.streams, 32);
  EXPECT_TRUE(save.direct);  // of the global options
  EXPECT_DOUBLE_EQ(save.bytes_per_s, 4000 * 0x1p20);
  EXPECT_DOUBLE_EQ(save.seconds, 16);
  EXPECT_DOUBLE_EQ(save.spread_bytes_per_s, 51200 * 1024.0);
  EXPECT_EQ(save.operations, 64000 / 4);
  EXPECT_EQ(timings[1].direction, FioDirection::read);
  EXPECT_EQ(timings[1].streams, 8);
  EXPECT_DOUBLE_EQ(timings[1].bytes_per_s, 8000 * 0x1p20);
  EXPECT_FALSE(timings[2].direct);  // the job's own option
  EXPECT_DOUBLE_EQ(timings[2].bytes, 1024 * 0x1p20);
  EXPECT_EQ(timings[3].direction, FioDirection::sync);
  EXPECT_DOUBLE_EQ(timings[3].seconds, 1.8e-3);
  EXPECT_EQ(timings[3].operations, 16384);
}

}  // namespace
}  // namespace headway::import
