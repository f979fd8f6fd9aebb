// A table of what clouds ask for their servers, in the format of SkyPilot's catalogue (vms.csv).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// One server with accelerators in one place.
struct ServerPrice {
  std::string instance, accelerator, region;
  double accelerators = 1;     ///< of the server
  std::optional<double> usd;   ///< an hour, on demand; absent: not offered
  std::optional<double> spot;  ///< the same where it may be taken away
  int line = 0;                ///< of the file
};

/// What a catalogue has.
struct PriceCatalogue {
  std::vector<ServerPrice> prices;   ///< rows that have accelerators, in the order of the file
  std::vector<std::string> remarks;  ///< columns that nothing reads
};

/// @param text  CSV with the columns of the catalogue's schemas v5 to v8: InstanceType,
///              AcceleratorName, AcceleratorCount, Price and Region, and where there are SpotPrice,
///              vCPUs, MemoryGiB, GpuInfo, AvailabilityZone, Generation, HostingType, Arch; prices
///              in USD an hour, 0 or nothing where there is none
/// @param file  its name, for messages
/// @throws core::Error with every column that is missing, and every bad price
PriceCatalogue read_price_catalogue(std::string_view text, const std::string& file);

/// Which offer is looked for.
struct OfferRequest {
  std::string accelerator;  ///< as the file has it; empty: the only one
  std::string region;       ///< empty: any
  bool spot = false;
};

/// The lowest price of an accelerator among the servers that have most of them: jobs of many nodes
/// take whole servers. The first of equals.
/// @throws core::Error with what the file has instead
ServerPrice cheapest_offer(const std::vector<ServerPrice>& prices,
                           const OfferRequest& request,
                           const std::string& file);

/// The name of an accelerator as that of a GPU has it: "A100 80 GB" of A100-80GB. Where two sizes
/// share a name, the smaller has it without its size. Source: skypilot-org/skypilot,
/// sky/catalog/data_fetchers: A100 has 40 GB and A100-80GB is beside it, V100 16 and V100-32GB.
std::string gpu_words(const std::string& accelerator);

}  // namespace headway::import
