// Streams of single GPUs, and what the cluster draws.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "sim/report/trace/trace.h"

namespace headway::report {

namespace {

constexpr std::size_t kMostSpansOfARank = 100'000;  ///< a file stays small enough for a browser

std::int64_t nanoseconds(core::Seconds time) {
  return static_cast<std::int64_t>(std::llround(time.si() * 1e9));
}

std::string words_of(core::GpuWork work) {
  std::string word(core::to_word(work));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

/// Bytes of a span, as a rate from its begin to its end.
using Bytes = core::Bytes core::GpuSpan::*;

/// Sum of all spans' rates [MB/s], where it changes.
TraceCounter rate_counter(const std::vector<core::GpuSpan>& spans, Bytes bytes, std::string name) {
  std::map<std::int64_t, double> changes;
  for (const core::GpuSpan& span : spans) {
    const double rate = (span.*bytes).si() / (span.end - span.begin).si();
    if (rate > 0) {
      changes[nanoseconds(span.begin)] += rate;
      changes[nanoseconds(span.end)] -= rate;
    }
  }
  TraceCounter counter{std::move(name), {}};
  double now = 0;
  for (const auto& [time, change] : changes) {
    now += change;
    counter.values.emplace_back(time, std::llround(now / 1e6));
  }
  return counter;
}

/// Computations are one line, since kernels of a rank follow one another.
std::string line_of(core::GpuWork work) {
  return core::is_computation(work) ? "kernels" : words_of(work);
}

Trace trace_of_rank(const training::ObservedRank& rank) {
  Trace trace{fmt::format("rank {} (stage {})", rank.rank.index(), rank.at.pipeline), {}, {}};
  std::vector<core::GpuSpan> spans = rank.spans;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  if (spans.size() > kMostSpansOfARank) {
    trace.left_out.push_back(fmt::format("the last {} spans of rank {} are left out",
                                         spans.size() - kMostSpansOfARank, rank.rank.index()));
    spans.resize(kMostSpansOfARank);
  }
  std::map<std::string, std::vector<TraceSlice>> lines;
  for (const core::GpuSpan& span : spans) {
    TraceSlice slice{words_of(span.work), nanoseconds(span.begin), 0, false, {}, {}};
    slice.length_ns = nanoseconds(span.end) - slice.begin_ns;
    slice.more.emplace_back("launches", span.launches);
    lines[line_of(span.work)].push_back(std::move(slice));
  }
  for (auto& [name, slices] : lines) {
    add_lanes(name, std::move(slices), trace);
  }
  if (!trace.threads.empty()) {
    auto& counters = trace.threads.front().counters;
    counters.push_back(
        rate_counter(spans, &core::GpuSpan::scale_up_bytes, "sent over NVLink [MB/s]"));
    counters.push_back(
        rate_counter(spans, &core::GpuSpan::nic_bytes, "sent over network cards [MB/s]"));
  }
  return trace;
}

}  // namespace

std::vector<Trace> traces_of_ranks(const training::ObservedRanks& ranks) {
  std::vector<Trace> traces;
  traces.reserve(ranks.ranks.size());
  for (const training::ObservedRank& rank : ranks.ranks) {
    traces.push_back(trace_of_rank(rank));
  }
  return traces;
}

Trace trace_of_power(const study::PowerReport& power) {
  TraceCounter counter{"GPUs, hosts and switches [W]", {}};
  for (std::size_t i = 0; i < power.gpus.size(); ++i) {
    const std::int64_t watts = std::llround((power.gpus[i] + power.beside).si());
    if (counter.values.empty() || counter.values.back().second != watts) {
      counter.values.emplace_back(nanoseconds(power.window * static_cast<double>(i)), watts);
    }
  }
  return {"the cluster", {{"power", {}, {std::move(counter)}}}, {}};
}

}  // namespace headway::report
