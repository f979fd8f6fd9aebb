#include "sim/validation/words/instance_names.h"

#include <cctype>

#include "sim/core/text.h"

namespace headway::validation {

namespace {

/// How the names of a family begin.
struct InstanceFamily {
  std::string_view name;
  bool open = false;  ///< letters and digits may follow: "nd96asr"
  const char* node = "";
  const char* gpu = "";
  const char* network = "";
};

/// Source: pages on GPU instances of AWS (EC2 P and G), Google Cloud (A2 to A4X), Azure (ND, NC)
/// and Oracle (BM.GPU), 2026.
constexpr InstanceFamily kInstanceFamilies[] = {
    {"p3dn", false, "p3dn-24xlarge", "v100", ""},
    {"p5", false, "p5-48xlarge", "h100", "efa"},
    {"a3-highgpu", false, "a3-highgpu-8g", "h100", "tcpx"},
    {"a3 high", false, "a3-highgpu-8g", "h100", "tcpx"},
    {"a3-megagpu", false, "a3-megagpu-8g", "h100", "tcpxo"},
    {"a3 mega", false, "a3-megagpu-8g", "h100", "tcpxo"},
    {"p3"},
    {"p4d"},
    {"p4de"},
    {"p5e"},
    {"p5en"},
    {"p6"},
    {"p6e"},
    {"g4dn"},
    {"g5"},
    {"g6"},
    {"g6e"},
    {"a2-", true},
    {"a2 ultra"},
    {"a2 high"},
    {"a2 mega"},
    {"a3-", true},
    {"a3 ultra"},
    {"a3 edge"},
    {"a4-", true},
    {"a4x-", true},
    {"a4 high"},
    {"g2-standard"},
    {"nd"},
    {"ndv", true},
    {"nd9", true},
    {"nd4", true},
    {"nd1", true},
    {"nc"},
    {"ncv", true},
    {"nc2", true},
    {"nc4", true},
    {"nc8", true},
    {"nc9", true},
    {"standard_n", true},
    {"bm.gpu", true}};

bool of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

/// The family whose name begins here, in small letters; nullptr: none.
const InstanceFamily* family_at(const std::string& text, std::size_t at) {
  for (const InstanceFamily& family : kInstanceFamilies) {
    const std::size_t end = at + family.name.size();
    const bool whole = family.open || end >= text.size() ||
                       std::isalnum(static_cast<unsigned char>(text[end])) == 0;
    if (whole && text.compare(at, family.name.size(), family.name) == 0) {
      return &family;
    }
  }
  return nullptr;
}

}  // namespace

WithoutInstances without_instances(const std::string& text) {
  WithoutInstances out;
  const std::string small = core::lower_case(text);
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = of_a_name(text[at]) && (at == 0 || !of_a_name(text[at - 1]));
    const InstanceFamily* family = begins ? family_at(small, at) : nullptr;
    if (family == nullptr) {
      out.text += text[at++];
      continue;
    }
    std::size_t end = at + family->name.size();
    while (end < text.size() && of_a_name(text[end])) {
      ++end;
    }
    while (end > at && (text[end - 1] == '.' || text[end - 1] == '-')) {
      --end;  // of the sentence
    }
    out.names.push_back({small.substr(at, end - at), family->node, family->gpu, family->network});
    at = end;
  }
  return out;
}

}  // namespace headway::validation
