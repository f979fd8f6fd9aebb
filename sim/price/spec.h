// What a cluster costs.
#pragma once

#include <string>

#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::price {

/// Prices; every entry of the catalogue carries source and date.
struct PriceSpec {
  static constexpr const char* kCatalogue = "prices";
  std::string name;
  core::DollarsPerSecond gpu_hour;
  core::DollarsPerByteSecond storage{0};
  core::DollarsPerJoule electricity{0};
  bool electricity_included = true;
  double pue = 1.25;
  double spare_share = 1;
  double carbon_kg_per_kwh = 0.37;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("gpu_hour", gpu_hour, "One GPU, with its share of node and network, as `2.75 USD/h`.", core::non_negative);
    v.optional("storage", storage, "Checkpoint storage, as `30 USD/TB/month`.", core::non_negative);
    v.optional("electricity", electricity, "As `0.0977 USD/kWh`.", core::non_negative);
    v.optional("electricity_included", electricity_included, "The GPU price already contains electricity.");
    v.optional("pue", pue, "Power usage effectiveness of the building.", core::at_least_one);
    v.optional("spare_share", spare_share, "Price of a spare GPU-hour / price of a busy one.", core::probability);
    v.optional("carbon_kg_per_kwh", carbon_kg_per_kwh, "Carbon intensity of the electricity [kg CO2/kWh].", core::non_negative);
  }
  bool operator==(const PriceSpec&) const = default;
};

}  // namespace headway::price
