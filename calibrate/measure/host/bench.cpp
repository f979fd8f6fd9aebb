#include "calibrate/measure/host/bench.h"

#include <fmt/format.h>
#include <utility>

#include "sim/core/fields.h"

namespace headway::measure {

std::string sample_text(const fit::Sample& sample) {
  std::string text = fmt::format("{} {}", core::to_word(sample.kind), sample.op);
  if (!sample.variant.empty()) {
    text += " " + sample.variant;
  }
  if (sample.m > 0) {
    text += fmt::format(" {} {} x {} x {}", core::to_word(sample.precision), sample.m, sample.n,
                        sample.k);
  }
  if (sample.sequence > 0) {
    text += fmt::format(" {} tokens x {} heads", sample.sequence, sample.query_heads);
  }
  if (sample.ranks > 0) {
    text += fmt::format(" {} ranks", sample.ranks);
  }
  if (sample.bytes > 0) {
    text += fmt::format(" {:.0f} B", sample.bytes);
  }
  return sample.beside.empty() ? text : text + " beside " + sample.beside;
}

double allowance_s(const BenchOptions& options) {
  if (options.seconds > 0) {
    return options.seconds;
  }
  return options.quick || options.tiny ? 165 : 870;
}

Bench::Bench(const BenchOptions& asked)
    : options(asked), progress(asked.quiet, allowance_s(asked)), deadline_s(allowance_s(asked)) {}

void Bench::add(fit::Sample sample) {
  if (sample.has(fit::SampleFlag::wrong)) {
    ++wrong_results;
    progress.say("wrong result: " + sample_text(sample));
  }
  measured.samples.push_back(std::move(sample));
}

void Bench::fact(const std::string& name, const std::string& value) {
  measured.facts.push_back({name, value});
}

void Bench::left_out(const std::string& what, const std::string& why) {
  fact("not measured, " + what, why);
  progress.say(fmt::format("not measured: {}: {}", what, why));
}

}  // namespace headway::measure
