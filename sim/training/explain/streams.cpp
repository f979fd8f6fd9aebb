#include "sim/training/explain/streams.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/training/explain/observed_rank.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/placement.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

namespace {

/// Begin and end [us].
using Span = std::pair<double, double>;
using SpansOfLine = std::map<core::GpuWork, std::vector<Span>>;

/// Kernels of a rank follow one another: one line.
SpansOfLine spans_of(const ObservedRank& rank) {
  SpansOfLine lines;
  for (const core::GpuSpan& span : rank.spans) {
    const auto line = core::is_computation(span.work) ? core::GpuWork::matrix_products : span.work;
    lines[line].emplace_back(1e6 * span.begin.si(), 1e6 * span.end.si());
  }
  for (auto& [work, spans] : lines) {
    std::sort(spans.begin(), spans.end());
  }
  return lines;
}

std::string name_of(core::GpuWork work) {
  if (core::is_computation(work)) {
    return "kernels";
  }
  std::string word(core::to_word(work));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

/// @param spans  in order of their beginnings
StreamLine joined_line(core::GpuWork work, const std::vector<Span>& spans, double joined) {
  StreamLine line{name_of(work), {}, {}, {}};
  const auto close = [&line](double begin, double end, double runs) {
    const std::int64_t from = std::llround(begin);
    line.begin.push_back(from);
    line.length.push_back(std::llround(end) - from);
    line.runs.push_back(std::min<std::int64_t>(std::llround(runs), line.length.back()));
  };
  double begin = 0, end = 0, runs = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0 && spans[i].first - end <= joined) {
      runs += std::max(0.0, spans[i].second - std::max(end, spans[i].first));
      end = std::max(end, spans[i].second);
      continue;
    }
    if (i > 0) {
      close(begin, end, runs);
    }
    std::tie(begin, end) = spans[i];
    runs = end - begin;
  }
  if (!spans.empty()) {
    close(begin, end, runs);
  }
  return line;
}

/// @returns  how many bands there are
std::size_t draw(const std::vector<SpansOfLine>& all, Streams& streams) {
  std::size_t bands = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    streams.ranks[r].lines.clear();
    for (const auto& [work, spans] : all[r]) {
      streams.ranks[r].lines.push_back(
          joined_line(work, spans, static_cast<double>(streams.joined)));
      bands += streams.ranks[r].lines.back().begin.size();
    }
  }
  return bands;
}

}  // namespace

Streams stage_streams(const CheckedScenario& checked,
                      const std::function<void(std::size_t done, std::size_t total)>& count) {
  Streams streams;
  if (node_kinds(checked.scenario().cluster) > 1) {
    return streams;
  }
  const RankLayout layout = rank_layout(checked);
  std::vector<core::Rank> first;
  for (int stage = 0; stage < checked.scenario().parallelism.pipeline; ++stage) {
    RankCoordinates at;
    at.pipeline = stage;
    first.push_back(layout.rank(at));
  }
  const ObservedRanks observed = observe_ranks(checked, first, count);
  std::vector<SpansOfLine> all;
  for (const ObservedRank& rank : observed.ranks) {
    all.push_back(spans_of(rank));
    streams.ranks.push_back({rank.at.pipeline, rank.rank.index(), {}});
  }
  // A break of a tenth of a pixel is not seen.
  streams.joined = std::llround(1e6 * observed.time.si() / 10000);
  while (draw(all, streams) > kMostBands) {
    streams.joined = std::max<std::int64_t>(1, 2 * streams.joined);
  }
  return streams;
}

}  // namespace headway::training
