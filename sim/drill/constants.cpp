#include "sim/drill/constants.h"

#include <fmt/format.h>

#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::drill {

namespace {

using namespace core::literals;

constexpr double kDay = (1_days).si();
constexpr double kMonth = 30 * kDay;
constexpr double kYear = 365 * kDay;

// Source: Llama 3, 54 days on 16,384 GPUs in 2,048 nodes.
constexpr double kSnapshot = 54 * kDay;
constexpr double of_gpus(double count) { return count / (16384 * kSnapshot); }
constexpr double of_nodes(double count) { return count / (2048 * kSnapshot); }
constexpr std::string_view kLlama = "Llama 3 Herd of Models, table 5, per GPU or node";
constexpr std::string_view kHpnLinks =
    "0.057 % of NIC links a month (HPN, SIGCOMM 2024), half each";

}  // namespace

const std::array<UsualRate, kFaultKinds>& usual_rates() {
  using K = FaultKind;
  static const std::array<UsualRate, kFaultKinds> table{{
      {K::gpu_dead, of_gpus(165), Per::gpu, kLlama},
      {K::hbm_error, of_gpus(91), Per::gpu, kLlama},
      {K::nvme_slow, 0.0141 / (4 * kMonth), Per::node,
       "1.41 % of NVMe drives in 4 months (USENIX ATC 2022)"},
      {K::nvme_stalled, of_nodes(3), Per::node, kLlama},
      {K::nic_down, of_nodes(7), Per::node, kLlama},
      {K::link_half_rate, 0.00057 / kMonth / 2, Per::gpu, kHpnLinks},
      {K::optic_flapping, 0.00057 / kMonth / 2, Per::gpu, kHpnLinks},
      {K::leaf_down, 0.00051 / kMonth, Per::leaf,
       "0.051 % of leaf switches a month (HPN, SIGCOMM 2024)"},
      {K::gpu_slow, 1 / (384 * 117 * kDay), Per::gpu, "BLOOM: one slow GPU in 117 days on 384"},
      {K::hang, of_nodes(7), Per::node, kLlama},
      {K::silent_corruption, of_gpus(6), Per::gpu, kLlama},
      {K::loss_spike, 1 / (10 * kDay), Per::job, "assumed: one in ten days of a run"},
      {K::storage_slow, 1 / kMonth, Per::job, "assumed: one a month"},
      {K::storage_full, 1 / (3 * kMonth), Per::job, "assumed: one in three months"},
      {K::rack_power_loss, 1 / (5 * kYear), Per::rack, "assumed: each rack once in five years"},
      {K::wrong_checkpoint, 1 / (12 * kMonth), Per::job, "assumed: one a year"},
      {K::host_dead, of_nodes(43), Per::node, kLlama},
      {K::software_crash, of_nodes(56), Per::node, kLlama},
      {K::site_cut, 1 / (180 * kDay), Per::site,
       "assumed: two a year and site, half a day each; links of a wide-area network were down 1.2 "
       "to 2.7 days a year (Turner et al., SIGCOMM 2010)"},
      {K::site_slow, 1 / (90 * kDay), Per::site, "assumed: one of two fibres, each twice a year"},
  }};
  return table;
}

const std::array<UsualMonitor, kMonitors>& usual_monitors() {
  using M = Monitor;
  static const std::array<UsualMonitor, kMonitors> table{{
      {M::process_exit, true, 60, "run.recovery.detection"},
      {M::transport, true, 7, "NCCL_IB_TIMEOUT, effective"},
      {M::watchdog, true, 600, "torch ProcessGroupNCCL since 2.2"},
      {M::heartbeat, false, 2700, "NVRx, steady default"},
      {M::health_check, true, 300, "RSC: every 5 min"},
      {M::link_monitor, false, 30, "ByteRobust, table 3"},
      {M::drive_monitor, false, 300, "as the health checks of RSC"},
      {M::straggler_monitor, false, 60, "assumed: a report a minute"},
      {M::flight_recorder, false, 0, "a dump at the timeout"},
      {M::save_monitor, false, 10, "assumed: alarm at twice the usual time"},
      {M::capacity_monitor, false, 300, "as the health checks of RSC"},
      {M::loss_monitor, false, 60, "assumed: evaluated every minute"},
      {M::replay, false, 800, "Gemini 2.5 replays 0.25 % of steps, mean wait 400"},
      {M::restart_check, false, 0, "at the restart"},
      {M::people, true, 3600, "Unicron: up to 30 min until someone notices"},
  }};
  return table;
}

std::vector<core::ModelConstant> model_constants() {
  const auto assumed = [](const char* name, double value, const char* unit, const char* source) {
    return core::ModelConstant{name, value, unit, 0, source};
  };
  std::vector<core::ModelConstant> all{
      assumed("drill.shown", kShown, "", "assumed: monitors are good, not perfect"),
      assumed("drill.stray", kStray, "", "assumed: monitors are good, not perfect"),
      assumed("drill.stray_hardware", kStrayHardware, "",
              "assumed: a state of hardware that was read is what it says"),
      assumed("drill.slow_for_people", kSlowForPeople, "",
              "assumed: 5 % in the curve of step times are seen"),
      assumed("drill.slow_for_monitors", kSlowForMonitors, "",
              "assumed: straggler monitors resolve 1 %"),
      assumed("drill.late_save", kLateSave, "", "assumed: 2 % above the usual time"),
      assumed("drill.silent_steps", kSilentSteps, "", "assumed: three missing steps"),
      assumed("drill.retries", kRetries, "", "NCCL_IB_RETRY_CNT, default 7"),
      assumed("drill.init_timeout", kInitTimeout, "s",
              "default timeout of torch.distributed.init_process_group over gloo, 30 min"),
      assumed("drill.usual_drive", kUsualDrive, "",
              "fail-slow drives are twice as slow or more (USENIX ATC 2022)"),
      assumed("drill.usual_gpu", kUsualGpu, "", "assumed"),
      assumed("drill.usual_link", kUsualLink, "", "a cable that trained to half its rate"),
      assumed("drill.usual_storage", kUsualStorage, "", "assumed"),
      assumed("drill.storage_repair", kStorageRepair, "s", "assumed"),
      assumed("drill.space_repair", kSpaceRepair, "s", "assumed: old files are deleted"),
      assumed("drill.leaf_repair", kLeafRepair, "s", "assumed: a switch is exchanged"),
      assumed("drill.rack_repair", kRackRepair, "s", "assumed: power is back"),
      assumed("drill.usual_way", kUsualWay, "", "assumed: one of two fibres"),
      assumed("drill.way_repair", kWayRepair, "s", "assumed: a fibre is spliced in half a day"),
      assumed("drill.outage", kOutage, "s", "assumed: below the transport's patience"),
      assumed("drill.outage_every", kOutageEvery, "s", "assumed"),
      assumed("drill.corruption_shows", kCorruptionShows, "s", "assumed"),
      assumed("drill.stale_saves", static_cast<double>(kStaleSaves), "", "assumed"),
  };
  for (const auto& rate : usual_rates()) {
    all.push_back({fmt::format("drill.rate.{}", core::to_word(rate.kind)), rate.per_second,
                   fmt::format("1/s a {}", core::to_word(rate.per)), 0, std::string(rate.source)});
  }
  for (const auto& monitor : usual_monitors()) {
    all.push_back({fmt::format("drill.monitor.{}", core::to_word(monitor.monitor)), monitor.time,
                   monitor.monitor == Monitor::replay ? "steps" : "s", 0,
                   std::string(monitor.why)});
  }
  return all;
}

}  // namespace headway::drill
