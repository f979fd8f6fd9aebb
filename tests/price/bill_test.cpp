// The bill against hand algebra.
#include "sim/price/bill.h"

#include <gtest/gtest.h>

namespace headway::price {
namespace {

PriceSpec prices() {
  PriceSpec spec;
  spec.gpu_hour = core::DollarsPerSecond(2.0 / 3600);  // 2 USD/h
  spec.storage = core::DollarsPerByteSecond(1e-15);
  spec.electricity = core::DollarsPerJoule(0.10 / 3.6e6);  // 0.10 USD/kWh
  spec.electricity_included = false;
  spec.pue = 1.2;
  spec.spare_share = 0.5;
  spec.carbon_kg_per_kwh = 0.4;
  return spec;
}

// 100 GPU hours, 10 of spares, 80 useful; 50 kWh; 1e15 byte seconds; 2 million tokens.
Usage usage() {
  return {.gpu_seconds = 100 * 3600.0,
          .spare_gpu_seconds = 10 * 3600.0,
          .useful_gpu_seconds = 80 * 3600.0,
          .tokens = 2e6,
          .stored_byte_seconds = 1e15,
          .it_energy = core::Joules(50 * 3.6e6)};
}

TEST(Bill, ChargesWritesReadsAndTiersByAge) {
  PriceSpec spec = prices();
  spec.storage_write = core::DollarsPerByte(5e-12);
  spec.storage_read = core::DollarsPerByte(20e-12);
  spec.storage_tiers = {{core::Seconds(7), core::DollarsPerByteSecond(0.5e-15)},
                        {core::Seconds(30), core::DollarsPerByteSecond(0.1e-15)}};
  Usage u = usage();
  u.written = core::Bytes(1e12);
  u.read = core::Bytes(2e12);
  u.oldest = core::Seconds(10);
  // Ages 0 to 7 at 1, 7 to 10 at 0.5: 0.85 of 1 USD; 5 USD of writes, 40 USD of reads.
  EXPECT_NEAR(bill(spec, u).storage.si(), 0.85 + 5 + 40, 1e-9);
  // Up to 40 s: 7 at 1, 23 at 0.5, 10 at 0.1.
  EXPECT_NEAR(mean_storage_price(spec, core::Seconds(40)).si(), (7 + 11.5 + 1) / 40 * 1e-15, 1e-24);
}

TEST(Bill, AddsGpusSparesStorageAndElectricity) {
  const Bill b = bill(prices(), usage());
  EXPECT_NEAR(b.gpus.si(), 200, 1e-9);       // 100 h x 2 USD/h
  EXPECT_NEAR(b.spares.si(), 10, 1e-9);      // 10 h x 2 USD/h x 0.5
  EXPECT_NEAR(b.storage.si(), 1, 1e-12);     // 1e15 B s x 1e-15
  EXPECT_NEAR(b.electricity.si(), 6, 1e-9);  // 50 kWh x 1.2 x 0.10 USD/kWh
  EXPECT_NEAR(b.total().si(), 217, 1e-9);
  EXPECT_NEAR(b.energy.si(), 60 * 3.6e6, 1e-3);
  EXPECT_NEAR(b.co2_kg, 24, 1e-9);                       // 60 kWh x 0.4 kg
  EXPECT_NEAR(b.usd_per_million_tokens, 108.5, 1e-9);    // 217 / 2
  EXPECT_NEAR(b.usd_per_useful_gpu_hour, 2.7125, 1e-9);  // 217 / 80
}

TEST(Bill, ChargesTheJobsGpusTheirMeanPriceAndSparesTheListed) {
  Usage mixed = usage();
  mixed.relative_price = 0.75;
  EXPECT_NEAR(bill(prices(), mixed).gpus.si(), 150, 1e-9);  // 100 h x 0.75 x 2 USD/h
  EXPECT_EQ(bill(prices(), mixed).spares, bill(prices(), usage()).spares);
}

TEST(Bill, ChargesNoElectricityThatTheGpuPriceContains) {
  PriceSpec included = prices();
  included.electricity_included = true;
  const Bill b = bill(included, usage());
  EXPECT_EQ(b.electricity.si(), 0);
  EXPECT_NEAR(b.energy.si(), 60 * 3.6e6, 1e-3);
}

TEST(Bill, IsLinearInWhatWasUsed) {
  Usage twice = usage();
  twice.gpu_seconds *= 2;
  twice.spare_gpu_seconds *= 2;
  twice.useful_gpu_seconds *= 2;
  twice.tokens *= 2;
  twice.stored_byte_seconds *= 2;
  twice.it_energy *= 2;
  const Bill one = bill(prices(), usage());
  const Bill two = bill(prices(), twice);
  EXPECT_NEAR(two.total().si(), 2 * one.total().si(), 1e-9);
  EXPECT_NEAR(two.usd_per_million_tokens, one.usd_per_million_tokens, 1e-9);
}

/// Bytes that are kept longer are cheaper, so the mean bill is not that of the mean age: tiers of 4
/// and 1 USD with the step at 1 s, kept for 1 s and 3 s: (4 + (4 + 2) / 3) / 2 = 3 USD a byte and
/// second, of the mean age (4 + 1) / 2 = 2.5.
TEST(Bill, OfSeveralRunsIsTheMeanOfTheirs) {
  PriceSpec prices;
  prices.storage = core::DollarsPerByteSecond(4);
  prices.storage_tiers = {{core::Seconds(1), core::DollarsPerByteSecond(1)}};
  prices.gpu_hour = core::DollarsPerSecond(0.5);
  Usage young, old;
  young.stored_byte_seconds = old.stored_byte_seconds = 10;
  young.oldest = core::Seconds(1);
  old.oldest = core::Seconds(3);
  young.gpu_seconds = 2;
  old.gpu_seconds = 6;
  young.tokens = 1e6;
  old.tokens = 3e6;
  const Bill mean = mean_bill(prices, {young, old});
  EXPECT_DOUBLE_EQ(mean.storage.si(), 30);
  EXPECT_DOUBLE_EQ(mean.gpus.si(), 2);
  EXPECT_DOUBLE_EQ(mean.total().si(),
                   (bill(prices, young).total().si() + bill(prices, old).total().si()) / 2);
  EXPECT_DOUBLE_EQ(mean.usd_per_million_tokens, 32 / 2.0);  // of 2 M tokens each
}

TEST(Bill, OfNothingHasNoPriceATokenOrAnHour) {
  const Bill b = bill(prices(), {});
  EXPECT_EQ(b.total().si(), 0);
  EXPECT_EQ(b.usd_per_million_tokens, 0);
  EXPECT_EQ(b.usd_per_useful_gpu_hour, 0);
}

}  // namespace
}  // namespace headway::price
