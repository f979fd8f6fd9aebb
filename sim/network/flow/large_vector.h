// Vectors of many megabytes that are read here and there: on large pages, where the system has
// them, since looking up addresses of small ones takes as long as the reading.
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace headway::network {

/// std::allocator, but room of several megabytes begins at a large page and asks for such.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21U;  ///< of x86-64 and of most arm64

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>& /*other*/) {}  // NOLINT: as std::allocator converts

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < 2 * kPage) {
      return static_cast<T*>(::operator new (bytes, std::align_val_t{alignof(T)}));
    }
    void* const room = ::operator new (bytes, std::align_val_t{kPage});
    ::madvise(room, bytes, MADV_HUGEPAGE);  // what is refused is slower, not wrong
    return static_cast<T*>(room);
  }

  void deallocate(T* room, std::size_t count) {
    const bool small = count * sizeof(T) < 2 * kPage;
    ::operator delete (room, std::align_val_t{small ? alignof(T) : kPage});
  }

  bool operator==(const LargePages& /*other*/) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace headway::network
