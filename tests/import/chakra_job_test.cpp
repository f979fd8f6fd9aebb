// What is held against one another: calls and messages between ranks.
#include "sim/import/chakra/chakra_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/chakra_nodes.h"

namespace headway::import {
namespace {

constexpr auto kAllReduce = ChakraCollective::all_reduce;

std::string job_refusal(std::vector<ChakraTrace> traces, const ChakraGroups& groups = {}) {
  try {
    (void)join_traces(std::move(traces), groups);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ChakraJob, EveryRankHasOneTrace) {
  EXPECT_EQ(job_refusal({trace_of(0, {compute(1, 1)}), trace_of(2, {compute(1, 1)})}),
            "there is no trace of rank 1, and one of rank 2 (t.2.et); a replay needs all ranks "
            "from 0\n");
  EXPECT_EQ(job_refusal({trace_of(0, {compute(1, 1)}), trace_of(0, {compute(1, 1)})}),
            "t.0.et: there is another trace of rank 0\n");
}

TEST(ChakraJob, RanksOfAGroupCallTheSame) {
  const auto rank = [](std::int64_t r, std::vector<ChakraNode> nodes) {
    return trace_of(r, std::move(nodes));
  };
  EXPECT_EQ(job_refusal({rank(0, {collective(1, kAllReduce, 8)}),
                         rank(1, {collective(1, kAllReduce, 16)})}),
            "t.1.et: node 1 'n1': call 1 of group '' is ALL_REDUCE of 16 bytes, and ALL_REDUCE of "
            "8 bytes of rank 0 (node 1 'n1'); all ranks of a group call the same\n");
  EXPECT_EQ(job_refusal({rank(0, {collective(1, kAllReduce, 8), collective(2, kAllReduce, 8)}),
                         rank(1, {collective(1, kAllReduce, 8)})}),
            "t.0.et: node 2 'n2': rank 1 has no call to meet it: in group '' it has 1 and rank 0 "
            "has 2\n");
}

TEST(ChakraJob, GroupsAreDefined) {
  const auto ranks = [](const std::string& group) {
    return std::vector{trace_of(0, {collective(1, kAllReduce, 8, {}, group)}),
                       trace_of(1, {collective(1, kAllReduce, 8, {}, group)})};
  };
  EXPECT_EQ(job_refusal(ranks("0")), "no error") << "all ranks";
  EXPECT_EQ(job_refusal(ranks("5"), {{"5", {0, 1}}}), "no error");
  EXPECT_THAT(job_refusal(ranks("5")),
              testing::StartsWith("t.0.et: node 1 'n1': its group '5' is not defined, neither by "
                                  "the trace's metadata nor by a file of process groups "
                                  "(--groups)\n"));
  EXPECT_EQ(job_refusal(ranks("5"), {{"5", {0, 1, 6}}}),
            "t.0.et: node 1 'n1': its group '5' has rank 6, of which there is no trace (there are "
            "ranks 0 to 1)\n");
  EXPECT_EQ(job_refusal(ranks("5"), {{"5", {0}}}),
            "t.1.et: node 1 'n1': rank 1 is not in its group '5' (0)\n");
}

TEST(ChakraJob, WhatIsSentIsReceived) {
  const auto job = [](ChakraNode a, ChakraNode b) {
    return std::vector{trace_of(0, {std::move(a)}), trace_of(1, {std::move(b)})};
  };
  EXPECT_EQ(job_refusal(job(send(1, 1, 8), receive(1, 0, 8))), "no error");
  EXPECT_EQ(job_refusal(job(send(1, 1, 8), receive(1, 0, 9))),
            "t.1.et: node 1 'n1': receives 9 bytes, and rank 0 sends 8 (node 1 'n1')\n");
  EXPECT_EQ(job_refusal(job(send(1, 1, 8), compute(1, 1))),
            "t.0.et: node 1 'n1': rank 0 sends 1 messages to rank 1 with tag 0, which receives "
            "0\n");
  EXPECT_EQ(job_refusal(job(send(1, 5, 8), compute(1, 1))),
            "t.0.et: node 1 'n1': comm_dst is 5; it is one of the other ranks of 0 to 1\n");
}

TEST(ChakraJob, ACollectiveThatIsNotSimulatedIsNamed) {
  EXPECT_EQ(job_refusal({trace_of(0, {collective(1, ChakraCollective::gather, 8)})}),
            "t.0.et: node 1 'n1': GATHER is not simulated; ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, "
            "ALL_TO_ALL, BROADCAST and BARRIER are\n");
}

TEST(ChakraJob, OneTraceForRanksAlike) {
  const auto copies = alike(trace_of(0, {collective(1, kAllReduce, 8)}), 4);
  ASSERT_EQ(copies.size(), 4U);
  EXPECT_EQ(copies[3].rank, 3);
  EXPECT_EQ(join_traces(copies, {}).communicators[0].ranks,
            (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_THROW((void)alike(trace_of(0, {send(1, 1, 8)}), 4), core::Error);
}

}  // namespace
}  // namespace headway::import
