// What a hostile file could make a reader do: each limit is an error that names the place.
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <zlib.h>

#include "sim/core/error.h"
#include "sim/core/read_file.h"
#include "sim/import/csv.h"
#include "sim/import/gzip.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/import/json_text.h"
#include "sim/import/measured/nccl_tests_json.h"
#include "sim/import/network/ibnetdiscover.h"

namespace headway::import {
namespace {

using testing::HasSubstr;

std::string limit_message(const std::function<void()>& call) {
  try {
    call();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Limits, AFileWithoutAnEndIsRefused) {
  EXPECT_EQ(limit_message([] { (void)core::read_file("/dev/zero", 1000); }),
            "/dev/zero: is larger than 1000 bytes, the most that is read of such a file; is it the "
            "right one? If so, cut it down to the part that is needed\n");
  EXPECT_EQ(core::read_file("/dev/null", 1000), "");
}

TEST(Limits, APackedFileIsMeasuredUnpacked) {
  const std::string bomb = gzipped(std::string(1U << 20U, ' '));
  ASSERT_LT(bomb.size(), 2000U);
  EXPECT_EQ(gunzip(bomb, "t.gz", 1U << 20U).size(), 1U << 20U);
  EXPECT_THAT(limit_message([&] { (void)gunzip(bomb, "t.gz", (1U << 20U) - 1); }),
              HasSubstr("t.gz: is, unpacked, larger than 1048575 bytes"));
}

TEST(Limits, ANumberBeyondADoubleHasAPlace) {
  const std::string text = "{\"a\": 1,\n \"b\": 1e999}";
  EXPECT_EQ(limit_message([&] { (void)parse_json_object(text, "f.json", "x"); }),
            "f.json:2:7: this number is larger than a computer's numbers (about 1.8e308)\n"
            "    2 |  \"b\": 1e999}\n"
            "      |       ^^^^^\n");
  EXPECT_THAT(limit_message([&] { (void)read_hugging_face_config(text, "config.json"); }),
              HasSubstr("config.json:2:7: this number is larger"));
}

TEST(Limits, JsonNestsTwoHundredLevels) {
  const auto nested = [](std::size_t levels) {
    return "{\"a\": " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(limit_message([&] { (void)parse_json(nested(200), "f.json"); }), "no error");
  EXPECT_THAT(limit_message([&] { (void)parse_json(nested(201), "f.json"); }),
              HasSubstr("f.json:1:206: nested more than 200 levels deep"));
  // A bracket in a text opens nothing.
  EXPECT_EQ(limit_message(
                [&] { (void)parse_json("[\"" + std::string(300, '[') + "\\\"[\"]", "f.json"); }),
            "no error");
}

TEST(Limits, AMessageIsAPetabyteAtMost) {
  EXPECT_THAT(limit_message([] {
                (void)read_nccl_tests_log("9000000000000000000 1 float sum -1 9 1 1 0 9 1 1 0\n",
                                          "l");
              }),
              HasSubstr("l:1:1: a message of more than a petabyte"));
  EXPECT_THAT(limit_message([] {
                (void)read_nccl_tests_json(
                    "{\"results\": [{\"size\": 1e300, \"type\": \"float\"}]}", "j");
              }),
              HasSubstr("result 0 is a message of more than a petabyte"));
}

TEST(Limits, ATableHasAThousandColumns) {
  EXPECT_THAT(limit_message([] { CsvTable(std::string(100'000, ','), "t.csv"); }),
              HasSubstr("t.csv:1:1: more than 1000 columns"));
  EXPECT_EQ(CsvTable(std::string(999, ','), "t.csv").columns().size(), 1000U);
}

TEST(Limits, AnErrorQuotesNoMegabyte) {
  const std::string word(1U << 20U, 'x');
  EXPECT_LT(limit_message([&] { (void)read_ibnetdiscover(word, "f"); }).size(), 5000U);
  const CsvTable table("n\n" + word + "\n", "t.csv");
  EXPECT_LT(limit_message([&] { (void)table.number(0, "n"); }).size(), 200U);
}

TEST(Limits, AFileOfWrongLinesIsReadUpToTheFiftieth) {
  // Counting the lines before each of a million complaints would be 5e11 steps.
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) {
    text += "x\n";
  }
  EXPECT_THAT(limit_message([&] { (void)read_ibnetdiscover(text, "f"); }),
              testing::EndsWith("... reading stopped after 50 errors\n"));
}

TEST(CsvTable, PassesOverTheMarkThatSpreadsheetsPutInFront) {
  EXPECT_EQ(CsvTable("\xEF\xBB\xBFid\n7\n", "t.csv").text(0, "id"), "7");
}

}  // namespace
}  // namespace headway::import
