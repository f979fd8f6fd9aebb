// Words for runs over several sites, which no column of a row can say.
#include <algorithm>
#include <array>

#include "sim/core/text.h"
#include "sim/validation/words/model_words.h"

namespace headway::validation {

namespace {

/// Where a phrase counts: a note speaks of the internet's texts too.
enum class SitesIn { every_column, network, behind_a_number, network_behind_a_number };

struct SitePhrase {
  std::string_view phrase;
  SitesIn in = SitesIn::every_column;
};

constexpr SitePhrase kSitePhrases[] = {{"diloco"},
                                       {"opendiloco"},
                                       {"streamingdiloco"},
                                       {"localsgd"},
                                       {"multiregion"},
                                       {"multisite"},
                                       {"multidatacenter"},
                                       {"multidatacentre"},
                                       {"crossregion"},
                                       {"crosssite"},
                                       {"crossdatacenter"},
                                       {"crossdatacentre"},
                                       {"crossdc"},
                                       {"geodistributed"},
                                       {"geographicallydistributed"},
                                       {"severalsites"},
                                       {"severaldatacenters"},
                                       {"multiplesites"},
                                       {"multipledatacenters"},
                                       {"multipledatacentres"},
                                       {"betweensites"},
                                       {"betweendcs"},
                                       {"betweendatacenters"},
                                       {"betweendatacentres"},
                                       {"acrosssites"},
                                       {"acrossdatacenters"},
                                       {"acrossdatacentres"},
                                       {"acrossregions"},
                                       {"internetconnected"},
                                       {"wan", SitesIn::network},
                                       {"internet", SitesIn::network},
                                       {"km", SitesIn::network_behind_a_number},
                                       {"sites", SitesIn::behind_a_number},
                                       {"regions", SitesIn::network_behind_a_number},
                                       {"datacenters", SitesIn::behind_a_number},
                                       {"datacentres", SitesIn::behind_a_number},
                                       {"dcs", SitesIn::behind_a_number}};

/// The word of a text for several sites; empty: none.
std::string sites_in(const std::string& text, bool network) {
  static const std::vector<std::string_view> known = phrases_of(kSitePhrases);
  static constexpr std::array<std::string_view, 4> kNumbers = {"two", "three", "four", "five"};
  std::string before;
  bool several = false;
  for (const CellWord& word : read_words(undenied(text), known)) {
    const SitesIn in = word.phrase ? kSitePhrases[*word.phrase].in : SitesIn::every_column;
    const bool numbered = in == SitesIn::behind_a_number || in == SitesIn::network_behind_a_number;
    const bool of_network = in == SitesIn::network || in == SitesIn::network_behind_a_number;
    if (word.phrase && (several || !numbered) && (network || !of_network)) {
      return numbered ? before + " " + word.text : word.text;
    }
    several = word.number.value_or(0) > 1 ||
              std::find(kNumbers.begin(), kNumbers.end(), word.text) != kNumbers.end();
    before = word.text;
  }
  return "";
}

}  // namespace

std::string several_sites(const RunRow& row) {
  for (const std::string RunRow::*column : {&RunRow::network, &RunRow::sharding, &RunRow::arch,
                                            &RunRow::model, &RunRow::era, &RunRow::notes}) {
    const std::string found =
        sites_in(row.*column, column == &RunRow::network || column == &RunRow::sharding);
    if (!found.empty()) {
      return found;
    }
  }
  return "";
}

}  // namespace headway::validation
