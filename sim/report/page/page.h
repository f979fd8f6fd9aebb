// Results as one page of HTML that needs nothing but itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/read_result.h"

namespace headway::report {

/// One result and where it is from.
struct PageResult {
  ReadResult result;
  std::string command;  ///< that prints it again, or the name of its file
};

/// What somebody still mails: a page of one result is smaller, of up to some hundred too.
inline constexpr std::size_t kLargestPage = 1'500'000;  // Source: what pages are held to, in bytes

/// The whole page: of each result title, provenance, figures that decide, verdict with what would
/// help, pictures, all tables with the meaning of their figures, assumptions, the scenario. It is
/// built from the JSON alone, so a file that was kept gives the page that the run gave; pictures
/// that the JSON lacks are named with the option that adds them. Where the page would be larger
/// than `kLargestPage`, the last results lose their pictures, then all their tables of figures,
/// then all but their first figures and verdict, and the page says so.
/// @param results  at least one; of one verb or of several
/// @param charts   the chart library as `scripts/charts_bundle` packs it (its licences, an empty
///                 line, its script by gzip in base64); empty: tables stand for charts, and the
///                 page says so
std::string report_page(const std::vector<PageResult>& results, const std::string& charts);

/// The part of the page that is of one result, for a page that is there already.
/// @param number  tells it from other parts of that page
std::string report_section(const ReadResult& result,
                           const std::string& command,
                           std::size_t number);

/// A result in a few lines of HTML, for notebooks: what was asked, the figures that decide, the
/// verdict.
std::string report_summary(const ReadResult& result);

}  // namespace headway::report
