#include "sim/study/evidence/evidence.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/import/measured/goodput_summary.h"
#include "sim/import/measured/gpu_monitor.h"
#include "sim/import/measured/nccl_tests_json.h"
#include "sim/import/measured/nccl_tests_log.h"
#include "sim/import/measured/torch_profiler.h"
#include "sim/import/measured/training_log.h"
#include "sim/network/collective/closed_form.h"
#include "sim/study/collective.h"
#include "sim/study/evidence/same_job.h"
#include "sim/study/evidence/step_series.h"
#include "sim/study/expect/expect.h"

#include "calibrate/fit/import_samples.h"
#include "calibrate/fit/least_squares.h"

namespace headway::study {

namespace {

/// Which timers of which programs are one part of the step: of the sets the first that a log has a
/// timer of, those that it has of the set added up. Source: Megatron-LM training.py; GPT-NeoX
/// training.py; DeepSpeed utils/timer.py and runtime/pipe/engine.py, where `bwd` is `bwd_inner` and
/// `bwd_allreduce` together and what ends in `_microstep` is the last micro-batch alone; before
/// 2023 they were `forward`, `backward_inner`, `backward_allreduce`.
struct TimerNames {
  Feature feature;
  std::vector<std::vector<std::string_view>> sets;
};
const std::vector<TimerNames>& timer_names() {
  static const std::vector<TimerNames> list{
      {Feature::forward, {{"forward-compute"}, {"fwd"}, {"forward"}}},
      {Feature::backward, {{"backward-compute"}, {"bwd_inner"}, {"backward_inner"}, {"backward"}}},
      {Feature::data,
       {{"all-grads-sync", "params-all-gather"},
        {"bwd_allreduce"},
        {"backward_allreduce"},
        {"backward-allreduce"}}},
      {Feature::optimizer, {{"optimizer"}, {"step"}}},
      {Feature::input, {{"batch-generator"}, {"batch generator"}, {"batch_input"}}},
      {Feature::stage_waits,
       {{"forward-recv", "forward-send", "backward-recv", "backward-send",
         "forward-send-backward-recv", "backward-send-forward-recv"},
        {"pipe_recv_input", "pipe_send_output", "pipe_recv_grad", "pipe_send_grad"}}}};
  return list;
}

/// Whether a log's forward timer runs while a rank waits for its input. Source: Megatron-LM starts
/// `forward-compute` (core/pipeline_parallel/schedules.py) and GPT-NeoX `forward` (training.py)
/// around the forward step, in which `batch-generator` (`batch generator`) runs; DeepSpeed's engine
/// is handed its input.
bool holds_input(const import::TrainingLog& log) {
  return std::any_of(log.parts.begin(), log.parts.end(), [](const import::LoggedPart& part) {
    return part.name == "forward-compute" || part.name == "batch generator";
  });
}

/// The timers of a part added up; none: the log has none of them.
std::optional<import::LoggedPart> timer_of(const TimerNames& part, const import::TrainingLog& log) {
  for (const auto& set : part.sets) {
    std::optional<import::LoggedPart> sum;
    for (const auto& timer : log.parts) {
      if (std::find(set.begin(), set.end(), timer.name) != set.end()) {
        sum = sum.value_or(import::LoggedPart{});
        sum->least += timer.least;
        sum->most += timer.most;
      }
    }
    if (sum) {
      return sum;
    }
  }
  return std::nullopt;
}

/// Operations of a product from which it is more than a launch: 30 us of an H100.
constexpr double kLargeProduct = 2e10;

/// Steps of which the scatter is told.
constexpr std::size_t kFewestLines = 8;
/// Of a median of a few timings: saves and loads differ by so much from one to the next. Judged.
constexpr double kTimerNoise = 0.05;
/// Less scatter is as good as none: a thousandth of a step. Judged.
constexpr double kLeastSpread = 1e-3;

/// What another program's tensors and allocator hold, of the logarithm. Judged.
constexpr double kOtherMemory = 0.5;

/// A name with its numbers left out: "n#" of "n07".
std::string pattern_of(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || pattern.empty() || pattern.back() != '#') {
      pattern += digit ? '#' : c;
    }
  }
  return pattern;
}

/// The node that a monitor's file is named after, "n00" of "logs/n00.dmon.txt": where other files
/// name nodes, one of such a name; else one with a number. Empty: the file is named otherwise.
std::string node_of_file(const std::string& file, const std::vector<std::string>& named) {
  std::filesystem::path name = std::filesystem::path(file).stem();
  const std::string kind = name.extension().string();
  if (kind == ".dmon" || kind == ".dcgm" || kind == ".smi") {
    name = name.stem();
  }
  const std::string node = name.string();
  const std::string pattern = pattern_of(node);
  const bool known =
      named.empty() ? pattern.find('#') != std::string::npos
                    : std::any_of(named.begin(), named.end(),
                                  [&](const auto& other) { return pattern_of(other) == pattern; });
  return known ? node : "";
}

/// A GPU, and the file that tells of it.
struct Watched {
  import::WatchedGpu gpu;
  std::string file;
};

class EvidenceReader {
 public:
  explicit EvidenceReader(const training::CheckedScenario& checked) : checked_(checked) {}

  void add(const LogFile& file) {
    const auto begin = file.text.find_first_not_of(" \t\r\n");
    const bool json = begin != std::string::npos && file.text[begin] == '{' && !of_trainer(file);
    if (json && file.text.find("\"traceEvents\"") != std::string::npos) {
      add_profile(import::read_torch_profile(file.text, file.name), file.name);
    } else if (json && import::is_goodput_summary(file.text)) {
      add_goodput(import::read_goodput_summary(file.text, file.name), file.name);
    } else if (json) {
      add_collectives(import::read_nccl_tests_json(file.text, file.name), file.name);
    } else if (import::is_training_log(file.text)) {
      auto log = import::read_training_log(file.text, file.name);
      keep_steps_of_job(checked_, file.name, log, evidence_.remarks);
      add_training(std::move(log), file.name);
    } else if (import::is_gpu_monitor(file.text)) {
      for (auto& gpu : import::read_gpu_monitor(file.text, file.name, &evidence_.remarks)) {
        refuse_other_gpu(checked_.scenario().cluster.node.gpu, gpu.model, file.name,
                         gpu.model_line);
        gpus_.push_back({std::move(gpu), file.name});
      }
      monitors_ += (monitors_.empty() ? "" : ", ") + file.name;
    } else {
      add_log_of_nccl_tests(file);
    }
  }

  Evidence take() {
    add_monitors();
    std::set<std::string> nodes(evidence_.nodes.begin(), evidence_.nodes.end());
    evidence_.nodes.assign(nodes.begin(), nodes.end());
    return std::move(evidence_);
  }

 private:
  /// Hugging Face's Trainer prints dictionaries of Python, and keeps a state as JSON.
  static bool of_trainer(const LogFile& file) {
    return file.text.find("{'loss':") != std::string::npos ||
           file.text.find("\"log_history\":") != std::string::npos;
  }

  void add_log_of_nccl_tests(const LogFile& file) {
    if (of_trainer(file)) {
      throw core::Error(fmt::format(
          "{}: Hugging Face's Trainer says no time of a step; give a trace of torch.profiler of "
          "some steps",
          file.name));
    }
    if (file.text.find("busbw") == std::string::npos &&
        file.text.find("Rank") == std::string::npos) {
      throw core::Error(fmt::format(
          "{}: is no log of a training program (Megatron-LM, NeMo, torchtitan, DeepSpeed, "
          "MaxText), "
          "no output of nccl-tests, no trace of torch.profiler, no table of nvidia-smi dmon or "
          "DCGM and no details of ml-goodput-measurement; give one of these",
          file.name));
    }
    add_collectives(import::read_nccl_tests_log(file.text, file.name), file.name);
  }

  [[nodiscard]] double seconds_of(const import::LoggedStep& step) const {
    if (step.seconds > 0) {
      return step.seconds;
    }
    if (step.tokens_per_s_per_gpu > 0) {
      return checked_.tokens_per_step() /
             (step.tokens_per_s_per_gpu * static_cast<double>(checked_.gpus()));
    }
    return checked_.scenario().training.global_batch / step.samples_per_s;
  }

  void add_training(import::TrainingLog log, const std::string& file) {
    for (const std::string& remark : log.remarks) {
      evidence_.remarks.push_back(fmt::format("{}: {}", file, remark));
    }
    if (!log.steps.empty()) {
      const SeriesSummary summary = add_steps(log, file);
      tell_earlier_runs(log, file, summary.median);
      keep_parts_since(summary.since, file, log);
    }
    const double counting = is_other_program(checked_.scenario(), log) ? kOtherMemory : 0.005;
    if (log.memory_bytes > 0) {
      note(Feature::memory, file, log.memory_bytes, counting);
    }
    if (log.reserved_bytes > 0) {
      note(Feature::reserved_memory, file, log.reserved_bytes, counting);
    }
    add_parts(log, file);
    if (!log.saves.empty()) {
      note(Feature::save, file, median_save(log), kTimerNoise);
    }
    if (!log.loads.empty()) {
      note(Feature::load, file, fit::median(log.loads), kTimerNoise);
    }
  }

  static double median_save(const import::TrainingLog& log) {
    std::vector<double> seconds;
    for (const auto& save : log.saves) {
      seconds.push_back(save.seconds);
    }
    return fit::median(seconds);
  }

  /// Steps from a save to the next, the median; nothing of a log that has not two of them.
  static std::optional<std::int64_t> steps_between_saves(const import::TrainingLog& log) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < log.saves.size(); ++i) {
      gaps.push_back(static_cast<double>(log.saves[i].step - log.saves[i - 1].step));
    }
    return gaps.empty() ? std::nullopt
                        : std::optional(static_cast<std::int64_t>(fit::median(gaps)));
  }

  [[nodiscard]] SeriesSummary summary_of(const std::vector<import::LoggedStep>& steps) const {
    std::vector<SeriesStep> series;
    for (const auto& step : steps) {
      series.push_back({step.step, step.steps, seconds_of(step)});
    }
    return summarize_series(series);
  }

  void tell_earlier_runs(const import::TrainingLog& log, const std::string& file, double last) {
    for (const import::LoggedRun& run : log.earlier) {
      evidence_.findings.push_back(fmt::format(
          "{}:{}: steps come again from {} on, as after a restart: the last run is judged, of {} s "
          "a step; the run before this line, steps {} to {}, had {} s",
          file, run.end, run.next, core::number(last), run.steps.front().step,
          run.steps.back().step, core::number(summary_of(run.steps).median)));
    }
  }

  /// Timers of before a change say nothing of what came after.
  void keep_parts_since(std::int64_t step, const std::string& file, import::TrainingLog& log) {
    const bool timed = !log.parts.empty();
    log.parts = import::LoggedPart::since(step, log.parts);
    if (timed && log.parts.empty()) {
      evidence_.remarks.push_back(
          fmt::format("{}: its timers are of before step {}, where its steps changed; they are "
                      "left out",
                      file, step));
    }
  }

  SeriesSummary add_steps(const import::TrainingLog& log, const std::string& file) {
    const SeriesSummary summary = summary_of(log.steps);
    if (!summary.change.empty()) {
      evidence_.findings.push_back(fmt::format(
          "{}: a step {}; the last is judged, {} s{}", file, summary.change,
          core::number(summary.median),
          summary.lost_before > 0
              ? fmt::format(", beside which slower steps before it lost {} % of the time",
                            core::percent(summary.lost_before))
              : ""));
      evidence_.slowed_midway = evidence_.slowed_midway || summary.slowed;
    }
    for (std::string& lost : lost_steps(log, file)) {
      evidence_.findings.push_back(std::move(lost));
    }
    const auto lines = static_cast<double>(std::max<std::size_t>(summary.lines, 1));
    // Rounding spreads a figure evenly over one of its last digit: d / sqrt(12), alike in all
    // lines.
    const double rounded = log.resolution / std::sqrt(12.0);
    note(Feature::step_time, file, summary.median,
         std::hypot(0.005 + summary.spread / std::sqrt(lines), rounded));
    if (summary.lines >= kFewestLines) {
      const double rounding = rounded * std::sqrt(summary.together);
      const double least = std::max(kLeastSpread, rounding);  // that the log can show
      const double spread = std::max(summary.spread, least);
      note(Feature::spread, file, spread, std::hypot(1 / std::sqrt(2 * lines), rounding / spread));
      evidence_.observations.back().rounding = rounding;
    } else {
      evidence_.remarks.push_back(fmt::format(
          "{}: {} steps are too few to tell how they scatter; eight and more after the first do",
          file, summary.lines));
    }
    const auto between = steps_between_saves(log);
    const double save = between ? median_save(log) : 0;
    const double share = save / (static_cast<double>(between.value_or(1)) * summary.median + save);
    if (between && summary.pauses < share / 2) {
      // Steps are timed without the saves between them, which have lines of their own.
      note(Feature::pauses, file, share, 0.003);
      evidence_.pause_period = between;
      evidence_.saves_are_timed = true;
    } else if (summary.lines >= kFewestLines) {
      note(Feature::pauses, file, summary.pauses, 0.003);
      note(Feature::regularity, file, summary.regularity, 0.1);
      evidence_.pause_period = summary.period;
      evidence_.pauses = witness_of_pauses(log, summary, file);
    }
    return summary;
  }

  /// Times of a whole job: what saves and input take of that of its steps.
  void add_goodput(const import::GoodputSummary& job, const std::string& file) {
    const double saves = job.lost_to("UNPRODUCTIVE_CHECKPOINT_SAVE_TIME");
    const double input = job.lost_to("DATA_LOADING_SYNC");
    const double restores = job.lost_to("UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME");
    if (!(job.productive > 0 && job.steps > 0)) {
      evidence_.remarks.push_back(
          fmt::format("{}: no step of it has counted yet; it is left out", file));
      return;
    }
    note(Feature::step_time, file, job.ideal_step > 0 ? job.ideal_step : job.productive / job.steps,
         0.01);
    note(Feature::pauses, file, saves / (job.productive + input + saves), 0.003);
    note(Feature::input, file, input / job.steps, 0);
    if (job.disruptions >= 1 && restores > 0) {
      note(Feature::load, file, restores / job.disruptions, kTimerNoise);
    }
    const double steps = job.productive + input + saves;
    if (job.elapsed > steps) {
      evidence_.remarks.push_back(fmt::format(
          "{}: {} % of its time is neither of steps nor of saves and input (starts, {} disruptions "
          "and what they threw away): `headway run` predicts that part",
          file, core::percent(1 - steps / job.elapsed), core::count(job.disruptions)));
    }
  }

  /// The timers of ranks: the shortest is of a rank that nothing slows, the longest over the
  /// shortest tells a slow one.
  void add_parts(const import::TrainingLog& log, const std::string& file) {
    double ratio = 0;
    const bool nested = holds_input(log);
    for (const TimerNames& part : timer_names()) {
      const auto timer = timer_of(part, log);
      const bool pass = part.feature == Feature::forward || part.feature == Feature::backward;
      if (timer && pass && timer->least > 0) {
        ratio = std::max(ratio, timer->most > timer->least ? timer->most / timer->least : 0);
        note(part.feature, file, timer->least, 0.01);
        evidence_.observations.back().holds_input = nested && part.feature == Feature::forward;
      } else if (timer && !pass) {
        note(part.feature, file, (timer->least + timer->most) / 2, 0);
      }
    }
    if (ratio > 0) {
      note(Feature::rank_ratio, file, ratio, 0.01);
      evidence_.observations.back().holds_input = nested;
    }
  }

  void add_collectives(const import::NcclTestsLog& log, const std::string& file) {
    refuse_other_gpu(checked_.scenario().cluster.node.gpu, log.device, file, log.device_line);
    const auto samples =
        fit::from_nccl_tests(log, file, {.collective = {}, .options = false}).set.samples;
    if (const std::string wrong = import::wrong_data_of(log); !wrong.empty()) {
      evidence_.wrong_data.push_back(
          fmt::format("{}: {}{}", file, wrong,
                      log.hosts.empty() ? "" : fmt::format(", on {}", fmt::join(log.hosts, " "))));
    }
    if (const std::string how = import::unfinished_of(log); !how.empty()) {
      evidence_.unfinished.push_back(
          fmt::format("{}: {}{}", file, how,
                      log.hosts.empty() ? "" : fmt::format("; on {}", fmt::join(log.hosts, " "))));
    }
    Observation observation{Feature::bus_bandwidth, file};
    const auto& first = samples.front();
    MeasuredCall call{core::from_word<core::CollectiveKind>(first.op).value(),
                      first.ranks,
                      first.ranks_per_node > 0
                          ? first.ranks_per_node
                          : std::min(first.ranks, checked_.scenario().cluster.node.gpus),
                      {}};
    if (const auto why = not_of_this_machine(call)) {
      evidence_.remarks.push_back(fmt::format("{}: {}; it is left out", file, *why));
      return;
    }
    // The geometric mean over the large sizes: each is as much a witness of the network as another.
    double sum = 0;
    for (const auto& sample : samples) {
      if (!sample.has(fit::SampleFlag::wrong) &&
          is_threshold(static_cast<std::uint64_t>(sample.bytes), sample.ranks)) {
        sum += std::log(network::bus_bandwidth(call.kind, core::Bytes(sample.bytes), sample.ranks,
                                               core::Seconds(sample.seconds))
                            .si());
        call.sizes.push_back(static_cast<std::uint64_t>(sample.bytes));
      }
    }
    if (call.sizes.empty()) {
      evidence_.remarks.push_back(
          fmt::format("{}: no message of 64 MiB or more, and 1 MiB or more a GPU{}; it is left out",
                      file, import::wrong_data_of(log).empty() ? "" : ", whose data are right"));
      return;
    }
    observation.measured = std::exp(sum / static_cast<double>(call.sizes.size()));
    observation.noise = 0.02;
    observation.nodes = log.hosts;
    observation.call = std::move(call);
    evidence_.nodes.insert(evidence_.nodes.end(), log.hosts.begin(), log.hosts.end());
    evidence_.observations.push_back(std::move(observation));
  }

  /// Why the job's machine cannot have run a call; nothing where it can.
  [[nodiscard]] std::optional<std::string> not_of_this_machine(const MeasuredCall& call) const {
    const auto& s = checked_.scenario();
    CollectiveRequest request;
    request.kind = call.kind;
    request.gpus = call.gpus;
    request.per_node = call.per_node;
    try {
      check_call({s.name, s.cluster, {}, {}}, request);
    } catch (const core::Error& error) {
      return error.diagnostics().front().message;
    }
    return std::nullopt;
  }

  /// The products of a trace beside what each should take: the median of measured / predicted.
  void add_profile(const import::TorchProfile& profile, const std::string& file) {
    const auto& s = checked_.scenario();
    const auto shares = s.calibration.kernels.value_or(s.cluster.node.gpu.sustained);
    std::vector<double> ratios;
    for (const auto& gemm : profile.gemms) {
      const double work = 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                          static_cast<double>(gemm.k) * static_cast<double>(gemm.batch);
      if (work < kLargeProduct || gemm.seconds.empty()) {
        continue;  // small ones are launches
      }
      core::Kernel kernel;
      kernel.kind = core::KernelKind::gemm;
      kernel.precision = s.training.precision;
      kernel.m = gemm.m;
      kernel.n = gemm.n;
      kernel.k = gemm.k;
      kernel.batch = gemm.batch;
      kernel.work = core::Flops(work);
      ratios.push_back(fit::median(gemm.seconds) /
                       gpu::kernel_time(s.cluster.node.gpu, shares, kernel, {}).si());
    }
    if (ratios.empty()) {
      evidence_.remarks.push_back(
          fmt::format("{}: no matrix product of 2e10 operations or more with its shape "
                      "(record_shapes=True); it is left out",
                      file));
      return;
    }
    note(Feature::products, file, fit::median(ratios), 0.02);
  }

  void add_monitors() {
    for (const auto& [gpu, file] : gpus_) {
      if (!gpu.node.empty()) {
        evidence_.nodes.push_back(gpu.node);
      }
    }
    const std::vector<std::string> named = evidence_.nodes;
    std::vector<double> clocks;
    std::vector<double> powers;
    const Watched* slowest = nullptr;
    for (Watched& watched : gpus_) {
      auto& [gpu, file] = watched;
      if (gpu.node.empty()) {
        gpu.node = node_of_file(file, named);
        if (!gpu.node.empty()) {
          evidence_.nodes.push_back(gpu.node);
        }
      }
      if (gpu.sm_clock_mhz > 0) {
        clocks.push_back(gpu.sm_clock_mhz);
        slowest =
            slowest == nullptr || gpu.sm_clock_mhz < slowest->gpu.sm_clock_mhz ? &watched : slowest;
      }
      if (gpu.power_w > 0) {
        powers.push_back(gpu.power_w);
      }
    }
    if (clocks.size() >= 2) {
      const import::WatchedGpu& gpu = slowest->gpu;
      note(Feature::clock_ratio, monitors_, gpu.sm_clock_mhz / fit::median(clocks), 0.005);
      const std::string name = (gpu.gpu.starts_with("GPU") ? "" : "GPU ") + gpu.gpu;
      evidence_.slowest_gpu = gpu.node.empty()
                                  ? fmt::format("{} of the node of {}", name, slowest->file)
                                  : fmt::format("{} {}", gpu.node, name);
    }
    if (!powers.empty()) {
      note(Feature::power, monitors_, fit::median(powers), 0.02);
    }
  }

  void note(Feature feature, const std::string& source, double measured, double noise) {
    evidence_.observations.push_back({feature, source, measured, noise});
  }

  const training::CheckedScenario& checked_;
  Evidence evidence_;
  std::vector<Watched> gpus_;
  std::string monitors_;
};

}  // namespace

Evidence read_evidence(const training::CheckedScenario& checked,
                       const std::vector<LogFile>& files) {
  EvidenceReader reader(checked);
  for (const LogFile& file : files) {
    reader.add(file);
  }
  return reader.take();
}

}  // namespace headway::study
