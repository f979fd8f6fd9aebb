#include "sim/price/bill.h"

namespace headway::price {

namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kSecondsPerHour = 3600;

}  // namespace

Bill bill(const PriceSpec& prices, const Usage& usage) {
  Bill bill;
  bill.gpus = prices.gpu_hour * core::Seconds(usage.gpu_seconds);
  bill.spares = prices.spare_share * prices.gpu_hour * core::Seconds(usage.spare_gpu_seconds);
  bill.storage = core::Dollars(prices.storage.si() * usage.stored_byte_seconds);
  bill.energy = prices.pue * usage.it_energy;
  if (!prices.electricity_included) {
    bill.electricity = prices.electricity * bill.energy;
  }
  bill.co2_kg = prices.carbon_kg_per_kwh * bill.energy.si() / kJoulesPerKwh;
  if (usage.tokens > 0) {
    bill.usd_per_million_tokens = bill.total().si() / (usage.tokens / 1e6);
  }
  if (usage.useful_gpu_seconds > 0) {
    bill.usd_per_useful_gpu_hour = bill.total().si() / (usage.useful_gpu_seconds / kSecondsPerHour);
  }
  return bill;
}

}  // namespace headway::price
