// Numbers of messages and fields of Chakra's files. Source: mlcommons/chakra, et_def.proto (schema
// of 2024, the first with data_deps as field 5 and attributes as field 10).
#pragma once

#include <protozero/types.hpp>

namespace headway::import::chakra_format {

namespace metadata {
constexpr protozero::pbf_tag_type kVersion = 1, kAttribute = 2;
}
namespace node {
constexpr protozero::pbf_tag_type kId = 1, kName = 2, kType = 3, kData = 5, kStart = 6,
                                  kDuration = 7, kInputs = 8, kAttribute = 10;
}
namespace attribute {
constexpr protozero::pbf_tag_type kName = 1, kInt32 = 7, kInt64 = 9, kUint32 = 11, kUint64 = 13,
                                  kSint32 = 15, kSint64 = 17, kBool = 27, kBoolList = 28,
                                  kString = 29;
}
namespace inputs {
constexpr protozero::pbf_tag_type kValues = 1;
}
constexpr protozero::pbf_tag_type kListValues = 1;  ///< of every list of values

}  // namespace headway::import::chakra_format
