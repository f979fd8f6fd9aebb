// What a cluster costs.
#pragma once

#include <string>
#include <vector>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::price {

/// A thousand times what anything costs today, so that a slip of units is seen and no sum
/// overflows.
inline constexpr core::Range hour_range{0, 1e5 / 3600, false, false, "from 0 to 100,000 USD/h"};
inline constexpr core::Range keeping_range{0, 1e5 / (1e12 * 730 * 3600.0), false, false,
                                           "from 0 to 100,000 USD/TB/month"};
inline constexpr core::Range moving_range{0, 1e5 / 1e12, false, false, "from 0 to 100,000 USD/TB"};
inline constexpr core::Range electricity_range{0, 100 / 3.6e6, false, false,
                                               "from 0 to 100 USD/kWh"};

/// A price of storage from an age on: tiers are a matter of billing, not of speed.
struct StorageTierSpec {
  core::Seconds from;
  core::DollarsPerByteSecond price;
  template <class V>
  void fields(V& v) {
    v.required("from", from, "Age of what is stored at which this price begins.", core::some_time);
    v.required("price", price, "As `15 USD/TB/month`.", keeping_range);
  }
  bool operator==(const StorageTierSpec&) const = default;
};

/// Prices; every entry of the catalogue carries source and date.
struct PriceSpec {
  static constexpr const char* kCatalogue = "prices";
  std::string name;
  std::string gpu;
  core::DollarsPerSecond gpu_hour;
  core::DollarsPerByteSecond storage{0};
  std::vector<StorageTierSpec> storage_tiers;
  core::DollarsPerByte storage_write{0};
  core::DollarsPerByte storage_read{0};
  core::DollarsPerJoule electricity{0};
  bool electricity_included = true;
  double pue = 1.25;
  double spare_share = 1;
  double carbon_kg_per_kwh = 0.37;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.optional("gpu", gpu,
               "GPU that `gpu_hour` is a price of: words of its name, as `H100`; bills of another "
               "GPU are warned of. Empty: of any.");
    v.required("gpu_hour", gpu_hour,
               "One GPU, with its share of node and network, as `2.75 USD/h`.", hour_range);
    v.optional("storage", storage, "Checkpoint storage, as `30 USD/TB/month`.", keeping_range);
    v.optional("storage_tiers", storage_tiers,
               "Prices of what has been stored for long, rising in age.");
    v.optional("storage_write", storage_write, "Of bytes written, as `5 USD/TB`.", moving_range);
    v.optional("storage_read", storage_read, "Of bytes read, egress included, as `20 USD/TB`.",
               moving_range);
    v.optional("electricity", electricity, "As `0.0977 USD/kWh`.", electricity_range);
    v.optional("electricity_included", electricity_included,
               "The GPU price already contains electricity.");
    v.optional("pue", pue, "Power usage effectiveness of the building.",
               core::Range{1, 10, false, false, "from 1 to 10"});
    v.optional("spare_share", spare_share, "Price of a spare GPU-hour / price of a busy one.",
               core::probability);
    v.optional("carbon_kg_per_kwh", carbon_kg_per_kwh,
               "Carbon intensity of the electricity [kg CO2/kWh].",
               core::Range{0, 10, false, false, "from 0 to 10"});
  }
  bool operator==(const PriceSpec&) const = default;
};

}  // namespace headway::price
