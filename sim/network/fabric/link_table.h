// A number for some of the links of a fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/ids.h"

namespace headway::network {

/// Links without a number take no room, where many next to each other have none.
class LinkTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit LinkTable(std::size_t links = 0) : pages_((links + kPage - 1) / kPage) {}

  [[nodiscard]] std::uint32_t at(core::LinkId link) const {
    const Page& page = pages_[link.index() / kPage];
    return page.empty() ? kNone : page[link.index() % kPage];
  }
  std::uint32_t& operator[](core::LinkId link) {
    Page& page = pages_[link.index() / kPage];
    if (page.empty()) {
      page.assign(kPage, kNone);
    }
    return page[link.index() % kPage];
  }

 private:
  static constexpr std::size_t kPage = 1024;
  using Page = std::vector<std::uint32_t>;
  std::vector<Page> pages_;
};

}  // namespace headway::network
