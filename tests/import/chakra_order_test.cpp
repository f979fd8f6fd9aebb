// The order of a rank's nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/import/chakra/chakra_job.h"

#include "tests/import/chakra_nodes.h"

namespace headway::import {
namespace {

std::string refusal_of(std::vector<ChakraTrace> traces, const ChakraGroups& groups = {}) {
  try {
    (void)join_traces(std::move(traces), groups);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::uint64_t> ids_in_order(const ChakraTrace& trace) {
  core::Diagnostics complaints;
  std::vector<std::uint64_t> ids;
  for (const std::uint32_t n : order_of(trace, complaints).nodes) {
    ids.push_back(trace.nodes[n].id);
  }
  complaints.throw_if_any();
  return ids;
}

ChakraNode at(ChakraNode node, std::uint64_t start_us, std::int64_t stream) {
  node.start_us = start_us;
  node.stream = stream;
  return node;
}

TEST(ChakraOrder, DependenciesComeFirstThenTimesThenIds) {
  EXPECT_EQ(ids_in_order(trace_of(0, {compute(3, 1), compute(1, 1, {3}), compute(2, 1)})),
            (std::vector<std::uint64_t>{2, 3, 1}));
  EXPECT_EQ(ids_in_order(trace_of(0, {at(compute(1, 1), 20, 7), at(compute(2, 1), 10, 7)})),
            (std::vector<std::uint64_t>{2, 1}));
}

TEST(ChakraOrder, NodesOfAStreamFollowOneAnother) {
  core::Diagnostics complaints;
  const ChakraTrace trace =
      trace_of(0, {at(compute(1, 1), 0, 7), at(compute(2, 1), 0, 8), at(compute(3, 1), 0, 7)});
  const ChakraOrder order = order_of(trace, complaints);
  EXPECT_TRUE(order.after[1].empty()) << "of another stream";
  EXPECT_EQ(order.after[2], std::vector<std::uint32_t>{0});
}

TEST(ChakraOrder, ACircleIsNamed) {
  EXPECT_EQ(refusal_of({trace_of(0, {compute(1, 1, {3}), compute(2, 1, {1}), compute(3, 1, {2}),
                                     compute(4, 1, {2})})}),
            "t.0.et: node 1 'n1': waits for itself by way of nodes 1, 2, 3: no order runs them\n");
}

TEST(ChakraOrder, EffectsBeforeCausesAreNamed) {
  EXPECT_EQ(refusal_of({trace_of(0, {at(compute(1, 5), 100, 7), at(compute(2, 5, {1}), 90, 8)})}),
            "t.0.et: node 2 'n2': starts at 90 us, before node 1 'n1', which it waits for (at 100 "
            "us)\n");
}

TEST(ChakraOrder, AStreamThatDoesTwoThingsAtOnceIsNamed) {
  EXPECT_EQ(refusal_of({trace_of(0, {at(compute(1, 50), 100, 7), at(compute(2, 5), 120, 7)})}),
            "t.0.et: node 2 'n2': starts on stream 7 at 120 us, before node 1 'n1' of the same "
            "stream ends (at 150 us)\n");
  ChakraNode outer = at(compute(1, 50), 100, 7);
  ChakraNode inner = at(compute(2, 5), 120, 7);
  outer.on_cpu = inner.on_cpu = true;
  EXPECT_EQ(refusal_of({trace_of(0, {outer, inner})}), "no error") << "calls of a CPU are nested";
}

// Threads of the CPU and streams of the GPU of one number are two lanes.
TEST(ChakraOrder, AThreadIsNoStreamOfTheSameNumber) {
  core::Diagnostics complaints;
  ChakraNode host = at(compute(1, 1), 0, 7);
  host.on_cpu = true;
  const ChakraOrder order = order_of(trace_of(0, {host, at(compute(2, 1), 0, 7)}), complaints);
  EXPECT_TRUE(order.after[1].empty());
}

TEST(ChakraOrder, NodesThatNameNoStreamAreOfOneAndMetadataOfNone) {
  core::Diagnostics complaints;
  const ChakraTrace trace =
      trace_of(0, {compute(1, 1), node_of(ChakraKind::metadata, 2, {}), compute(3, 1)});
  const ChakraOrder order = order_of(trace, complaints);
  EXPECT_EQ(order.nodes, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(order.after[1].empty());
  EXPECT_EQ(order.after[2], std::vector<std::uint32_t>{0});
}

// Collectives and messages are ordered by their group; with a stream they are of it too.
TEST(ChakraOrder, ACollectiveIsOfAStreamOnlyWhereItNamesOne) {
  core::Diagnostics complaints;
  ChakraTrace trace =
      trace_of(0, {compute(1, 1), collective(2, ChakraCollective::all_reduce, 8), compute(3, 1)});
  EXPECT_TRUE(order_of(trace, complaints).after[1].empty());
  trace.nodes[0].stream = trace.nodes[1].stream = 7;
  EXPECT_EQ(order_of(trace, complaints).after[1], std::vector<std::uint32_t>{0});
}

// Whole microseconds may be one off at either end.
TEST(ChakraOrder, OneMicrosecondOfOverlapIsRounding) {
  EXPECT_EQ(refusal_of({trace_of(0, {at(compute(1, 50), 100, 7), at(compute(2, 5), 149, 7)})}),
            "no error");
  EXPECT_NE(refusal_of({trace_of(0, {at(compute(1, 50), 100, 7), at(compute(2, 5), 148, 7)})}),
            "no error");
}

}  // namespace
}  // namespace headway::import
