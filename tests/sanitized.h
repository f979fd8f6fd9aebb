// Whether a sanitizer is built in: it reserves terabytes of address space, under which no limit of
// memory holds.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEADWAY_SANITIZED 1
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEADWAY_SANITIZED 1
#endif
#endif
