// Files of execution traces that are written.
#include <gtest/gtest.h>

#include "sim/import/chakra/chakra.h"

#include "tests/import/chakra_nodes.h"

namespace headway::import {
namespace {

TEST(ChakraWrite, ReadsWhatItWrites) {
  ChakraTrace trace = trace_of(3, {});
  ChakraNode kernel = compute(0, 7);
  kernel.duration_ps = 7'400'000;
  kernel.stream = 2;
  kernel.operations = 1'000'000'000'000;
  kernel.tensor_bytes = 4096;
  kernel.start_us = 11;
  ChakraNode message = send(2, 5, 300, {0, 1});
  message.source = 3;
  message.tag = 9;
  ChakraNode host = compute(1, 2, {0});
  host.on_cpu = true;
  host.stream = 4;
  trace.nodes = {kernel, host, message,
                 collective(3, ChakraCollective::all_gather, 1U << 30U, {2}, "1")};
  trace.groups = {{"1", {3, 4}}};
  const ChakraTrace back = read_chakra(write_chakra(trace), "t.3.et");
  EXPECT_EQ(back.rank, 3);
  EXPECT_EQ(back.groups, trace.groups);
  ASSERT_EQ(back.nodes.size(), 5U) << "the first defines the groups";
  EXPECT_EQ(back.nodes[0].kind, ChakraKind::metadata);
  const ChakraNode& first = back.nodes[1];
  EXPECT_EQ(first.name, "n0");
  EXPECT_EQ(first.start_us, 11U);
  EXPECT_EQ(first.picoseconds(), 7'400'000);
  EXPECT_EQ(first.stream, 2);
  EXPECT_EQ(first.operations, 1'000'000'000'000);
  EXPECT_EQ(first.tensor_bytes, 4096);
  EXPECT_TRUE(back.nodes[2].on_cpu);
  EXPECT_EQ(back.nodes[2].stream, 4);
  EXPECT_EQ(back.nodes[3].destination, 5);
  EXPECT_EQ(back.nodes[3].source, 3);
  EXPECT_EQ(back.nodes[3].tag, 9);
  EXPECT_EQ(back.nodes[3].bytes, 300);
  EXPECT_EQ(back.nodes[3].after, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(back.nodes[4].collective, ChakraCollective::all_gather);
  EXPECT_EQ(back.nodes[4].group, "1");
}

TEST(ChakraWrite, GroupsHaveAFileOfTheirOwn) {
  const ChakraGroups groups{{"1", {0, 2}}, {"2", {1, 3}}};
  EXPECT_EQ(write_chakra_groups(groups), "{\"1\":[0,2],\"2\":[1,3]}\n");
  EXPECT_EQ(read_chakra_groups(write_chakra_groups(groups), "g.json"), groups);
}

// et_def.proto: GlobalMetadata.version is field 1, a text. Seven bytes: tag, length, "0.0.4".
TEST(ChakraWrite, AFileBeginsWithTheVersionBehindItsLength) {
  const std::string bytes = write_chakra(trace_of(0, {compute(1, 5)}));
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x07\x0a\x05"
                                            "0.0.4"));
  EXPECT_EQ(static_cast<std::size_t>(bytes[8]) + 9, bytes.size()) << "one node behind its length";
}

TEST(ChakraWrite, WhatANodeDoesNotHaveIsNotWritten) {
  const ChakraNode bare = compute(1, 0);
  const std::string least = write_chakra(trace_of(0, {bare}));
  EXPECT_EQ(least.find("stream"), std::string::npos);
  EXPECT_EQ(least.find("comm_tag"), std::string::npos);
  EXPECT_EQ(least.find("pg_name"), std::string::npos);
  EXPECT_NE(least.find("is_cpu_op"), std::string::npos) << "of every node";
  ChakraNode full = bare;
  full.stream = 3;
  EXPECT_NE(write_chakra(trace_of(0, {full})).find("stream"), std::string::npos);
  full.on_cpu = true;
  EXPECT_NE(write_chakra(trace_of(0, {full})).find("tid"), std::string::npos)
      << "a CPU has threads";
}

// Readers know a group before it is used, and the node that defines them has an id of its own.
TEST(ChakraWrite, GroupsAreDefinedFirstByANodeOfItsOwn) {
  ChakraTrace trace = trace_of(0, {compute(8, 1), compute(3, 1)});
  trace.groups = {{"1", {0, 1}}};
  const ChakraTrace back = read_chakra(write_chakra(trace), "t.0.et");
  ASSERT_EQ(back.nodes.size(), 3U);
  EXPECT_EQ(back.nodes[0].kind, ChakraKind::metadata);
  EXPECT_EQ(back.nodes[0].id, 9U);
}

}  // namespace
}  // namespace headway::import
