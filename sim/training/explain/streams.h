// What runs on the GPU of one rank of every stage at the same time: its kernels, and beside them
// its transfers by kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/training/check.h"

namespace headway::training {

/// One line of a rank; lists are of equal length, one entry a band: a time in which work of this
/// kind runs without a break longer than Streams::joined.
struct StreamLine {
  std::string name;
  std::vector<std::int64_t> begin, length;  ///< [us]
  std::vector<std::int64_t> runs;           ///< of the length, something of it runs [us]

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "kernels, or the kind of transfer");
    v.figure("begin_us", begin, "us", "begin of each band, from the start of the step",
             core::non_negative);
    v.figure("length_us", length, "us", "its length", core::non_negative);
    v.figure("runs_us", runs, "us", "of that, time in which something of the kind runs",
             core::non_negative);
  }
};

/// The lines of one rank.
struct RankStreams {
  int stage = 0;
  std::int64_t rank = 0;
  std::vector<StreamLine> lines;

  template <class V>
  void fields(V& v) const {
    v.figure("stage", stage, "", "pipeline stage, from 0", core::non_negative);
    v.figure("rank", rank, "", "its first rank", core::non_negative);
    v.part("lines", lines, "what runs beside each other");
  }
};

struct Streams {
  std::int64_t joined = 0;
  std::vector<RankStreams> ranks;

  template <class V>
  void fields(V& v) const {
    v.figure("joined_us", joined, "us",
             "work of one kind is one band where the break is no longer, so that there are at most "
             "6,000",
             core::non_negative);
    v.part("ranks", ranks, "the first rank of each stage; empty where nodes are of several kinds");
  }
};

/// A report stays small.
inline constexpr std::size_t kMostBands = 6000;

/// Simulates the step once more.
/// @param count  told how many parts of it are done; may be empty
Streams stage_streams(const CheckedScenario& checked,
                      const std::function<void(std::size_t done, std::size_t total)>& count = {});

}  // namespace headway::training
