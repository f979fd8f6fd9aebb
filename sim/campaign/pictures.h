// What is drawn of a campaign: how its trials spread, and one of them with all that failed in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/campaign/advice.h"
#include "sim/campaign/result.h"
#include "sim/campaign/step_times.h"
#include "sim/campaign/trial.h"
#include "sim/core/result_fields.h"

namespace headway::campaign {

/// How many values fall into each of so many equal bins; the last holds its upper end too.
struct Histogram {
  double low = 0, high = 0;  ///< of all bins together: the least and the largest value
  std::vector<std::int64_t> counts;

  template <class V>
  void fields(V& v) const {
    v.figure("low", low, "1", "lower end of the first bin: the least value", core::non_negative);
    v.figure("high", high, "1", "upper end of the last bin: the largest value", core::non_negative);
    v.figure("counts", counts, "", "trials in each of the bins, which are of equal width",
             core::non_negative);
  }
};

/// As many bins as the square root of the number of values, at most 30; one where all are equal.
/// @param values  at least one, finite
Histogram histogram_of(const std::vector<double>& values);

/// The failures of one class in a trial; times count from the start of the run. Of stages lists are
/// of equal length, one entry a stage of a failure, in order of their beginnings.
struct HazardTimeline {
  std::string hazard;
  std::vector<double> begin, length;  ///< [s]
  std::vector<int> stage;             ///< index into TrialPicture::stages
  std::vector<double> struck;         ///< one a failure [s]

  template <class V>
  void fields(V& v) const {
    v.part("hazard", hazard, "class of failure");
    v.figure("begin_s", begin, "s", "begin of each stage, from the start of the run",
             core::non_negative);
    v.figure("length_s", length, "s", "its length", core::non_negative);
    v.figure("stage", stage, "", "index into `stages`", core::non_negative);
    v.figure("struck_s", struck, "s", "when each failure strikes, from the start of the run",
             core::non_negative);
  }
};

/// The saves of a trial in order, one entry each or so many in a row; times count from the start of
/// the run.
struct SavesTimeline {
  std::int64_t together = 1;          ///< saves in a row that are one entry
  std::vector<double> begin, length;  ///< [s]
  std::vector<double> still;          ///< of the length, the job stands still [s]
  std::vector<int> level;             ///< index into TrialPicture::levels

  template <class V>
  void fields(V& v) const {
    v.figure(
        "together", together, "",
        "saves in a row that are one entry, so that there are at most 4,000; the last entry may "
        "have fewer",
        core::at_least_one);
    v.figure("begin_s", begin, "s",
             "when the job begins to stand still for the save, from the start of the run",
             core::non_negative);
    v.figure("length_s", length, "s", "until it runs again; of several saves, after the last",
             core::non_negative);
    v.figure("still_s", still, "s", "of that, time in which the job stands still for saves",
             core::non_negative);
    v.figure("level", level, "", "index into `levels`: the farthest of those that are due",
             core::non_negative);
  }
};

/// One trial and what failed in it.
struct TrialPicture {
  std::int64_t trial = 0;
  double goodput = 0;
  core::Seconds wall;
  std::vector<std::string> stages;
  std::vector<HazardTimeline> hazards;
  std::int64_t spans_left_out = 0;
  std::int64_t failures_left_out = 0;
  std::vector<std::string> levels;
  SavesTimeline saves;

  template <class V>
  void fields(V& v) const {
    v.figure("trial", trial, "", "its number, from 0: the one with the median goodput",
             core::non_negative);
    v.figure("goodput", goodput, "1", "of this trial, as `campaign.goodput`", core::probability);
    v.figure("wall_s", wall, "s", "from its start until its last save is durable",
             core::non_negative);
    v.part("stages", stages, "what a failure goes through until the job runs again");
    v.part("hazards", hazards, "the failures of the trial, by class");
    v.figure("spans_left_out", spans_left_out, "",
             "stages of the last failures that are not listed, so that there are at most 4,000",
             core::non_negative);
    v.figure("failures_left_out", failures_left_out, "",
             "the last failures, whose moments are not listed, so that there are at most 4,000",
             core::non_negative);
    v.part("levels", levels, "where a save may go to");
    v.part("saves", saves, "the saves of the trial");
  }
};

/// A report stays small.
inline constexpr std::size_t kMostTrialSpans = 4000;

struct CampaignPictures {
  Histogram goodput;
  TrialPicture trial;
  std::vector<StoragePoint> storage_curve;

  template <class V>
  void fields(V& v) const {
    v.part("goodput", goodput, "goodput of the trials, as `campaign.goodput`");
    v.part("trial", trial, "one trial with all that failed in it");
    v.part("storage_curve", storage_curve,
           "ETTR beside the job's storage and slower and faster ones");
  }
};

/// Simulates the trial with the median goodput once more and keeps what failed in it.
/// @param trials  of the campaign
CampaignPictures draw(const JobModel& job,
                      const std::vector<TrialResult>& trials,
                      StepTimes& times);

}  // namespace headway::campaign
