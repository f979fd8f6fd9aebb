#include "sim/training/sites/site_exchange.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/error.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/wide_area.h"
#include "sim/training/compute_fabric.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/step/step_inputs.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/memory/outer_state.h"

namespace headway::training {

namespace {

using core::Bytes;
using core::Rank;
using core::Seconds;
using network::StepCode;
using workload::Group;

/// Of a rank of one stage, in the exchange of one fragment.
struct StageExchange {
  double values = 0;      ///< that it exchanges
  Bytes wire;             ///< what they are between sites
  Seconds pack, apply;    ///< kernels before and after
  Bytes shared, experts;  ///< arrays that are gathered inside the site
};

/// @param of_site  data-parallel degree of one site
std::vector<StageExchange> stage_exchanges(const Scenario& s,
                                           const workload::ParallelismSpec& p,
                                           int of_site) {
  const auto& local = *s.training.local_steps;
  const double bytes = local.exchange_bits / 8;
  const double element = workload::element_bytes(s.training.precision);
  const auto memory = s.cluster.node.gpu.memory_bandwidth * kernel_times(s, p).shares.memory;
  const workload::StageLayout layout(s.model, p);
  std::vector<StageExchange> stages;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    const double fragment = 1.0 / local.fragments;
    const auto held = workload::stage_parameters_per_rank(s.model, p, layout, stage);
    StageExchange one;
    one.values = workload::exchanged_values(s.model, p, layout, stage, of_site) * fragment;
    one.wire = Bytes(one.values * bytes);
    one.pack = Bytes(one.values * (workload::kPackTraffic + bytes)) / memory;
    one.apply = Bytes(one.values * (workload::kOuterStepTraffic + bytes)) / memory;
    if (!workload::shards_weights(p.sharding)) {
      one.shared = Bytes(element * fragment * held.shared);
      one.experts = Bytes(element * fragment * held.experts);
    }
    stages.push_back(one);
  }
  return stages;
}

Seconds longest_kernels(const std::vector<StageExchange>& stages) {
  Seconds longest;
  for (const StageExchange& stage : stages) {
    longest = std::max(longest, stage.pack + stage.apply);
  }
  return longest;
}

double ring_part(int sites) { return 2.0 * (sites - 1) / sites; }

/// The flows of all ranks as one problem.
class ExchangeProblem {
 public:
  ExchangeProblem(const CheckedScenario& checked, const network::Fabric& fabric)
      : s_(checked.scenario()),
        fabric_(fabric),
        layout_(rank_layout(checked)),
        stages_(stage_exchanges(s_, s_.parallelism, checked.synchronous_data())),
        of_site_(checked.synchronous_data()),
        sites_(checked.islands()),
        machine_(network_parameters(s_, fabric.input())),
        numbers_(fabric) {}

  network::Problem build() {
    problem_.names.emplace_back("exchange between sites");
    for (const StageExchange& stage : stages_) {
      add_program(stage);
    }
    for (std::int64_t r = 0; r < layout_.ranks(); ++r) {
      add_actor(Rank(static_cast<std::uint32_t>(r)));
    }
    return std::move(problem_);
  }

 private:
  static constexpr std::uint16_t kName = 1;

  void add_program(const StageExchange& stage) {
    using core::Activity;
    network::Program program;
    const auto compute = [&](Seconds time) {
      program.push_back({StepCode::compute, Activity::optimizer, kName, 0,
                         step_ticks(time, "exchange between sites")});
    };
    std::uint32_t slot = 0;
    const auto meet = [&] {
      program.push_back({StepCode::arrive, Activity::data, kName, slot, 0});
      program.push_back({StepCode::wait, Activity::data, kName, slot, 0});
      ++slot;
    };
    compute(stage.pack);
    meet();
    compute(stage.apply);
    for (const Bytes array : {stage.shared, stage.experts}) {
      if (array.si() > 0) {
        meet();
      }
    }
    problem_.programs.push_back(std::move(program));
  }

  void add_actor(Rank rank) {
    const RankCoordinates at = layout_.coordinates(rank);
    const StageExchange& stage = stages_[static_cast<std::size_t>(at.pipeline)];
    network::Actor actor;
    actor.program = static_cast<std::uint32_t>(at.pipeline);
    actor.groups.push_back(exchange_group(at, stage));
    if (stage.shared.si() > 0) {
      actor.groups.push_back(gather_group(Group::data_context, rank, stage.shared));
    }
    if (stage.experts.si() > 0) {
      actor.groups.push_back(gather_group(Group::expert_data, rank, stage.experts));
    }
    problem_.actors.push_back(std::move(actor));
  }

  std::uint32_t exchange_group(RankCoordinates at, const StageExchange& stage) {
    at.data %= of_site_;
    std::vector<core::GpuId> members;
    const Rank first = layout_.rank(at);
    for (int site = 0; site < sites_; ++site, at.data += of_site_) {
      members.push_back(layout_.gpu(layout_.rank(at)));
    }
    return group({-1, first.index()}, core::CollectiveKind::all_reduce, stage.wire, members);
  }

  std::uint32_t gather_group(Group kind, Rank rank, Bytes array) {
    std::vector<core::GpuId> members;
    for (const Rank member : layout_.members(kind, rank)) {
      members.push_back(layout_.gpu(member));
    }
    return group({static_cast<int>(kind), layout_.leader(kind, rank).index()},
                 core::CollectiveKind::all_gather, array, members);
  }

  std::uint32_t group(std::pair<int, std::uint32_t> key,
                      core::CollectiveKind kind,
                      Bytes bytes,
                      const std::vector<core::GpuId>& members) {
    const auto [place, fresh] = groups_.try_emplace(key, 0U);
    if (fresh) {
      network::CollectiveCall call;
      call.kind = kind;
      call.bytes = bytes;
      const auto shape = network::group_shape(fabric_, members);
      const auto alone =
          network::collective_time(call, shape, machine_, s_.calibration.collectives);
      network::EmitOptions options;
      options.timed = shape.domains == 1;
      options.label = key.second;
      place->second =
          network::append(network::emit_collective(fabric_, call, members, alone, options),
                          static_cast<std::uint32_t>(members.size()), core::Activity::data, kName,
                          numbers_, problem_);
    }
    return place->second;
  }

  const Scenario& s_;
  const network::Fabric& fabric_;
  RankLayout layout_;
  std::vector<StageExchange> stages_;
  int of_site_, sites_;
  network::NetworkParameters machine_;
  network::LinkNumbers numbers_;
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> groups_;
  network::Problem problem_;
};

/// Longest gather of a fragment's new weights inside a site.
Seconds gather_time(const Scenario& s,
                    const workload::ParallelismSpec& p,
                    int of_site,
                    const std::vector<StageExchange>& stages) {
  network::FabricInput input = compute_fabric(s.cluster);
  const network::Fabric fabric(input);
  const auto machine = network_parameters(s, input);
  const RankLayout layout(p, of_site, s.cluster.node.scale_up.domain_gpus);
  const auto time = [&](Group kind, Bytes array) {
    if (array.si() == 0) {
      return Seconds{};
    }
    std::vector<core::GpuId> members;
    for (const Rank member : layout.members(kind, Rank(0))) {
      members.push_back(layout.gpu(member));
    }
    const network::CollectiveCall call{core::CollectiveKind::all_gather, array, {}, {}};
    return network::collective_time(call, network::group_shape(fabric, members), machine,
                                    s.calibration.collectives)
        .total;
  };
  Seconds longest;
  for (const StageExchange& stage : stages) {
    longest = std::max(
        longest, time(Group::data_context, stage.shared) + time(Group::expert_data, stage.experts));
  }
  return longest;
}

/// Of one fragment, all ranks of a site.
Bytes sent_by_site(const std::vector<StageExchange>& stages, double ranks_of_stage, int sites) {
  Bytes sum;
  for (const StageExchange& stage : stages) {
    sum += stage.wire * (ranks_of_stage * ring_part(sites));
  }
  return sum;
}

double ranks_of_stage(const workload::ParallelismSpec& p, int of_site) {
  return static_cast<double>(p.tensor) * p.context * of_site;
}

}  // namespace

ExchangeTime exchange_closed_form(const Scenario& s,
                                  const workload::ParallelismSpec& p,
                                  int data_parallel) {
  const int sites = s.cluster.sites->count;
  const int of_site = data_parallel / sites;
  const auto stages = stage_exchanges(s, p, of_site);
  const auto machine = network_parameters(s, compute_fabric(s.cluster));
  Bytes most;
  for (const StageExchange& stage : stages) {
    most = std::max(most, stage.wire);
  }
  const Seconds cards = most * (ring_part(sites) * machine.gpus_per_rail) / machine.sender_rate;
  const Seconds way = sent_by_site(stages, ranks_of_stage(p, of_site), sites) / machine.site_rate;
  return {longest_kernels(stages), machine.site_latency * (2.0 * (sites - 1)) +
                                       std::max(cards, way) + gather_time(s, p, of_site, stages)};
}

ExchangeTime simulate_exchange(const CheckedScenario& checked,
                               const network::Fabric& fabric,
                               bool fold) {
  network::RunOptions options;
  options.fold = fold;
  const auto run = network::run(ExchangeProblem(checked, fabric).build(), options);
  const Scenario& s = checked.scenario();
  const Seconds kernels =
      longest_kernels(stage_exchanges(s, s.parallelism, checked.synchronous_data()));
  const Seconds all = core::Clock::step().to_seconds(run.end);
  return {kernels, std::max(Seconds{}, all - kernels)};
}

ExchangeShare exchange_share(const workload::LocalStepsSpec& local,
                             const ExchangeTime& time,
                             Seconds step) {
  const double each = static_cast<double>(local.fragments) / local.steps;
  const Seconds hidden = step * static_cast<double>(local.overlap_steps);
  return {time.kernels * each, std::max(Seconds{}, time.transfer - hidden) * each};
}

Bytes exchange_bytes(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  const int of_site = checked.synchronous_data();
  return sent_by_site(stage_exchanges(s, s.parallelism, of_site),
                      ranks_of_stage(s.parallelism, of_site), checked.islands());
}

std::optional<SitesResult> sites_result(const CheckedScenario& checked,
                                        const network::Fabric& fabric,
                                        Bytes site_bytes,
                                        Seconds step,
                                        bool fold) {
  const auto& cluster = checked.scenario().cluster;
  if (!cluster.sites) {
    return std::nullopt;
  }
  const auto machine = network_parameters(checked.scenario(), fabric.input());
  SitesResult result;
  result.sites = cluster.sites->count;
  result.site_rate = machine.site_rate;
  result.sender_rate = machine.sender_rate;
  result.step_bytes = site_bytes / static_cast<double>(result.sites);
  if (const auto& local = checked.scenario().training.local_steps) {
    ExchangeResult exchange;
    const ExchangeTime time = simulate_exchange(checked, fabric, fold);
    const ExchangeShare share = exchange_share(*local, time, step);
    exchange.bytes = exchange_bytes(checked);
    exchange.kernels = time.kernels;
    exchange.transfer = time.transfer;
    exchange.step_kernels = share.kernels;
    exchange.step_wait = share.waited;
    // While an exchange may run beside training it needs no more than lets it end in time.
    const Seconds room = step * std::max(1.0, static_cast<double>(local->overlap_steps));
    exchange.rate_to_hide = exchange.bytes / room;
    result.exchange = exchange;
    const double each = static_cast<double>(local->fragments) / local->steps;
    result.step_bytes += exchange.bytes * each;
  }
  return result;
}

}  // namespace headway::training
