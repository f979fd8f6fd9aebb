#include "sim/price/bill.h"

#include <algorithm>

namespace headway::price {

using namespace core::literals;

namespace {

constexpr double kJoulesPerKwh = 3.6e6;

}  // namespace

core::DollarsPerByteSecond mean_storage_price(const PriceSpec& prices, core::Seconds oldest) {
  if (oldest.si() <= 0) {
    return prices.storage;
  }
  core::DollarsPerByteSecond sum;
  core::DollarsPerByteSecond price = prices.storage;
  core::Seconds from;
  for (const auto& tier : prices.storage_tiers) {
    const core::Seconds until = std::min(tier.from, oldest);
    sum += price * ((until - from) / oldest);
    from = until;
    price = tier.price;
  }
  return sum + price * ((oldest - from) / oldest);
}

Bill bill(const PriceSpec& prices, const Usage& usage) {
  Bill bill;
  bill.gpus = usage.relative_price * prices.gpu_hour * core::Seconds(usage.gpu_seconds);
  bill.spares = prices.spare_share * prices.gpu_hour * core::Seconds(usage.spare_gpu_seconds);
  bill.bring_up =
      prices.gpu_hour * (usage.relative_price * core::Seconds(usage.bring_up_gpu_seconds) +
                         prices.spare_share * core::Seconds(usage.bring_up_spare_gpu_seconds));
  bill.storage =
      core::Dollars(mean_storage_price(prices, usage.oldest).si() * usage.stored_byte_seconds) +
      prices.storage_write * usage.written + prices.storage_read * usage.read;
  bill.energy = prices.pue * usage.it_energy;
  if (!prices.electricity_included) {
    bill.electricity = prices.electricity * bill.energy;
  }
  bill.co2_kg = prices.carbon_kg_per_kwh * bill.energy.si() / kJoulesPerKwh;
  if (usage.tokens > 0) {
    bill.usd_per_million_tokens = bill.total().si() / (usage.tokens / 1e6);
  }
  if (usage.useful_gpu_seconds > 0) {
    bill.usd_per_useful_gpu_hour =
        bill.total().si() / (core::Seconds(usage.useful_gpu_seconds) / 1_h);
  }
  return bill;
}

}  // namespace headway::price
