#include "calibrate/fit/import_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "sim/core/error.h"
#include "sim/core/statistics.h"
#include "sim/network/collective/closed_form.h"

#include "calibrate/fit/least_squares.h"

namespace headway::fit {

namespace {

using core::CollectiveKind;
using core::Precision;

/// A type of elements as other programs write it.
struct TypeWord {
  std::string_view word;
  Precision precision;
  double bytes;
};
constexpr std::array<TypeWord, 22> kTypes{
    {{"float", Precision::fp32, 4},        {"Float", Precision::fp32, 4},
     {"float32", Precision::fp32, 4},      {"fp32", Precision::fp32, 4},
     {"tf32", Precision::tf32, 4},         {"tfloat32", Precision::tf32, 4},
     {"half", Precision::fp16, 2},         {"Half", Precision::fp16, 2},
     {"c10::Half", Precision::fp16, 2},    {"float16", Precision::fp16, 2},
     {"fp16", Precision::fp16, 2},         {"bfloat16", Precision::bf16, 2},
     {"BFloat16", Precision::bf16, 2},     {"c10::BFloat16", Precision::bf16, 2},
     {"bf16", Precision::bf16, 2},         {"fp8", Precision::fp8, 1},
     {"fp8_e4m3", Precision::fp8, 1},      {"f8e4m3", Precision::fp8, 1},
     {"Float8_e4m3fn", Precision::fp8, 1}, {"c10::Float8_e4m3fn", Precision::fp8, 1},
     {"mxfp8", Precision::mxfp8, 1},       {"nvfp4", Precision::nvfp4, 0.5}}};

const TypeWord* type_of(std::string_view word) {
  const auto* found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeWord& t) { return t.word == word; });
  return found == kTypes.end() ? nullptr : found;
}

/// Whose ratio of bus to algorithm bandwidth the log shows; all that fit.
std::vector<CollectiveKind> kinds_by_ratio(const import::NcclTestsLog& log, int ranks) {
  std::vector<CollectiveKind> fitting;
  double most = 0;
  double ratio = 0;
  for (const auto& row : log.rows) {
    if (row.timing() && row.timing()->algorithm_gb_per_s > most) {
      most = row.timing()->algorithm_gb_per_s;
      ratio = row.timing()->bus_gb_per_s / most;
    }
  }
  for (const auto& entry : enum_words(CollectiveKind{})) {
    // Two decimals are printed.
    if (most >= 1 && std::abs(ratio / network::bus_factor(entry.value, ranks) - 1) < 0.01) {
      fitting.push_back(entry.value);
    }
  }
  return fitting;
}

/// A word that names of files have for a collective.
struct KindInName {
  std::string_view word;
  CollectiveKind kind;
};
constexpr std::array<KindInName, 10> kKindsInNames{
    {{"all_reduce", CollectiveKind::all_reduce},
     {"allreduce", CollectiveKind::all_reduce},
     {"all_gather", CollectiveKind::all_gather},
     {"allgather", CollectiveKind::all_gather},
     {"reduce_scatter", CollectiveKind::reduce_scatter},
     {"reducescatter", CollectiveKind::reduce_scatter},
     {"all_to_all", CollectiveKind::all_to_all},
     {"alltoall", CollectiveKind::all_to_all},
     {"broadcast", CollectiveKind::broadcast},
     {"sendrecv", CollectiveKind::send_receive}}};

/// Of the kinds that fit, those that reduce if the rows do and do not if they say so, and of these
/// the one that the file is named after. Releases of nccl-tests before "Collective test starting"
/// say no more: their column `redop` has an operation where values are reduced, and is empty, or
/// `none`, in all_gather and alltoall. sendrecv prints one too, and has a ratio of its own.
std::vector<CollectiveKind> narrowed(std::vector<CollectiveKind> fitting,
                                     const import::NcclTestsLog& log,
                                     const std::string& file_name) {
  const auto keep = [&fitting](const auto& wanted) {
    std::vector<CollectiveKind> kept;
    std::copy_if(fitting.begin(), fitting.end(), std::back_inserter(kept), wanted);
    fitting = kept.empty() ? fitting : kept;
  };
  const bool reduces = std::any_of(log.rows.begin(), log.rows.end(),
                                   [](const auto& row) { return !row.reduction.empty(); });
  keep([&](CollectiveKind kind) {
    const bool could = kind == CollectiveKind::all_reduce ||
                       kind == CollectiveKind::reduce_scatter ||
                       kind == CollectiveKind::send_receive;
    const bool must = could && kind != CollectiveKind::send_receive;
    return reduces ? could : !must;
  });
  const std::string name = file_name.substr(file_name.find_last_of('/') + 1);
  keep([&](CollectiveKind kind) {
    return std::any_of(kKindsInNames.begin(), kKindsInNames.end(), [&](const KindInName& known) {
      return known.kind == kind && name.find(known.word) != std::string::npos;
    });
  });
  return fitting;
}

CollectiveKind kind_of(const import::NcclTestsLog& log,
                       const std::string& file_name,
                       int ranks,
                       const ImportHints& hints) {
  const auto named = log.program.empty() ? std::nullopt : collective_of(log.program);
  if (hints.collective && named && *hints.collective != *named) {
    throw core::Error(fmt::format("{}: the log is of {}, not of {}", file_name, log.program,
                                  core::to_word(*hints.collective)));
  }
  const auto fitting = kinds_by_ratio(log, ranks);
  const auto stated = hints.collective ? hints.collective : named;
  if (stated) {
    if (!fitting.empty() && std::find(fitting.begin(), fitting.end(), *stated) == fitting.end()) {
      throw core::Error(
          fmt::format("{}: the ratio of busbw to algbw is not that of {} over {} ranks", file_name,
                      core::to_word(*stated), ranks));
    }
    return *stated;
  }
  const auto likely = narrowed(fitting, log, file_name);
  if (likely.size() == 1) {
    return likely.front();
  }
  throw core::Error(fmt::format(
      "{}: does not say which collective was measured{}; {}", file_name,
      fitting.empty() ? "" : ", and several have its ratio of bandwidths",
      hints.options ? "add --collective all_reduce|all_gather|..."
                    : "name the file after the program, as 'all_gather_perf-n1-n2.log', or add "
                      "the line that later releases begin with, '# Collective test starting: "
                      "all_gather_perf'"));
}

/// Why a log has no ranks that exchange anything.
std::string no_ranks(int listed, const ImportHints& hints) {
  if (listed == 1) {
    return "lists one rank, which has none to exchange with; run it on two GPUs or more";
  }
  return fmt::format(
      "does not list its ranks; {}",
      hints.options ? "add --ranks N" : "give the whole output, from '# Using devices' on");
}

Sample collective_sample(CollectiveKind kind, int ranks, int ranks_per_node) {
  Sample s;
  s.kind = SampleKind::collective;
  s.op = core::to_word(kind);
  s.ranks = ranks;
  s.ranks_per_node = ranks_per_node;
  return s;
}

/// Collectives of torch.distributed, and which side of the call is the whole array.
struct TorchCollective {
  std::string_view name;
  CollectiveKind kind;
  bool whole_is_output;
};
constexpr std::array<TorchCollective, 12> kTorchCollectives{
    {{"allreduce", CollectiveKind::all_reduce, false},
     {"all_reduce", CollectiveKind::all_reduce, false},
     {"allgather", CollectiveKind::all_gather, true},
     {"_allgather_base", CollectiveKind::all_gather, true},
     {"all_gather", CollectiveKind::all_gather, true},
     {"reduce_scatter", CollectiveKind::reduce_scatter, false},
     {"_reduce_scatter_base", CollectiveKind::reduce_scatter, false},
     {"all_to_all", CollectiveKind::all_to_all, false},
     {"all_to_allv", CollectiveKind::all_to_all, false},
     {"broadcast", CollectiveKind::broadcast, false},
     {"send", CollectiveKind::send_receive, false},
     {"recv", CollectiveKind::send_receive, false}}};

const TorchCollective* torch_collective(std::string_view name) {
  const auto* found = std::find_if(kTorchCollectives.begin(), kTorchCollectives.end(),
                                   [&](const TorchCollective& c) { return c.name == name; });
  return found == kTorchCollectives.end() ? nullptr : found;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return core::quantile_of_sorted(values, q);
}

void add_gemm(const import::ProfiledGemm& gemm, ImportedSamples& out) {
  const TypeWord* type = type_of(gemm.type);
  if (type == nullptr) {
    out.remarks.push_back(fmt::format("{} of {} x {} x {}: type '{}' is not known; left out",
                                      gemm.operation, gemm.m, gemm.n, gemm.k, gemm.type));
    return;
  }
  Sample s;
  s.kind = SampleKind::gemm;
  s.op = "forward";
  s.variant = gemm.operation;
  s.precision = type->precision;
  s.m = gemm.m;
  s.n = gemm.n;
  s.k = gemm.k;
  s.batch = gemm.batch;
  s.repeats = static_cast<std::int64_t>(gemm.seconds.size());
  s.seconds = median(gemm.seconds);
  s.spread_s = quantile(gemm.seconds, 0.75) - quantile(gemm.seconds, 0.25);
  out.set.samples.push_back(std::move(s));
}

void add_collective(const import::ProfiledCollective& one,
                    const ImportHints& hints,
                    ImportedSamples& out) {
  constexpr int kUsualNode = 8;
  const TorchCollective* kind = torch_collective(one.name);
  const TypeWord* type = type_of(one.type);
  const double elements =
      kind != nullptr && kind->whole_is_output ? one.elements_out : one.elements_in;
  if (kind == nullptr || type == nullptr || one.ranks < 2 || elements <= 0) {
    out.remarks.push_back(fmt::format(
        "collective '{}' of {} elements of '{}' over {} ranks is none we time; left out", one.name,
        elements, one.type, one.ranks));
    return;
  }
  const int a_node = hints.ranks_per_node > 0 ? hints.ranks_per_node : kUsualNode;
  Sample s = collective_sample(kind->kind, one.ranks, std::min(one.ranks, a_node));
  s.variant = "torch.profiler";
  s.precision = type->precision;
  s.bytes = elements * type->bytes;
  s.repeats = static_cast<std::int64_t>(one.seconds.size());
  s.seconds = quantile(one.seconds, 0.1);
  s.spread_s = quantile(one.seconds, 0.75) - quantile(one.seconds, 0.25);
  out.set.samples.push_back(std::move(s));
}

}  // namespace

std::optional<CollectiveKind> collective_of(std::string_view word) {
  constexpr std::string_view kSuffix = "_perf";
  if (word.ends_with(kSuffix)) {
    word.remove_suffix(kSuffix.size());
  }
  if (word == "alltoall") {
    return CollectiveKind::all_to_all;
  }
  if (word == "sendrecv") {
    return CollectiveKind::send_receive;
  }
  return core::from_word<CollectiveKind>(word);
}

ImportedSamples from_nccl_tests(const import::NcclTestsLog& log,
                                const std::string& file_name,
                                const ImportHints& hints) {
  const int listed = static_cast<int>(log.ranks_listed.size());
  const int ranks = hints.ranks > 0 ? hints.ranks : listed;
  if (ranks < 2) {
    throw core::Error(fmt::format("{}: {}", file_name, no_ranks(listed, hints)));
  }
  if (listed > 0 && ranks != listed) {
    throw core::Error(
        fmt::format("{}: lists {} ranks, and --ranks says {}", file_name, listed, ranks));
  }
  const int a_node = hints.ranks_per_node > 0 ? hints.ranks_per_node : log.ranks_per_node;
  if (a_node == 0) {
    throw core::Error(fmt::format("{}: does not list its hosts; {}", file_name,
                                  hints.options ? "add --ranks-per-node N"
                                                : "give the whole output, from '# Using devices' "
                                                  "on"));
  }
  const CollectiveKind kind = kind_of(log, file_name, ranks, hints);
  ImportedSamples out;
  if (!log.device.empty()) {
    out.set.facts.push_back({"device", log.device});
  }
  out.set.facts.push_back({"imported", fmt::format("{} (nccl-tests)", file_name)});
  for (const auto& row : log.rows) {
    for (const bool in_place : {false, true}) {
      const auto& timing = in_place ? row.in_place : row.out_of_place;
      if (row.bytes == 0 || !timing || timing->microseconds <= 0) {
        continue;
      }
      Sample s = collective_sample(kind, ranks, std::min(ranks, a_node));
      s.variant = in_place ? "in_place" : "out_of_place";
      const TypeWord* type = type_of(row.type);
      s.precision = type != nullptr ? type->precision : Precision::fp32;
      s.bytes = static_cast<double>(row.bytes);
      s.seconds = timing->microseconds * 1e-6;
      if (timing->wrong) {
        s.add(SampleFlag::wrong);
      }
      out.set.samples.push_back(std::move(s));
    }
  }
  return out;
}

ImportedSamples from_fio(const std::vector<import::FioTiming>& timings,
                         const std::string& file_name) {
  constexpr std::array<const char*, 3> kOps{"read", "write", "sync"};
  ImportedSamples out;
  out.set.facts.push_back({"imported", fmt::format("{} (fio)", file_name)});
  for (const auto& timing : timings) {
    Sample s;
    s.kind = SampleKind::storage;
    s.op = kOps[static_cast<std::size_t>(timing.direction)];
    s.variant = timing.job;
    s.streams = timing.streams;
    s.bytes = timing.bytes;
    // As fio states the rate: jobs that ended early do not count in its denominator.
    s.seconds = timing.bytes_per_s > 0 ? timing.bytes / timing.bytes_per_s : timing.seconds;
    s.spread_s =
        timing.bytes_per_s > 0 ? s.seconds * timing.spread_bytes_per_s / timing.bytes_per_s : 0;
    s.repeats = timing.operations;
    if (!timing.direct && timing.direction != import::FioDirection::sync) {
      out.remarks.push_back(
          fmt::format("{}: job '{}' did not use direct=1; its rate may be that of the page cache",
                      file_name, timing.job));
    }
    out.set.samples.push_back(std::move(s));
  }
  return out;
}

ImportedSamples from_gemm_csv(const import::CsvTable& table) {
  ImportedSamples out;
  core::Diagnostics faults;
  out.set.facts.push_back({"imported", fmt::format("{} (GEMM table)", table.file())});
  std::set<std::string> unknown;  // one complaint a word
  int blocks = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto complain = [&](std::string message) {
      faults.add(core::SourceMark{table.file(), table.line(row), 1, 1, ""}, std::move(message));
    };
    const std::string& word = table.text(row, "dtype");
    const TypeWord* type = type_of(word);
    const auto m = table.integer(row, "m").value_or(0);
    const auto n = table.integer(row, "n").value_or(0);
    const auto k = table.integer(row, "k").value_or(0);
    const auto microseconds = table.number(row, "time_us").value_or(0);
    if (word == "fp8_block") {  // scales by block: another kernel than fp8's
      ++blocks;
    } else if (type == nullptr) {
      if (unknown.insert(word).second) {
        complain(fmt::format("the type '{}' is not known", word));
      }
    } else if (m <= 0 || n <= 0 || k <= 0 || microseconds <= 0) {
      complain("m, n, k and time_us must be above zero");
    } else {
      Sample s;
      s.kind = SampleKind::gemm;
      s.op = "forward";
      s.precision = type->precision;
      s.m = m;
      s.n = n;
      s.k = k;
      s.batch = 1;
      s.seconds = microseconds * 1e-6;
      out.set.samples.push_back(std::move(s));
    }
  }
  if (blocks > 0) {
    out.remarks.push_back(
        fmt::format("{}: {} rows of type fp8_block are left out", table.file(), blocks));
  }
  if (out.set.samples.empty() && faults.empty()) {
    faults.add(core::SourceMark{table.file(), 0, 1, 1, ""}, "the table has no rows");
  }
  faults.throw_if_any();
  return out;
}

ImportedSamples from_torch_profile(const import::TorchProfile& profile,
                                   const std::string& file_name,
                                   const ImportHints& hints) {
  ImportedSamples out;
  if (!profile.device.empty()) {
    out.set.facts.push_back({"device", profile.device});
  }
  out.set.facts.push_back({"imported", fmt::format("{} (torch.profiler)", file_name)});
  for (const auto& gemm : profile.gemms) {
    add_gemm(gemm, out);
  }
  for (const auto& collective : profile.collectives) {
    add_collective(collective, hints, out);
  }
  if (profile.gemms_without_shape > 0) {
    out.remarks.push_back(
        fmt::format("{}: {} matrix products have no shape; profile with record_shapes=True",
                    file_name, profile.gemms_without_shape));
  }
  if (out.set.samples.empty()) {
    throw core::Error(fmt::format(
        "{}: {} GPU kernels, but no matrix product or collective whose shape is recorded",
        file_name, profile.kernels));
  }
  return out;
}

}  // namespace headway::fit
