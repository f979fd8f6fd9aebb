#include "sim/import/measured/price_catalogue.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/import/csv.h"

namespace headway::import {

namespace {

/// A column of the catalogue, and whether every file has it.
struct CatalogueColumn {
  std::string_view name;
  bool required;
};
constexpr std::array<CatalogueColumn, 14> kCatalogueColumns{{{"InstanceType", true},
                                                             {"AcceleratorName", true},
                                                             {"AcceleratorCount", true},
                                                             {"Price", true},
                                                             {"Region", true},
                                                             {"SpotPrice", false},
                                                             {"vCPUs", false},
                                                             {"MemoryGiB", false},
                                                             {"GpuInfo", false},
                                                             {"GPUInfo", false},
                                                             {"AvailabilityZone", false},
                                                             {"Generation", false},   // Azure
                                                             {"HostingType", false},  // Vast
                                                             {"Arch", false}}};

/// @returns remarks on columns that nothing reads
std::vector<std::string> check_catalogue_columns(const CsvTable& table) {
  const auto& has = table.columns();
  core::Diagnostics diagnostics;
  std::vector<std::string> known;
  for (const CatalogueColumn& column : kCatalogueColumns) {
    known.emplace_back(column.name);
    if (column.required && std::find(has.begin(), has.end(), column.name) == has.end()) {
      diagnostics.add({},
                      fmt::format("{}: a catalogue of SkyPilot has a column '{}'; this file has "
                                  "{}",
                                  table.file(), column.name,
                                  core::shortened(fmt::format("{}", fmt::join(has, ", ")), 200)));
    }
  }
  std::vector<std::string> remarks;
  for (const std::string& name : has) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto guess = core::did_you_mean(name, known);
      remarks.push_back(fmt::format("{}: column '{}' is not known and not read{}", table.file(),
                                    core::shortened(name),
                                    guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
      if (!diagnostics.empty()) {
        diagnostics.add({}, remarks.back());
      }
    }
  }
  diagnostics.throw_if_any();
  return remarks;
}

/// A price; nothing where the cell is empty or 0.
std::optional<double> price_in(const CsvTable& table,
                               std::size_t row,
                               std::string_view column,
                               core::Diagnostics& diagnostics) {
  const auto value = table.number(row, column);
  if (value && *value < 0) {
    diagnostics.add({}, fmt::format("{}:{}: {} is {}; a price is zero (none) or more", table.file(),
                                    table.line(row), column, *value));
  }
  return value && *value > 0 ? value : std::nullopt;
}

/// Distinct texts, for a message.
template <class Text>
std::string listed_texts(const std::vector<ServerPrice>& prices, const Text& text) {
  std::set<std::string> all;
  for (const ServerPrice& price : prices) {
    all.insert(text(price));
  }
  return core::shortened(fmt::format("{}", fmt::join(all, ", ")), 300);
}

std::optional<double> asked_price(const ServerPrice& price, bool spot) {
  return spot ? price.spot : price.usd;
}

}  // namespace

PriceCatalogue read_price_catalogue(std::string_view text, const std::string& file) {
  const CsvTable table(text, file);
  std::vector<std::string> remarks = check_catalogue_columns(table);
  const auto& columns = table.columns();
  const bool has_spot = std::find(columns.begin(), columns.end(), "SpotPrice") != columns.end();
  core::Diagnostics diagnostics;
  std::vector<ServerPrice> prices;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double count = table.number(row, "AcceleratorCount").value_or(0);
    if (count <= 0 || table.text(row, "AcceleratorName").empty()) {
      continue;
    }
    ServerPrice price;
    price.instance = table.text(row, "InstanceType");
    price.accelerator = table.text(row, "AcceleratorName");
    price.region = table.text(row, "Region");
    price.accelerators = count;
    price.line = table.line(row);
    price.usd = price_in(table, row, "Price", diagnostics);
    price.spot = has_spot ? price_in(table, row, "SpotPrice", diagnostics) : std::nullopt;
    prices.push_back(std::move(price));
  }
  diagnostics.throw_if_any();
  if (prices.empty()) {
    throw core::Error(fmt::format("{}: no row has an accelerator", file));
  }
  return {std::move(prices), std::move(remarks)};
}

ServerPrice cheapest_offer(const std::vector<ServerPrice>& prices,
                           const OfferRequest& request,
                           const std::string& file) {
  std::vector<ServerPrice> left = prices;
  const auto keep = [&](const std::string& asked, const char* what, const char* option,
                        const auto& text) {
    const std::string there = listed_texts(left, text);
    std::erase_if(left, [&](const ServerPrice& p) {
      return !asked.empty() && core::lower_case(text(p)) != core::lower_case(asked);
    });
    if (left.empty()) {
      throw core::Error(fmt::format("{}: no {} '{}'; there are {} ({})", file, what,
                                    core::shortened(asked), there, option));
    }
  };
  const auto name = [](const ServerPrice& p) { return p.accelerator; };
  keep(request.accelerator, "accelerator", "--accelerator", name);
  const bool several = std::any_of(left.begin(), left.end(), [&](const ServerPrice& p) {
    return p.accelerator != left.front().accelerator;
  });
  if (several) {
    throw core::Error(fmt::format("{}: has prices of {}; say which: --accelerator NAME", file,
                                  listed_texts(left, name)));
  }
  keep(request.region, "region", "--region", [](const ServerPrice& p) { return p.region; });
  std::erase_if(left, [&](const ServerPrice& p) { return !asked_price(p, request.spot); });
  if (left.empty()) {
    throw core::Error(fmt::format("{}: none of these servers has a price {}", file,
                                  request.spot ? "where it may be taken away (SpotPrice)"
                                               : "on demand (Price); --spot takes SpotPrice"));
  }
  const auto most = std::max_element(left.begin(), left.end(), [](const auto& a, const auto& b) {
                      return a.accelerators < b.accelerators;
                    })->accelerators;
  std::erase_if(left, [&](const ServerPrice& p) { return p.accelerators < most; });
  return *std::min_element(left.begin(), left.end(), [&](const auto& a, const auto& b) {
    return *asked_price(a, request.spot) < *asked_price(b, request.spot);
  });
}

std::string gpu_words(const std::string& accelerator) {
  if (accelerator == "A100") {
    return "A100 40 GB";
  }
  if (accelerator == "V100") {
    return "V100 16 GB";
  }
  std::string words = accelerator.substr(0, accelerator.find("-SXM"));  // the usual form
  std::replace(words.begin(), words.end(), '-', ' ');
  const std::size_t unit = words.size() >= 2 ? words.size() - 2 : 0;
  const bool sized =
      words.ends_with("GB") && unit > 0 && words[unit - 1] >= '0' && words[unit - 1] <= '9';
  if (sized) {
    words.insert(unit, " ");
  }
  return words;
}

}  // namespace headway::import
