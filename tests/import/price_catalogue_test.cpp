// Prices in the format of SkyPilot's catalogue: which row decides, and what a file may not have.
#include "sim/import/measured/price_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/core/read_file.h"

namespace headway::import {
namespace {

using testing::HasSubstr;

const char* const kFile = HEADWAY_SOURCE_DIR "/tests/data/prices/vms.csv";

std::vector<ServerPrice> prices() {
  return read_price_catalogue(core::read_file(kFile, core::kLargestConfiguration), "vms.csv")
      .prices;
}

std::string complaint(const std::string& text) {
  try {
    read_price_catalogue(text, "vms.csv");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const OfferRequest& request) {
  try {
    cheapest_offer(prices(), request, "vms.csv");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(PriceCatalogue, TakesServersWithAccelerators) {
  const auto rows = prices();
  ASSERT_EQ(rows.size(), 4U);  // the plain server is none
  EXPECT_EQ(rows[1].instance, "eight-h100");
  EXPECT_EQ(rows[1].accelerators, 8);
  EXPECT_EQ(rows[1].usd, 24.0);
  EXPECT_EQ(rows[1].spot, 10.0);
  EXPECT_FALSE(rows[2].spot.has_value());  // 0.00 is no price
  EXPECT_FALSE(rows[3].spot.has_value());
}

// One GPU alone is cheaper an hour than an eighth of a server, and no cluster is made of it.
TEST(PriceCatalogue, FindsTheCheapestWholeServer) {
  const auto offer = cheapest_offer(prices(), {"H100", "", false}, "vms.csv");
  EXPECT_EQ(offer.region, "south-2");
  EXPECT_EQ(*offer.usd / offer.accelerators, 2.8);
  EXPECT_EQ(cheapest_offer(prices(), {"H100", "north-1", false}, "vms.csv").usd, 24.0);
  EXPECT_EQ(cheapest_offer(prices(), {"H100", "", true}, "vms.csv").region, "north-1");
}

TEST(PriceCatalogue, CallsAGpuAsItsNameDoes) {
  EXPECT_EQ(gpu_words("H100"), "H100");
  EXPECT_EQ(gpu_words("A100"), "A100 40 GB");
  EXPECT_EQ(gpu_words("A100-80GB"), "A100 80 GB");
  EXPECT_EQ(gpu_words("A100-80GB-SXM"), "A100 80 GB");
  EXPECT_EQ(gpu_words("H100-SXM"), "H100");
  EXPECT_EQ(gpu_words("H100-NVL"), "H100 NVL");  // no GPU's: it is said
  EXPECT_EQ(gpu_words("V100-32GB"), "V100 32 GB");
}

TEST(PriceCatalogue, SaysWhatThereIsInstead) {
  EXPECT_THAT(refusal({"b200", "south-2", false}), HasSubstr("no region"));  // found, as B200
  EXPECT_THAT(refusal(OfferRequest{}),
              HasSubstr("has prices of B200, H100; say which: --accelerator NAME"));
  EXPECT_THAT(refusal({"H200", "", false}),
              HasSubstr("no accelerator 'H200'; there are B200, H100"));
  EXPECT_THAT(refusal({"B200", "south-2", false}),
              HasSubstr("no region 'south-2'; there are north-1"));
  EXPECT_THAT(refusal({"B200", "", true}), HasSubstr("(SpotPrice)"));
}

TEST(PriceCatalogue, NamesColumnsThatItDoesNotKnow) {
  EXPECT_THAT(
      complaint("InstanceType,AcceleratorName,AcceleratorCounts,Price,Region\na,H100,8,1,x\n"),
      testing::AllOf(HasSubstr("has a column 'AcceleratorCount'"),
                     HasSubstr("column 'AcceleratorCounts' is not known and not read; did you mean "
                               "'AcceleratorCount'?")));
  EXPECT_THAT(complaint("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\n"
                        "a,H100,8,-1,x\n"),
              HasSubstr("vms.csv:2: Price is -1"));
  EXPECT_THAT(complaint("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\na,,,1,x\n"),
              HasSubstr("no row has an accelerator"));
}

// Fetchers add columns of their own: Azure's 'Generation', Vast's 'HostingType'.
TEST(PriceCatalogue, RemarksOnColumnsThatItDoesNotRead) {
  const auto remarks = [](const std::string& column) {
    const auto read = read_price_catalogue(
        "InstanceType,AcceleratorName,AcceleratorCount,Price,"
        "Region," +
            column + "\na,H100,8,1,x,y\n",
        "vms.csv");
    EXPECT_EQ(read.prices.size(), 1U) << column;
    return read.remarks;
  };
  EXPECT_THAT(remarks("Generation"), testing::IsEmpty());
  EXPECT_THAT(remarks("HostingType"), testing::IsEmpty());
  EXPECT_THAT(remarks("Mood"),
              testing::ElementsAre("vms.csv: column 'Mood' is not known and not read"));
}

}  // namespace
}  // namespace headway::import
