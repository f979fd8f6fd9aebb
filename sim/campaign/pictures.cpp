#include "sim/campaign/pictures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/campaign/trials.h"

namespace headway::campaign {

namespace {

std::size_t median_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order[(order.size() - 1) / 2];
}

/// One stage of a failure, and of which class that is.
struct Span {
  std::uint32_t hazard = 0;
  StageTime time;
};

std::vector<Span> spans_of(const std::vector<Incident>& incidents) {
  std::vector<Span> spans;
  for (const Incident& incident : incidents) {
    for (const StageTime& time : incident.stages) {
      if (time.end > time.begin) {
        spans.push_back({incident.hazard, time});
      }
    }
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.time.begin < b.time.begin; });
  return spans;
}

void add_saves(const JobModel& job, const std::vector<SaveRecord>& saves, TrialPicture& picture) {
  for (const NearLevel& level : job.near) {
    picture.levels.push_back(level.name);
  }
  picture.levels.emplace_back("storage");
  const std::size_t together =
      std::max<std::size_t>(1, (saves.size() + kMostTrialSpans - 1) / kMostTrialSpans);
  picture.saves.together = static_cast<std::int64_t>(together);
  for (std::size_t first = 0; first < saves.size(); first += together) {
    const std::size_t end = std::min(first + together, saves.size());
    std::size_t level = 0;
    core::Tick still = 0;
    for (std::size_t s = first; s < end; ++s) {
      level = std::max<std::size_t>(level, saves[s].level);
      still += saves[s].end - saves[s].begin;
    }
    picture.saves.begin.push_back(kClock.to_seconds(saves[first].begin).si());
    picture.saves.length.push_back(kClock.to_seconds(saves[end - 1].end - saves[first].begin).si());
    picture.saves.still.push_back(kClock.to_seconds(still).si());
    picture.saves.level.push_back(static_cast<int>(level));
  }
}

}  // namespace

Histogram histogram_of(const std::vector<double>& values) {
  constexpr std::size_t kMostBins = 30;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(values.size())));
  Histogram histogram{*low, *high, {}};
  histogram.counts.resize(*high > *low ? std::min(kMostBins, root) : 1);
  const auto last = static_cast<double>(histogram.counts.size() - 1);
  for (const double value : values) {
    const double share = *high > *low ? (value - *low) / (*high - *low) : 0;
    ++histogram.counts[static_cast<std::size_t>(std::min(last, std::floor(share * (last + 1))))];
  }
  return histogram;
}

CampaignPictures draw(const JobModel& job,
                      const std::vector<TrialResult>& trials,
                      StepTimes& times) {
  std::vector<double> goodput;
  goodput.reserve(trials.size());
  for (const TrialResult& trial : trials) {
    goodput.push_back(goodput_of(job, trial));
  }
  const std::size_t chosen = median_of(goodput);
  IncidentLog log;
  const JobTicks ticks(job);
  const TrialResult again = run_trial(job, ticks, times, static_cast<std::uint32_t>(chosen), &log);
  const auto incidents = log.take(again.wall);
  const auto spans = spans_of(incidents);

  CampaignPictures pictures{histogram_of(goodput), {}, {}};
  TrialPicture& picture = pictures.trial;
  picture.trial = static_cast<std::int64_t>(chosen);
  picture.goodput = goodput[chosen];
  picture.wall = kClock.to_seconds(again.wall);
  for (const auto& [stage, word] : enum_words(Stage{})) {
    picture.stages.emplace_back(word);
  }
  std::map<std::uint32_t, HazardTimeline> lines;
  for (std::size_t s = 0; s < std::min(kMostTrialSpans, spans.size()); ++s) {
    const auto& [hazard, time] = spans[s];
    HazardTimeline& line = lines[hazard];
    line.begin.push_back(kClock.to_seconds(time.begin).si());
    line.length.push_back(kClock.to_seconds(time.end - time.begin).si());
    line.stage.push_back(static_cast<int>(time.stage));
  }
  const std::size_t failures = std::min(kMostTrialSpans, incidents.size());
  for (std::size_t i = 0; i < failures; ++i) {
    lines[incidents[i].hazard].struck.push_back(kClock.to_seconds(incidents[i].struck).si());
  }
  picture.failures_left_out = static_cast<std::int64_t>(incidents.size() - failures);
  for (auto& [hazard, line] : lines) {
    line.hazard = job.hazards[hazard].name;
    picture.hazards.push_back(std::move(line));
  }
  add_saves(job, log.saves(), picture);
  picture.spans_left_out =
      static_cast<std::int64_t>(spans.size() - std::min(kMostTrialSpans, spans.size()));
  return pictures;
}

}  // namespace headway::campaign
