#pragma once

#include <stddef.h>

/// Begins to load the first lines of `count` bytes into the processor's cache, and does not wait for them.
static inline void profilelog_prefetch(const void *bytes, size_t count) {
    size_t end = count < 256 ? count : 256;
    for (size_t offset = 0; offset < end; offset += 64) __builtin_prefetch((const char *)bytes + offset);
}
