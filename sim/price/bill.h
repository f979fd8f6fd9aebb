// From what was used to what it costs.
#pragma once

#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/price/spec.h"

namespace headway::price {

/// What one run of a job used.
struct Usage {
  double gpu_seconds = 0;         ///< busy and idle GPUs of the job, spares not counted [GPU s]
  double spare_gpu_seconds = 0;   ///< spares [GPU s]
  double useful_gpu_seconds = 0;  ///< GPU seconds of steps that became durable [GPU s]
  /// GPUs of the job, and spares, that are paid for before the first step and while the speed rises
  /// [GPU s].
  double bring_up_gpu_seconds = 0, bring_up_spare_gpu_seconds = 0;
  /// What a GPU-hour of the job costs in the mean / what the prices say, where it has GPUs of
  /// several kinds.
  double relative_price = 1;
  double tokens = 0;               ///< tokens trained on, durable
  double stored_byte_seconds = 0;  ///< checkpoint storage [B s]
  core::Seconds oldest{};          ///< age of the oldest stored byte; ages spread evenly below it
  core::Bytes written{};           ///< to storage
  core::Bytes read{};              ///< from storage
  core::Joules it_energy;          ///< energy of IT equipment, before PUE
};

struct Bill {
  core::Dollars gpus, spares, storage, electricity;  ///< storage: kept, written and read
  core::Dollars bring_up;                            ///< before the first step, and of the ramp
  [[nodiscard]] core::Dollars total() const {
    return gpus + spares + storage + electricity + bring_up;
  }
  core::Joules energy;  ///< at the meter of the building: IT energy x PUE
  double co2_kg = 0;
  double usd_per_million_tokens = 0;   ///< 0 if no token was trained
  double usd_per_useful_gpu_hour = 0;  ///< 0 if nothing was useful

  template <class V>
  void fields(V& v) const {
    v.figure("gpus_usd", gpus, "USD", "GPU-hours of the job x price", core::non_negative);
    v.figure("spares_usd", spares, "USD",
             "GPU-hours of spare nodes x price x the share of it that spares cost",
             core::non_negative);
    v.figure("storage_usd", storage, "USD",
             "checkpoints kept over the run, bytes written and bytes read", core::non_negative);
    v.figure("electricity_usd", electricity, "USD",
             "`energy_kwh` x tariff; 0 where the price of a GPU-hour contains it",
             core::non_negative);
    v.figure("bring_up_usd", core::if_positive(bring_up), "USD",
             "GPU-hours of the job and of spares from delivery to the first step x the share of "
             "the price that is paid then, and those that the ramp adds to the run; null where "
             "there are none",
             core::non_negative);
  }
};

/// Price of a stored byte whose age is spread evenly from 0 to `oldest`: the mean over the tiers.
core::DollarsPerByteSecond mean_storage_price(const PriceSpec& prices, core::Seconds oldest);

/// The bill; pure arithmetic, equations in README.md.
Bill bill(const PriceSpec& prices, const Usage& usage);

/// The mean of the bills of several runs, item by item; what a token and an hour cost is of all of
/// them together.
Bill mean_bill(const PriceSpec& prices, const std::vector<Usage>& usages);

}  // namespace headway::price
