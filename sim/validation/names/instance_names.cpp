#include "sim/validation/names/instance_names.h"

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
/// and Oracle (BM.GPU), 2026. A name with the cards of NVIDIA's own node has that node: Azure's ND
/// A100 v4 8 x 200 Gbps, ND H100 v5 and H200 v5 8 x 400 (InfiniBand); Oracle's BM.GPU4.8 8 x 200,
/// BM.GPU.A100-v2.8 16 x 100, BM.GPU.H100.8 and H200.8 8 x 400; Google's a3-ultragpu-8g and
/// a4-highgpu-8g 8 x 400 (RoCE).
constexpr InstanceFamily kInstanceFamilies[] = {
    {"p3dn", false, "p3dn-24xlarge", "v100", ""},
    {"p5", false, "p5-48xlarge", "h100", "efa"},
    {"a3-highgpu", false, "a3-highgpu-8g", "h100", "tcpx"},
    {"a3 high", false, "a3-highgpu-8g", "h100", "tcpx"},
    {"a3-megagpu", false, "a3-megagpu-8g", "h100", "tcpxo"},
    {"a3 mega", false, "a3-megagpu-8g", "h100", "tcpxo"},
    {"p4d", false, "p4d-24xlarge", "a100", "efa"},
    {"p4de", false, "p4de-24xlarge", "a100", "efa"},
    {"p5en", false, "p5en-48xlarge", "h200", "efa"},
    {"p6-b200", false, "p6-b200-48xlarge", "b200", "efa"},
    {"a2-highgpu-8g", false, "a2-highgpu-8g", "a100", ""},
    {"a2-megagpu", false, "a2-megagpu-16g", "a100", ""},
    {"a2-ultragpu-8g", false, "a2-ultragpu-8g", "a100", ""},
    {"a3-ultragpu", false, "dgx-h200", "h200", ""},
    {"a4-highgpu", false, "dgx-b200", "b200", ""},
    {"nd a100 v4", false, "dgx-a100-40gb", "a100", ""},
    {"ndm a100 v4", false, "dgx-a100", "a100", ""},
    {"nd96asr", true, "dgx-a100-40gb", "a100", ""},
    {"nd96amsr", true, "dgx-a100", "a100", ""},
    {"standard_nd96asr", true, "dgx-a100-40gb", "a100", ""},
    {"standard_nd96amsr", true, "dgx-a100", "a100", ""},
    {"nd h100 v5", false, "dgx-h100", "h100", ""},
    {"nd96isr_h100", true, "dgx-h100", "h100", ""},
    {"standard_nd96isr_h100", true, "dgx-h100", "h100", ""},
    {"nd h200 v5", false, "dgx-h200", "h200", ""},
    {"nd96isr_h200", true, "dgx-h200", "h200", ""},
    {"standard_nd96isr_h200", true, "dgx-h200", "h200", ""},
    {"bm.gpu4", true, "dgx-a100-40gb", "a100", ""},
    {"bm.gpu.a100-v2", true, "dgx-a100", "a100", ""},
    {"bm.gpu.h100", true, "dgx-h100", "h100", ""},
    {"bm.gpu.h200", true, "dgx-h200", "h200", ""},
    {"p3"},
    {"p5e"},
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
