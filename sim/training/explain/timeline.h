// What the stages of the pipeline did in a step, one rank a stage, from its start to its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/training/check.h"
#include "sim/training/explain/link_loads.h"
#include "sim/training/explain/link_map.h"

namespace headway::training {

/// One rank of a stage. Lists are of equal length, one entry a span; times count from the start of
/// the step. A span is the time in which the rank did one thing without a break.
struct StageTimeline {
  int stage = 0;
  std::vector<std::int64_t> begin, length;  ///< [us]
  std::vector<std::int64_t> exposed;        ///< of the length, waiting for transfers inside it [us]
  std::vector<int> what;                    ///< index into Timeline::names
  std::vector<int> micro_batch, chunk;      ///< -1 where there is none
  std::vector<std::int64_t> memory;         ///< on the GPU at the fullest moment [B]

  template <class V>
  void fields(V& v) const {
    v.figure("stage", stage, "", "pipeline stage, from 0", core::non_negative);
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
  }
};

struct Timeline {
  std::vector<std::string> names;  ///< what a span may be
  std::vector<StageTimeline> stages;
  int stages_left_out = 0;          ///< so that there are at most kMostSpans
  std::int64_t spans_left_out = 0;  ///< the last of the stages that are left, where these are few

  template <class V>
  void fields(V& v) const {
    v.part("names", names, "what a span may be");
    v.part("stages", stages, "spans of one rank of each stage");
    v.figure("stages_left_out", stages_left_out, "",
             "stages that are not listed, so that there are at most 16,000 spans",
             core::non_negative);
    v.figure("spans_left_out", spans_left_out, "",
             "spans at the end of the listed stages that are not listed, where the first and the "
             "last stage alone have more than 16,000",
             core::non_negative);
  }
};

/// A report stays small.
inline constexpr std::size_t kMostSpans = 16000;

/// Leaves no more than `most` spans: the fewest stages are left out of which every n-th is kept and
/// the last; where the first and the last alone have more, these lose their last spans.
void thin_out(std::size_t most, Timeline& timeline);

/// What is drawn of a step.
struct StepPictures {
  Timeline timeline;
  std::optional<LinkMap> cables;
  std::vector<LinkLoad> loads;
};

/// Simulates the step and tells what it was made of in time, and what the cables between switches
/// carried. Of each stage the ranks of one class of equals are shown, the largest.
StepPictures draw_step(const CheckedScenario& checked);

}  // namespace headway::training
