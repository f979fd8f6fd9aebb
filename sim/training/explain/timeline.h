// What the stages of the pipeline did in a step, one rank a stage, from its start to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/training/check.h"
#include "sim/training/explain/held_course.h"
#include "sim/training/explain/link_loads.h"
#include "sim/training/explain/link_map.h"
#include "sim/training/explain/streams.h"

namespace headway::training {

/// One rank of a stage. Lists are of equal length, one entry a span; times count from the start of
/// the step. A span is the time in which the rank did one thing without a break.
struct StageTimeline {
  int stage = 0;
  std::int64_t rank = 0, ranks = 1;  ///< the first of those that do the same, and how many do
  std::vector<std::int64_t> begin, length;  ///< [us]
  std::vector<std::int64_t> exposed;        ///< of the length, waiting for transfers inside it [us]
  std::vector<int> what;                    ///< index into Timeline::names
  std::vector<int> micro_batch, chunk;      ///< -1 where there is none
  std::vector<std::int64_t> memory;         ///< on the GPU at the fullest moment [B]
  HeldCourse held;                          ///< the same by kind

  template <class V>
  void fields(V& v) const {
    v.figure("stage", stage, "", "pipeline stage, from 0", core::non_negative);
    v.figure("rank", rank, "", "the first rank that does this", core::non_negative);
    v.figure("ranks", ranks, "", "ranks that do exactly the same at the same times",
             core::at_least_one);
    v.figure("begin_us", begin, "us", "begin of each span, from the start of the step",
             core::non_negative);
    v.figure("length_us", length, "us", "its length", core::non_negative);
    v.figure("exposed_us", exposed, "us", "of that, waiting for transfers inside the span",
             core::non_negative);
    v.figure("what", what, "", "index into `names`", core::non_negative);
    v.figure("micro_batch", micro_batch, "", "from 0; -1: of none");
    v.figure("chunk", chunk, "", "of the stage's layers, from 0");
    v.figure("memory_bytes", memory, "B",
             "held on the GPU, all kinds: at the fullest moment of the pass; between passes what "
             "the last one left",
             core::non_negative);
    v.part("held", held, "the same by what the bytes hold");
  }
};

struct Timeline {
  std::vector<std::string> names;  ///< what a span may be
  std::vector<StageTimeline> stages;
  std::vector<StageTimeline>
      others;                        ///< ranks that do not do what their stage's largest class does
  std::int64_t others_left_out = 0;  ///< ranks
  int stages_left_out = 0;           ///< so that there are at most kMostSpans
  std::int64_t spans_left_out = 0;   ///< the last of the stages that are left, where these are few

  template <class V>
  void fields(V& v) const {
    v.part("names", names, "what a span may be");
    v.part("stages", stages,
           "spans of one rank of each stage: of the largest class of ranks that are alike");
    v.part("others", others,
           "spans of one rank of each other class, where replicas or tensor ranks of a stage are "
           "not alike");
    v.figure("others_left_out", others_left_out, "",
             "ranks of classes that are not listed, so that there are at most 200,000 spans",
             core::non_negative);
    v.figure("stages_left_out", stages_left_out, "",
             "stages that are not listed, so that there are at most 200,000 spans",
             core::non_negative);
    v.figure("spans_left_out", spans_left_out, "",
             "spans at the end of the listed stages that are not listed, where the first and the "
             "last stage alone have more than 200,000",
             core::non_negative);
  }
};

/// Of all stages of the largest examples (131,000 of 16 stages with 4,096 passes each), whose
/// result has 9 MB, and whose page, where spans repeat, 1.1. Source: chosen.
inline constexpr std::size_t kMostSpans = 200'000;

/// Leaves no more than `most` spans: the fewest stages are left out of which every n-th is kept and
/// the last; where the first and the last alone have more, these lose their last spans.
void thin_out(std::size_t most, Timeline& timeline);

/// What is drawn of a step.
struct StepPictures {
  Timeline timeline;
  std::optional<LinkMap> cables;
  std::string cables_why;  ///< why there are none; empty where there are
  std::vector<LinkLoad> loads;
  Streams streams;
};

/// Simulates the step and tells what it was made of in time, and what the cables between switches
/// carried. Of each stage the ranks of one class of equals are shown, the largest.
/// @param count  told how many parts of it are done; may be empty
StepPictures draw_step(const CheckedScenario& checked,
                       const std::function<void(std::size_t done, std::size_t total)>& count = {});

}  // namespace headway::training
