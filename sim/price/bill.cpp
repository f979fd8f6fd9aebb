#include "sim/price/bill.h"

#include <algorithm>

#include "sim/core/statistics.h"

namespace headway::price {

using namespace core::literals;

namespace {

constexpr double kJoulesPerKwh = 3.6e6;

/// @param total  of the bill [USD]
void set_ratios(double total, double tokens, double useful_gpu_seconds, Bill& bill) {
  if (tokens > 0) {
    bill.usd_per_million_tokens = total / (tokens / 1e6);
  }
  if (useful_gpu_seconds > 0) {
    bill.usd_per_useful_gpu_hour = total / (core::Seconds(useful_gpu_seconds) / 1_h);
  }
}

/// Mean of one figure.
template <class T, class Figure>
double mean_of(const std::vector<T>& all, const Figure& figure) {
  core::Sum sum;
  for (const T& each : all) {
    sum.add(figure(each));
  }
  return sum.value() / static_cast<double>(all.size());
}

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
  set_ratios(bill.total().si(), usage.tokens, usage.useful_gpu_seconds, bill);
  return bill;
}

Bill mean_bill(const PriceSpec& prices, const std::vector<Usage>& usages) {
  std::vector<Bill> bills;
  bills.reserve(usages.size());
  for (const Usage& usage : usages) {
    bills.push_back(bill(prices, usage));
  }
  const auto dollars = [&bills](core::Dollars Bill::*item) {
    return core::Dollars(mean_of(bills, [item](const Bill& b) { return (b.*item).si(); }));
  };
  Bill mean;
  mean.gpus = dollars(&Bill::gpus);
  mean.spares = dollars(&Bill::spares);
  mean.storage = dollars(&Bill::storage);
  mean.electricity = dollars(&Bill::electricity);
  mean.bring_up = dollars(&Bill::bring_up);
  mean.energy = core::Joules(mean_of(bills, [](const Bill& b) { return b.energy.si(); }));
  mean.co2_kg = mean_of(bills, [](const Bill& b) { return b.co2_kg; });
  set_ratios(mean.total().si(), mean_of(usages, [](const Usage& u) { return u.tokens; }),
             mean_of(usages, [](const Usage& u) { return u.useful_gpu_seconds; }), mean);
  return mean;
}

}  // namespace headway::price
