// How far several pieces of work are together.
#include "sim/core/progress/joint_progress.h"

#include <atomic>
#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>
#include <stdexcept>
#include <utility>
#include <vector>

namespace headway::core {
namespace {

using Told = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(JointProgress, CountsThousandthsOfEachPiece) {
  Told told;
  JointProgress progress(
      [&](std::size_t done, std::size_t total) { told.emplace_back(done, total); }, 2);
  const auto first = progress.piece();
  const auto second = progress.counted_piece();
  first(0.25);
  second(0, 0);
  second(1, 2);
  first(1.5);  // no piece is more than whole
  second(2, 2);
  progress.look();
  EXPECT_EQ(
      told,
      (Told{{250, 2000}, {250, 2000}, {750, 2000}, {1500, 2000}, {2000, 2000}, {2000, 2000}}));
}

TEST(JointProgress, NeverGoesBack) {
  Told told;
  JointProgress progress(
      [&](std::size_t done, std::size_t total) { told.emplace_back(done, total); }, 1);
  const auto piece = progress.piece();
  piece(0.5);
  piece(0.1);
  EXPECT_EQ(told, (Told{{500, 1000}, {500, 1000}}));
}

TEST(JointProgress, CopiesSpeakForTheSamePiece) {
  Told told;
  JointProgress progress(
      [&](std::size_t done, std::size_t total) { told.emplace_back(done, total); }, 1);
  const auto piece = progress.piece();
  const auto copy = piece;
  copy(0.5);
  piece(1);
  EXPECT_EQ(told, (Told{{500, 1000}, {1000, 1000}}));
}

TEST(JointProgress, NobodyIsToldWhereNobodyListens) {
  JointProgress progress({}, 3);
  progress.look();
  EXPECT_FALSE(progress.piece());
  EXPECT_FALSE(progress.counted_piece());
}

TEST(JointProgress, PiecesOfSeveralThreadsAddUp) {
  std::atomic<std::size_t> most = 0;
  JointProgress progress(
      [&](std::size_t done, std::size_t) {
        std::size_t before = most;
        while (before < done && !most.compare_exchange_weak(before, done)) {
        }
      },
      64);
  oneapi::tbb::parallel_for(0, 64, [&](int) {
    const auto piece = progress.piece();
    for (int i = 1; i <= 10; ++i) {
      piece(i / 10.0);
    }
  });
  EXPECT_EQ(most, 64'000U);
}

// The flag of who waits for the work is looked at where progress is told.
TEST(JointProgress, WhatTheListenerThrowsEndsTheWork) {
  JointProgress progress([](std::size_t, std::size_t) { throw std::runtime_error("stopped"); }, 1);
  EXPECT_THROW(progress.look(), std::runtime_error);
  EXPECT_THROW(progress.piece()(0.5), std::runtime_error);
}

}  // namespace
}  // namespace headway::core
