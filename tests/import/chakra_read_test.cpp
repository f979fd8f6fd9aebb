// Files of execution traces that are read, and what is refused of them.
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/import/chakra/chakra.h"

#include "tests/import/chakra_nodes.h"
#include "tests/import/read_file.h"

namespace headway::import {
namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal_of(const ChakraNode& node) {
  const std::string bytes = write_chakra(trace_of(0, {node}));
  return message_of([&] { (void)read_chakra(bytes, "t.0.et"); });
}

// tests/data/chakra: the bytes of the format, written by the protobuf run time of Google from a
// description of the messages (tests/data/README.md).
TEST(ChakraRead, ReadsAFileThatProtobufWrote) {
  const ChakraTrace trace =
      read_chakra(text_of(kData + "chakra/two_layers.0.et"), "two_layers.0.et");
  ASSERT_EQ(trace.nodes.size(), 5U);
  EXPECT_EQ(trace.groups, (ChakraGroups{{"0", {}}, {"7", {0, 1}}}));
  EXPECT_EQ(trace.nodes[1].name, "forward");
  EXPECT_EQ(trace.nodes[1].duration_us, 400U);
  EXPECT_EQ(trace.nodes[3].collective, ChakraCollective::all_reduce);
  EXPECT_EQ(trace.nodes[3].bytes, 67108864);
  EXPECT_EQ(trace.nodes[3].group, "7");
  EXPECT_EQ(trace.nodes[4].after, (std::vector<std::uint64_t>{2, 3}));
}

TEST(ChakraRead, TheRankStandsInTheNameOfTheFile) {
  EXPECT_EQ(chakra_rank("traces/llama.17.et"), 17);
  EXPECT_EQ(chakra_rank("a/b.3.et.gz"), 3);
  EXPECT_EQ(message_of([] { (void)chakra_rank("traces/llama.et"); }),
            "traces/llama.et: does not say whose trace it is; the rank stands before the ending, "
            "as in step.12.et\n");
}

TEST(ChakraRead, WhatIsIncompleteIsRefusedByName) {
  ChakraNode node = compute(4, 5);
  node.kind = ChakraKind::invalid;
  EXPECT_EQ(refusal_of(node),
            "t.0.et: node 4 'n4': its type is 0; METADATA_NODE is 1, COMP_NODE 4, COMM_SEND_NODE "
            "5, COMM_RECV_NODE 6, COMM_COLL_NODE 7\n");
  EXPECT_EQ(refusal_of(compute(4, 5, {2})),
            "t.0.et: node 4 'n4': waits for node 2, which the trace does not have; it is "
            "incomplete\n");
  node = collective(1, ChakraCollective::all_reduce, 8);
  node.bytes.reset();
  EXPECT_EQ(refusal_of(node),
            "t.0.et: node 1 'n1': has no comm_size: how many bytes does it move?\n");
  node = collective(1, ChakraCollective::all_reduce, 8);
  node.collective.reset();
  EXPECT_EQ(refusal_of(node), "t.0.et: node 1 'n1': has no comm_type: which collective is it?\n");
  node = send(1, 1, 8);
  node.destination.reset();
  EXPECT_EQ(refusal_of(node), "t.0.et: node 1 'n1': has no comm_dst: whom does it send to?\n");
  node = receive(1, 1, 8);
  node.source.reset();
  EXPECT_EQ(refusal_of(node), "t.0.et: node 1 'n1': has no comm_src: whom does it receive from?\n");
  node = compute(1, 0);
  node.kind = ChakraKind::memory_load;
  node.tensor_bytes = 5;
  EXPECT_EQ(refusal_of(node),
            "t.0.et: node 1 'n1': has tensor_size and no duration_micros; a replay knows no memory "
            "but the GPU's\n");
  node = compute(1, 500);
  node.duration_ps = 1'000'000;
  EXPECT_EQ(refusal_of(node),
            "t.0.et: node 1 'n1': duration_micros is 500 and duration_ps 1000000, more than 1 us "
            "apart; take duration_ps out where another program changes durations\n");
  EXPECT_EQ(refusal_of(compute(1, UINT64_MAX)),
            "t.0.et: node 1 'n1': duration_micros is 18446744073709551615, more than a step's "
            "clock counts (106 days)\n");
}

TEST(ChakraRead, AllComplaintsOfAFileComeTogether) {
  const std::string bytes =
      write_chakra(trace_of(0, {compute(1, 5, {8}), compute(1, 5), compute(2, 5, {9})}));
  EXPECT_EQ(message_of([&] { (void)read_chakra(bytes, "t.0.et"); }),
            "t.0.et: node 1 'n1': a node 'n1' before it has the same id\n"
            "t.0.et: node 1 'n1': waits for node 8, which the trace does not have; it is "
            "incomplete\n"
            "t.0.et: node 2 'n2': waits for node 9, which the trace does not have; it is "
            "incomplete\n");
}

TEST(ChakraRead, AFileThatIsCutOffOrAnotherIsRefused) {
  const std::string bytes = write_chakra(trace_of(0, {compute(1, 5)}));
  EXPECT_THAT(
      message_of([&] { (void)read_chakra(bytes.substr(0, bytes.size() - 1), "t.0.et"); }),
      testing::HasSubstr("t.0.et: is cut off: the message at byte 8 has 26 bytes, and 25 follow"));
  EXPECT_THAT(message_of([] { (void)read_chakra("not protobuf at all", "t.0.et"); }),
              testing::HasSubstr("t.0.et: is cut off: the message at byte 0"));
  EXPECT_THAT(message_of([] { (void)read_chakra(std::string("\x02\xff\xff", 3), "t.0.et"); }),
              testing::HasSubstr("t.0.et: is no Chakra trace: the message at byte 0 is not read"));
  EXPECT_EQ(message_of([] { (void)read_chakra("", "t.0.et"); }), "t.0.et: has no node\n");
}

TEST(ChakraRead, AFileOfGroupsHasListsOfNumbers) {
  EXPECT_THAT(message_of([] { (void)read_chakra_groups("{\"1\": [0, \"x\"]}", "g.json"); }),
              testing::HasSubstr("g.json:1:2: the ranks of group '1' are a list of whole numbers"));
}

}  // namespace
}  // namespace headway::import
